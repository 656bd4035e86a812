//! The journey's hash: steps of CRC-32C over a name, overlapping where it does not divide evenly.
//!
//! The steps are those of the processor's instruction, or of a table where it has none. There is no
//! seed: whoever chooses the names can choose them so that they collide. Nor does the length count:
//! "aaaa" and "aaaaa" take the same two steps, so where hashes are trusted they are one name.

use crate::checksum::CRC32C;

/// CRC-32C steps.
pub(super) trait Crc {
    /// One byte.
    ///
    /// # Safety
    /// The processor has the instructions of the implementation, here as in all other steps.
    unsafe fn u8(crc: u32, byte: u8) -> u32;
    /// Two bytes.
    ///
    /// # Safety
    /// As [`Crc::u8`].
    unsafe fn u16(crc: u32, word: u16) -> u32;
    /// Four bytes.
    ///
    /// # Safety
    /// As [`Crc::u8`].
    unsafe fn u32(crc: u32, word: u32) -> u32;
    /// Eight bytes.
    ///
    /// # Safety
    /// As [`Crc::u8`].
    unsafe fn u64(crc: u32, word: u64) -> u32;
}

/// The hash of the `len >= 1` bytes at `name`: 2 to 15 bytes take two steps that overlap, longer
/// names steps of eight bytes, in pairs, of which the last two overlap those before.
///
/// # Safety
/// `len` bytes are readable; the implementation's instructions are available.
#[inline(always)]
pub(super) unsafe fn name<C: Crc>(name: *const u8, len: usize) -> u32 {
    // SAFETY: each load lies inside the `len` bytes, by the comparison before it.
    unsafe {
        let eight = |at: usize| name.add(at).cast::<u64>().read_unaligned();
        if len >= 8 {
            let mut crc = 0;
            let mut at = 0;
            while at + 16 <= len {
                crc = C::u64(C::u64(crc, eight(at)), eight(at + 8));
                at += 16;
            }
            if len >= 16 {
                if at == len {
                    return crc;
                }
                return C::u64(C::u64(crc, eight(len - 16)), eight(len - 8));
            }
            C::u64(C::u64(crc, eight(0)), eight(len - 8))
        } else if len >= 4 {
            let four = |at: usize| name.add(at).cast::<u32>().read_unaligned();
            C::u32(C::u32(0, four(0)), four(len - 4))
        } else if len >= 2 {
            let two = |at: usize| name.add(at).cast::<u16>().read_unaligned();
            C::u16(C::u16(0, two(0)), two(len - 2))
        } else {
            C::u8(0, *name)
        }
    }
}

/// One table of 256 entries, a byte at a time.
pub(super) struct Table;

fn bytes(crc: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(crc, |crc, &byte| CRC32C[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

impl Crc for Table {
    unsafe fn u8(crc: u32, byte: u8) -> u32 {
        bytes(crc, &[byte])
    }

    unsafe fn u16(crc: u32, word: u16) -> u32 {
        bytes(crc, &word.to_ne_bytes())
    }

    unsafe fn u32(crc: u32, word: u32) -> u32 {
        bytes(crc, &word.to_ne_bytes())
    }

    unsafe fn u64(crc: u32, word: u64) -> u32 {
        bytes(crc, &word.to_ne_bytes())
    }
}

/// The instruction of SSE4.2.
#[cfg(target_arch = "x86_64")]
pub(super) struct Sse42;

#[cfg(target_arch = "x86_64")]
impl Crc for Sse42 {
    #[inline(always)]
    unsafe fn u8(crc: u32, byte: u8) -> u32 {
        // SAFETY: the caller vouches for SSE4.2, here and below.
        unsafe { std::arch::x86_64::_mm_crc32_u8(crc, byte) }
    }

    #[inline(always)]
    unsafe fn u16(crc: u32, word: u16) -> u32 {
        // SAFETY: as above.
        unsafe { std::arch::x86_64::_mm_crc32_u16(crc, word) }
    }

    #[inline(always)]
    unsafe fn u32(crc: u32, word: u32) -> u32 {
        // SAFETY: as above.
        unsafe { std::arch::x86_64::_mm_crc32_u32(crc, word) }
    }

    #[inline(always)]
    unsafe fn u64(crc: u32, word: u64) -> u32 {
        // SAFETY: as above.
        unsafe { std::arch::x86_64::_mm_crc32_u64(crc.into(), word) as u32 }
    }
}

/// The instructions of the CRC extension.
#[cfg(target_arch = "aarch64")]
pub(super) struct Arm;

#[cfg(target_arch = "aarch64")]
impl Crc for Arm {
    #[inline]
    #[target_feature(enable = "crc")]
    unsafe fn u8(crc: u32, byte: u8) -> u32 {
        std::arch::aarch64::__crc32cb(crc, byte)
    }

    #[inline]
    #[target_feature(enable = "crc")]
    unsafe fn u16(crc: u32, word: u16) -> u32 {
        std::arch::aarch64::__crc32ch(crc, word)
    }

    #[inline]
    #[target_feature(enable = "crc")]
    unsafe fn u32(crc: u32, word: u32) -> u32 {
        std::arch::aarch64::__crc32cw(crc, word)
    }

    #[inline]
    #[target_feature(enable = "crc")]
    unsafe fn u64(crc: u32, word: u64) -> u32 {
        std::arch::aarch64::__crc32cd(crc, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_catalogue_s_check_value() {
        assert_eq!(!bytes(!0, b"123456789"), 0xe306_9283);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_instruction_and_the_table_agree_on_every_length() {
        fathom_machine::needs!("SSE4.2", is_x86_feature_detected!("sse4.2"));
        let text: Vec<u8> = (0..100_u8).map(|i| i.wrapping_mul(37)).collect();
        for len in 1..text.len() {
            // SAFETY: `len` bytes of the text; the feature was detected.
            let (table, hardware) =
                unsafe { (name::<Table>(text.as_ptr(), len), name::<Sse42>(text.as_ptr(), len)) };
            assert_eq!(table, hardware, "{len} bytes");
        }
    }

    #[test]
    fn every_byte_of_a_name_counts() {
        for len in 1..70_usize {
            let text = vec![7_u8; len];
            // SAFETY: `len` bytes of the text.
            let before = unsafe { name::<Table>(text.as_ptr(), len) };
            for at in 0..len {
                let mut other = text.clone();
                other[at] = 8;
                // SAFETY: as above.
                assert_ne!(unsafe { name::<Table>(other.as_ptr(), len) }, before, "{at} of {len}");
            }
        }
    }
}
