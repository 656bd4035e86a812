//! A guess at how delimited text is written, from its beginning.
//!
//! What is guessed is the delimiter, whether fields stand in quotes, whether numbers have a decimal comma, whether the
//! first record is a header, and whether the text is delimited at all or an access log or lines of JSON, which
//! their first line says: names of columns say that there is a header. A guess is made once and holds for the
//! whole run; where it was wrong, records of another number of fields, or another form, say so.

use std::borrow::Cow;

use fathom_machine::level::Level;
use memchr::memchr;

use crate::access;
use crate::delimited::{Query, Syntax};
use crate::ndjson::Finder;
use crate::number::Decimal;
pub use crate::record::Dialect;
use crate::record::{Field, Split, split};
use crate::selector::Selector;
use crate::source::Source;

/// Delimiters there are, the surest first: a comma may be part of numbers, and stands in texts.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Records that are looked at.
const MOST_RECORDS: usize = 1000;

/// The delimiter that cuts every record of the text into as many fields, two at least: the first of
/// tab, semicolon, bar and comma that does, where fields may stand in quotes, and if none does, where quotes are
/// bytes like any other. None if there is none. `ended` says that the text is all there is; otherwise its last record
/// is not looked at unless it is the only one.
pub fn dialect(text: &[u8], ended: bool) -> Option<Dialect> {
    dialect_of(text, ended, &DELIMITERS, &[true, false])
}

/// Whether fields may stand in quotes, where the delimiter is known; None if that tells nothing.
pub fn quotes(text: &[u8], ended: bool, delimiter: u8) -> Option<bool> {
    dialect_of(text, ended, &[delimiter], &[true, false]).map(|dialect| dialect.quotes)
}

/// The delimiter alone, where it is known whether there are quotes.
pub fn delimiter(text: &[u8], ended: bool, quotes: bool) -> Option<u8> {
    dialect_of(text, ended, &DELIMITERS, &[quotes]).map(|dialect| dialect.delimiter)
}

fn dialect_of(text: &[u8], ended: bool, delimiters: &[u8], quotes: &[bool]) -> Option<Dialect> {
    let all = quotes
        .iter()
        .flat_map(|&quotes| delimiters.iter().map(move |&delimiter| Dialect { delimiter, quotes }));
    let cuts = |dialect: &Dialect| {
        let records = records(text, ended, *dialect).unwrap_or_default();
        let fields = records.first().map_or(0, Vec::len);
        // What stands in quotes as a whole shows that they mean something, and that another field is wrong.
        let is_quoted =
            |field: &Cow<'_, [u8]>| field.len() > 1 && field[0] == b'"' && field.ends_with(b"\"");
        fields > 1
            && records.iter().all(|record| record.len() == fields)
            && (dialect.quotes || !records.iter().flatten().any(is_quoted))
    };
    all.into_iter().find(cuts)
}

/// What the values at the beginning of a text say of how it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The first record has no number where all others have one: it is a header.
    pub header: bool,
    /// Numbers have a comma among their digits, and none a point.
    pub decimal_comma: bool,
}

/// A guess from the columns whose fields are read as numbers, by the rest of what is known of the
/// text. Columns chosen by name are found in the first record.
pub fn values(text: &[u8], ended: bool, query: &Query) -> Values {
    let mut records = records(text, ended, query.dialect()).unwrap_or_default();
    let Some(first) = records.first().cloned() else { return Values::default() };
    let place = |selector: &Selector| match selector {
        Selector::Place(place) => Some(place - 1),
        Selector::Name(name) => first.iter().position(|field| **field == *name.as_bytes()),
    };
    let places: Vec<usize> = query.number_columns().filter_map(place).collect();
    let is_number = |text: &[u8]| {
        let has_both = text.contains(&b',') && text.contains(&b'.');
        let pointed: Vec<u8> = text.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
        !has_both && Decimal::parse(&pointed).is_ok()
    };
    let is_null = |text: &[u8]| query.nulls.iter().any(|null| **null == *text);
    let header = !query.header && {
        let rest: Vec<&[u8]> = fields_of(&records[1..], &places).collect();
        let mut own = fields_of(&records[..1], &places).peekable();
        own.peek().is_some()
            && own.all(|field| !is_number(field) && !is_null(field))
            && rest.iter().all(|field| is_number(field) || is_null(field))
            && rest.iter().any(|field| is_number(field))
    };
    if header || query.header {
        records.remove(0);
    }
    let has = |byte: u8| {
        let mut numbers = fields_of(&records, &places).filter(|field| is_number(field));
        numbers.any(|field| field.contains(&byte))
    };
    Values { header, decimal_comma: query.delimiter != b',' && has(b',') && !has(b'.') }
}

/// The fields at these places, of the records that have them.
fn fields_of<'r>(records: &'r [Record<'_>], places: &'r [usize]) -> impl Iterator<Item = &'r [u8]> {
    records.iter().flat_map(|record| places.iter().filter_map(|&at| Some(&**record.get(at)?)))
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
    if Finder::new(std::iter::empty(), Level::Scalar).split(text, &[line], &mut fields).is_ok() {
        return Some(Syntax::JsonLines);
    }
    let mut is = |combined| access::split(text, line, combined, &mut fields).is_ok();
    // A line of the combined format is one of the common format with something behind it.
    let combined = is(true);
    (combined || is(false)).then_some(Syntax::Access { combined })
}

/// What was said of how the input is written; what was not is [guessed](settle).
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    /// Whether something was that tells the syntax of the query.
    pub syntax: bool,
    /// The byte between fields.
    pub delimiter: Option<u8>,
    /// Whether fields may stand in quotes.
    pub quotes: Option<bool>,
    /// Whether the first record names the columns.
    pub header: Option<bool>,
    /// Whether numbers have a comma where others have a point.
    pub decimal_comma: Option<bool>,
}

/// What was taken for granted, where it had not been said and is other than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guessed {
    /// The input is a log, or lines of JSON.
    pub syntax: Option<Syntax>,
    /// The byte between fields, also if it is the usual one.
    pub delimiter: Option<u8>,
    /// Quotes are bytes like any other.
    pub no_quotes: bool,
    /// The first record is a header.
    pub header: bool,
    /// Numbers have decimal commas.
    pub decimal_comma: bool,
}

/// Bytes that are looked at for a guess.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// Guesses what was not said of how sources are written, from the first that tells, and enters it into the query.
pub fn settle(query: &mut Query, said: &Said, sources: &mut [Source]) -> Guessed {
    let mut guessed = Guessed::default();
    let is_said = said.syntax || said.delimiter.is_some();
    let has_words = said.header.is_some() || said.quotes.is_some();
    if !is_said && !has_words && !query.has_places() {
        query.syntax = syntax_of_sources(sources);
        query.header = query.syntax == Syntax::Delimited;
        guessed.syntax = Some(query.syntax).filter(|&syntax| syntax != Syntax::Delimited);
    }
    if query.syntax == Syntax::Delimited {
        settle_delimited(query, said, sources, &mut guessed);
    }
    guessed
}

/// Whether any of these has something at its beginning that is not blank, by which one can guess.
pub fn has_text(sources: &mut [Source]) -> bool {
    let is_blank = |source: &mut Source| source.peek(LOOKED_AT_BYTES).0.trim_ascii().is_empty();
    !sources.iter_mut().all(is_blank)
}

/// The [dialect] of a source, by its first bytes and the delimiter, if that is known.
pub fn of_source(source: &mut Source, delimiter: Option<u8>) -> Option<Dialect> {
    let (text, ended) = source.peek(LOOKED_AT_BYTES);
    let delimiters = delimiter.as_ref().map_or(&DELIMITERS[..], std::slice::from_ref);
    dialect_of(&text, ended, delimiters, &[true, false])
}

/// What the first source that has a line is.
fn syntax_of_sources(sources: &mut [Source]) -> Syntax {
    let guess = sources.iter_mut().find_map(|source| {
        let (text, ended) = source.peek(LOOKED_AT_BYTES);
        (!text.is_empty()).then(|| syntax(&text, ended))
    });
    guess.flatten().unwrap_or_default()
}

fn settle_delimited(query: &mut Query, said: &Said, sources: &mut [Source], guessed: &mut Guessed) {
    let mut texts = sources.iter_mut().map(|source| source.peek(LOOKED_AT_BYTES));
    let Some((text, ended)) = texts.find(|(text, _)| !text.trim_ascii().is_empty()) else { return };
    let found = match (said.delimiter, said.quotes) {
        (None, None) => dialect(&text, ended),
        (None, Some(quotes)) => {
            delimiter(&text, ended, quotes).map(|delimiter| Dialect { delimiter, quotes })
        }
        (Some(delimiter), None) => {
            quotes(&text, ended, delimiter).map(|quotes| Dialect { delimiter, quotes })
        }
        (Some(_), Some(_)) => None,
    };
    if let Some(Dialect { delimiter, quotes }) = found {
        guessed.delimiter = said.delimiter.is_none().then_some(delimiter);
        guessed.no_quotes = query.quotes && !quotes;
        (query.delimiter, query.quotes) = (delimiter, quotes);
    }
    let values = values(&text, ended, query);
    guessed.header = said.header.is_none() && values.header;
    guessed.decimal_comma = said.decimal_comma.is_none() && values.decimal_comma;
    if guessed.header {
        query.header = true;
        let names = records(&text, ended, query.dialect()).unwrap_or_default().into_iter().next();
        let name = |name: Cow<'_, [u8]>| String::from_utf8_lossy(&name).into_owned();
        query.guessed_header = names.map(|names| names.into_iter().map(name).collect());
    }
    query.decimal_comma |= guessed.decimal_comma;
}

/// The fields of a record.
type Record<'a> = Vec<Cow<'a, [u8]>>;

/// The fields of the first records; None if one is none.
fn records(text: &[u8], ended: bool, dialect: Dialect) -> Option<Vec<Record<'_>>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (mut at, mut records, mut fields) = (0, Vec::new(), Vec::<Field>::new());
    for _ in 0..MOST_RECORDS {
        match split(text, at, dialect, ended, &mut fields) {
            Split::Record(end) => {
                records.push(fields.iter().map(|field| field.content(text)).collect());
                at = end;
            }
            Split::Blank(end) => at = end,
            Split::Malformed(..) => return None,
            Split::More if !records.is_empty() || ended => break,
            // One line, longer than what was read.
            Split::More => return self::records(text, true, dialect),
        }
    }
    Some(records)
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
            assert_eq!(delimiter(text.as_bytes(), true, true), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_that_enclose_nothing_are_bytes() {
        for (text, expected) in [
            ("a;5\" pipe;1\nb;7\" pipe;2\n", Some((b';', false))),
            ("a;\"x\";1\nb;7;2\n", Some((b';', true))),
            ("a;b\nc;d\n", Some((b';', true))),
            ("a;\"b\nc;d\n", Some((b';', false))),
            ("a\"b\n", None),
            ("\"a\";1\nb\"c;2\n", None),
        ] {
            let found = dialect(text.as_bytes(), true);
            let found = found.map(|dialect| (dialect.delimiter, dialect.quotes));
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(quotes(b"a;5\";1\n", true, b';'), Some(false));
        assert_eq!(quotes(b"a;5\";1\n", true, b'|'), None);
    }

    #[test]
    fn values_say_whether_there_is_a_header_and_where_numbers_have_a_comma() {
        let guessed = |text: &str, value: &str, header: bool| {
            let mut query = Query::new(b';');
            query.values = crate::delimited::Value::list(value).unwrap();
            query.header = header;
            let Values { header, decimal_comma } = values(text.as_bytes(), true, &query);
            (header, decimal_comma)
        };
        for (text, value, header, expected) in [
            ("k;v\na;1,5\nb;2\n", "2", false, (true, true)),
            ("k;v\na;1.5\nb;2\n", "2", false, (true, false)),
            ("a;1,5\nb;2\n", "2", false, (false, true)),
            ("a;1,5\nb;2.5\n", "2", false, (false, false)),
            ("k;v\na;1,5\n", "v", true, (false, true)),
            ("k;v\na;1,5\n", "k", true, (false, false)),
            ("k;v\na;x\n", "2", false, (false, false)),
            ("k;v\n", "2", false, (false, false)),
            ("k;v\na;\n", "2", false, (false, false)),
            ("k;1,5\na;2\n", "2 * $2", false, (false, true)),
            ("k;1.234,5\n", "2", false, (false, false)),
            ("", "2", false, (false, false)),
        ] {
            assert_eq!(guessed(text, value, header), expected, "{text:?} {value}");
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
            assert_eq!(delimiter(&text[..end], false, true), Some(b','), "{end}");
        }
        assert_eq!(delimiter(&text[..9], false, true), Some(b','), "a line that does not end");
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
            let found = dialect(text.as_bytes(), true);
            let expected = Dialect { delimiter: own as u8, quotes: true };
            prop_assert_eq!(found, Some(expected), "{:?}", text);
        }
    }
}
