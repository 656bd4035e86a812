//! Lines of access logs: the common log format of Apache and nginx, and the combined one.
//!
//! ```text
//! host ident user [time] "method path?query protocol" status bytes "referer" "agent" rest
//!                                                                  └── combined alone ──┘
//! ```
//!
//! [Apache's documentation](https://httpd.apache.org/docs/current/logs.html) has the formats. In quotes a
//! backslash and what follows it belong together; nothing is unescaped. A hyphen alone says that there is no value. A
//! request that is not of three words has neither method nor path. What a server adds behind the format, such as
//! the time it took, is `rest`.

use memchr::{memchr, memchr2};

use crate::error::{Fault, Reason};
use crate::record::Field;

/// What the columns are called, in their order; `referer` and `agent` are empty in the common format.
pub(crate) const NAMES: [&str; 14] = [
    "host", "ident", "user", "time", "request", "method", "path", "query", "protocol", "status",
    "bytes", "referer", "agent", "rest",
];

/// Finds the columns of a line, which ends before `end`; false if there is nothing on it.
///
/// # Errors
/// What stands where something else was expected.
pub(crate) fn split(
    bytes: &[u8],
    (start, end): (usize, usize),
    is_combined: bool,
    fields: &mut Vec<Field>,
) -> Result<bool, Fault> {
    fields.clear();
    let line = &bytes[..end];
    let line = line.strip_suffix(b"\r").filter(|rest| rest.len() >= start).unwrap_or(line);
    if line.len() == start {
        return Ok(false);
    }
    let mut at = Cursor { line, at: start };
    let host = at.word("a host")?;
    let ident = at.word("an identity")?;
    let user = at.user()?;
    let time = at.within(b']', "a time in brackets")?;
    at.blank()?;
    let request = at.quoted("a request in quotes")?;
    at.blank()?;
    let status = at.last_word("a status")?;
    at.blank()?;
    let size = at.last_word("a number of bytes")?;
    let mut agents = [Field::new(line.len(), line.len()); 2];
    if is_combined {
        for (agent, what) in agents.iter_mut().zip(["a referer in quotes", "an agent in quotes"]) {
            at.blank()?;
            *agent = at.quoted(what)?;
        }
    }
    let rest = at.rest()?;
    let [method, path, query, protocol] = words(line, request);
    fields.extend([host, ident, user, time, request, method, path, query, protocol, status, size]);
    fields.extend(agents);
    fields.push(rest);
    for field in fields {
        if &line[field.range()] == b"-" {
            *field = Field::new(field.range().start, field.range().start);
        }
    }
    Ok(true)
}

/// Method, path, query and protocol of a request.
fn words(line: &[u8], request: Field) -> [Field; 4] {
    let range = request.range();
    let text = &line[range.clone()];
    let blanks = memchr(b' ', text).zip(memchr::memrchr(b' ', text));
    let Some((first, last)) = blanks.filter(|(first, last)| first < last) else {
        return [Field::new(range.start, range.start); 4];
    };
    let field = |from: usize, to: usize| Field::new(range.start + from, range.start + to);
    let path_end = memchr(b'?', &text[first + 1..last]).map_or(last, |mark| first + 1 + mark);
    let query = field((path_end + 1).min(last), last);
    [field(0, first), field(first + 1, path_end), query, field(last + 1, text.len())]
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn expected(&self, what: &'static str) -> Fault {
        Fault::at(self.at, Reason::AccessLog(what))
    }

    /// Something before the next blank, and the blank.
    fn word(&mut self, what: &'static str) -> Result<Field, Fault> {
        let blank = memchr(b' ', &self.line[self.at..]).filter(|&bytes| bytes > 0);
        let end = self.at + blank.ok_or_else(|| self.expected(what))?;
        let field = Field::new(self.at, end);
        self.at = end + 1;
        Ok(field)
    }

    /// A name, which may contain blanks, and the blank and the bracket behind it.
    fn user(&mut self) -> Result<Field, Fault> {
        let end =
            self.line[self.at..].windows(2).position(|two| two == b" [").filter(|&end| end > 0);
        let end = self.at + end.ok_or_else(|| self.expected("a user and a time in brackets"))?;
        let field = Field::new(self.at, end);
        self.at = end + 2;
        Ok(field)
    }

    fn within(&mut self, close: u8, what: &'static str) -> Result<Field, Fault> {
        let end = memchr(close, &self.line[self.at..]).ok_or_else(|| self.expected(what))?;
        let field = Field::new(self.at, self.at + end);
        self.at += end + 1;
        Ok(field)
    }

    /// Something up to a blank or the end of the line, which stays.
    fn last_word(&mut self, what: &'static str) -> Result<Field, Fault> {
        let rest = &self.line[self.at..];
        let end = memchr(b' ', rest).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        let field = Field::new(self.at, self.at + end);
        self.at += end;
        Ok(field)
    }

    fn blank(&mut self) -> Result<(), Fault> {
        if self.line.get(self.at) != Some(&b' ') {
            return Err(self.expected("a blank"));
        }
        self.at += 1;
        Ok(())
    }

    /// What stands in quotes.
    fn quoted(&mut self, what: &'static str) -> Result<Field, Fault> {
        if self.line.get(self.at) != Some(&b'"') {
            return Err(self.expected(what));
        }
        let start = self.at + 1;
        let mut end = start;
        loop {
            let found = memchr2(b'"', b'\\', self.line.get(end..).unwrap_or_default());
            end += found.ok_or_else(|| self.expected("a quote that is closed"))?;
            if self.line[end] == b'"' {
                self.at = end + 1;
                return Ok(Field::new(start, end));
            }
            end += 2;
        }
    }

    /// What follows the format, behind a blank.
    fn rest(&mut self) -> Result<Field, Fault> {
        if self.at < self.line.len() {
            self.blank()?;
        }
        Ok(Field::new(self.at, self.line.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of a line by their names, those without a value left out.
    fn read(line: &str, is_combined: bool) -> Result<Vec<(&'static str, &str)>, (usize, Reason)> {
        let mut fields = Vec::new();
        let found = split(line.as_bytes(), (0, line.len()), is_combined, &mut fields);
        found.map_err(|fault| (fault.at, fault.reason))?;
        let named = NAMES.into_iter().zip(fields).map(|(name, field)| (name, &line[field.range()]));
        Ok(named.filter(|(_, text)| !text.is_empty()).collect())
    }

    #[test]
    fn columns_are_those_of_the_formats() {
        // The examples of Apache's documentation.
        let common = "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326";
        let expected = [
            ("host", "127.0.0.1"),
            ("user", "frank"),
            ("time", "10/Oct/2000:13:55:36 -0700"),
            ("request", "GET /apache_pb.gif HTTP/1.0"),
            ("method", "GET"),
            ("path", "/apache_pb.gif"),
            ("protocol", "HTTP/1.0"),
            ("status", "200"),
            ("bytes", "2326"),
        ];
        assert_eq!(read(common, false).unwrap(), expected);
        let agents = " \"http://www.example.com/start.html\" \"Mozilla/4.08 [en] (Win98; I ;Nav)\"";
        let combined = format!("{common}{agents}");
        let more = [
            ("referer", "http://www.example.com/start.html"),
            ("agent", "Mozilla/4.08 [en] (Win98; I ;Nav)"),
        ];
        assert_eq!(read(&combined, true).unwrap(), [&expected[..], &more].concat());
        let timed = format!("{combined} 0.125\r");
        assert_eq!(read(&timed, true).unwrap().last(), Some(&("rest", "0.125")));
        assert_eq!(read("", true), Ok(vec![]));
    }

    #[test]
    fn quotes_queries_and_requests_that_are_none_are_read() {
        let of = |request: &str| {
            let line = format!("h - a b [t] \"{request}\" 400 -");
            let found = read(&line, false).unwrap();
            let words = found.iter().filter(|(name, _)| NAMES[4..9].contains(name));
            words.map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            of("GET /a?b=1&c=?d HTTP/1.1"),
            "request=GET /a?b=1&c=?d HTTP/1.1 method=GET path=/a query=b=1&c=?d protocol=HTTP/1.1"
        );
        let said = "request=GET /a? HTTP/1.1 method=GET path=/a protocol=HTTP/1.1";
        assert_eq!(of("GET /a? HTTP/1.1"), said);
        assert_eq!(of(r"\x16\x03\x01"), r"request=\x16\x03\x01");
        assert_eq!(of(r#"a \"b\" \\"#), r#"request=a \"b\" \\ method=a path=\"b\" protocol=\\"#);
        assert_eq!(of("-"), "");
        assert_eq!(of(""), "");
    }

    #[test]
    fn what_is_no_line_of_a_log_says_where() {
        for (line, is_combined, at, what) in [
            ("x", false, 0, "a host"),
            (" - - [t] \"r\" 200 1", false, 0, "a host"),
            ("h - u", false, 4, "a user and a time in brackets"),
            ("h - u [t", false, 7, "a time in brackets"),
            ("h - u [t]", false, 9, "a blank"),
            ("h - u [t] r 200 1", false, 10, "a request in quotes"),
            ("h - u [t] \"r\\\" 200 1", false, 10, "a quote that is closed"),
            ("h - u [t] \"r\\", false, 10, "a quote that is closed"),
            ("h - u [t] \"r\" ", false, 14, "a status"),
            ("h - u [t] \"r\" 200", false, 17, "a blank"),
            ("h - u [t] \"r\" 200 ", false, 18, "a number of bytes"),
            ("h - u [t] \"r\" 200 1", true, 19, "a blank"),
            ("h - u [t] \"r\" 200 1 x", true, 20, "a referer in quotes"),
            ("h - u [t] \"r\" 200 1 \"x\" \"y\"z", true, 27, "a blank"),
        ] {
            assert_eq!(read(line, is_combined), Err((at, Reason::AccessLog(what))), "{line}");
        }
    }
}
