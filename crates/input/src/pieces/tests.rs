//! What several threads decode is what the plain decoder makes of it, whatever is wrong with it.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::tests::{gzip, zstd};

/// Pieces of some members each, so that little input makes many; with a count of workers of its own.
fn small() -> Limits {
    Limits {
        read_bytes: 300,
        enough_bytes: 200,
        enough_plain_bytes: 1000,
        most_bytes: 2000,
        most_plain_bytes: 5000,
        looked_at_bytes: 64,
        workers: Box::leak(Box::default()),
    }
}

fn lines(from: usize, count: usize) -> Vec<u8> {
    (from..from + count)
        .flat_map(|n| format!("station {};{}.{}\n", n * n % 97, n % 50, n % 10).into_bytes())
        .collect()
}

/// A member that says how long it is: the field of 6 bytes goes behind the header of 10.
fn bgzf(plain: &[u8]) -> Vec<u8> {
    let mut member = gzip(plain);
    member[3] = 4;
    let size = u16::try_from(member.len() + 8 - 1).unwrap().to_le_bytes();
    member.splice(10..10, [6, 0, b'B', b'C', 2, 0, size[0], size[1]]);
    member
}

fn skippable(plain: &[u8]) -> Vec<u8> {
    let size = u32::try_from(plain.len()).unwrap().to_le_bytes();
    [&[0x5e, 0x2a, 0x4d, 0x18], &size[..], plain, &zstd(plain)[..]].concat()
}

/// How a member or frame is made, and what decodes it.
type Packed = (fn(&[u8]) -> Vec<u8>, Compression);

const PACKED: [Packed; 4] = [
    (gzip, Compression::Gzip),
    (bgzf, Compression::Gzip),
    (zstd, Compression::Zstandard),
    (skippable, Compression::Zstandard),
];

/// Everything up to the end or an error, in portions of some size.
fn all(reader: &mut dyn Read, portion: usize) -> (Vec<u8>, Option<String>) {
    let (mut bytes, mut into) = (Vec::new(), vec![0; portion]);
    loop {
        match reader.read(&mut into) {
            Ok(0) => return (bytes, None),
            Ok(read) => bytes.extend_from_slice(&into[..read]),
            Err(error) => return (bytes, Some(format!("{:?} {error}", error.kind()))),
        }
    }
}

fn by_pieces(compression: Compression, packed: &[u8]) -> Pieces {
    Pieces::within(small(), compression, Box::new(Cursor::new(packed.to_vec())), 3)
}

fn plainly(compression: Compression, packed: &[u8], portion: usize) -> (Vec<u8>, Option<String>) {
    all(&mut plain::decoder(compression, packed).unwrap(), portion)
}

/// The same bytes and the same end; of damaged input one may have come further than the other when it says so,
/// because a decoder that fails keeps what it had of the portion.
fn assert_same(compression: Compression, packed: &[u8], portion: usize) {
    let (expected, expected_error) = plainly(compression, packed, portion);
    let (found, error) = all(&mut by_pieces(compression, packed), portion);
    let lengths = (found.len(), expected.len());
    assert_eq!(error, expected_error, "{compression:?} {} {lengths:?}", packed.len());
    match error {
        None => assert!(found == expected, "{} and {} bytes", found.len(), expected.len()),
        Some(_) => {
            let both = found.len().min(expected.len());
            assert!(found[..both] == expected[..both]);
        }
    }
}

#[test]
fn members_and_frames_are_decoded_by_workers_to_the_same_bytes() {
    for (pack, compression) in PACKED {
        let packed: Vec<u8> = (0..200).flat_map(|n| pack(&lines(n, n % 40))).collect();
        let expected = plainly(compression, &packed, 4096).0;
        assert_eq!(expected, (0..200).flat_map(|n| lines(n, n % 40)).collect::<Vec<u8>>());
        let mut reader = by_pieces(compression, &packed);
        let workers = reader.cutter.limits.workers;
        let mut found = vec![0; 1000];
        reader.read_exact(&mut found).unwrap();
        assert!(
            matches!(&reader.state, State::Cutting(queue) if queue.pieces.len() >= 3),
            "{compression:?}"
        );
        assert_eq!(workers.load(Ordering::Relaxed), 3);
        while !matches!(reader.state, State::Plain(_)) {
            let mut some = [0; 500];
            let read = reader.read(&mut some).unwrap();
            found.extend_from_slice(&some[..read]);
        }
        assert!(found == expected, "the plain decoder has nothing to do but to end");
        assert_eq!(workers.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_reader_that_is_dropped_early_leaves_no_thread_and_looking_starts_none() {
    let packed = gzip(&lines(0, 50)).repeat(100);
    let mut reader = by_pieces(Compression::Gzip, &packed);
    let workers = reader.cutter.limits.workers;
    reader.read_exact(&mut [0; 64]).unwrap();
    assert_eq!(workers.load(Ordering::Relaxed), 0);
    reader.read_exact(&mut [0; 1]).unwrap();
    assert_eq!(workers.load(Ordering::Relaxed), 3);
    let State::Cutting(queue) = &reader.state else { panic!("nothing was cut") };
    let stopped = queue.workers.alive();
    drop(reader);
    assert!(stopped.upgrade().is_none(), "no thread holds it any more");
    assert_eq!(workers.load(Ordering::Relaxed), 0);
}

#[test]
fn readers_together_have_no_more_workers_than_one_may_have() {
    let packed = gzip(&lines(0, 50)).repeat(100);
    let limits = small();
    let source = || Box::new(Cursor::new(packed.clone()));
    let mut one = Pieces::within(limits, Compression::Gzip, source(), 2);
    let mut other = Pieces::within(limits, Compression::Gzip, source(), 3);
    let mut again = Pieces::within(limits, Compression::Gzip, source(), 2);
    one.read_exact(&mut [0; 100]).unwrap();
    assert!(matches!(one.state, State::Cutting(_)));
    let (expected, _) = plainly(Compression::Gzip, &packed, 4096);
    let mut found = vec![0; 100];
    other.read_exact(&mut found).unwrap();
    assert_eq!(limits.workers.load(Ordering::Relaxed), 3, "one is left, and decodes ahead");
    other.read_to_end(&mut found).unwrap();
    assert!(found == expected);
    assert_eq!(limits.workers.load(Ordering::Relaxed), 2);
    drop(one);
    again.read_exact(&mut [0; 100]).unwrap();
    assert!(matches!(again.state, State::Cutting(_)));
}

#[test]
fn the_plain_decoder_goes_on_where_a_piece_would_be_too_large() {
    for (pack, compression) in PACKED {
        let small = pack(&lines(0, 20)).repeat(40);
        let large = pack(&lines(7, 1500));
        let packed = [&small[..], &large, &small].concat();
        let mut reader = by_pieces(compression, &packed);
        reader.read_exact(&mut [0; 200]).unwrap();
        assert!(matches!(reader.state, State::Cutting(_)), "{compression:?}");
        assert_same(compression, &packed, 4096);
        assert_same(compression, &large.repeat(3), 4096);
    }
}

#[test]
fn one_long_member_or_frame_is_decoded_ahead_to_the_same_bytes_and_errors() {
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u8 & 0x7f
    })
    .take(12 << 20)
    .collect();
    for (pack, compression) in [PACKED[0], PACKED[2]] {
        let packed = pack(&noise);
        assert!(packed.len() > LIMITS.most_bytes);
        let limits = Limits { workers: Box::leak(Box::default()), ..LIMITS };
        let whole = packed.len();
        for end in [whole, whole - 1, whole / 2] {
            let source = Box::new(Cursor::new(packed[..end].to_vec()));
            let mut reader = Pieces::within(limits, compression, source, 2);
            let mut found = vec![0; 200 << 10];
            reader.read_exact(&mut found).unwrap();
            assert_eq!(limits.workers.load(Ordering::Relaxed), 1);
            let (rest, error) = all(&mut reader, 70_000);
            found.extend(rest);
            assert_eq!(error.is_none(), end == whole);
            assert_eq!(error, plainly(compression, &packed[..end], 4096).1);
            assert!(if end == whole { found == noise } else { noise.starts_with(&found) });
            let _ = reader.read(&mut [0]);
        }
        let source = Box::new(Cursor::new(packed.clone()));
        let mut reader = Pieces::within(limits, compression, source, 2);
        reader.read_exact(&mut vec![0; 1 << 20]).unwrap();
        drop(reader);
        assert_eq!(limits.workers.load(Ordering::Relaxed), 0, "joined, whatever it was doing");
    }
}

/// What compressed bytes hide looks like the start of a member: stored, not compressed.
#[test]
fn a_member_within_a_member_is_not_taken_for_one() {
    let inner = gzip(&lines(0, 30));
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&[inner.clone(), inner.clone()].concat()).unwrap();
    let outer = encoder.finish().unwrap();
    for members in [vec![&outer; 20], vec![&inner, &inner, &outer, &inner], vec![&outer, &inner]] {
        let packed: Vec<u8> = members.into_iter().flatten().copied().collect();
        assert_same(Compression::Gzip, &packed, 512);
    }
}

#[test]
fn what_cannot_be_read_is_said_behind_the_bytes_before_it() {
    struct Failing(Cursor<Vec<u8>>, bool);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 if !self.1 => {
                    self.1 = true;
                    Err(io::Error::new(io::ErrorKind::TimedOut, "the line is dead"))
                }
                read => Ok(read),
            }
        }
    }
    for (pack, compression) in PACKED {
        let packed = pack(&lines(0, 50)).repeat(30);
        for end in [0, 1, 200, 600, packed.len() / 2, packed.len()] {
            let source = || Failing(Cursor::new(packed[..end].to_vec()), false);
            let plain = BufReader::new(source());
            let expected = match plain::decoder(compression, plain) {
                Ok(mut plain) => all(&mut plain, 100),
                Err(_) => continue,
            };
            let mut reader = Pieces::within(small(), compression, Box::new(source()), 2);
            let (bytes, error) = all(&mut reader, 100);
            assert_eq!(error, expected.1, "{end}");
            assert!(error.is_some_and(|error| error.contains("the line is dead")));
            let both = bytes.len().min(expected.0.len());
            assert!(bytes[..both] == expected.0[..both]);
        }
    }
}

#[test]
fn a_slow_pipe_ends_as_a_file_does() {
    struct Slow(Cursor<Vec<u8>>);
    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_micros(50));
            let most = into.len().min(70);
            self.0.read(&mut into[..most])
        }
    }
    for (pack, compression) in PACKED {
        let packed: Vec<u8> = (0..60).flat_map(|n| pack(&lines(n, 30))).collect();
        let source = Box::new(Slow(Cursor::new(packed.clone())));
        let mut reader = Pieces::within(small(), compression, source, 2);
        assert!(all(&mut reader, 333) == plainly(compression, &packed, 4096));
    }
}

#[test]
fn a_byte_changed_anywhere_has_the_same_consequence() {
    for (pack, compression) in PACKED {
        let packed: Vec<u8> = (0..9).flat_map(|n| pack(&lines(n, 12))).collect();
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            assert_same(compression, &damaged, 4096);
        }
    }
}

#[test]
fn what_is_cut_off_anywhere_ends_alike() {
    for (pack, compression) in PACKED {
        let packed: Vec<u8> = (0..9).flat_map(|n| pack(&lines(n, 12))).collect();
        for end in 1..packed.len() {
            assert_same(compression, &packed[..end], 4096);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_members_and_any_damage_are_what_the_plain_decoder_says(
        units in prop::collection::vec((0..4_usize, 0..120_usize), 1..40),
        is_gzip: bool,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..3),
        behind in prop::collection::vec(any::<u8>(), 0..6),
        zeros in 0..3_usize,
        portion in 1..5000_usize,
    ) {
        let compression = if is_gzip { Compression::Gzip } else { Compression::Zstandard };
        let mut packed = Vec::new();
        for (n, (kind, count)) in units.into_iter().enumerate() {
            let (pack, _) = PACKED[kind % 2 + if is_gzip { 0 } else { 2 }];
            // One of some kinds is longer than a piece may be.
            let count = if kind == 3 { count * 5 } else { count };
            packed.extend(pack(&lines(n, count)));
        }
        for (place, byte, kind) in damage {
            let at = place.index(packed.len());
            match kind {
                0 => packed[at] = byte,
                1 => packed.insert(at, byte),
                2 if packed.len() > 1 => drop(packed.remove(at)),
                _ => packed.truncate(at.max(1)),
            }
        }
        packed.extend(behind);
        packed.extend(vec![0; zeros]);
        assert_same(compression, &packed, portion);
    }
}
