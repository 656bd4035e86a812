//! Any bytes as states of `fathom merge`, as they are and with the trailer that vouches for them: read and
//! shown, or refused.
#![no_main]

use fathom_aggregate::Layout;
use fathom_aggregate::format::{self, Statistic};
use fathom_aggregate::state::{Merger, State};
use libfuzzer_sys::fuzz_target;

/// The bytes with a trailer, as `docs/scaling.md` describes it.
fn vouched(stream: &[u8]) -> Vec<u8> {
    let hash = xxhash_rust::xxh3::xxh3_64(stream).to_le_bytes();
    let length = (stream.len() as u64).to_le_bytes();
    [stream, b"fathom state end", &length, &hash, &[0; 24]].concat()
}

fuzz_target!(|data: &[u8]| {
    let _ = State::all(data);
    let Ok(states) = State::all(&vouched(data)) else { return };
    let mut merger = Merger::default();
    for state in states {
        // What was read says the same when it was written again.
        let bytes = state.to_bytes();
        let again = State::all(&bytes).expect("what is written can be read").remove(0);
        assert!(again.to_bytes() == bytes);
        assert!(state.clone().merge(state.clone()).is_err(), "it was merged twice");
        if merger.push(state).is_err() {
            return;
        }
    }
    let Ok(whole) = merger.finish() else { return };
    let _ = whole.check_whole();
    let words = "min,mean,max,count,rows,sum,variance,stddev,range,distinct,mode,first,last,p99";
    let statistics = words.split(',').filter_map(Statistic::named).collect();
    let summary = whole.into_summary();
    let layout = Layout { statistics, keys: summary.keys.clone(), threads: 1, ..Layout::default() };
    let _ = format::csv(&summary.columns, &layout);
    let _ = format::table(&summary.columns, &layout);
});
