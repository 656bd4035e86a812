//! The vector operations kernels share, one implementation per [`Level`](crate::level::Level).
//!
//! [`Vector`] is as small as the kernels that use it: whole-register loads, byte comparison and
//! the comparison turned into one bit per byte. Kernels that gain from more (gathers, multiply-add,
//! AES rounds) are written per level in the engine they belong to, and measured to deserve it.
//!
//! Every method is `inline(always)`: a kernel generic over `Vector` is compiled inside a function
//! that carries the level's `target_feature`, and the operations melt into it.

pub use crate::arch::*;

/// A register of [`Vector::BYTES`] bytes at one instruction level.
///
/// # Safety
/// An implementor's methods may use instructions of its level. Whoever names the type in a generic
/// kernel guarantees that the level [is available](crate::level::Level::is_available); the trait is
/// `unsafe` to implement so that the promise "only this level, only these bytes" is a reviewed one.
pub unsafe trait Vector: Copy {
    /// Width of the register in bytes: a divisor of 64.
    const BYTES: usize;

    /// The `BYTES` bytes at `from`, at any alignment.
    ///
    /// # Safety
    /// `BYTES` bytes from `from` on are readable, and the level is available.
    unsafe fn load(from: *const u8) -> Self;

    /// `byte` in every position.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn splat(byte: u8) -> Self;

    /// Bit i is set where byte i of both registers is equal; bits from `BYTES` on are clear.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn equal(self, other: Self) -> u64;

    /// Bit i is set where byte i, as an unsigned number, is less than `BOUND`, which is between 1
    /// and 128; bits from `BYTES` on are clear.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn below<const BOUND: u8>(self) -> u64;
}

/// Where `byte` stands among the 64 bytes at `from`: bit i for byte i.
///
/// # Safety
/// 64 bytes from `from` on are readable, and the level of `V` is available.
#[inline(always)]
pub unsafe fn positions_64<V: Vector>(from: *const u8, byte: u8) -> u64 {
    let mut mask = 0;
    let mut at = 0;
    while at < 64 {
        // SAFETY: at + BYTES <= 64 since BYTES divides 64; the caller vouches for the 64 bytes
        // and for the level.
        unsafe { mask |= V::load(from.add(at)).equal(V::splat(byte)) << at };
        at += V::BYTES;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    fn every_byte_everywhere<V: Vector>(level: Level) {
        if !level.is_available() {
            return;
        }
        let mut block = [b'x'; 64];
        for at in 0..64 {
            block[at] = b'\n';
            // SAFETY: the block has 64 bytes and the level was checked above.
            let mask = unsafe { positions_64::<V>(block.as_ptr(), b'\n') };
            assert_eq!(mask, 1 << at, "{level} byte {at}");
            block[at] = b'\n' ^ 0x80;
            // SAFETY: as above.
            assert_eq!(unsafe { positions_64::<V>(block.as_ptr(), b'\n') }, 0, "{level}");
            block[at] = b'x';
        }
        let block: [u8; 64] = std::array::from_fn(|i| i as u8 & 1);
        // SAFETY: as above.
        assert_eq!(unsafe { positions_64::<V>(block.as_ptr(), 1) }, 0xaaaa_aaaa_aaaa_aaaa);
    }

    fn every_byte_value_below<V: Vector>(level: Level) {
        if !level.is_available() {
            return;
        }
        for start in (0..=255).step_by(V::BYTES) {
            let block: [u8; 64] = std::array::from_fn(|i| (start + i) as u8);
            for at in 0..V::BYTES {
                // SAFETY: BYTES <= 32 bytes follow each of the 32 first bytes; level checked.
                let (low, ascii) = unsafe {
                    let v = V::load(block.as_ptr().add(at));
                    (v.below::<0x20>(), v.below::<0x80>())
                };
                for i in 0..64 {
                    let byte = if i < V::BYTES { block[at + i] } else { 255 };
                    assert_eq!(low >> i & 1 == 1, byte < 0x20, "{level} {byte}");
                    assert_eq!(ascii >> i & 1 == 1, byte < 0x80, "{level} {byte}");
                }
            }
        }
    }

    #[test]
    fn each_level_compares_each_byte_with_a_bound() {
        every_byte_value_below::<Scalar>(Level::Scalar);
        #[cfg(target_arch = "x86_64")]
        every_byte_value_below::<Sse2>(Level::Sse2);
        #[cfg(target_arch = "x86_64")]
        every_byte_value_below::<Avx2>(Level::Avx2);
        #[cfg(target_arch = "aarch64")]
        every_byte_value_below::<Neon>(Level::Neon);
    }

    #[test]
    fn each_level_finds_a_byte_at_each_position() {
        every_byte_everywhere::<Scalar>(Level::Scalar);
        #[cfg(target_arch = "x86_64")]
        every_byte_everywhere::<Sse2>(Level::Sse2);
        #[cfg(target_arch = "x86_64")]
        every_byte_everywhere::<Avx2>(Level::Avx2);
        #[cfg(target_arch = "aarch64")]
        every_byte_everywhere::<Neon>(Level::Neon);
    }
}
