//! Whatever is guessed of any bytes: of a file, of a stream and again the guess is the same, what is told is what is
//! done, and the result is the oracle's with the guess said explicitly. UTF-16 is the text that the standard library
//! reads. The first 25 bytes choose; the rest is the input.
#![no_main]

use std::io::Read;

use fathom_aggregate::guess::{self, Said};
use fathom_aggregate::{OnError, Progress, Query, Syntax, delimited};
use fathom_fuzz::oracle::Task;
use fathom_fuzz::oracle::check::{Judge, file, formatted, near, query, stream};
use fathom_fuzz::oracle::choice::Choices;
use fathom_fuzz::oracle::line::OF_LOGS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seeds, input)) = data.split_first_chunk::<25>() else { return };
    utf_16(input);
    let seed = |at: usize| u64::from_le_bytes(seeds[8 * at..8 * at + 8].try_into().expect("eight"));
    let mut task = match seeds[24] % 4 {
        0 => Choices(seed(0)).task_of(&["a", "b", "c"]),
        1 => Choices(seed(0)).task_of(&OF_LOGS),
        _ => Choices(seed(0)).task(),
    };
    let is_said = |bit: u8| seeds[24] >> bit & 1 == 1;
    let said = Said {
        syntax: is_said(2),
        delimiter: is_said(3).then_some(task.delimiter),
        quotes: is_said(4).then_some(task.quotes),
        header: is_said(5).then_some(task.header),
        decimal_comma: is_said(6).then_some(task.comma),
    };
    // What it is where nothing is guessed.
    (task.delimiter, task.quotes) = (said.delimiter.unwrap_or(b';'), said.quotes.unwrap_or(true));
    task.header = said.header.unwrap_or_else(|| query(&task).has_names());
    task.comma = said.decimal_comma.unwrap_or(false);
    let portion = usize::from(seeds[0]) + 1;
    let mut sources = vec![file(input)];
    let mut settled = query(&task);
    let guessed = guess::settle(&mut settled, &said, &mut sources);
    let mut streamed = query(&task);
    let again = guess::settle(&mut streamed, &said, &mut [stream(input, portion)]);
    assert_eq!(again, guessed, "of a stream");
    assert_eq!(shape(&streamed), shape(&settled), "of a stream");

    let mut explicit = query(&task);
    explicit.syntax = guessed.syntax.unwrap_or_default();
    explicit.delimiter = guessed.delimiter.unwrap_or(task.delimiter);
    explicit.quotes = task.quotes && !guessed.no_quotes;
    explicit.header = explicit.syntax == Syntax::Delimited && (task.header || guessed.header);
    explicit.decimal_comma = task.comma || guessed.decimal_comma;
    assert_eq!(shape(&settled), shape(&explicit), "what is told is not what is done");

    let look = Choices(seed(1)).look(&task);
    let mut how = Choices(seed(2));
    let options = how.options();
    if explicit.syntax == Syntax::Delimited {
        let Task { header, .. } = task;
        task.delimiter = explicit.delimiter;
        (task.quotes, task.comma) = (explicit.quotes, explicit.decimal_comma);
        task.header = explicit.header;
        // A name stands for no column where there is no header, and whoever asks is told so.
        if !task.header && query(&task).has_names() {
            return;
        }
        assert!(task.header || !header || said.header.is_none());
        return Judge::new(input, task).check(sources.remove(0), &[look], &options, "guess");
    }
    let options = near(&options, &look);
    let run = |query: &Query, sources| {
        let (on_error, progress) = (OnError::Skip(None), Progress::default());
        delimited::aggregate(sources, query, &options, on_error, &progress)
            .map_err(|why| why.to_string())
    };
    let [found, expected] = [run(&settled, sources), run(&explicit, vec![how.source(input)])];
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.shown_rejects, expected.shown_rejects);
            assert_eq!(formatted(&found, &look, 1), formatted(&expected, &look, 1));
        }
        (found, expected) => assert_eq!(found.err(), expected.err()),
    }
});

fn shape(query: &Query) -> (Syntax, u8, bool, bool, bool) {
    (query.syntax, query.delimiter, query.quotes, query.header, query.decimal_comma)
}

/// What is decoded is the beginning of what the standard library decodes: all of it, or up to an error with its byte.
fn utf_16(bytes: &[u8]) {
    let Some(is_little) = fathom_input::utf_16(bytes) else { return };
    let pairs = bytes.chunks_exact(2).map(|two| [two[0], two[1]]);
    let units =
        pairs.map(|two| if is_little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) });
    let (mut expected, mut good_bytes) = (String::new(), 0);
    for character in char::decode_utf16(units) {
        let Ok(character) = character else { break };
        expected.push(character);
        good_bytes += 2 * character.len_utf16();
    }
    let mut found = Vec::new();
    match fathom_input::decoded(bytes, is_little).read_to_end(&mut found) {
        Ok(_) => assert!(good_bytes == bytes.len() && found == expected.as_bytes()),
        Err(error) => {
            assert!(good_bytes < bytes.len() && expected.as_bytes().starts_with(&found));
            let place = format!(" at its byte {good_bytes}");
            assert!(error.to_string().ends_with(&place), "{error}: {good_bytes}");
        }
    }
}
