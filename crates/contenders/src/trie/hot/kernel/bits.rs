//! The bits of a key: where two keys differ first, and packing chosen bits into a partial key.

/// Bytes behind every real one: the four bytes of the key's length, most significant first. They
/// tell apart keys that differ only in zeros at their end.
const LENGTH: u32 = u32::MAX - 3;

/// Byte `at` of the endless key: its bytes, then zeros, then (at [`LENGTH`]) its length.
#[inline]
pub(super) fn byte(key: &[u8], at: u32) -> u8 {
    match key.get(at as usize) {
        Some(byte) => *byte,
        None if at >= LENGTH => (key.len() as u32).to_be_bytes()[(at - LENGTH) as usize],
        None => 0,
    }
}

/// The bit at `position`, counted from the highest bit of the first byte.
#[inline]
pub(super) fn bit(key: &[u8], position: u64) -> bool {
    (byte(key, (position / 8) as u32) >> (7 - position % 8)) & 1 != 0
}

/// The position of the first bit in which two keys differ; `None` when they are the same.
pub(super) fn first_difference(a: &[u8], b: &[u8]) -> Option<u64> {
    assert!(a.len().max(b.len()) < LENGTH as usize, "keys of less than 4 GiB");
    let both = a.len().min(b.len());
    let (left, right) = (a[..both].chunks(8), b[..both].chunks(8));
    let same = left.zip(right).take_while(|(left, right)| left == right).count() * 8;
    let at = (same.min(both)..a.len().max(b.len()))
        .map(|at| at as u32)
        .chain(LENGTH..=u32::MAX)
        .find(|&at| byte(a, at) != byte(b, at))?;
    Some(u64::from(at) * 8 + u64::from((byte(a, at) ^ byte(b, at)).leading_zeros()))
}

/// Whether the position lies in a byte that a window of the real key can hold.
pub(super) fn is_real(position: u64) -> bool {
    position / 8 < u64::from(LENGTH) - 8
}

/// Eight bytes of the key from `offset` on, most significant first, zeros behind its end.
#[inline(always)]
pub(super) fn window(key: &[u8], offset: u32) -> u64 {
    let (offset, len) = (offset as usize, key.len());
    if offset + 8 <= len
        && let Some(word) = key[offset..].first_chunk::<8>()
    {
        return u64::from_be_bytes(*word);
    }
    if offset >= len {
        return 0;
    }
    if let Some(word) = key.last_chunk::<8>() {
        // The last eight bytes, moved up until the wanted ones are first.
        return u64::from_be_bytes(*word) << (8 * (offset + 8 - len));
    }
    let mut word = [0; 8];
    for (to, &byte) in word.iter_mut().zip(&key[offset..]) {
        *to = byte;
    }
    u64::from_be_bytes(word)
}

/// The bits of `word` under `mask`, packed into the lowest bits: what PEXT does.
#[inline(always)]
pub(super) fn pack(word: u64, mut mask: u64) -> u64 {
    let (mut packed, mut to) = (0, 0);
    while mask != 0 {
        let from = mask.trailing_zeros();
        packed |= ((word >> from) & 1) << to;
        to += 1;
        mask &= mask - 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_bytes_of_the_endless_key() {
        let bytes: Vec<u8> = (1..=20).collect();
        for len in 0..=20 {
            for offset in 0..24 {
                let key = &bytes[..len];
                let expected = std::array::from_fn(|at| byte(key, offset + at as u32));
                assert_eq!(window(key, offset), u64::from_be_bytes(expected), "{len} {offset}");
            }
        }
    }

    #[test]
    fn the_first_difference_separates_keys_in_their_order() {
        let keys: [&[u8]; 9] =
            [b"", b"\0", b"\0\0", b"\0\x01", b"a", b"a\0", b"aaaaaaaaaa", b"aaaaaaaaab", b"b"];
        for (i, a) in keys.iter().enumerate() {
            for (j, b) in keys.iter().enumerate() {
                match first_difference(a, b) {
                    None => assert_eq!(i, j),
                    Some(at) => assert_eq!(bit(b, at), i < j, "{a:?} {b:?}"),
                }
            }
        }
    }

    #[test]
    fn packing_keeps_the_order_of_bits() {
        assert_eq!(pack(0b1011_0110, 0b1101_0010), 0b1011);
        assert_eq!(pack(u64::MAX, 1 << 63 | 1), 3);
    }
}
