//! Lines of JSON and of access logs as the delimited text they stand for: what the columns of each are, written
//! apart from the engine. What is JSON is asked of `serde_json`.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    Access { combined: bool },
}

/// The columns of access logs.
pub const OF_LOGS: [&str; 14] = [
    "host", "ident", "user", "time", "request", "method", "path", "query", "protocol", "status",
    "bytes", "referer", "agent", "rest",
];

/// What no column can have, in the place of a value: that refuses the record, unless it is left out without a look at it.
pub const NO_VALUE: &[u8] = b"\xffno value\xff";

/// How deep JSON may be.
const MOST_DEEP: usize = 1024;

/// What the lines of an input say of some columns, as CSV with a header; and how many say nothing and how many are
/// refused.
#[derive(Debug)]
pub struct Read {
    pub csv: Vec<u8>,
    pub blank: u64,
    pub refused: u64,
}

pub fn read(input: &[u8], form: Form, columns: &[&str]) -> Read {
    let mut read = Read { csv: Vec::new(), blank: 0, refused: 0 };
    record(columns.iter().map(|name| name.as_bytes()), &mut read.csv);
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    for line in input.strip_suffix(b"\n").unwrap_or(input).split(|&byte| byte == b'\n') {
        let (is_blank, fields) = match form {
            Form::Json => (line.trim_ascii().is_empty(), json(line, columns)),
            Form::Access { combined } => {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                (line.is_empty(), access(line, combined))
            }
        };
        match fields {
            // An input without a byte has no line.
            _ if is_blank => read.blank += u64::from(!input.is_empty()),
            None => read.refused += 1,
            Some(fields) => {
                let field = |name| fields.get(name).map_or(&[][..], |text| &text[..]);
                record(columns.iter().map(|name| field(*name)), &mut read.csv);
            }
        }
    }
    read
}

fn record<'f>(fields: impl Iterator<Item = &'f [u8]>, csv: &mut Vec<u8>) {
    for (place, field) in fields.enumerate() {
        csv.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
        csv.extend(
            field.iter().flat_map(|&byte| if byte == b'"' { vec![byte; 2] } else { vec![byte] }),
        );
        csv.push(b'"');
    }
    csv.push(b'\n');
}

type Fields = BTreeMap<String, Vec<u8>>;

/// The values of the paths in an object; None if the line is none.
fn json(line: &[u8], columns: &[&str]) -> Option<Fields> {
    let text = str::from_utf8(line).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut walk = Walk { rest: text.trim_ascii(), columns, found: Fields::new() };
    if !walk.rest.starts_with('{') {
        return None;
    }
    walk.value(Some(""), 0)?;
    Some(walk.found)
}

/// A walk through what is known to be JSON.
struct Walk<'a> {
    rest: &'a str,
    columns: &'a [&'a str],
    found: Fields,
}

impl<'a> Walk<'a> {
    /// The next value, which has this path, if its names are texts, and everything in it.
    fn value(&mut self, path: Option<&str>, depth: usize) -> Option<()> {
        let wanted = path.filter(|path| depth > 0 && self.columns.contains(path));
        let first = self.rest.as_bytes()[0];
        if !matches!(first, b'{' | b'[') {
            let token = self.token();
            if let Some(path) = wanted {
                let text = match first {
                    b'"' => serde_json::from_str::<String>(token).ok().map(String::into_bytes),
                    b'n' => Some(Vec::new()),
                    _ => Some(token.into()),
                };
                self.find(path, text);
            }
            return Some(());
        }
        if let Some(path) = wanted {
            self.find(path, None);
        }
        if depth == MOST_DEEP {
            return None;
        }
        self.step();
        for number in 0.. {
            if self.rest.starts_with(['}', ']']) {
                break;
            }
            let name = match first {
                b'{' => {
                    let name = serde_json::from_str::<String>(self.token()).ok();
                    self.step();
                    name
                }
                _ => Some(number.to_string()),
            };
            let inner = path.zip(name).map(
                |(path, name)| {
                    if depth > 0 { format!("{path}.{name}") } else { name }
                },
            );
            self.value(inner.as_deref(), depth + 1)?;
            if self.rest.starts_with(',') {
                self.step();
            }
        }
        self.step();
        Some(())
    }

    /// Notes the value of a path, which has one alone.
    fn find(&mut self, path: &str, text: Option<Vec<u8>>) {
        let text = text.filter(|_| !self.found.contains_key(path));
        self.found.insert(path.to_owned(), text.unwrap_or_else(|| NO_VALUE.to_vec()));
    }

    /// Leaves out a sign.
    fn step(&mut self) {
        self.rest = self.rest[1..].trim_ascii_start();
    }

    /// A string, a number or a word.
    fn token(&mut self) -> &'a str {
        let end = match self.rest.strip_prefix('"') {
            Some(inside) => {
                let mut is_escaped = false;
                let end = inside.find(|letter| {
                    let is_end = letter == '"' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    is_end
                });
                end.expect("it is JSON") + 2
            }
            None => {
                let is_end = |letter: char| ",]}".contains(letter) || letter.is_ascii_whitespace();
                self.rest.find(is_end).unwrap_or(self.rest.len())
            }
        };
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        token
    }
}

/// The columns of a line of an access log.
fn access(line: &[u8], combined: bool) -> Option<Fields> {
    let filled = |text: &[u8]| (!text.is_empty()).then(|| text.to_vec());
    let (host, rest) = cut(line, b" ")?;
    let (ident, rest) = cut(rest, b" ")?;
    let (user, rest) = cut(rest, b" [")?;
    let (time, rest) = cut(rest, b"]")?;
    let (request, rest) = quoted(rest)?;
    let (status, rest) = cut(rest.strip_prefix(b" ")?, b" ")?;
    let (bytes, rest) = rest.split_at(rest.iter().position(|&b| b == b' ').unwrap_or(rest.len()));
    let (referer, rest) = if combined { quoted(rest)? } else { (&[][..], rest) };
    let (agent, rest) = if combined { quoted(rest)? } else { (&[][..], rest) };
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(b" ")? };
    let words: Vec<&[u8]> = request.split(|&byte| byte == b' ').collect();
    let [method, path, query, protocol] = match &words[..] {
        [method, target @ .., protocol] if !target.is_empty() => {
            let target = target.join(&b' ');
            let (path, query) = cut(&target, b"?").unwrap_or((&target, b""));
            [method.to_vec(), path.to_vec(), query.to_vec(), protocol.to_vec()]
        }
        _ => [const { Vec::new() }; 4],
    };
    let [time, request, referer, agent, rest] =
        [time, request, referer, agent, rest].map(<[u8]>::to_vec);
    let (host, ident, user) = (filled(host)?, filled(ident)?, filled(user)?);
    let (status, bytes) = (filled(status)?, filled(bytes)?);
    let all = [
        host, ident, user, time, request, method, path, query, protocol, status, bytes, referer,
        agent, rest,
    ];
    let value = |text: Vec<u8>| if text == b"-" { Vec::new() } else { text };
    Some(OF_LOGS.into_iter().zip(all).map(|(name, text)| (name.to_owned(), value(text))).collect())
}

/// What stands before some bytes and behind them.
fn cut<'l>(text: &'l [u8], mark: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let at = (0..text.len()).find(|&at| text[at..].starts_with(mark))?;
    Some((&text[..at], &text[at + mark.len()..]))
}

/// What stands in quotes behind a blank, and what behind them.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b" \"")?;
    let mut is_escaped = false;
    let end = text.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}
