//! Every sum as its definition reads, one byte or word at a time: the oracle of the others.
//!
//! The CRCs use one table of 256 entries, derived from the polynomial when the program is compiled
//! (Sarwate, "Computation of cyclic redundancy checks via table look-up", 1988). XXH3 has a file of its
//! own.

use fathom_measure::contender::{Meta, Simple};

use super::plain_aesnihash::{Keys, plain_hash};
use super::workload::{Buffer, Operation};

/// Polynomials with the least significant bit first.
pub(crate) const CRC32C: [u32; 256] = table(0x82f6_3b78);
const CRC32: [u32; 256] = table(0xedb8_8320);

pub(super) const PLAIN: Simple<Buffer> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("reference.rs")) },
    prepare: |workload| match workload.operation {
        Operation::Crc32c => workload.timed(|bytes| crc(&CRC32C, bytes)),
        Operation::Crc32 => workload.timed(|bytes| crc(&CRC32, bytes)),
        Operation::Adler32 => workload.timed(|bytes| adler32(1, bytes)),
        Operation::Xxhash32 => workload.timed(xxhash32),
        Operation::Xxh3 => workload.timed(super::xxh3::xxh3),
        Operation::Hash32 => workload.timed(hash32),
        Operation::AesNiHash => {
            let keys = Keys::of_seed(1);
            workload.timed(move |bytes| plain_hash(&keys, 0, bytes))
        }
    },
};

#[cfg(not(feature = "cpu"))]
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    crc(&CRC32C, bytes)
}

fn crc(table: &[u32; 256], bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| table[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

const fn table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

/// RFC 1950, section 8.2, from the given start.
fn adler32(start: u32, bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (start & 0xffff, start >> 16);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    b << 16 | a
}

/// The specification of xxHash, "XXH32 algorithm description", seed 0.
pub(super) fn xxhash32(bytes: &[u8]) -> u32 {
    const P: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let mut lanes = [P[0].wrapping_add(P[1]), P[1], 0, 0_u32.wrapping_sub(P[0])];
    let (stripes, tail) = bytes.as_chunks::<16>();
    for stripe in stripes {
        for (lane, four) in lanes.iter_mut().zip(stripe.chunks_exact(4)) {
            let mixed = lane.wrapping_add(word(four).wrapping_mul(P[1]));
            *lane = mixed.rotate_left(13).wrapping_mul(P[0]);
        }
    }
    let mut sum = if stripes.is_empty() {
        P[4]
    } else {
        let rotated = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, by)| lane.rotate_left(by));
        rotated.fold(0, u32::wrapping_add)
    };
    sum = sum.wrapping_add(bytes.len() as u32);
    let (words, rest) = tail.as_chunks::<4>();
    for four in words {
        sum = sum.wrapping_add(word(four).wrapping_mul(P[2])).rotate_left(17).wrapping_mul(P[3]);
    }
    for &byte in rest {
        sum = sum.wrapping_add(u32::from(byte).wrapping_mul(P[4]));
        sum = sum.rotate_left(11).wrapping_mul(P[0]);
    }
    sum = (sum ^ (sum >> 15)).wrapping_mul(P[1]);
    sum = (sum ^ (sum >> 13)).wrapping_mul(P[2]);
    sum ^ (sum >> 16)
}

/// mORMot's `Hash32`: s1 sums the words, s2 sums s1; a tail of 1 to 3 bytes goes into s1 only, and s2
/// takes s1 once more at the end.
pub(super) fn hash32(bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let (mut s1, mut s2) = (0_u32, 0_u32);
    for word in words {
        s1 = s1.wrapping_add(u32::from_le_bytes(*word));
        s2 = s2.wrapping_add(s1);
    }
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    s1 = s1.wrapping_add(u32::from_le_bytes(last));
    s2 = s2.wrapping_add(s1);
    s1 ^ (s2 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_s_check_values_are_reproduced() {
        // "123456789", the check input of the catalogue of parametrised CRC algorithms.
        assert_eq!(crc(&CRC32C, b"123456789"), 0xe306_9283);
        assert_eq!(crc(&CRC32, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn adler_32_starts_at_1_and_in_the_forebear_s_row_at_0() {
        assert_eq!(adler32(1, b"Wikipedia"), 0x11e6_0398);
        assert_eq!(adler32(0, b"Wikipedia"), 0x11dd_0397);
    }

    #[test]
    fn xxh32_has_the_values_published_with_the_forebear() {
        assert_eq!(xxhash32(b"ABACK"), 314_231_639);
        assert_eq!(xxhash32(b"ABBREVIATIONS"), 3_058_487_595);
        assert_eq!(xxhash32(b""), 0x02cc_5d05);
    }

    #[test]
    fn hash32_has_its_values() {
        let all: Vec<u8> = (0..=255).collect();
        let cases: [(&[u8], u32); 6] = [
            (b"", 0),
            (b"a", 0x0061_0061),
            (b"abc", 0x6202_6261),
            (b"abcd", 0xa0a1_6261),
            (b"123456789", 0x6f5c_689f),
            (&all, 0x4a1f_df80),
        ];
        for (bytes, expected) in cases {
            assert_eq!(hash32(bytes), expected, "{bytes:?}");
        }
    }
}
