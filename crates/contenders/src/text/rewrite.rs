//! Two ways to write a JSON text again: compact with unquoted names, and for people.
//!
//! Both first validate strictly, so that what is rewritten is known to be right, and both have a plain
//! twin made of the plain lexer's events, which shares no code with them: their oracle.
//!
//! ```
//! use fathom_contenders::text::rewrite::{human, unquoted};
//! let text = br#"{"name": "x", "to do": [1]}"#;
//! assert_eq!(unquoted(text).unwrap(), br#"{name:"x","to do":[1]}"#);
//! assert_eq!(
//!     human(text).unwrap(),
//!     b"{\r\n\t\"name\": \"x\",\r\n\t\"to do\": [\r\n\t\t1\r\n\t]\r\n}"
//! );
//! ```

use fathom_json::reference::{Machine, Plain};
use fathom_json::{Error, Limits, Mode, validate};

/// On one line without spaces; a name loses its quotes if it matches
/// `[_$0-9A-Za-z][_0-9A-Za-z.\[\]]*`, as mORMot has it.
///
/// # Errors
/// Where the text is no JSON.
pub fn unquoted(text: &[u8]) -> Result<Vec<u8>, Error> {
    validate(text)?;
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'"' => {
                let end = string_end(text, at);
                let is_key = text[end..].iter().find(|byte| !is_blank(**byte)) == Some(&b':');
                if is_key && is_simple(&text[at + 1..end - 1]) {
                    out.extend_from_slice(&text[at + 1..end - 1]);
                } else {
                    out.extend_from_slice(&text[at..end]);
                }
                at = end;
            }
            _ => {
                let end = plain_end(text, at);
                out.extend_from_slice(&text[at..end]);
                at = end;
            }
        }
    }
    Ok(out)
}

/// A line per member: CR, LF and a tab per level before it, `": "` after names.
///
/// # Errors
/// Where the text is no JSON.
pub fn human(text: &[u8]) -> Result<Vec<u8>, Error> {
    validate(text)?;
    let mut out = Vec::with_capacity(text.len() + text.len() / 2);
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let byte = text[at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'"' => {
                let end = string_end(text, at);
                out.extend_from_slice(&text[at..end]);
                at = end;
            }
            b'{' | b'[' => {
                out.push(byte);
                at += 1;
                while is_blank(text[at]) {
                    at += 1;
                }
                if matches!(text[at], b'}' | b']') {
                    out.push(text[at]);
                    at += 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth -= 1;
                new_line(&mut out, depth);
                out.push(byte);
                at += 1;
            }
            b',' => {
                out.push(b',');
                new_line(&mut out, depth);
                at += 1;
            }
            b':' => {
                out.extend_from_slice(b": ");
                at += 1;
            }
            _ => {
                let end = plain_end(text, at);
                out.extend_from_slice(&text[at..end]);
                at = end;
            }
        }
    }
    Ok(out)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[inline]
fn new_line(out: &mut Vec<u8>, depth: usize) {
    const LINE: &[u8; 18] = b"\r\n\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
    if depth <= 16 {
        out.extend_from_slice(&LINE[..2 + depth]);
    } else {
        out.extend_from_slice(b"\r\n");
        out.resize(out.len() + depth, b'\t');
    }
}

/// One past the closing quote of the string that opens at `at`, in a valid text.
#[inline]
fn string_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    loop {
        match text[end] {
            b'"' => return end + 1,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// One past the last byte that needs no decision: numbers, words, and punctuation in a row.
#[inline]
fn plain_end(text: &[u8], at: usize) -> usize {
    const STOPS: [bool; 256] = {
        let mut stops = [false; 256];
        let mut i = 0;
        let bytes = b" \t\r\n\"{}[],:";
        while i < bytes.len() {
            stops[bytes[i] as usize] = true;
            i += 1;
        }
        stops
    };
    let rest = &text[at + 1..];
    at + 1 + rest.iter().position(|byte| STOPS[usize::from(*byte)]).unwrap_or(rest.len())
}

fn is_simple(name: &[u8]) -> bool {
    let first = |byte: u8| byte == b'_' || byte == b'$' || byte.is_ascii_alphanumeric();
    let other =
        |byte: u8| matches!(byte, b'_' | b'.' | b'[' | b']') || byte.is_ascii_alphanumeric();
    name.split_first().is_some_and(|(a, rest)| first(*a) && rest.iter().all(|byte| other(*byte)))
}

/// [`unquoted`] from the events of the plain lexer, one after the other.
///
/// # Errors
/// Where the text is no JSON.
pub fn plain_unquoted(text: &[u8]) -> Result<Vec<u8>, Error> {
    const FIRST: &str = "_$0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let is_first = |byte: u8| FIRST.contains(char::from(byte));
    let is_other = |byte: u8| byte != b'$' && is_first(byte) || ".[]".contains(char::from(byte));
    let is_bare = |name: &[u8]| {
        !name.is_empty() && is_first(name[0]) && name[1..].iter().all(|byte| is_other(*byte))
    };
    from_events(
        text,
        |_, _| {},
        |out, name| match is_bare(name) {
            true => out.extend_from_slice(&[name, b":"].concat()),
            false => out.extend_from_slice(&[b"\"", name, b"\":"].concat()),
        },
    )
}

/// [`human`] from the events of the plain lexer, one after the other.
///
/// # Errors
/// Where the text is no JSON.
pub fn plain_human(text: &[u8]) -> Result<Vec<u8>, Error> {
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.extend_from_slice(b"\r\n");
        out.extend(std::iter::repeat_n(b'\t', depth));
    };
    from_events(text, line, |out, name| out.extend_from_slice(&[b"\"", name, b"\": "].concat()))
}

/// Writes the events; `line` goes before each member and before a bracket that closes some, with the
/// depth, `key` writes a name with what follows it.
fn from_events(
    text: &[u8],
    line: impl Fn(&mut Vec<u8>, usize),
    key: impl Fn(&mut Vec<u8>, &[u8]),
) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    // For each open bracket: whether it has members yet.
    let mut open: Vec<bool> = Vec::new();
    let mut after_key = false;
    let mut write = |event: Plain<'_>| {
        if matches!(event, Plain::EndObject | Plain::EndArray) {
            if open.pop() == Some(true) {
                line(&mut out, open.len());
            }
        } else if !after_key && let Some(has_members) = open.last_mut() {
            if std::mem::replace(has_members, true) {
                out.push(b',');
            }
            line(&mut out, open.len());
        }
        after_key = matches!(event, Plain::Key(_));
        match event {
            Plain::StartObject => out.push(b'{'),
            Plain::EndObject => out.push(b'}'),
            Plain::StartArray => out.push(b'['),
            Plain::EndArray => out.push(b']'),
            Plain::Key(name) => key(&mut out, name),
            Plain::String(text) => out.extend_from_slice(&[b"\"", text, b"\""].concat()),
            Plain::Number(number) => out.extend_from_slice(number),
            Plain::Word(word) => out.extend_from_slice(word.as_bytes()),
        }
        if matches!(event, Plain::StartObject | Plain::StartArray) {
            open.push(false);
        }
    };
    let mut machine = Machine::new(Mode::Document, Limits::default());
    let fed = machine.feed(text, &mut write);
    fed.and_then(|()| machine.finish(&mut write))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_these() {
        let text = br#" { "a" : 1 , "b c" : [ 1 , -2.5e3, { } , [ ] ], "": {"$x.[0]":"\"\\"}, "\u0041": null } "#;
        let compact = r#"{a:1,"b c":[1,-2.5e3,{},[]],"":{$x.[0]:"\"\\"},"\u0041":null}"#;
        assert_eq!(String::from_utf8_lossy(&unquoted(text).unwrap()), compact);
        let lines = "{\r\n\t\"a\": 1,\r\n\t\"b c\": [\r\n\t\t1,\r\n\t\t-2.5e3,\r\n\t\t{},\r\n\t\t[]\r\n\t],\r\n\t\"\": {\r\n\t\t\"$x.[0]\": \"\\\"\\\\\"\r\n\t},\r\n\t\"\\u0041\": null\r\n}";
        assert_eq!(String::from_utf8_lossy(&human(text).unwrap()), lines);
    }

    #[test]
    fn both_ways_agree_and_what_is_no_json_is_refused() {
        let people = crate::people::json(200);
        for text in [&people[..], b"[]", b"{}", b" 1 ", b"\"x\"", b"[[[[]]],{\"a\":{\"b\":[{}]}}]"]
        {
            assert_eq!(unquoted(text).unwrap(), plain_unquoted(text).unwrap());
            assert_eq!(human(text).unwrap(), plain_human(text).unwrap());
        }
        let nested = "[".repeat(40) + &"]".repeat(40);
        assert_eq!(human(nested.as_bytes()).unwrap(), plain_human(nested.as_bytes()).unwrap());
        for text in [&b""[..], b"{", b"[1,]", b"\"", b"{\"a\"}", b"nul"] {
            assert!(unquoted(text).is_err() && plain_unquoted(text).is_err());
            assert!(human(text).is_err() && plain_human(text).is_err());
        }
    }

    /// Both had one rule, so that none would have noticed.
    #[test]
    fn names_lose_their_quotes_by_two_rules_that_agree() {
        for byte in 0x20..0x7f_u8 {
            for name in [[byte, b'a'], [b'a', byte]] {
                let text = [b"{\"", &name[..], b"\":1}"].concat();
                let expected = plain_unquoted(&text).ok();
                assert_eq!(unquoted(&text).ok(), expected, "{}", name.escape_ascii());
            }
        }
    }

    #[test]
    fn what_is_rewritten_for_people_means_the_same() {
        let people = crate::people::json(50);
        let again = plain_unquoted(&human(&people).unwrap()).unwrap();
        assert_eq!(again, unquoted(&people).unwrap());
    }
}
