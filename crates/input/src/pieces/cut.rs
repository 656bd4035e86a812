//! Where compressed input may be cut: between members of gzip and frames of Zstandard.
//!
//! Nothing is decoded here, and nothing that is found here is believed: a piece that was cut where no
//! member ends does not decode to its end.

use memchr::memmem;

use crate::Compression;

/// The member or frame that some bytes start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// It has so many bytes, and decoded about so many.
    Whole { bytes: usize, plain: u64 },
    /// More bytes are needed to tell.
    More,
    /// None, or one of a kind that is not known here.
    Unknown,
}

pub(super) fn first(compression: Compression, bytes: &[u8]) -> Unit {
    match compression {
        Compression::Gzip => member(bytes),
        Compression::Zstandard => frame(bytes).unwrap_or(Unit::More),
    }
}

/// A member, header and checksums included, has at least so many bytes: RFC 1952, section 2.3.
const LEAST_MEMBER: usize = 20;

/// Header of a member without its optional fields.
const HEADER: usize = 10;

/// A block of BGZF says how long it is (SAM specification, section 4.1); any other member ends where
/// the next seems to start. Random bytes look like a start once in 2^37.
fn member(bytes: &[u8]) -> Unit {
    let whole = |size: usize| {
        let plain = bytes.get(size.wrapping_sub(4)..size).map_or(0, little);
        Unit::Whole { bytes: size, plain }
    };
    if let [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, _, _, b'B', b'C', 2, 0, low, high, ..] = *bytes {
        let size = usize::from(u16::from_le_bytes([low, high])) + 1;
        let is_here = (LEAST_MEMBER..=bytes.len()).contains(&size);
        return if is_here { whole(size) } else { Unit::More };
    }
    let Some(rest) = bytes.get(LEAST_MEMBER..) else { return Unit::More };
    let starts = memmem::find_iter(rest, b"\x1f\x8b\x08").map(|start| start + LEAST_MEMBER);
    for start in starts {
        let Some(header) = bytes.get(start..start + HEADER) else { break };
        let (flags, effort, system) = (header[3], header[8], header[9]);
        if flags & 0xe0 == 0 && matches!(effort, 0 | 2 | 4) && matches!(system, 0..=13 | 255) {
            return whole(start);
        }
    }
    Unit::More
}

/// Bytes a block decodes to at most: RFC 8878, section 3.1.1.2.4.
const MOST_BLOCK: u64 = 128 << 10;

/// The sizes of its blocks lead to the end of a frame: RFC 8878, section 3.1.1. None if they lead
/// beyond these bytes.
fn frame(bytes: &[u8]) -> Option<Unit> {
    let magic = little(bytes.get(..4)?);
    if magic & 0xffff_fff0 == 0x184d_2a50 {
        let size = 8 + little(bytes.get(4..8)?) as usize;
        return (size <= bytes.len()).then_some(Unit::Whole { bytes: size, plain: 0 });
    }
    if magic != 0xfd2f_b528 {
        return Some(Unit::Unknown);
    }
    let descriptor = *bytes.get(4)?;
    let is_single_segment = descriptor & 0x20 != 0;
    let has_checksum = descriptor & 4 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_field = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        log => 1 << log,
    };
    let size_at = 5 + usize::from(!is_single_segment) + dictionary;
    let size = bytes.get(size_at..size_at + size_field)?;
    let mut at = size_at + size_field;
    let mut blocks = 0;
    loop {
        let header = little(bytes.get(at..at + 3)?) as usize;
        at += 3 + match header >> 1 & 3 {
            0 | 2 => header >> 3,
            1 => 1,
            _ => return Some(Unit::Unknown),
        };
        blocks += 1;
        if header & 1 == 1 {
            break;
        }
    }
    at += if has_checksum { 4 } else { 0 };
    let plain = match size_field {
        0 => blocks * MOST_BLOCK,
        2 => little(size) + 256,
        _ => little(size),
    };
    (at <= bytes.len()).then_some(Unit::Whole { bytes: at, plain })
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
