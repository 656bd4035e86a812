//! A guess at how delimited text is written, from its beginning.
//!
//! What is guessed is the delimiter, whether fields stand in quotes, whether numbers have a decimal comma, whether the
//! first record is a header, and whether the text is delimited at all or an access log or lines of JSON, which
//! their first line says: names of columns say that there is a header. A guess is made once and holds for the
//! whole run; where it was wrong, records of another number of fields, or another form, say so.
//! A record in ten may be odd, and so may one of any few: a line of totals does not hide what cuts all others.

use std::borrow::Cow;

use fathom_machine::level::Level;
use memchr::{memchr, memchr_iter};

use crate::access;
use crate::delimited::{Query, Ragged, Syntax};
use crate::error::{Reason, may_be_thousands};
use crate::ndjson::Finder;
use crate::number::Decimal;
pub use crate::record::Dialect;
use crate::record::{Field, Split, split};
use crate::selector::{Selector, places};
use crate::source::Source;

/// Delimiters there are, the surest first: a comma may be part of numbers, and stands in texts.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Fields may stand in quotes, or quotes are bytes like any other.
const BOTH: [bool; 2] = [true, false];

/// Records that are looked at for a delimiter.
const MOST_RECORDS: usize = 1000;

/// The delimiter that cuts every record of the text into as many fields, two at least: the first of
/// tab, semicolon, bar and comma that does, where fields may stand in quotes, and if none does, where quotes are
/// bytes like any other. If none does, the first that so cuts the first record and all others but few. None if there is none.
/// `ended` says that the text is all there is; otherwise its last record is not looked at unless it is the only one, or
/// has lines in quotes that are records like the others if quotes are bytes.
pub fn dialect(text: &[u8], ended: bool) -> Option<Dialect> {
    dialect_of(text, ended, (&DELIMITERS, &BOTH), &[])
}

/// Whether fields may stand in quotes, where the delimiter is known; None if that tells nothing.
pub fn quotes(text: &[u8], ended: bool, delimiter: u8) -> Option<bool> {
    dialect_of(text, ended, (&[delimiter], &BOTH), &[]).map(|dialect| dialect.quotes)
}

/// The same among these delimiters and quotes. Where it has not all these names in the first record, the
/// delimiter that has them goes before, if it is the only one.
fn dialect_of(
    text: &[u8],
    ended: bool,
    (delimiters, quotes): (&[u8], &[bool]),
    names: &[&str],
) -> Option<Dialect> {
    let all = quotes
        .iter()
        .flat_map(|&quotes| delimiters.iter().map(move |&delimiter| Dialect { delimiter, quotes }));
    let records = |dialect: &Dialect| records(text, ended, *dialect, MOST_RECORDS);
    let cuts = |dialect: &Dialect, may_be_odd: bool| {
        let (records, refused, _) = records(dialect);
        let fields = records.first().map_or(0, Vec::len);
        let odd = refused + records.iter().filter(|record| record.len() != fields).count();
        let there = records.len() + refused;
        let are_few = may_be_odd && there > 2 && (odd == 1 || odd * 10 <= there);
        // What stands in quotes as a whole shows that they mean something, and that another field is wrong.
        let is_quoted =
            |field: &Cow<'_, [u8]>| field.len() > 1 && field[0] == b'"' && field.ends_with(b"\"");
        fields > 1
            && (odd == 0 || are_few)
            && (dialect.quotes || !records.iter().flatten().any(is_quoted))
    };
    let has_names = |dialect: &Dialect| {
        let first = records(dialect).0.into_iter().next().unwrap_or_default();
        names.iter().all(|name| places(name, &first).next().is_some())
    };
    let found = all.clone().find(|dialect| cuts(dialect, false)).map(|dialect| {
        // A quote that is open where the text is cut may never be closed.
        let bytes = Dialect { quotes: false, ..dialect };
        let is_byte = quotes.contains(&false) && records(&dialect).2 && cuts(&bytes, false);
        if is_byte { bytes } else { dialect }
    });
    let found = found.or_else(|| all.clone().find(|dialect| cuts(dialect, true)));
    if names.is_empty() || found.as_ref().is_some_and(has_names) {
        return found;
    }
    let mut naming = all.filter(has_names);
    let Some(first) = naming.next() else { return found };
    if naming.any(|other| other.delimiter != first.delimiter) {
        return found;
    }
    let own = dialect_of(text, ended, (&[first.delimiter], quotes), &[]).filter(has_names);
    Some(own.unwrap_or(first))
}

/// What the values at the beginning of a text say of how it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The first record has no number where all others have one (and, where no column is read as numbers, a name or
    /// nothing in each column): it is a header.
    pub header: bool,
    /// Numbers have a comma among their digits, at least one of them such that it parts no thousands, and none a point.
    pub decimal_comma: bool,
}

/// A guess from the columns whose fields are read as numbers, of a header from all where there are none, by the rest of
/// what is known of the text. Columns chosen by name are found in the first record.
pub fn values(text: &[u8], ended: bool, query: &Query) -> Values {
    values_of(&records(text, ended, query.dialect(), usize::MAX).0, query)
}

fn values_of(records: &[Record<'_>], query: &Query) -> Values {
    let Some(first) = records.first() else { return Values::default() };
    let place = |selector: &Selector| match selector {
        Selector::Place(place) => Some(place - 1),
        Selector::Name(name) => places(name, first).next(),
    };
    let places: Vec<usize> = query.number_columns().filter_map(place).collect();
    let is_number = |text: &[u8]| {
        let has_both = text.contains(&b',') && text.contains(&b'.');
        let pointed: Vec<u8> = text.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
        !has_both && Decimal::parse(pointed.trim_ascii()).is_ok()
    };
    let is_headed = |places: &[usize]| {
        let rest: Vec<&[u8]> = fields_of(&records[1..], places).collect();
        let mut own = fields_of(&records[..1], places).peekable();
        own.peek().is_some()
            && own.all(|field| !is_number(field) && !query.is_null(field))
            && rest.iter().all(|field| is_number(field) || query.is_null(field))
            && rest.iter().any(|field| is_number(field))
    };
    let header = !query.header
        && match query.number_columns().next() {
            Some(_) => is_headed(&places),
            None => {
                let all: Vec<usize> = (0..first.len()).collect();
                // What has no letter, or comes again, is a value rather than a name.
                let is_named = all.iter().all(|&at| {
                    let name = &*first[at];
                    let has_letter = String::from_utf8_lossy(name).contains(char::is_alphabetic);
                    let recurs = || fields_of(&records[1..], &[at]).any(|field| field == name);
                    name.is_empty() || (has_letter && !is_number(name) && !recurs())
                });
                is_named && all.iter().any(|&at| is_headed(&[at]))
            }
        };
    let records = &records[usize::from(header || query.header)..];
    let numbers = || fields_of(records, &places).filter(|field| is_number(field));
    // A comma that may part thousands in all of them shows nothing.
    let has_comma = numbers().any(|field| field.contains(&b',') && !may_be_thousands(field));
    let has_point = numbers().any(|field| field.contains(&b'.'));
    Values { header, decimal_comma: query.delimiter != b',' && has_comma && !has_point }
}

/// The fields at these places, of the records that have them.
fn fields_of<'r>(records: &'r [Record<'_>], places: &'r [usize]) -> impl Iterator<Item = &'r [u8]> {
    records.iter().flat_map(|record| places.iter().filter_map(|&at| Some(&**record.get(at)?)))
}

/// How the first line that is not blank is written, if that is plain: as an object of JSON, or as an
/// access log has it. `ended` says that the text is all there is; of a line that is cut off an object is known by its first
/// key, and a log is not.
pub fn syntax(text: &[u8], ended: bool) -> Option<Syntax> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut at = 0;
    loop {
        let end = match memchr(b'\n', &text[at..]) {
            Some(end) => at + end,
            None if ended => text.len(),
            None => return begins_as_object(&text[at..]).then_some(Syntax::JsonLines),
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

fn begins_as_object(line: &[u8]) -> bool {
    let inside = line.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let Some(key) = inside.and_then(|inside| inside.strip_prefix(b"\"")) else { return false };
    memchr(b'"', key).is_some_and(|end| key[end + 1..].trim_ascii_start().starts_with(b":"))
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
    /// It does not cut all records as the first.
    pub odd_records: bool,
    /// None cuts the records alike, and the query's own is taken.
    pub no_delimiter: bool,
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
    sources.iter_mut().any(|source| !is_blank(&source.peek(LOOKED_AT_BYTES).0))
}

/// Whether nothing can be told from a text: it has a byte order mark and ends of lines at most.
fn is_blank(text: &[u8]) -> bool {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii().is_empty()
}

/// The [dialect] of a source, by its first bytes and the delimiter, if that is known.
pub fn of_source(source: &mut Source, delimiter: Option<u8>) -> Option<Dialect> {
    let (text, ended) = source.peek(LOOKED_AT_BYTES);
    let delimiters = delimiter.as_ref().map_or(&DELIMITERS[..], std::slice::from_ref);
    dialect_of(&text, ended, (delimiters, &BOTH), &[])
}

/// What the first source that has a line is.
fn syntax_of_sources(sources: &mut [Source]) -> Syntax {
    let guess = sources.iter_mut().find_map(|source| {
        let (text, ended) = source.peek(LOOKED_AT_BYTES);
        (!is_blank(&text)).then(|| syntax(&text, ended))
    });
    guess.flatten().unwrap_or_default()
}

fn settle_delimited(query: &mut Query, said: &Said, sources: &mut [Source], guessed: &mut Guessed) {
    let mut texts = sources.iter_mut().map(|source| source.peek(LOOKED_AT_BYTES));
    let Some((text, ended)) = texts.find(|(text, _)| !is_blank(text)) else { return };
    let delimiters = said.delimiter.as_ref().map_or(&DELIMITERS[..], std::slice::from_ref);
    let quotes = said.quotes.as_ref().map_or(&BOTH[..], std::slice::from_ref);
    let names: Vec<&str> = query.columns().filter_map(Selector::name).collect();
    let found = dialect_of(&text, ended, (delimiters, quotes), &names);
    // Records of any length are asked for: each has two fields at least.
    let padded = || {
        let is_cut = |dialect: &Dialect| {
            let (records, refused, _) = records(&text, ended, *dialect, MOST_RECORDS);
            refused == 0 && !records.is_empty() && records.iter().all(|record| record.len() > 1)
        };
        let of = |&quotes| delimiters.iter().map(move |&delimiter| Dialect { delimiter, quotes });
        quotes.iter().flat_map(of).find(is_cut)
    };
    let found = found.or_else(|| (query.ragged == Ragged::Pad).then(padded).flatten());
    guessed.no_delimiter = found.is_none() && said.delimiter.is_none();
    if let Some(Dialect { delimiter, quotes }) = found {
        guessed.delimiter = said.delimiter.is_none().then_some(delimiter);
        guessed.no_quotes = query.quotes && !quotes;
        (query.delimiter, query.quotes) = (delimiter, quotes);
    }
    let (records, refused, _) = records(&text, ended, query.dialect(), usize::MAX);
    let are_odd = refused > 0 || records.windows(2).any(|two| two[0].len() != two[1].len());
    guessed.odd_records = guessed.delimiter.is_some() && are_odd;
    let values = values_of(&records, query);
    guessed.header = said.header.is_none() && values.header;
    guessed.decimal_comma = said.decimal_comma.is_none() && values.decimal_comma;
    if guessed.header {
        query.header = true;
        let names = records.into_iter().next();
        let name = |name: Cow<'_, [u8]>| String::from_utf8_lossy(&name).into_owned();
        query.guessed_header = names.map(|names| names.into_iter().map(name).collect());
    }
    query.decimal_comma |= guessed.decimal_comma;
}

/// The fields of a record.
type Record<'a> = Vec<Cow<'a, [u8]>>;

/// The fields of the first records, how many of them are none, and whether the text is cut in quotes that have a whole line
/// in them; nothing where the first one is none.
fn records(
    text: &[u8],
    ended: bool,
    dialect: Dialect,
    most: usize,
) -> (Vec<Record<'_>>, usize, bool) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (mut at, mut records, mut fields) = (0, Vec::new(), Vec::<Field>::new());
    let (mut refused, mut is_open) = (0, false);
    for _ in 0..most {
        match split(text, at, dialect, ended, &mut fields) {
            Split::Record(end) => {
                records.push(fields.iter().map(|field| field.content(text)).collect());
                at = end;
            }
            Split::Blank(end) => at = end,
            Split::Malformed { .. } if records.is_empty() => break,
            Split::Malformed { end, .. } => {
                refused += 1;
                at = end;
            }
            Split::More if !records.is_empty() || ended => {
                let has_line = memchr_iter(b'\n', &text[at..]).nth(1).is_some();
                let all = split(text, at, dialect, true, &mut fields);
                is_open =
                    has_line && matches!(all, Split::Malformed { reason: Reason::OpenQuote, .. });
                break;
            }
            // One line, longer than what was read.
            Split::More => return self::records(text, true, dialect, most),
        }
    }
    (records, refused, is_open)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The delimiter alone, where it is known whether there are quotes.
    fn delimiter(text: &[u8], ended: bool, quotes: bool) -> Option<u8> {
        let found = dialect_of(text, ended, (&DELIMITERS, &[quotes]), &[]);
        found.map(|dialect| dialect.delimiter)
    }

    fn both(text: &str, ended: bool) -> Option<(u8, bool)> {
        let found = dialect(text.as_bytes(), ended);
        found.map(|dialect| (dialect.delimiter, dialect.quotes))
    }

    #[test]
    fn one_odd_record_made_whole_lines_of_all() {
        let rows = "a,1\n".repeat(17);
        for (text, expected) in [
            ("name,amount\nA,1\nB,2\nTotal: 3\n", Some((b',', true))),
            ("name,amount\nA,1\nB,2\n\x1a", Some((b',', true))),
            ("name,amount\n\"A\",1\n\"B,2\nC,3\n", Some((b',', true))),
            ("name;what\na;5\" pipe\nb;7\" pipe\ntotal\n", Some((b';', false))),
            (&format!("k,v\n{rows}x\ny\n"), Some((b',', true))),
            (&format!("k,v\n{rows}x\ny\nz\n"), None),
            ("Report\nname,amount\nA,1\nB,2\n", None),
            ("a,b\nc\nd\n", None),
        ] {
            assert_eq!(both(text, true), expected, "{text:?}");
        }
    }

    #[test]
    fn names_of_columns_tell_the_delimiter_of_records_of_any_length() {
        let text = b"name,amount,note\nA,1\nB,2,x\nC,3\nD\n";
        let found = |text: &[u8], names: &[&str]| {
            let found = dialect_of(text, true, (&DELIMITERS, &BOTH), names);
            found.map(|dialect| (dialect.delimiter, dialect.quotes))
        };
        assert_eq!(found(text, &[]), None);
        assert_eq!(found(text, &["name", "amount"]), Some((b',', true)));
        assert_eq!(found(text, &["name", "price"]), None);
        assert_eq!(found(b"name\nA\n", &["name"]), None, "any of them has it");
        // What cuts alike would be an error for sure.
        assert_eq!(found(b"a;b,c\n1;2,3\n", &["b,c"]), Some((b';', true)));
        assert_eq!(found(b"a;b,c\n1;2,3\n", &["c"]), Some((b',', true)));
        assert_eq!(found(b"a;b,c\n1;2,3\n", &["d"]), Some((b';', true)));
        assert_eq!(found(b"a,5\"\n1\n2\n3\n", &["5\""]), Some((b',', false)));
    }

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
            for ended in [true, false] {
                assert_eq!(both(text, ended), expected, "{text:?} {ended}");
            }
        }
        assert_eq!(quotes(b"a;5\";1\n", true, b';'), Some(false));
        assert_eq!(quotes(b"a;5\";1\n", true, b'|'), None);
    }

    /// Only where the text was all there is.
    #[test]
    fn a_quote_that_is_never_closed_is_a_byte() {
        let open = format!("a;1\n\"b;2\n{}", "c;0\n".repeat(1100));
        for ended in [true, false] {
            assert_eq!(both(&open, ended), Some((b';', false)), "{ended}");
            assert_eq!(quotes(open.as_bytes(), ended, b';'), Some(false), "{ended}");
        }
        // These may be closed behind the cut.
        for text in
            ["a;1\n\"b;2\nto be\nor not;2\n", "a;1\n\"b;2\nc;0", "a;\"x\"\n\"b;2\nc;0\nd;0\n"]
        {
            assert_eq!(both(text, false), Some((b';', true)), "{text:?}");
        }
    }

    #[test]
    fn values_say_whether_there_is_a_header_and_where_numbers_have_a_comma() {
        let guessed = |text: &str, ended: bool, value: &str, header: bool| {
            let mut query = Query::new(b';');
            query.values = crate::delimited::Value::list(value).unwrap();
            query.header = header;
            let Values { header, decimal_comma } = values(text.as_bytes(), ended, &query);
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
            // They were read as 1 and 2.5.
            ("k;v\na;1,000\nb; 2,500\nc;15\n", "2", false, (true, false)),
            ("a;1,000\nb;0,250\n", "2", false, (false, true)),
            ("", "2", false, (false, false)),
        ] {
            for ended in [true, false] {
                assert_eq!(guessed(text, ended, value, header), expected, "{text:?} {value}");
            }
        }
    }

    /// A record was lost, and numbers were refused.
    #[test]
    fn what_stands_behind_a_thousand_records_tells_as_well() {
        let numbers = Query::new(b';');
        let counted = Query { values: Vec::new(), ..Query::new(b';') };
        for (query, first, row, last, expected) in [
            (&counted, "name;x\n", "k;1\n", "name;2\n", (false, false)),
            (&counted, "name;x\n", "k;1\n", "k;2\n", (true, false)),
            (&numbers, "k;1\n", "k;1\n", "k;1,5\n", (false, true)),
            (&numbers, "k;1,5\n", "k;1,5\n", "k;1.5\n", (false, false)),
        ] {
            let text = format!("{first}{}{last}", row.repeat(1100));
            let found = values(text.as_bytes(), false, query);
            assert_eq!((found.header, found.decimal_comma), expected, "{first:?} {last:?}");
        }
    }

    /// It was counted as a record.
    #[test]
    fn a_header_is_one_also_where_no_column_is_read_as_numbers() {
        let mut counted = Query::new(b',');
        counted.values.clear();
        let mut texts = Query::new(b',');
        texts.values = vec![crate::delimited::Value::text(Selector::Place(1))];
        let with_header =
            ["k,v\na,1\nb,2\n", "k,v,w\na,1,x\nb,,y\n", "v\n1\n2\n", "k,v,\na,1,\nb,2,\n"];
        let without = [
            "k,1\na,1\nb,2\n", "bob,-\nann,200\nbob,404\n", "ann,-\nbob,200\n",
            "bob,x\nann,1\nbob,2\n", "k,v\na,x\nb,y\n", "k,v\na,1\nb,x\n", "a,\nb,1\n", "k,v\n",
            "",
        ];
        for text in with_header.into_iter().chain(without) {
            let header = with_header.contains(&text);
            for query in [&counted, &texts] {
                let found = values(text.as_bytes(), true, query);
                assert_eq!(found, Values { header, decimal_comma: false }, "{text:?}");
            }
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
            ("{\"\\ud800\": 1}\n", Some(Syntax::JsonLines)),
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
        for (cut, expected) in
            [("\n{\"a\": 1", Some(Syntax::JsonLines)), ("{\"a", None), ("{a: 1", None), (log, None)]
        {
            assert_eq!(syntax(cut.as_bytes(), false), expected, "{cut} and more");
        }
    }

    #[test]
    fn a_text_cut_anywhere_behind_its_first_record_is_guessed_as_the_whole() {
        let text = b"host,path,ms\nweb,\"/a;b\n;c\",1\ndb,/x|y;z,2\n";
        let whole = Some(Dialect { delimiter: b',', quotes: true });
        for end in 13..=text.len() {
            assert_eq!(dialect(&text[..end], false), whole, "{end}");
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
