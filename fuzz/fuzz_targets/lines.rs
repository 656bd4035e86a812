//! Any bytes as access logs and lines of JSON: in any chunks, at any level, in any format the engine says what the
//! oracle says of the text they stand for; and where a line is refused is the same however it is read. The first 25
//! bytes choose; the rest is the input.
#![no_main]

use fathom_aggregate::{OnError, Options, Progress, Summary, Syntax, delimited};
use fathom_fuzz::oracle::Task;
use fathom_fuzz::oracle::check::{check_lines, file, query};
use fathom_fuzz::oracle::choice::Choices;
use fathom_fuzz::oracle::line::{Form, OF_LOGS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seeds, input)) = data.split_first_chunk::<25>() else { return };
    let seed = |at: usize| u64::from_le_bytes(seeds[8 * at..8 * at + 8].try_into().expect("eight"));
    let (form, names) = match seeds[24] % 3 {
        0 => (Form::Json, &["a", "b.0", "c", "d.e.f"][..]),
        form => (Form::Access { combined: form == 1 }, &OF_LOGS[..]),
    };
    let task = Choices(seed(0)).task_of(names);
    let look = Choices(seed(1)).look(&task);
    let mut choices = Choices(seed(2));
    check_lines(input, form, &task, &look, &mut choices);
    let whole = Options { threads: 1, chunk_bytes: 1 << 20, ..Options::default() };
    let Options { threads, chunk_bytes, level, .. } = choices.options();
    let options = Options { threads, chunk_bytes, level, ..whole.clone() };
    let [found, expected] = [options, whole].map(|options| run(form, &task, input, &options));
    assert_eq!(found.shown_rejects, expected.shown_rejects);
});

fn run(form: Form, task: &Task, input: &[u8], options: &Options) -> Summary {
    let mut query = query(task);
    query.header = false;
    query.syntax = match form {
        Form::Json => Syntax::JsonLines,
        Form::Access { combined } => Syntax::Access { combined },
    };
    let (on_error, progress) = (OnError::Skip(None), Progress::default());
    let summary = delimited::aggregate(vec![file(input)], &query, options, on_error, &progress);
    summary.expect("columns are known")
}
