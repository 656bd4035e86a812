//! Any bytes as saved runs: `report`, `diff` and `history` show them or refuse them. The first byte
//! chooses the format; the rest is the file, and a second one after the first zero byte.
#![no_main]

use std::io::Write;

use fathom_measure::compare::judge;
use fathom_measure::result::Run;
use fathom_report::table::Look;
use fathom_report::{csv, diff, history, html, markdown, scan, text};
use libfuzzer_sys::fuzz_target;

fn read(bytes: &[u8]) -> Option<Run> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut run = Run::read(file.path()).ok()?;
    for case in &mut run.cases {
        case.judged = judge(&case.measured, case.roles, &case.plan);
    }
    Some(run)
}

fuzz_target!(|data: &[u8]| {
    let [choice, files @ ..] = data else { return };
    let runs: Vec<Run> = files.splitn(2, |&byte| byte == 0).filter_map(read).collect();
    let Some(run) = runs.first() else { return };
    let look = Look { colour: choice & 0x80 != 0, ..Look::default() };
    let shown = match choice % 5 {
        0 => text::run(run, &look),
        1 => markdown::run(run, &look),
        2 => csv::run(run),
        3 => html::run(run, &look),
        _ => scan::svg(run).unwrap_or_default(),
    };
    assert!(choice & 0x80 != 0 || !shown.contains('\u{1b}'), "an escape reaches the terminal");
    // What was read says the same when it was saved again.
    let again = read(run.to_json().unwrap().as_bytes()).expect("what is saved can be read");
    assert_eq!(csv::run(&again), csv::run(run));
    if runs.len() == 2 {
        let _ = diff::diff(&runs[0], &runs[1]);
        let _ = history::text(&history::courses(&runs));
    }
});
