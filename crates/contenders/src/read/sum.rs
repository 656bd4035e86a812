//! The sum of bytes that every way of reading ends in: 64-bit little-endian words in four lanes.
//!
//! Pieces must be multiples of 32 bytes but for the last: [`Sum::add`] starts at the first lane.

/// Sums of words so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum([u64; 4]);

impl Sum {
    /// Adds a piece of the file; a tail of less than 32 bytes counts as filled up with zeros.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (rows, tail) = bytes.as_chunks::<32>();
        let mut lanes = self.0;
        for row in rows {
            add_row(&mut lanes, row);
        }
        if !tail.is_empty() {
            let mut row = [0; 32];
            row[..tail.len()].copy_from_slice(tail);
            add_row(&mut lanes, &row);
        }
        self.0 = lanes;
    }

    /// The sum of both parts, in whichever order they are in the file.
    pub(super) fn with(self, other: Sum) -> Sum {
        Sum(std::array::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }

    pub(super) fn lanes(self) -> [u64; 4] {
        self.0
    }
}

fn add_row(lanes: &mut [u64; 4], row: &[u8; 32]) {
    let (words, _) = row.as_chunks::<8>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = lane.wrapping_add(u64::from_le_bytes(*word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_whole_rows_add_up_to_the_whole() {
        let bytes: Vec<u8> = (0..1003).map(|i| (i * 7 % 251) as u8).collect();
        let mut whole = Sum::default();
        whole.add(&bytes);
        for piece in [32, 64, 96, 992] {
            let mut sum = Sum::default();
            bytes.chunks(piece).for_each(|piece| sum.add(piece));
            assert_eq!(sum, whole, "{piece}");
            let (front, back) = bytes.split_at(piece);
            let [mut first, mut second] = [Sum::default(); 2];
            first.add(front);
            second.add(back);
            assert_eq!(second.with(first), whole, "{piece}");
        }
        let mut changed = bytes;
        changed[1002] ^= 1;
        let mut other = Sum::default();
        other.add(&changed);
        assert_ne!(other, whole);
    }
}
