//! Any bytes as delimited text, with every option that changes how it is read: in any chunks, at any
//! level, in any format the engine says what the oracle says. The first 24 bytes choose; the rest is
//! the input.
#![no_main]

use fathom_aggregate::{Query, guess};
use fathom_fuzz::oracle::check::Judge;
use fathom_fuzz::oracle::choice::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seeds, input)) = data.split_first_chunk::<24>() else { return };
    let seed = |at: usize| u64::from_le_bytes(seeds[8 * at..8 * at + 8].try_into().expect("eight"));
    guesses(input);
    let task = Choices(seed(0)).task();
    let look = Choices(seed(1)).look(&task);
    let mut choices = Choices(seed(2));
    let options = choices.options();
    let source = choices.source(input);
    Judge::new(input, task).check(source, &[look], &options, "delimited");
});

/// A guess is one that the text itself bears out, however much of it is seen.
fn guesses(text: &[u8]) {
    for ended in [true, false] {
        let _ = guess::syntax(text, ended);
        let Some(dialect) = guess::dialect(text, ended) else { continue };
        assert_eq!(guess::quotes(text, ended, dialect.delimiter), Some(dialect.quotes));
        let mut query = Query::new(dialect.delimiter);
        query.quotes = dialect.quotes;
        let values = guess::values(text, ended, &query);
        query.header = values.header;
        let again = guess::values(text, ended, &query);
        assert!(!again.header && again.decimal_comma == values.decimal_comma);
    }
}
