//! The messages of mORMot's AES classes: encrypted ones (`IV, PKCS #7 ciphertext`), and the
//! authenticated container around them.
//!
//! ```text
//! nonce 32 | tag 32 | crc32c(nonce, tag) u32 | varint payload length | IV 16 | PKCS #7 ciphertext
//! ```
//!
//! The CRC starts at 1; with GCM the nonce is ignored and the tag is 16 bytes and 16 zeros. The
//! 256-bit tag of `cfc`, `ofc` and `ctc` is defined at `Lanes`. Nothing here claims security.

use super::kernel;
use crate::aes::Key;
use crate::mix::SplitMix;

/// The tag of a message; shorter ones are followed by zeros, missing ones are zeros.
pub(crate) type Tag = [u8; 32];

/// Bytes before the varint.
const HEADER: usize = 32 + 32 + 4;

/// What makes a ciphertext of the bytes in place, from an IV and a nonce.
pub(crate) trait Seal: FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag {}
impl<F: FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag> Seal for F {}

/// A message without a tag.
pub(crate) fn encrypted(random: &mut SplitMix, bytes: &[u8], seal: &mut impl Seal) -> Vec<u8> {
    let mut message = Vec::with_capacity(payload_bytes(bytes.len()));
    push_payload(random, &[0; 32], bytes, &mut message, seal);
    message
}

/// A message in the authenticated container.
pub(crate) fn sealed(random: &mut SplitMix, bytes: &[u8], seal: &mut impl Seal) -> Vec<u8> {
    let payload = payload_bytes(bytes.len());
    let mut message = Vec::with_capacity(HEADER + 10 + payload);
    let mut nonce = [0; 32];
    for word in nonce.as_chunks_mut::<8>().0 {
        *word = random.word().to_le_bytes();
        message.extend_from_slice(word);
    }
    message.extend_from_slice(&[0; HEADER - 32]);
    // Of what is known already, so that it is done beside the encryption.
    let crc = kernel::crc32c_of(1, &nonce);
    push_varint(payload as u64, &mut message);
    let tag = push_payload(random, &nonce, bytes, &mut message, seal);
    message[32..64].copy_from_slice(&tag);
    let crc = kernel::crc32c_of(crc, &tag);
    message[64..HEADER].copy_from_slice(&crc.to_le_bytes());
    message
}

/// IV and padded plain text.
fn payload_bytes(plain: usize) -> usize {
    16 + plain + 16 - plain % 16
}

fn push_payload(
    random: &mut SplitMix,
    nonce: &[u8; 32],
    bytes: &[u8],
    message: &mut Vec<u8>,
    seal: &mut impl Seal,
) -> Tag {
    let mut iv = [0; 16];
    let [low, high] = [random.word(), random.word()];
    kernel::put(&mut iv, u128::from(low) | u128::from(high) << 64);
    message.extend_from_slice(&iv);
    let start = message.len();
    let (blocks, tail) = bytes.as_chunks::<16>();
    message.extend_from_slice(blocks.as_flattened());
    message.extend_from_slice(&[0; 16]);
    let last = message.last_chunk_mut().expect("just added");
    kernel::put(last, last_block(bytes, tail.len()));
    seal(&iv, nonce, &mut message[start..])
}

/// The last `length` bytes as a little-endian number, padded after PKCS #7.
fn last_block(bytes: &[u8], length: usize) -> u128 {
    let tail = match bytes.last_chunk() {
        Some(last) => u128::from_le_bytes(*last).checked_shr(8 * (16 - length) as u32),
        None => Some(number(bytes)),
    };
    let pad = 16 - length;
    // The pad's byte sixteen times, moved up past the text.
    let pads = pad as u128 * (u128::MAX / 255);
    tail.unwrap_or(0) | pads << (8 * length)
}

/// Fewer than sixteen bytes as a little-endian number: of two loads that overlap where it can.
fn number(bytes: &[u8]) -> u128 {
    let up = 8 * bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|half| u128::from(u64::from_le_bytes(*half)));
        return first | last << (up - 64);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|half| u128::from(u32::from_le_bytes(*half)));
        return first | last << (up - 32);
    }
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// Seven bits per byte, the low ones first.
fn push_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Why a container is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// It ends before what its header announces, or goes on after it.
    #[error("the container has another length than its header says")]
    Length,
    /// The CRC of the header is wrong.
    #[error("the CRC of the header is wrong")]
    Header,
    /// The tag is not that of the content: damaged, or another key.
    #[error("the tag is wrong")]
    Tag,
    /// The padding makes no sense although the tag was right.
    #[error("the padding is wrong")]
    Padding,
}

/// The parts of a container whose header is right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) nonce: &'a [u8; 32],
    pub(crate) tag: &'a Tag,
    pub(crate) iv: &'a [u8; 16],
    pub(crate) cipher_text: &'a [u8],
}

/// Takes a container apart.
pub(crate) fn parts(message: &[u8]) -> Result<Parts<'_>, ContainerError> {
    let (nonce, rest) = message.split_first_chunk::<32>().ok_or(ContainerError::Length)?;
    let (tag, rest) = rest.split_first_chunk::<32>().ok_or(ContainerError::Length)?;
    let (crc, rest) = rest.split_first_chunk::<4>().ok_or(ContainerError::Length)?;
    if kernel::crc32c(1, &message[..64]) != u32::from_le_bytes(*crc) {
        return Err(ContainerError::Header);
    }
    let (length, rest) = varint(rest).ok_or(ContainerError::Length)?;
    let (iv, cipher_text) = rest.split_first_chunk::<16>().ok_or(ContainerError::Length)?;
    if length != rest.len() as u64 || cipher_text.is_empty() || cipher_text.len() % 16 != 0 {
        return Err(ContainerError::Length);
    }
    Ok(Parts { nonce, tag, iv, cipher_text })
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

/// Removes PKCS #7 padding.
pub(crate) fn unpadded(mut plain: Vec<u8>) -> Result<Vec<u8>, ContainerError> {
    let pad = usize::from(*plain.last().ok_or(ContainerError::Padding)?);
    let keeps = plain.len().checked_sub(pad).filter(|_| (1..=16).contains(&pad));
    let keeps = keeps.ok_or(ContainerError::Padding)?;
    if plain[keeps..].iter().any(|byte| usize::from(*byte) != pad) {
        return Err(ContainerError::Padding);
    }
    plain.truncate(keeps);
    Ok(plain)
}

/// The two states of the 256-bit tag, four lanes each. For each 16-byte block, lane i takes word i
/// through the CRC-32C step without inversions; the plain state runs over the padded plain text, the
/// cipher state over the ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) plain: [u32; 4],
    pub(crate) cipher: [u32; 4],
}

impl Lanes {
    /// The states before the first block: the halves of the nonce, xored; and all ones, or, with
    /// associated data, h1, h1 + h2, h1 + 2 h2, h1 + 3 h2 with h1 = crc32c(0, data) and
    /// h2 = crc32c(h1, data).
    pub(crate) fn start(nonce: &[u8; 32], associated: Option<&[u8]>) -> Lanes {
        let (words, _) = nonce.as_chunks::<8>();
        // Words, as they were stored: see `kernel::put`.
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let [low, high] = [word(0) ^ word(2), word(1) ^ word(3)];
        let cipher = match associated {
            None => [u32::MAX; 4],
            Some(data) => {
                let first = kernel::crc32c(0, data);
                let second = kernel::crc32c(first, data);
                std::array::from_fn(|i| first.wrapping_add(second.wrapping_mul(i as u32)))
            }
        };
        let mut lanes = Lanes { plain: [0; 4], cipher };
        kernel::put_lanes(&mut lanes.plain, u128::from(low) | u128::from(high) << 64);
        lanes
    }

    /// The tag: the plain lanes as one block encrypted with the key, then the cipher lanes.
    pub(crate) fn tag(&self, key: &Key) -> Tag {
        self.tag_of(key.encrypt(block(self.plain)))
    }

    /// The plain lanes as the halves of a block, not yet encrypted.
    pub(crate) fn plain_halves(&self) -> [u64; 2] {
        let [a, b, c, d] = self.plain.map(u64::from);
        [a | b << 32, c | d << 32]
    }

    /// The tag whose first half is this encrypted block.
    pub(crate) fn tag_of(&self, encrypted: [u8; 16]) -> Tag {
        let mut tag = [0; 32];
        tag[..16].copy_from_slice(&encrypted);
        tag[16..].copy_from_slice(&block(self.cipher));
        tag
    }
}

fn block(lanes: [u32; 4]) -> [u8; 16] {
    // As one number: a byte at a time would be stored so, and wait when it is loaded as a whole.
    let word = |at: usize| u128::from(lanes[at]) << (32 * at);
    (word(0) | word(1) | word(2) | word(3)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_is_what_pkcs_7_says() {
        for length in 0..=70 {
            let bytes: Vec<u8> = (100..).take(length).collect();
            let mut padded = bytes.clone();
            let pad = 16 - length % 16;
            padded.resize(length + pad, pad as u8);
            let last = last_block(&bytes, length % 16).to_le_bytes();
            assert_eq!(padded.last_chunk(), Some(&last), "{length}");
        }
    }

    #[test]
    fn the_header_is_checked_before_anything_is_used() {
        let mut seal = |_: &[u8; 16], _: &[u8; 32], _: &mut [u8]| [5; 32];
        for length in [0, 1, 15, 16, 17, 2000] {
            let message = sealed(&mut SplitMix(3), &vec![b'x'; length], &mut seal);
            let parts = parts(&message).unwrap();
            assert_eq!(unpadded(parts.cipher_text.to_vec()).unwrap(), vec![b'x'; length]);
            assert_eq!(parts.tag, &[5; 32]);
            for end in 0..message.len() {
                assert!(super::parts(&message[..end]).is_err(), "{end} of {}", message.len());
            }
            for bit in 0..8 * HEADER {
                let mut message = message.clone();
                message[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(super::parts(&message).unwrap_err(), ContainerError::Header, "{bit}");
            }
        }
    }

    #[test]
    fn padding_that_makes_no_sense_is_refused() {
        for text in [&b""[..], &[0; 16], &[17; 16], &[1, 3, 3], &[2]] {
            assert_eq!(unpadded(text.to_vec()), Err(ContainerError::Padding), "{text:?}");
        }
        assert_eq!(unpadded(vec![9, 2, 2]).unwrap(), [9]);
    }
}
