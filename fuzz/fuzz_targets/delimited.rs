//! Any bytes as delimited text, with every option that changes how it is read: any split into chunks,
//! any level and threads say what one chunk says at the scalar level, and no row is counted twice or
//! lost. The first four bytes choose; the rest is the input.
#![no_main]

use std::path::PathBuf;

use fathom_aggregate::delimited::{Selector, Shape, aggregate};
use fathom_aggregate::{Layout, OnError, Options, Progress, Source, format};
use fathom_machine::level::Level;
use libfuzzer_sys::fuzz_target;

/// What a run says: its table, or its error.
fn told(input: &[u8], shape: &Shape, options: &Options, is_strict: bool) -> Result<String, String> {
    let path = PathBuf::from("-");
    let source = Source::Stream { path, reader: Box::new(std::io::Cursor::new(input.to_vec())) };
    let on_error = if is_strict { OnError::Fail } else { OnError::Skip(None) };
    let summary = aggregate(vec![source], shape, options, on_error, &Progress::default());
    let summary = summary.map_err(|error| error.to_string())?;
    let tables = summary.columns.iter().map(|column| format::brc(column, &Layout::default()));
    let tables: Vec<String> =
        tables.map(|table| String::from_utf8_lossy(&table).into_owned()).collect();
    Ok(format!("{} {} {tables:?}", summary.records, summary.rejected))
}

fuzz_target!(|data: &[u8]| {
    let [form, columns, how, chunk, input @ ..] = data else { return };
    let levels: Vec<Level> = Level::available().collect();
    let place = |bits: u8| match bits & 3 {
        0 => Selector::Name("a".to_owned()),
        place => Selector::Place(place.into()),
    };
    let mut values = vec![place(columns >> 2)];
    if columns & 0x40 != 0 {
        values.push(place(columns >> 4));
    }
    let delimiter = [b';', b',', b'\t', b'|'][usize::from(form & 3)];
    let shape = Shape { delimiter, header: form & 4 != 0, key: place(*columns), values };
    let is_strict = how & 1 == 0;
    let plain = Options { level: Level::Scalar, threads: 1, ..Options::default() };
    let options = Options {
        level: levels[usize::from(how >> 2) % levels.len()],
        threads: usize::from(how >> 1 & 1) + 1,
        chunk_bytes: usize::from(*chunk) * 4 + 1,
        with_squares: how & 0x80 != 0,
        ..Options::default()
    };
    let expected = told(input, &shape, &plain, is_strict);
    let found = told(input, &shape, &options, is_strict);
    // Of two bad records in two chunks either thread may be the first to tell.
    match (&expected, &found) {
        (Err(_), Err(_)) if options.threads > 1 => {}
        _ => assert_eq!(found, expected, "{shape:?}"),
    }
});
