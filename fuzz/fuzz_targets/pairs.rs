//! Any bytes as pairs of coordinates, at any level, with any threads and blocks: the same mean or the same error as
//! one thread of the scalar level with everything in one block. The first four bytes choose; the fifth says how
//! often the rest is repeated as elements of an array, so that templates are learned.
#![no_main]

use std::io::Cursor;
use std::num::NonZeroUsize;

use fathom_haversine::{OnError, Options, Source, Trigonometry, read};
use fathom_machine::level::Level;
use libfuzzer_sys::fuzz_target;

fn told(text: &[u8], options: &Options) -> Result<(u64, u64, u64), String> {
    let source = Source::Stream(Box::new(Cursor::new(text.to_vec())));
    let outcome = read(source, options).map_err(|error| error.to_string())?;
    Ok((outcome.pairs, outcome.skipped, outcome.mean_exact.to_bits()))
}

fuzz_target!(|data: &[u8]| {
    let [level, threads, block, skip, repeat, rest @ ..] = data else { return };
    let levels: Vec<Level> = Level::available().collect();
    let text = match repeat % 8 {
        0 => rest.to_vec(),
        times => {
            let elements = vec![rest; usize::from(times) * 4].join(&b",\n"[..]);
            [&b"{\"pairs\":["[..], &elements, b"]}"].concat()
        }
    };
    let on_error = if skip & 1 == 0 { OnError::Stop } else { OnError::Skip };
    let level = levels[usize::from(*level) % levels.len()];
    // SSE2's polynomials have other bits; the C library's have the same everywhere.
    let trigonometry = match level {
        Level::Sse2 => Trigonometry::Libm,
        _ => Trigonometry::Vector,
    };
    let plain = Options {
        on_error,
        trigonometry,
        level: Level::Scalar,
        block_bytes: NonZeroUsize::new(text.len() + 1).unwrap(),
        ..Options::default()
    };
    let options = Options {
        level,
        threads: NonZeroUsize::new(usize::from(threads % 3) + 1).unwrap(),
        block_bytes: NonZeroUsize::new(usize::from(*block) * 8 + 1).unwrap(),
        ..plain
    };
    assert_eq!(told(&text, &options), told(&text, &plain));
});
