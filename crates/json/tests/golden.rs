//! What RFC 8259 accepts and refuses, each refusal with its code and offset.

use fathom_json::{Code, Error, Event, Limits, Mode, Reader, validate, validate_read};
use fathom_machine::level::Level;

mod common;

const VALID: &[&str] = &[
    "0",
    "-0",
    "-0.0e-0",
    "1E400",
    "123456789012345678901234567890",
    "true",
    "false",
    "null",
    "\"\"",
    " \t\r\n[ ] \n",
    "{}",
    "[[],{},[{}]]",
    "{\"\":0,\"\":1}",
    "[1,2.5,-3e+2,4E-2,0.1e1]",
    r#"["\"\\\/\b\f\n\r\t\u0000\uFFff\ud83d\uDE00"]"#,
    r#"["\ud800","\udc00\ud800","\uDEAD"]"#,
    "[\"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\"]",
    "{\"pairs\":[{\"x0\":1,\"y0\":2,\"x1\":3,\"y1\":4}]}",
];

#[test]
fn valid_documents_are_accepted() {
    for text in VALID {
        assert_eq!(validate(text.as_bytes()), Ok(()), "{text}");
        assert!(validate_read(text.as_bytes()).is_ok(), "{text}");
        assert_eq!(common::plain(text.as_bytes(), Mode::Document, Limits::default()).1, None);
    }
}

#[test]
fn invalid_documents_are_refused_with_code_and_offset() {
    let cases: &[(&[u8], Code, u64)] = &[
        (b"", Code::Truncated, 0),
        (b"  ", Code::Truncated, 2),
        (b"\xef\xbb\xbf1", Code::ExpectedValue, 0),
        (b"[1,]", Code::ExpectedValue, 3),
        (b"[,1]", Code::ExpectedValueOrEnd, 1),
        (b"[1 2]", Code::ExpectedCommaOrBracket, 3),
        (b"[1", Code::Truncated, 2),
        (b"[1}", Code::ExpectedCommaOrBracket, 2),
        (b"{\"a\":1]", Code::ExpectedCommaOrBrace, 6),
        (b"{\"a\":1,}", Code::ExpectedKey, 7),
        (b"{,}", Code::ExpectedKeyOrEnd, 1),
        (b"{1:2}", Code::ExpectedKeyOrEnd, 1),
        (b"{\"a\" 1}", Code::ExpectedColon, 5),
        (b"{\"a\":}", Code::ExpectedValue, 5),
        (b"{\"a\"}", Code::ExpectedColon, 4),
        (b"1 2", Code::TrailingText, 2),
        (b"{}}", Code::TrailingText, 2),
        (b"]", Code::ExpectedValue, 0),
        (b"tru", Code::Truncated, 3),
        (b"trux", Code::BadLiteral, 3),
        (b"nul]", Code::BadLiteral, 3),
        (b"truee", Code::TrailingText, 4),
        (b"NaN", Code::ExpectedValue, 0),
        (b"-Infinity", Code::ExpectedDigit, 1),
        (b"Infinity", Code::ExpectedValue, 0),
        (b"+1", Code::ExpectedValue, 0),
        (b".5", Code::ExpectedValue, 0),
        (b"1.", Code::Truncated, 2),
        (b"[1.]", Code::ExpectedDigit, 3),
        (b"[1.e1]", Code::ExpectedDigit, 3),
        (b"[1e]", Code::ExpectedDigit, 3),
        (b"[1e+]", Code::ExpectedDigit, 4),
        (b"[01]", Code::LeadingZero, 2),
        (b"[-01]", Code::LeadingZero, 3),
        (b"[0x1]", Code::ExpectedCommaOrBracket, 2),
        (b"[1.2.3]", Code::ExpectedCommaOrBracket, 4),
        (b"-", Code::Truncated, 1),
        (b"\"", Code::Truncated, 1),
        (b"\"\\\"", Code::Truncated, 3),
        (b"\"\\u12", Code::Truncated, 5),
        (b"\"a\x1fb\"", Code::ControlCharacter, 2),
        (b"\"a\nb\"", Code::ControlCharacter, 2),
        (b"\"\\x\"", Code::BadEscape, 2),
        (b"\"\\u12g4\"", Code::BadHexDigit, 5),
        (b"\"\\u12\"", Code::BadHexDigit, 5),
        (b"\"\x80\"", Code::InvalidUtf8, 1),
        (b"\"a\xc0\x80\"", Code::InvalidUtf8, 2),
        (b"\"\xe0\x80\x80\"", Code::InvalidUtf8, 1),
        (b"\"\xed\xa0\x80\"", Code::InvalidUtf8, 1),
        (b"\"\xf4\x90\x80\x80\"", Code::InvalidUtf8, 1),
        (b"\"\xf5\x80\x80\x80\"", Code::InvalidUtf8, 1),
        (b"\"\xe2\x82\"", Code::InvalidUtf8, 1),
        (b"\"\xe2\x82", Code::Truncated, 3),
        (b"[1]\x00", Code::TrailingText, 3),
        (b"[1\x0c]", Code::ExpectedCommaOrBracket, 2),
        (b"'a'", Code::ExpectedValue, 0),
        (b"/**/1", Code::ExpectedValue, 0),
    ];
    for &(text, code, offset) in cases {
        let expected = Some(Error { code, offset });
        assert_eq!(validate(text).err(), expected, "{}", text.escape_ascii());
        let plain = common::plain(text, Mode::Document, Limits::default());
        assert_eq!(plain.1, expected, "reference: {}", text.escape_ascii());
    }
}

#[test]
fn depth_is_an_error_not_a_stack_overflow() {
    let limits = Limits { depth: 1000, ..Limits::default() };
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = |depth: usize| {
            let inside = if open == "[" { "" } else { "1" };
            [open.repeat(depth), inside.into(), close.repeat(depth)].concat().into_bytes()
        };
        let said = |text: &[u8]| common::lexed([text], Mode::Document, limits, Level::Scalar).1;
        assert_eq!(said(&deep(1000)), None);
        let offset = 1000 * open.len() as u64;
        assert_eq!(said(&deep(1001)), Some(Error { code: Code::TooDeep, offset }));
        assert_eq!(said(&deep(1_000_000)), Some(Error { code: Code::TooDeep, offset }));
    }
}

#[test]
fn lines_need_white_space_between_values_and_may_be_none() {
    let said = |text: &str| {
        let text = text.as_bytes();
        let said = common::lexed([text], Mode::Lines, Limits::default(), Level::best());
        assert_eq!(said, common::plain(text, Mode::Lines, Limits::default()));
        (said.0.len(), said.1.map(|error| (error.code, error.offset)))
    };
    assert_eq!(said(""), (0, None));
    assert_eq!(said(" \n"), (0, None));
    assert_eq!(said("1\n2\n"), (2, None));
    assert_eq!(said("{}\r\n[] 3"), (5, None));
    assert_eq!(said("{}{}"), (2, Some((Code::TrailingText, 2))));
    assert_eq!(said("1-2"), (1, Some((Code::TrailingText, 1))));
    assert_eq!(said("1\n}"), (1, Some((Code::ExpectedValue, 2))));
    assert_eq!(said("1\n["), (2, Some((Code::Truncated, 3))));
}

#[test]
fn both_of_two_equal_keys_are_reported() {
    let mut reader = Reader::new(&br#"{"a":1,"\u0061":2}"#[..]);
    let mut keys = 0;
    while let Some(event) = reader.next().unwrap() {
        keys += usize::from(matches!(event, Event::Key(key) if key.is("a")));
    }
    assert_eq!(keys, 2);
}

#[test]
fn an_error_is_repeated_not_recovered_from() {
    let mut reader = Reader::new(&b"[1,x,2]"[..]);
    while let Ok(Some(_)) = reader.next() {}
    for _ in 0..3 {
        assert!(reader.next().unwrap_err().to_string().contains("expected a value at byte 3"));
    }
}
