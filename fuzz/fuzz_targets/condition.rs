//! Conditions on records: any text is one or says why not, and what one says of any record is what the
//! oracle says. The first 16 bytes choose a task and a condition; the rest is a text and the input.
#![no_main]

use fathom_aggregate::{Filter, Formula, OnError, Options, Progress, Query, Source, delimited};
use fathom_fuzz::oracle::check::Judge;
use fathom_fuzz::oracle::choice::Choices;
use fathom_fuzz::oracle::shown::{Form, Look};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seeds, input)) = data.split_first_chunk::<16>() else { return };
    let seed = |at: usize| u64::from_le_bytes(seeds[8 * at..8 * at + 8].try_into().expect("eight"));
    any_text(&String::from_utf8_lossy(input));
    let mut task = Choices(seed(0)).task();
    task.filter = Some(Choices(seed(1)).condition(task.header, 3));
    let keys = vec!["key".to_owned(); task.keys.len()];
    let look = Look { statistics: vec!["count", "mode"], keys, ..Look::all(Form::Csv) };
    let mut choices = Choices(seed(0) ^ seed(1));
    let options = choices.options();
    let source = choices.source(input);
    Judge::new(input, task).check(source, &[look], &options, "condition");
});

/// A text that is no condition shows where; one that is looks at records and does not panic.
fn any_text(text: &str) {
    if let Err(error) = Formula::parse(text) {
        assert!(error.to_string().contains('^') && text.get(error.span()).is_some());
    }
    let filter = match Filter::parse(text) {
        Ok(filter) => filter,
        Err(error) => {
            let (shown, span) = (error.to_string(), error.span());
            assert!(shown.contains('^') && text.get(span).is_some());
            return;
        }
    };
    let input: &[u8] = b"a,b,c\n1.5,x,\n-2,,1e3\n,\"7\",0\n";
    let source = Source::Stream { path: "input".into(), reader: Box::new(input) };
    let mut query = Query::new(b',');
    (query.filter, query.header) = (Some(filter), true);
    query.values.clear();
    let options = Options { threads: 1, ..Options::default() };
    let _ = delimited::aggregate(
        vec![source],
        &query,
        &options,
        OnError::Skip(None),
        &Progress::default(),
    );
}
