//! The bytes of a key, in place when there are few.
//!
//! Nothing here knows what the bytes mean; whoever needs to change them makes another key.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// Bytes a key has room for without memory of its own: with their length and the mark which of the
/// two it is, as much as three words.
const IN_PLACE: usize = 22;

/// A key's bytes. Dereferences to them, and compares and hashes as they do.
#[derive(Clone)]
pub struct Key(Bytes);

#[derive(Clone)]
enum Bytes {
    InPlace { len: u8, bytes: [u8; IN_PLACE] },
    Boxed(Box<[u8]>),
}

const _: () = assert!(size_of::<Key>() == 24);

impl Deref for Key {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::InPlace { len, bytes } => &bytes[..usize::from(*len)],
            Bytes::Boxed(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Key {
    #[inline]
    fn from(from: &[u8]) -> Key {
        if from.len() > IN_PLACE {
            return Key(Bytes::Boxed(from.into()));
        }
        let mut bytes = [0; IN_PLACE];
        bytes[..from.len()].copy_from_slice(from);
        Key(Bytes::InPlace { len: from.len() as u8, bytes })
    }
}

impl From<Box<[u8]>> for Key {
    fn from(bytes: Box<[u8]>) -> Key {
        if bytes.len() > IN_PLACE { Key(Bytes::Boxed(bytes)) } else { Key::from(&*bytes) }
    }
}

impl From<Vec<u8>> for Key {
    fn from(bytes: Vec<u8>) -> Key {
        bytes.into_boxed_slice().into()
    }
}

impl<const N: usize> From<[u8; N]> for Key {
    fn from(bytes: [u8; N]) -> Key {
        bytes.as_slice().into()
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        **self == **other
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_length_are_their_bytes() {
        for len in 0..100 {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let key = Key::from(bytes.as_slice());
            assert_eq!(*key, *bytes);
            assert_eq!(Key::from(bytes.clone()), key);
            let longer = Key::from([&bytes[..], b"x"].concat());
            assert!(key < longer && key != longer);
        }
        assert_eq!(format!("{:?}", Key::from(*b"a\xff")), "\"a\\xff\"");
    }
}
