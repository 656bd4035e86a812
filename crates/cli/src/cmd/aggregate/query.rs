//! From the words of the command line to what is asked of delimited text.

use std::io::IsTerminal;

use fathom_aggregate::delimited;
use fathom_aggregate::guess::{self, Guessed, Said};
use fathom_aggregate::{By, Filter, Null, Query, Reason, Reject, Selector, Source, Syntax, Value};

use super::{ErrorPolicy, FormatIn, Options};
use crate::input::{Columns, Table};

/// What is asked of delimited text; None for `key;value` lines.
pub(super) fn query(options: &Options, condition: Option<Filter>) -> anyhow::Result<Option<Query>> {
    let Options { by, value, text, null, null_values, .. } = options;
    let lists = [by, value, text, null, null_values];
    let is_plain =
        lists.iter().all(|list| list.is_empty()) && options.ragged.is_none() && condition.is_none();
    let said = [options.header, options.quotes, options.decimal_comma];
    let is_plain = is_plain && said == [None; 3] && options.delimiter.is_none();
    let flags = [options.count, options.trim, options.ignore_case];
    if is_plain && options.format_in.is_none() && flags == [false; 3] {
        return Ok(None);
    }
    let mut query = Query::new(options.delimiter.unwrap_or(b';'));
    if !options.by.is_empty() {
        let lists = options.by.iter().map(|list| By::list(list)).collect::<Result<Vec<_>, _>>();
        query.by = lists.map_err(|why| anyhow::anyhow!("--by: {why}"))?.concat();
    }
    if options.count || !options.text.is_empty() || !options.value.is_empty() {
        let lists =
            options.value.iter().map(|list| Value::list(list)).collect::<Result<Vec<_>, _>>();
        query.values = lists.map_err(|why| anyhow::anyhow!("--value: {why}"))?.concat();
        query.values.extend(columns("--text", &options.text)?.into_iter().map(Value::text));
    }
    (query.trim, query.ignore_case) = (options.trim, options.ignore_case);
    query.decimal_comma = options.decimal_comma.unwrap_or(false);
    query.filter = condition;
    query.syntax = match options.format_in {
        None | Some(FormatIn::Delimited) => Syntax::Delimited,
        Some(FormatIn::Common) => Syntax::Access { combined: false },
        Some(FormatIn::Combined) => Syntax::Access { combined: true },
        Some(FormatIn::Ndjson) => Syntax::JsonLines,
    };
    if query.syntax == Syntax::Delimited {
        query.header = options.header.unwrap_or_else(|| query.has_names());
        query.quotes = options.quotes.unwrap_or(true);
    }
    for list in &options.null_values {
        let values = Query::null_values(list);
        let values = values.map_err(|why| anyhow::anyhow!("--null-values: {why}"))?;
        query.nulls.extend(values.into_iter().map(|(value, _)| value.into_bytes()));
    }
    query.ragged = options.ragged.unwrap_or_default();
    nulls(&mut query, &options.null)?;
    Ok(Some(query))
}

/// The columns of a table that are asked for.
pub(super) fn columns_of(
    options: &Options,
    query: Option<&Query>,
    table: Table,
) -> anyhow::Result<Columns> {
    let Some(query) = query else {
        anyhow::bail!("it has columns: choose them by --by and --value")
    };
    let is_said = options.format_in.is_some()
        || options.delimiter.is_some()
        || options.header.is_some()
        || options.quotes.is_some()
        || options.ragged.is_some()
        || options.decimal_comma.is_some();
    anyhow::ensure!(
        !is_said,
        "it is a table: --format-in, --delimiter, --header, --quotes, --ragged and --decimal-comma are of text"
    );
    let there = table.width();
    if let Some(place) = query.last_place().filter(|place| *place > there) {
        return Err(NotThere(format!("there is no column {place}; there are {there}")).into());
    }
    let columns = table.choose(query.names().as_deref(), delimited::hint);
    columns.map_err(|error| NotThere(error.to_string()).into())
}

/// What cannot be had of a table, or in one: it is the data's, and no failure to read or write.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotThere(pub(super) String);

/// What is wrong where lines have no second column.
pub(super) const NO_VALUE: &str = "--value, --text or --count says what is told of each key";

/// How tables become text.
pub(super) fn of_tables(query: &mut Query) {
    (query.syntax, query.delimiter) = (Syntax::Delimited, b',');
    (query.header, query.guessed_header) = (true, None);
    (query.quotes, query.decimal_comma) = (true, false);
}

/// Guesses what was not said of how sources are written; whoever sees it is told. If nobody was, what was guessed: it
/// may explain a failure.
///
/// # Errors
/// Logs or lines of JSON of which no value is asked for, and values without a value that may be one number with a decimal comma.
pub(super) fn guess(
    query: &mut Query,
    options: &Options,
    sources: &mut [Source],
) -> anyhow::Result<Option<Guessed>> {
    let said = Said {
        syntax: options.format_in.is_some() || options.ragged.is_some(),
        delimiter: options.delimiter,
        quotes: options.quotes,
        header: options.header,
        decimal_comma: options.decimal_comma,
    };
    if !options.has_value() {
        // The second column is for delimited text.
        let mut keys = query.clone();
        keys.values.clear();
        anyhow::ensure!(guess::settle(&mut keys, &said, sources).syntax.is_none(), NO_VALUE);
    }
    let guessed = guess::settle(query, &said, sources);
    let mut lists = options.null_values.iter();
    if query.decimal_comma
        && let Some((one, two)) = lists.find_map(|list| number_with_comma(list))
    {
        anyhow::bail!(
            "--null-values {one},{two}: with decimal commas this is one number in quotes, '\"{one},{two}\"', \
             or two, '\"{one}\",\"{two}\"'"
        );
    }
    let is_seen = std::io::stderr().is_terminal();
    if is_seen {
        tell(&guessed);
    } else if guessed.header && options.on_error == ErrorPolicy::Skip {
        say!("fathom: the first record is taken for a header, not skipped (--header)");
    }
    Ok((!is_seen).then_some(guessed))
}

/// Two of a list that may be a number with a decimal comma.
fn number_with_comma(list: &str) -> Option<(String, String)> {
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let values = Query::null_values(list).ok()?;
    let bare = values.windows(2).filter(|pair| !pair[0].1 && !pair[1].1);
    let mut pairs = bare.map(|pair| (pair[0].0.trim(), pair[1].0.trim()));
    let found =
        pairs.find(|(one, two)| is_whole(one.trim_start_matches(['-', '+'])) && is_whole(two));
    found.map(|(one, two)| (one.to_owned(), two.to_owned()))
}

/// Says why all of a record may be one field.
fn tell_no_delimiter() {
    say!("fathom: no delimiter cuts the records alike, so ; is taken (--delimiter)");
}

/// Says which guesses may be why records were refused, or why a column is not there.
pub(super) fn explain(guessed: &Guessed, rejects: &[Reject], is_column: bool) {
    let is_any = |is_so: fn(&Reject) -> bool| rejects.iter().any(is_so);
    let is_ragged = is_any(|reject| matches!(reject.reason, Reason::Ragged { .. }));
    if guessed.no_delimiter && (is_column || !rejects.is_empty()) {
        tell_no_delimiter();
    }
    if let Some(delimiter) = guessed.delimiter.filter(|_| guessed.odd_records && is_ragged) {
        let shown = shown(delimiter);
        say!(
            "fathom: {shown} was taken for the delimiter, though it does not cut all records alike (--delimiter)"
        );
    }
    if guessed.no_quotes && is_any(|reject| reject.text.contains(&b'"')) {
        say!("fathom: quotes were taken for bytes like any other (--quotes=yes)");
    }
    let has_point = |reject: &Reject| {
        let field = reject.field.as_ref().filter(|_| matches!(reject.reason, Reason::Number(_)));
        field.is_some_and(|field| field.text.contains(&b'.'))
    };
    if guessed.decimal_comma && is_any(has_point) {
        say!("fathom: numbers were taken to have decimal commas (--decimal-comma=no)");
    }
}

fn shown(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".to_owned() } else { char::from(delimiter).to_string() }
}

/// All that was guessed, in one line.
fn tell(guessed: &Guessed) {
    let shown = match guessed.syntax {
        Some(Syntax::JsonLines) => "lines of JSON",
        Some(Syntax::Access { combined: true }) => "an access log in the combined format",
        Some(Syntax::Access { combined: false }) => "an access log in the common format",
        None | Some(Syntax::Delimited) => "",
    };
    if !shown.is_empty() {
        say!("fathom: the input is taken to be {shown} (--format-in says otherwise)");
    }
    if guessed.no_delimiter {
        tell_no_delimiter();
    }
    let mut told: Vec<String> = Vec::new();
    if let Some(delimiter) = guessed.delimiter {
        told.push(format!("fields are separated by {} (--delimiter)", self::shown(delimiter)));
    }
    for (is_guessed, said) in [
        (guessed.no_quotes, "quotes are bytes like any other (--quotes)"),
        (guessed.header, "the first record is a header (--header)"),
        (guessed.decimal_comma, "numbers have decimal commas (--decimal-comma)"),
    ] {
        told.extend(is_guessed.then(|| said.to_owned()));
    }
    if !told.is_empty() {
        say!("fathom: taken for granted, unless the option says otherwise: {}", told.join("; "));
    }
}

fn columns(option: &str, lists: &[String]) -> anyhow::Result<Vec<Selector>> {
    let lists = lists.iter().map(|list| Selector::list(list)).collect::<Result<Vec<_>, _>>();
    Ok(lists.map_err(|why| anyhow::anyhow!("{option}: {why}"))?.concat())
}

/// What is said of all columns first, so that the order of the options does not matter.
fn nulls(query: &mut Query, said: &[String]) -> anyhow::Result<()> {
    let (of_one, of_all): (Vec<&String>, Vec<_>) = said.iter().partition(|null| null.contains('='));
    let mut settled: Vec<(Option<Selector>, Null)> = Vec::new();
    for text in of_all.into_iter().chain(of_one) {
        let (wanted, word) = match text.rsplit_once('=') {
            Some((list, word)) => match Value::list(list) {
                Ok(all) if all.iter().any(|value| value.formula.is_some()) => {
                    (all.into_iter().map(|value| value.column).collect(), word)
                }
                _ => (columns("--null", &[list.to_owned()])?, word),
            },
            None => (Vec::new(), text.as_str()),
        };
        let null = null(word)?;
        let all = wanted.is_empty().then_some(None);
        for column in wanted.into_iter().map(Some).chain(all) {
            set_null(query, column.as_ref(), null)
                .map_err(|why| anyhow::anyhow!("--null {text}: {why}"))?;
            let is_other = |(known, other): &(_, Null)| *known == column && *other != null;
            anyhow::ensure!(
                !settled.iter().any(is_other),
                "--null {text}: another --null says otherwise"
            );
            settled.push((column, null));
        }
    }
    Ok(())
}

/// Says it of a column, or of all.
fn set_null(query: &mut Query, column: Option<&Selector>, null: Null) -> Result<(), String> {
    let is_wanted = |value: &&mut Value| column.is_none_or(|column| value.column == *column);
    let mut values = query.values.iter_mut().filter(is_wanted).peekable();
    match column {
        Some(column) if values.peek().is_none() => Err(format!(
            "no --value and no --text names {column}, and each COL=… is a --null of its own"
        )),
        _ => {
            values.for_each(|value| value.null = null);
            Ok(())
        }
    }
}

fn null(word: &str) -> anyhow::Result<Null> {
    match word {
        "skip" => Ok(Null::Skip),
        "zero" => Ok(Null::Zero),
        "fail" => Ok(Null::Fail),
        _ => anyhow::bail!("--null {word}: there is skip, zero and fail"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command};

    fn options(words: &[&str]) -> Options {
        match Args::parse_from([&["fathom", "aggregate"], words].concat()).command {
            Command::Aggregate(options) => options,
            _ => unreachable!("the words of this command"),
        }
    }

    /// Its name was cut at the comma.
    #[test]
    fn what_is_missing_of_a_formula_with_a_comma_can_be_said() {
        for (null, c) in
            [("round(a / b, 2) =zero", Null::Skip), ("c,round(a / b, 2)=zero", Null::Zero)]
        {
            let words = ["--value", "round(a / b, 2),c", "--null", null];
            let query = query(&options(&words), None).unwrap().unwrap();
            let nulls: Vec<Null> = query.values.iter().map(|value| value.null).collect();
            assert_eq!(nulls, [Null::Zero, c]);
        }
    }

    /// It was two values, and its own records counted.
    #[test]
    fn a_value_with_a_decimal_comma_is_one_in_quotes() {
        let settled = |nulls: &str, text: &'static [u8]| {
            let options = options(&["--value", "2", "--null-values", nulls]);
            let mut query = query(&options, None).unwrap().unwrap();
            let mut sources = [Source::Stream { path: "-".into(), reader: Box::new(text) }];
            guess(&mut query, &options, &mut sources).map(|_| query.nulls)
        };
        let [commas, points] = [&b"a;-99,9\nb;1,5\n"[..], b"a;-99.9\nb;1.5\n"];
        let said = settled("NA,-99,9", commas).unwrap_err().to_string();
        assert!(said.starts_with("--null-values -99,9: "), "{said}");
        assert!(said.contains("'\"-99,9\"'"), "{said}");
        assert_eq!(settled("\"-99,9\"", commas).unwrap(), [&b""[..], b"-99,9"]);
        assert_eq!(settled("\"-99\",\"9\"", commas).unwrap(), [&b""[..], b"-99", b"9"]);
        let quoted = settled("NA, \"-99,9\" ,\"a,1,2,b\"", commas).unwrap();
        assert_eq!(quoted, [&b""[..], b"NA", b"-99,9", b"a,1,2,b"]);
        assert!(settled("-99, 9", commas).is_err());
        assert_eq!(settled("-99,9", points).unwrap(), [&b""[..], b"-99", b"9"]);
    }
}
