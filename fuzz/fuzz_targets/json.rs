//! Any bytes as JSON, at any level, in any chunks: the lexer says what the plain machine says, and every number
//! converts as the standard library has it. The first three bytes choose; the rest is the text.
#![no_main]

use fathom_json::{Limits, Mode, ReadError, nearest, validate_at, validate_read_at};
use fathom_machine::level::Level;
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/json/tests/common/mod.rs"]
mod common;

fuzz_target!(|data: &[u8]| {
    let [level, size, choice, text @ ..] = data else { return };
    let levels: Vec<Level> = Level::available().collect();
    let level = levels[usize::from(*level) % levels.len()];
    let mode = if choice & 1 == 0 { Mode::Document } else { Mode::Lines };
    let limits = match choice & 6 {
        0 => Limits::default(),
        bits => Limits { depth: usize::from(bits), token_bytes: usize::from(choice >> 3) },
    };
    let chunks = text.chunks(usize::from(*size) + 1);
    let expected = common::plain(text, mode, limits);
    assert_eq!(common::lexed(chunks, mode, limits, level), expected);
    if mode == Mode::Document && limits == Limits::default() {
        assert_eq!(validate_at(level, text).err(), expected.1);
        let said = validate_read_at(level, text, usize::from(*size) + 1);
        assert_eq!(
            said.err().map(|error| match error {
                ReadError::Json(error) => error,
                ReadError::Io(error) => unreachable!("a slice is read: {error}"),
            }),
            expected.1
        );
    }
    for number in expected.0.iter().filter_map(|line| line.strip_prefix("number ")) {
        let standard = number.parse::<f64>().ok().filter(|value| value.is_finite());
        let bits = |value: Option<f64>| value.map(f64::to_bits);
        assert_eq!(bits(nearest(number.as_bytes())), bits(standard), "{number}");
    }
});
