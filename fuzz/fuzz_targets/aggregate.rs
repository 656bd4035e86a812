//! Any bytes, any chunk size, any level: the engine says what the reference says. The first two
//! bytes choose; the rest is the input.
#![no_main]

use fathom_aggregate::Options;
use fathom_machine::level::Level;
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/aggregate/tests/common/mod.rs"]
mod common;

fuzz_target!(|data: &[u8]| {
    let [chunk, choice, input @ ..] = data else { return };
    let levels: Vec<Level> = Level::available().collect();
    let level = levels[usize::from(choice >> 2) % levels.len()];
    let threads = usize::from(choice & 1) + 1;
    let options = Options {
        level,
        threads,
        chunk_bytes: usize::from(*chunk) * 4 + 1,
        with_squares: threads == 2,
        ..Options::default()
    };
    let source = match choice & 2 {
        0 => common::file(input),
        _ => common::stream(input, usize::from(*chunk) + 1),
    };
    common::assert_same(input, source, &options, level.name());
});
