//! Every level and every way to cut the input says what the plain machine says.

use fathom_json::{Error, Limits, Mode, ReadError, validate_at, validate_read_at};
use fathom_machine::level::Level;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

mod common;

/// Documents that have every kind of token, valid and not.
const TEXTS: &[&[u8]] = &[
    br#"{"pairs":[{"x0":-28.4758627070003030, "y0":1e5,"x1":0,"y1":-0.5E-7}, {"k":[true,null]}]}"#,
    "[\"h\u{e9}llo \u{1f600} w\u{f6}rld, long enough for a whole register \\\" and \\u00e9\"]"
        .as_bytes(),
    b"  [ false , \"\\ud800\" , 12345678901234567890.123456789 ]  ",
    b"[\"abc\xe2\x82\xacdef\xe2\x82\"]",
    b"[\"a\\u00g0\"]",
    b"[\"tab\there\"]",
    b"{\"a\":tru }",
    b"[1.5.3]",
    b"-12.50e+",
    b"123",
    b"{\"a\":1\n}\n{\"a\":2}\n",
];

/// Validation without events says the same.
fn check_verdict(text: &[u8], expected: Option<Error>) {
    for level in Level::available() {
        let said = validate_at(level, text).err();
        assert_eq!(said, expected, "{level}: {}", text.escape_ascii());
        for (window, chunk) in [(1, 1), (200, 77), (1 << 17, usize::MAX)] {
            let source = Chunks { text, chunk };
            let said = match validate_read_at(level, source, window) {
                Ok(()) => None,
                Err(ReadError::Json(error)) => Some(error),
                Err(ReadError::Io(error)) => panic!("{error}"),
            };
            assert_eq!(said, expected, "{level} by {chunk}: {}", text.escape_ascii());
        }
    }
}

/// A source that delivers at most so many bytes at a time.
struct Chunks<'t> {
    text: &'t [u8],
    chunk: usize,
}

impl std::io::Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = buffer.len().min(self.chunk);
        self.text.read(&mut buffer[..bytes])
    }
}

fn check_all_splits(text: &[u8], mode: Mode, limits: Limits) {
    let expected = common::plain(text, mode, limits);
    if mode == Mode::Document && limits == Limits::default() {
        for end in 0..=text.len() {
            check_verdict(&text[..end], common::plain(&text[..end], mode, limits).1);
        }
    }
    for level in Level::available() {
        assert_eq!(common::lexed([text], mode, limits, level), expected, "{level}, whole");
        let bytes = common::lexed(text.chunks(1), mode, limits, level);
        assert_eq!(bytes, expected, "{level}, byte by byte");
        for cut in 0..=text.len() {
            let (left, right) = text.split_at(cut);
            let said = common::lexed([left, right], mode, limits, level);
            assert_eq!(said, expected, "{level}, cut at {cut}: {}", text.escape_ascii());
        }
    }
}

#[test]
fn every_split_of_every_text_at_every_level() {
    for mode in [Mode::Document, Mode::Lines] {
        for text in TEXTS {
            check_all_splits(text, mode, Limits::default());
        }
    }
}

#[test]
fn every_split_with_tight_limits() {
    for token_bytes in 0..20 {
        for text in TEXTS {
            check_all_splits(text, Mode::Document, Limits { depth: 3, token_bytes });
        }
    }
}

#[test]
fn every_single_byte_replaced() {
    let text = TEXTS[0];
    for at in 0..text.len() {
        for byte in *b"\"\\{}[],:0-.eE tn\x00\x1f\x80\xff" {
            let mut text = text.to_vec();
            text[at] = byte;
            let expected = common::plain(&text, Mode::Document, Limits::default());
            check_verdict(&text, expected.1);
            for level in Level::available() {
                let said = common::lexed([&text[..]], Mode::Document, Limits::default(), level);
                assert_eq!(said, expected, "{level}: {}", text.escape_ascii());
                let said = common::lexed(text.chunks(7), Mode::Document, Limits::default(), level);
                assert_eq!(said, expected, "{level}, in sevens: {}", text.escape_ascii());
            }
        }
    }
}

/// JSON values as text, with white space and escapes where they may stand.
fn value() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| format!("{f:e}")),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
    ];
    let string = prop_oneof![
        any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
        "[a-z ]{0,80}".prop_map(|s| format!("\"{s}\"")),
        "(\\\\u[0-9a-fA-F]{4}|\\\\[nrt\"/]|x){0,9}".prop_map(|s| format!("\"{s}\"")),
    ];
    let word = prop_oneof![Just("true".to_owned()), Just("false".into()), Just("null".into())];
    let space = "[ \n\r\t]{0,40}";
    prop_oneof![number, string.clone(), word].prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..5), space)
                .prop_map(|(items, s)| format!("[{s}{}{s}]", items.join(&format!("{s},{s}")))),
            (vec((string.clone(), inner), 0..5), space).prop_map(|(items, s)| {
                let members: Vec<_> =
                    items.iter().map(|(key, value)| format!("{key}{s}:{value}{s}")).collect();
                format!("{{{s}{}}}", members.join(","))
            }),
        ]
    })
}

#[test]
fn depth_ends_where_the_limit_is() {
    for depth in [1, 63, 64, 65, 1023, 1024, 1025, 3000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let text = format!("{}7{}", open.repeat(depth), close.repeat(depth));
            let expected = common::plain(text.as_bytes(), Mode::Document, Limits::default());
            check_verdict(text.as_bytes(), expected.1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_documents_are_valid_and_cut_anywhere(text in value(), sizes in vec(1usize..50, 1..9)) {
        let text = text.as_bytes();
        let expected = common::plain(text, Mode::Document, Limits::default());
        prop_assert_eq!(expected.1, None);
        check_verdict(text, None);
        for level in Level::available() {
            let said = common::lexed(cut(text, &sizes), Mode::Document, Limits::default(), level);
            prop_assert_eq!(&said, &expected);
        }
    }

    #[test]
    fn mutated_documents_get_the_same_verdict(
        text in value(),
        edits in vec((any::<Index>(), any::<u8>(), 0u8..3), 1..4),
        sizes in vec(1usize..50, 1..9),
        lines in any::<bool>(),
    ) {
        let mut text = text.into_bytes();
        for (index, byte, edit) in edits {
            let at = index.index(text.len() + 1);
            match edit {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ if at < text.len() => drop(text.remove(at)),
                _ => {}
            }
        }
        let mode = if lines { Mode::Lines } else { Mode::Document };
        let expected = common::plain(&text, mode, Limits::default());
        for level in Level::available() {
            let said = common::lexed(cut(&text, &sizes), mode, Limits::default(), level);
            prop_assert_eq!(&said, &expected);
        }
        if !lines {
            check_verdict(&text, expected.1);
            // A second opinion, from a parser that is not ours: it refuses lone surrogates,
            // infinite numbers and depths beyond 128, which are no matter of grammar.
            let other = serde_json::from_slice::<serde_json::Value>(&text);
            if other.is_ok() {
                prop_assert_eq!(expected.1, None);
            }
        }
    }
}

/// `text` in pieces of the given sizes, over and over.
fn cut<'t>(mut text: &'t [u8], sizes: &[usize]) -> Vec<&'t [u8]> {
    let piece = |size: &usize| {
        let (piece, rest) = text.split_at((*size).min(text.len()));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    };
    sizes.iter().cycle().map_while(piece).collect()
}
