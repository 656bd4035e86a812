//! What our own tables take from a hash: a place and an eight-bit tag, from different bits.

/// A place (to be masked) and a tag that is never 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) tag: u8,
}

impl Place {
    /// From a hash. One that does not avalanche is folded by a wide multiplication first, with the
    /// constant folly's F14 uses where it has no CRC instruction.
    #[inline]
    pub(super) fn of(hash: u64, avalanches: bool) -> Place {
        const FOLD: u64 = 0xc4ce_b9fe_1a85_ec53;
        let mixed = if avalanches {
            hash
        } else {
            let wide = u128::from(hash) * u128::from(FOLD);
            ((wide >> 64) as u64 ^ wide as u64).wrapping_mul(FOLD)
        };
        let tag = ((mixed >> 56) as u8).max(1);
        Place { index: (mixed ^ if avalanches { 0 } else { mixed >> 22 }) as usize, tag }
    }
}
