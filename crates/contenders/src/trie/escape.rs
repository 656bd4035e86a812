//! Keys for tries that reserve the zero byte: zeros replaced, and a terminator where asked for. Order
//! stays what it was.
//!
//! ```text
//! 0 -> 1 1     1 -> 1 2     other bytes as they are     terminator: 0
//! ```

use crate::keyed::Key;

/// Calls `take` with `key` escaped and ended by a zero byte, so that no key begins another.
#[inline]
fn ended<R>(key: &[u8], take: impl FnOnce(&[u8]) -> R) -> R {
    escaped(key, true, take)
}

/// Calls `take` with the bytes of `key` such that none of the keys begins another.
#[inline]
pub(super) fn shaped<K: Key, R>(key: K, take: impl FnOnce(&[u8]) -> R) -> R {
    let raw = key.raw();
    if K::SAME_LENGTH { take(raw.as_ref()) } else { ended(raw.as_ref(), take) }
}

/// Calls `take` with `key` escaped; the empty key becomes `1 3`, which no other key becomes.
#[inline]
pub(super) fn without_zeros<R>(key: &[u8], take: impl FnOnce(&[u8]) -> R) -> R {
    match key {
        [] => take(&[1, 3]),
        _ if key.iter().all(|&byte| byte > 1) => take(key),
        _ => escaped(key, false, take),
    }
}

#[inline]
fn escaped<R>(key: &[u8], end: bool, take: impl FnOnce(&[u8]) -> R) -> R {
    const SHORT: usize = 128;
    let mut short = [0; SHORT];
    if key.len() < SHORT && key.iter().all(|&byte| byte > 1) {
        short[..key.len()].copy_from_slice(key);
        return take(&short[..key.len() + usize::from(end)]);
    }
    let mut long = Vec::with_capacity(key.len() + key.len() / 8 + 9);
    for &byte in key {
        match byte {
            0 | 1 => long.extend([1, byte + 1]),
            _ => long.push(byte),
        }
    }
    if end {
        long.push(0);
    }
    take(&long)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn order_is_kept_and_no_key_begins_another(
            a in prop::collection::vec(0_u8..4, 0..6),
            b in prop::collection::vec(0_u8..4, 0..6),
        ) {
            let (left, right) = (ended(&a, <[u8]>::to_vec), ended(&b, <[u8]>::to_vec));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert!(a == b || !right.starts_with(&left));
            let (left, right) = (without_zeros(&a, <[u8]>::to_vec), without_zeros(&b, <[u8]>::to_vec));
            prop_assert_eq!(left == right, a == b);
            prop_assert!(!left.contains(&0) && !left.is_empty());
        }
    }
}
