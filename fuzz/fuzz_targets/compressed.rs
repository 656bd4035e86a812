//! Any bytes as gzip or Zstandard, and any members and frames with any damage: several threads make of them what
//! the plain decoder makes, bytes and errors, and it makes an error of what it cannot read. The first bytes choose;
//! the rest is the input, or what its members and frames hold.
//!
//! The sources of `input` stand here themselves, for what they make pieces of is a constant that is small here.
#![no_main]
#![allow(dead_code, unexpected_cfgs)] // what only whoever opens files needs; features of `input`

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

#[path = "../../crates/input/src/pieces/mod.rs"]
mod pieces;
#[path = "../../crates/input/src/plain.rs"]
mod plain;

use pieces::{Limits, Pieces};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

/// Compressed bytes that are read at once.
const READ_BYTES: usize = 97;

/// Of what decodes to more only the beginning is compared: a little input can be very much.
const MOST_BYTES: usize = 8 << 20;

static WORKERS: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(|data: &[u8]| {
    let Some(([form, threads, read, enough, portion], rest)) = data.split_first_chunk() else {
        return;
    };
    let compression = [Compression::Gzip, Compression::Zstandard][usize::from(form % 2)];
    let packed = if form & 2 == 0 { rest.to_vec() } else { members(compression, rest) };
    // Nothing is neither; what is told by its first bytes has some.
    if packed.is_empty() {
        return;
    }
    let limits = Limits {
        read_bytes: usize::from(*read) + 1,
        enough_bytes: usize::from(*enough) * 2 + 1,
        enough_plain_bytes: 1000,
        most_bytes: 2000,
        most_plain_bytes: 5000,
        looked_at_bytes: 64,
        workers: &WORKERS,
    };
    let portion = usize::from(*portion) * 16 + 1;
    let (expected, expected_error) =
        all(&mut plain::decoder(compression, &packed[..]).expect("a decoder"), portion);
    let source = Box::new(Cursor::new(packed));
    let mut reader = Pieces::within(limits, compression, source, usize::from(threads % 4) + 1);
    let (found, error) = all(&mut reader, portion);
    drop(reader);
    assert_eq!(WORKERS.load(Ordering::Relaxed), 0, "a thread is left");
    let both = found.len().min(expected.len());
    assert!(found[..both] == expected[..both]);
    if both < MOST_BYTES {
        assert_eq!(error, expected_error);
        // A decoder that fails keeps what it had of the portion.
        assert!(found.len() == expected.len() || error.is_some());
    }
});

/// Everything up to the end or an error, in portions of some size.
fn all(reader: &mut dyn Read, portion: usize) -> (Vec<u8>, Option<String>) {
    let (mut bytes, mut into) = (Vec::new(), vec![0; portion]);
    while bytes.len() < MOST_BYTES {
        match reader.read(&mut into) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&into[..read]),
            Err(error) => return (bytes, Some(format!("{:?} {error}", error.kind()))),
        }
    }
    (bytes, None)
}

/// Members or frames of the parts between bytes 0xff, the first byte of each of which says how it is packed and
/// how damaged.
fn members(compression: Compression, parts: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in parts.split(|&byte| byte == 0xff) {
        let Some((&kind, text)) = part.split_first() else { continue };
        let text = text.repeat(1 + usize::from(kind & 3) * 20);
        let mut unit = match (compression, kind >> 2 & 3) {
            (Compression::Gzip, 0) => gzip(&text, flate2::Compression::none()),
            (Compression::Gzip, 1) => bgzf(&text),
            (Compression::Gzip, _) => gzip(&text, flate2::Compression::fast()),
            (Compression::Zstandard, 0) => skippable(&text),
            (Compression::Zstandard, 1) => {
                compress_to_vec(&text[..], CompressionLevel::Uncompressed)
            }
            (Compression::Zstandard, _) => compress_to_vec(&text[..], CompressionLevel::Fastest),
        };
        let place = unit.len() * usize::from(kind >> 6) / 4;
        match kind >> 4 & 3 {
            1 => unit[place] ^= kind,
            2 => unit.truncate(place),
            // A member that looks like one within one.
            3 if kind & 0x80 != 0 => unit.extend_from_slice(text.get(..9).unwrap_or_default()),
            _ => {}
        }
        packed.extend(unit);
    }
    packed
}

fn gzip(text: &[u8], effort: flate2::Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), effort);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A member that says how long it is: the field of 6 bytes goes behind the header of 10.
fn bgzf(text: &[u8]) -> Vec<u8> {
    let mut member = gzip(&text[..text.len().min(60_000)], flate2::Compression::fast());
    member[3] = 4;
    let size = u16::try_from(member.len() + 8 - 1).unwrap().to_le_bytes();
    member.splice(10..10, [6, 0, b'B', b'C', 2, 0, size[0], size[1]]);
    member
}

fn skippable(text: &[u8]) -> Vec<u8> {
    let size = u32::try_from(text.len()).unwrap().to_le_bytes();
    [&[0x5e, 0x2a, 0x4d, 0x18], &size[..], text].concat()
}
