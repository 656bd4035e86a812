//! Any bytes as `key;value` lines: in any chunks, at any level, in any format the engine says what
//! the oracle says. The first eight bytes choose; the rest is the input.
#![no_main]

use fathom_fuzz::oracle::Task;
use fathom_fuzz::oracle::check::Judge;
use fathom_fuzz::oracle::choice::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seed, input)) = data.split_first_chunk::<8>() else { return };
    let mut choices = Choices(u64::from_le_bytes(*seed));
    let (look, options) = (choices.look(&Task::plain()), choices.options());
    let source = choices.source(input);
    Judge::new(input, Task::plain()).check(source, &[look], &options, "lines");
});
