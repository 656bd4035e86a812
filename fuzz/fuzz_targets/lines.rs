//! Any bytes as access logs and lines of JSON: in any chunks, by any threads, the engine says the same, and takes no
//! line for JSON that serde_json does not. The first 9 bytes choose; the rest is the input.
#![no_main]

use fathom_aggregate::{
    By, Filter, OnError, Options, Progress, Query, Summary, Syntax, Value, delimited,
};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/aggregate/tests/oracle/mod.rs"]
mod oracle;

use oracle::check::file;
use oracle::choice::Choices;

fuzz_target!(|data: &[u8]| {
    let Some((seeds, input)) = data.split_first_chunk::<9>() else { return };
    let syntax = match seeds[0] % 3 {
        0 => Syntax::JsonLines,
        form => Syntax::Access { combined: form == 1 },
    };
    let is_json = syntax == Syntax::JsonLines;
    let mut query = Query::new(b',');
    query.syntax = syntax;
    query.by = By::list(if is_json { "a,b.0:100" } else { "path,time:1h" }).expect("columns");
    let value = fathom_aggregate::Selector::Name(if is_json { "c" } else { "bytes" }.to_owned());
    query.values = vec![Value::from(value)];
    query.filter = Filter::parse(if is_json { "d != \"x\" || d is null" } else { "host != \"x\"" }).ok();
    let whole = Options { threads: 1, chunk_bytes: 1 << 20, ..Options::default() };
    let expected = run(&query, input, &whole);
    let mut choices = Choices(u64::from_le_bytes(seeds[1..].try_into().expect("eight")));
    let Options { threads, chunk_bytes, level, .. } = choices.options();
    let options = Options { threads, chunk_bytes, level, ..whole };
    let found = run(&query, input, &options);
    assert_eq!(found.columns, expected.columns);
    let counts = |summary: &Summary| {
        [summary.records, summary.rejected, summary.blank_lines, summary.left_out]
    };
    assert_eq!(counts(&found), counts(&expected));
    assert_eq!(found.shown_rejects, expected.shown_rejects);
    if is_json {
        let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        let is_object = |line: &&[u8]| {
            serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value.is_object())
        };
        let objects = input.split(|&byte| byte == b'\n').filter(is_object).count() as u64;
        assert!(found.records + found.left_out <= objects);
    }
});

fn run(query: &Query, input: &[u8], options: &Options) -> Summary {
    let sources = vec![file(input)];
    let (on_error, progress) = (OnError::Skip(None), Progress::default());
    delimited::aggregate(sources, query, options, on_error, &progress).expect("columns are known")
}
