//! A guess at how delimited text is written, from its beginning.
//!
//! What is guessed is the delimiter, and whether the text is delimited at all or an access log or lines of JSON, which
//! their first line says: names of columns say that there is a header. A guess is made once and holds for the
//! whole run; where it was wrong, records of another number of fields, or another form, say so.

use memchr::memchr;

use crate::access;
use crate::delimited::Syntax;
use crate::ndjson::Finder;
use crate::record::{Field, Split, split};

/// Delimiters there are, the surest first: a comma may be part of numbers, and stands in texts.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Records that are looked at.
const MOST_RECORDS: usize = 1000;

/// The delimiter that cuts every record of the text into as many fields, two at least: the first of
/// tab, semicolon, bar and comma that does. None if there is none. `ended` says that the text is all
/// there is; otherwise its last record is not looked at unless it is the only one.
pub fn delimiter(text: &[u8], ended: bool) -> Option<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let cuts = |delimiter: &u8| fields(text, ended, *delimiter).is_some_and(|fields| fields > 1);
    DELIMITERS.into_iter().find(cuts)
}

/// How the first line that is not blank is written, if that is plain: as an object of JSON, or as an
/// access log has it. `ended` says that the text is all there is; a line that is cut off is not looked at.
pub fn syntax(text: &[u8], ended: bool) -> Option<Syntax> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut at = 0;
    loop {
        let end = match memchr(b'\n', &text[at..]) {
            Some(end) => at + end,
            None if ended => text.len(),
            None => return None,
        };
        if !text[at..end].trim_ascii().is_empty() {
            return syntax_of(text, (at, end));
        }
        at = end + 1;
        if at > text.len() {
            return None;
        }
    }
}

fn syntax_of(text: &[u8], line: (usize, usize)) -> Option<Syntax> {
    let mut fields = Vec::new();
    if Finder::new(std::iter::empty()).split(text, line, &mut fields).is_ok() {
        return Some(Syntax::JsonLines);
    }
    let mut is = |combined| access::split(text, line, combined, &mut fields).is_ok();
    // A line of the combined format is one of the common format with something behind it.
    let combined = is(true);
    (combined || is(false)).then_some(Syntax::Access { combined })
}

/// Fields of each record, if all have as many.
fn fields(text: &[u8], ended: bool, delimiter: u8) -> Option<usize> {
    let (mut at, mut common, mut fields) = (0, None, Vec::<Field>::new());
    for _ in 0..MOST_RECORDS {
        match split(text, at, delimiter, ended, &mut fields) {
            Split::Record(end) => {
                if *common.get_or_insert(fields.len()) != fields.len() {
                    return None;
                }
                at = end;
            }
            Split::Blank(end) => at = end,
            Split::Malformed(..) => return None,
            Split::More if common.is_some() || ended => break,
            // One line, longer than what was read.
            Split::More => return self::fields(text, true, delimiter),
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_every_record_has() {
        for (text, expected) in [
            ("host,ms\nweb,1\n", Some(b',')),
            ("host;ms\nweb;1,5\ndb;2,5\n", Some(b';')),
            ("a,b;1\nc,d;2\n", Some(b';')),
            ("1,5;2,5\n3,5;4,5\n", Some(b';')),
            ("name\tcity, country\nx\tOslo, Norway\n", Some(b'\t')),
            ("\"a,b\"|c\nd|\"e\n,f\"\n", Some(b'|')),
            ("\u{feff}\r\na|b\r\n\r\nc|d", Some(b'|')),
            ("one\ntwo\n", None),
            ("a,b\nc\n", None),
            ("", None),
            ("\n", None),
            ("\"open,a\n", None),
        ] {
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text:?}");
        }
    }

    #[test]
    fn the_first_line_says_whether_a_text_is_a_log_or_json() {
        let log = "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 5";
        let (common, combined) =
            (Syntax::Access { combined: false }, Syntax::Access { combined: true });
        for (text, expected) in [
            (" {\"a\": 1}\n", Some(Syntax::JsonLines)),
            ("\u{feff}\r\n{}\nx", Some(Syntax::JsonLines)),
            ("[1]\n", None),
            ("{a=1}\n", None),
            ("host,ms\n", None),
            ("", None),
            ("\n", None),
            (log, Some(common)),
            (&format!("{log} 0.5\n"), Some(common)),
            (&format!("{log} \"-\" \"curl\"\n"), Some(combined)),
            (&format!("{log} \"-\" \"curl\" 0.5\n"), Some(combined)),
        ] {
            assert_eq!(syntax(text.as_bytes(), true), expected, "{text}");
        }
        assert_eq!(syntax(b"\n{\"a\": 1}", false), None, "a line may go on");
    }

    #[test]
    fn a_text_cut_anywhere_behind_its_first_record_is_guessed_as_the_whole() {
        let text = b"host,path,ms\nweb,\"/a;b\n;c\",1\ndb,/x|y;z,2\n";
        for end in 13..=text.len() {
            assert_eq!(delimiter(&text[..end], false), Some(b','), "{end}");
        }
        assert_eq!(delimiter(&text[..9], false), Some(b','), "a line that does not end");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_with_a_delimiter_is_read_with_it(
            rows in prop::collection::vec(prop::collection::vec("[a-z0-9 .]{0,4}", 3), 1..20),
            quoted in any::<u64>(),
            which in 0..DELIMITERS.len(),
        ) {
            let own = DELIMITERS[which] as char;
            let field = |at: usize, text: &String| match quoted >> (at % 64) & 1 {
                1 => format!("\"{text};,|\t\n\""),
                _ => format!("x{text}"),
            };
            let mut at = 0;
            let mut text = String::new();
            for row in &rows {
                let fields: Vec<String> = row.iter().map(|f| { at += 1; field(at, f) }).collect();
                text += &(fields.join(&own.to_string()) + "\n");
            }
            prop_assert_eq!(delimiter(text.as_bytes(), true), Some(own as u8), "{:?}", text);
        }
    }
}
