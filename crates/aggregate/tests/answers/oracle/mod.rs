//! The oracle: what aggregating means, written apart from the engine and sharing nothing with it.
//!
//! It splits text by a state machine of its own (RFC 4180, a byte at a time), reads numbers by a
//! grammar of its own, keeps every value of every key, computes statistics from them by their
//! definitions in exact fractions, and writes every format by itself. It is slow, and it takes the
//! whole input at once. The engine's types appear only where its answers are compared (`check`).
#![allow(unreachable_pub)] // the fuzz targets have it from a library, in which it is reachable

use std::collections::BTreeMap;

pub mod bucket;
pub mod check;
pub mod choice;
pub mod condition;
pub mod line;
pub mod number;
pub mod shown;

use number::Number;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Task {
    pub delimiter: u8,
    /// `key;value` lines, in which a quote is a byte like any other.
    pub plain: bool,
    /// Whether fields may stand in quotes.
    pub quotes: bool,
    /// Whether numbers have a comma where others have a point.
    pub comma: bool,
    pub header: bool,
    /// The parts of a key, at least one.
    pub keys: Vec<Place>,
    /// How wide the buckets are that parts of the key are joined in.
    pub shapes: Vec<Option<&'static str>>,
    /// Whether blanks around parts of keys, and the case of their letters, mean nothing.
    pub trim: bool,
    pub ignore_case: bool,
    /// Which records are taken.
    pub filter: Option<condition::Test>,
    /// Without any, records are counted.
    pub values: Vec<(Place, Null)>,
    /// Those that are computed, and from what.
    pub formulas: BTreeMap<usize, condition::Amount>,
    /// Which of them are texts.
    pub texts: Vec<usize>,
    /// Records may have more or fewer fields than the first.
    pub pad: bool,
    /// Texts that say that there is no value.
    pub nulls: Vec<Vec<u8>>,
}

/// Which column.
#[derive(Clone, Debug)]
pub enum Place {
    /// From 1.
    At(usize),
    Named(String),
}

/// What a missing value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    Skip,
    Zero,
    Fail,
}

impl Task {
    /// Whether a field, or what stands between its blanks, says that there is none.
    fn is_null(&self, field: &Vec<u8>) -> bool {
        self.nulls.contains(field) || self.nulls.contains(&bucket::bare(field))
    }

    /// A field as the number it may be is written elsewhere: with a point, of which there was none, and without
    /// blanks around it.
    pub fn number(&self, field: &[u8]) -> Vec<u8> {
        let text = |byte: &u8| match (self.comma, byte) {
            (true, b',') => b'.',
            (true, b'.') => b'?',
            _ => *byte,
        };
        let bare = if self.plain { field.to_vec() } else { bucket::bare(field) };
        bare.iter().map(text).collect()
    }

    /// `key;value` lines.
    pub fn plain() -> Task {
        Task {
            delimiter: b';',
            plain: true,
            quotes: true,
            comma: false,
            header: false,
            keys: vec![Place::At(1)],
            shapes: Vec::new(),
            trim: false,
            ignore_case: false,
            filter: None,
            values: vec![(Place::At(2), Null::Fail)],
            formulas: BTreeMap::new(),
            texts: Vec::new(),
            pad: false,
            nulls: Vec::new(),
        }
    }
}

/// What there is to know of an input.
#[derive(Debug, Default)]
pub struct Answer {
    /// What the header calls the parts of the key.
    pub keys: Option<Vec<String>>,
    pub columns: Vec<Column>,
    pub records: u64,
    pub blank_lines: u64,
    /// Records the filter left out.
    pub left_out: u64,
    pub refused: Vec<Refused>,
}

/// A column of values: of each key how many records it has, and all numbers in them.
#[derive(Clone, Debug, Default)]
pub struct Column {
    pub name: String,
    pub is_text: bool,
    /// By the parts of the key.
    pub groups: BTreeMap<Vec<Vec<u8>>, Group>,
    /// All keys together.
    pub all: Group,
}

/// What a column says of a key.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub rows: u64,
    /// In the order of the input.
    pub values: Vec<Number>,
    pub texts: Vec<Vec<u8>>,
}

/// A value of a record.
enum Value {
    Number(Number),
    Text(Vec<u8>),
}

/// A record that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Bytes before the record, and before what is wrong.
    pub record: usize,
    pub byte: usize,
    /// The name of the reason.
    pub why: String,
    /// The record.
    pub text: Vec<u8>,
}

/// Why there is no answer at all.
#[derive(Debug, PartialEq, Eq)]
pub enum NoAnswer {
    BadHeader,
    NoSuchColumn,
    AmbiguousColumn,
}

/// A record as it stands in the input.
struct Record {
    start: usize,
    /// Before its line end.
    end: usize,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, Default)]
struct Field {
    /// Where its content starts.
    at: usize,
    content: Vec<u8>,
}

/// What was read from a place on, and where to go on.
enum Step {
    Blank,
    Record(Record),
    Bad { why: &'static str, at: usize, end: usize },
}

/// Where the line ends that goes on at `at`, and where the next starts.
fn line_end(input: &[u8], at: usize) -> (usize, usize) {
    let end = (at..input.len()).find(|&i| input[i] == b'\n').unwrap_or(input.len());
    (end, (end + 1).min(input.len()))
}

/// A line of `key;value`, in which there are no quotes.
fn plain_line(input: &[u8], start: usize) -> (Step, usize) {
    let (end, next) = line_end(input, start);
    let line = &input[start..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return (Step::Blank, next);
    }
    let mut fields = vec![Field { at: start, ..Field::default() }];
    for (i, &byte) in line.iter().enumerate() {
        if byte == b';' {
            fields.push(Field { at: start + i + 1, ..Field::default() });
        } else {
            fields.last_mut().expect("one at least").content.push(byte);
        }
    }
    let step = match fields.len() {
        1 => Step::Bad { why: "NoDelimiter", at: start, end },
        2 => Step::Record(Record { start, end, fields }),
        // The second delimiter stands before the third field.
        _ => Step::Bad { why: "ManyDelimiters", at: fields[2].at - 1, end },
    };
    (step, next)
}

/// A line of fields, in which a quote is a byte like any other.
fn unquoted_record(input: &[u8], start: usize, delimiter: u8) -> (Step, usize) {
    let (end, next) = line_end(input, start);
    let line = &input[start..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut at = start;
    let fields = line.split(|byte| *byte == delimiter).map(|content| {
        let field = Field { at, content: content.to_vec() };
        at += content.len() + 1;
        field
    });
    let fields: Vec<Field> = fields.collect();
    let step =
        if line.is_empty() { Step::Blank } else { Step::Record(Record { start, end, fields }) };
    (step, next)
}

/// A record of delimited text: RFC 4180, a byte at a time. After a record that is none, reading goes
/// on behind its first line.
fn quoted_record(input: &[u8], start: usize, delimiter: u8) -> (Step, usize) {
    #[derive(PartialEq)]
    enum State {
        FieldStart,
        Plain,
        Quoted,
        /// Behind a quote in a quoted field: doubled, or its end.
        Quote,
    }
    let (mut state, mut fields) =
        (State::FieldStart, vec![Field { at: start, ..Field::default() }]);
    // What is wrong further down is told of the line that is refused.
    let bad = |why, at| {
        let (end, next) = line_end(input, start);
        (Step::Bad { why, at: if at < end { at } else { start }, end }, next)
    };
    let mut at = start;
    loop {
        let byte = input.get(at).copied();
        let is_return = byte == Some(b'\r') && matches!(input.get(at + 1), None | Some(b'\n'));
        let field = fields.last_mut().expect("one at least");
        match (&state, byte) {
            (State::Quoted, None) => return bad("OpenQuote", field.at - 1),
            (State::Quoted, Some(b'"')) => state = State::Quote,
            (State::Quoted, Some(byte)) => field.content.push(byte),
            (State::Quote, Some(b'"')) => {
                field.content.push(b'"');
                state = State::Quoted;
            }
            (_, None | Some(b'\n')) => break,
            (_, Some(byte)) if byte == delimiter => {
                fields.push(Field { at: at + 1, ..Field::default() });
                state = State::FieldStart;
            }
            // Part of the line end.
            (_, Some(_)) if is_return => {}
            (State::Quote, Some(_)) => return bad("AfterQuote", at),
            (State::FieldStart, Some(b'"')) => {
                field.at = at + 1;
                state = State::Quoted;
            }
            (State::Plain, Some(b'"')) => return bad("StrayQuote", at),
            (State::FieldStart | State::Plain, Some(byte)) => {
                field.content.push(byte);
                state = State::Plain;
            }
        }
        at += 1;
    }
    let next = (at + 1).min(input.len());
    let empty = fields.len() == 1 && fields[0].content.is_empty() && state == State::FieldStart;
    if empty {
        return (Step::Blank, next);
    }
    (Step::Record(Record { start, end: at, fields }), next)
}

/// Aggregates the whole input.
pub fn aggregate(input: &[u8], task: &Task) -> Result<Answer, NoAnswer> {
    let mut answer = Answer::default();
    answer.columns.resize_with(task.values.len().max(1), Column::default);
    for (at, ((place, _), column)) in task.values.iter().zip(&mut answer.columns).enumerate() {
        // What they are called until a header says it; an input without a line has none.
        column.name = match (task.formulas.get(&at), place) {
            (Some(formula), _) => formula.whole_text(),
            (None, Place::At(place)) => format!("column {place}"),
            (None, Place::Named(name)) => name.clone(),
        };
    }
    task.texts.iter().for_each(|&at| answer.columns[at].is_text = true);
    let mut names: Option<Vec<Vec<u8>>> = None;
    let mut width = None;
    let mut at = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    while at < input.len() {
        let start = at;
        let (step, next) = if task.plain {
            plain_line(input, at)
        } else if task.quotes {
            quoted_record(input, at, task.delimiter)
        } else {
            unquoted_record(input, at, task.delimiter)
        };
        at = next;
        let record = match step {
            Step::Blank => {
                answer.blank_lines += 1;
                continue;
            }
            Step::Bad { .. } if task.header && names.is_none() => return Err(NoAnswer::BadHeader),
            Step::Bad { why, at, end } => {
                let (why, text) = (why.to_owned(), input[start..end].to_vec());
                answer.refused.push(Refused { record: start, byte: at, why, text });
                continue;
            }
            Step::Record(record) => record,
        };
        if task.header && names.is_none() {
            let header: Vec<_> = record.fields.iter().map(|field| field.content.clone()).collect();
            width = Some(header.len());
            let name = |place: &Place| {
                let place = found(place, &header)?;
                let bare = header.get(place).map(|name| bucket::bare(name));
                let name = bare.map(|name| String::from_utf8_lossy(&name).into_owned());
                Ok(name.unwrap_or_else(|| format!("column {}", place + 1)))
            };
            if let Some(filter) = &task.filter {
                filter
                    .columns()
                    .into_iter()
                    .try_for_each(|place| found(place, &header).map(drop))?;
            }
            answer.keys = Some(task.keys.iter().map(name).collect::<Result<_, _>>()?);
            for (at, ((place, _), column)) in
                task.values.iter().zip(&mut answer.columns).enumerate()
            {
                match task.formulas.get(&at) {
                    None => column.name = name(place)?,
                    Some(formula) => formula
                        .columns()
                        .into_iter()
                        .try_for_each(|place| found(place, &header).map(drop))?,
                }
            }
            names = Some(header);
            continue;
        }
        let width = *width.get_or_insert(record.fields.len());
        if let Err((byte, why)) = take(&record, width, task, names.as_deref(), &mut answer) {
            let text = input[record.start..record.end].to_vec();
            answer.refused.push(Refused { record: record.start, byte, why, text });
        }
    }
    Ok(answer)
}

/// Where a column stands, from 0.
fn found(place: &Place, header: &[Vec<u8>]) -> Result<usize, NoAnswer> {
    let name = match place {
        Place::At(place) => return Ok(place - 1),
        Place::Named(name) => name,
    };
    let mut places: Vec<usize> =
        (0..header.len()).filter(|&at| header[at] == name.as_bytes()).collect();
    if places.is_empty() {
        let is_named = |at: &usize| bucket::bare(&header[*at]) == name.as_bytes();
        places.extend((0..header.len()).filter(is_named));
    }
    match places[..] {
        [] => Err(NoAnswer::NoSuchColumn),
        [place] => Ok(place),
        _ => Err(NoAnswer::AmbiguousColumn),
    }
}

/// Takes a record whole, or says where it is wrong and why.
fn take(
    record: &Record,
    width: usize,
    task: &Task,
    names: Option<&[Vec<u8>]>,
    answer: &mut Answer,
) -> Result<(), (usize, String)> {
    let fields = &record.fields;
    if !task.pad && !task.plain && fields.len() != width {
        let at = fields.get(width).map_or(record.start, |field| field.at);
        let why = format!("Ragged {{ expected: {width}, found: {} }}", fields.len());
        return Err((at, why));
    }
    let place = |place: &Place| found(place, names.unwrap_or_default()).expect("found before");
    let is_none = |field: &&Field| field.content == line::NO_VALUE;
    let no_value = |field: &Field| (field.at, "NoValue".to_owned());
    let field = |at: usize| match fields.get(at) {
        Some(field) if is_none(&field) => Err(no_value(field)),
        Some(field) => Ok(Some(field)),
        None if at < width => Ok(None),
        None => Err((record.start, format!("NoColumn({})", at + 1))),
    };
    let key = || {
        let part = |(which, key): (usize, &Place)| {
            let Some(field) = field(place(key))? else { return Ok(Vec::new()) };
            bucket::shaped(&field.content, which, task).map_err(|why| (field.at, why))
        };
        let parts: Vec<Vec<u8>> =
            task.keys.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        let is_empty = parts.iter().all(Vec::is_empty);
        let first = || fields.get(place(&task.keys[0])).map_or(record.start, |field| field.at);
        if is_empty { Err((first(), "EmptyKey".to_owned())) } else { Ok(parts) }
    };
    // In lines of `key;value` what is wrong first is said first.
    if task.plain {
        key()?;
    }
    let content = |at: &Place| {
        let found = field(place(at))?.filter(|field| !task.is_null(&field.content));
        Ok(found.map(|field| (field.at, field.content.clone(), task.number(&field.content))))
    };
    if let Some(filter) = &task.filter
        && filter.holds(&content)? != Some(true)
    {
        answer.left_out += 1;
        return Ok(());
    }
    // Whether or not the conditions had to look at it.
    fields.iter().find(is_none).map_or(Ok(()), |field| Err(no_value(field)))?;
    let mut values = Vec::new();
    for (which, (column, null)) in task.values.iter().enumerate() {
        if let Some(formula) = task.formulas.get(&which) {
            let number = formula.exactly(&content)?;
            values.push(match (number, null) {
                (Some(number), _) if number.is_too_long() => {
                    return Err((record.start, "Number(TooLong)".to_owned()));
                }
                (Some(number), _) => Some(Value::Number(number)),
                (None, Null::Skip) => None,
                (None, Null::Zero) => Some(Value::Number(number::read(b"0").expect("a number"))),
                (None, Null::Fail) => return Err((record.start, "Missing".to_owned())),
            });
            continue;
        }
        let found = field(place(column))?;
        let at = found.map_or(record.start, |field| field.at);
        let is_null = found.is_none_or(|field| task.is_null(&field.content));
        let content = match (is_null, null) {
            (false, _) => &found.expect("it is there").content[..],
            (true, Null::Skip) => {
                values.push(None);
                continue;
            }
            (true, Null::Zero) => b"0",
            (true, Null::Fail) => return Err((at, "Missing".to_owned())),
        };
        values.push(Some(if task.texts.contains(&which) {
            Value::Text(content.to_vec())
        } else {
            let content = if is_null { content.to_vec() } else { task.number(content) };
            Value::Number(number::read(&content).map_err(|why| (at, format!("Number({why})")))?)
        }));
    }
    if task.values.is_empty() {
        values.push(Some(Value::Number(number::read(b"0.0").expect("a number"))));
    }
    let key = key()?;
    for (column, value) in answer.columns.iter_mut().zip(values) {
        for group in [column.groups.entry(key.clone()).or_default(), &mut column.all] {
            group.rows += 1;
            match &value {
                None => {}
                Some(Value::Number(number)) => group.values.push(number.clone()),
                Some(Value::Text(text)) => group.texts.push(text.clone()),
            }
        }
    }
    answer.records += 1;
    Ok(())
}
