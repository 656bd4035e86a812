//! Digests of sixteen messages at once: a message per lane.
//!
//! A digest is one chain of dependent operations per message, so a processor is idle for most of it; with a
//! message in each lane of a register, every operation of the standard works on all of them:
//!
//! ```text
//! for each set of L messages, as many as a register has words:
//!     state = the standard's, in every lane
//!     for each block of the messages, and the one or two with their ends:
//!         w[t] = (word t of message 0, of message 1, … of message L - 1)    transposed
//!         state = what the standard makes of state and w
//!     transpose back
//! ```
//!
//! What a standard says of a block is a file each, once for all levels. All messages have one length, so that
//! they end together.

mod md5;
mod sha2;
mod sha3;

use fathom_machine::compile;
use fathom_machine::level::{Form, Level};
use fathom_machine::simd::{MOST_WORDS, Vector, Words};

use md5::Md5;
use sha2::{Sha256, Sha512};
use sha3::Sha3;

/// Messages that are digested together.
pub(crate) const MESSAGES: usize = 16;

/// Words of the longest block, which is that of SHA3-256.
const WORDS: usize = 17;

/// A form's function; its level is available.
type Run<const DIGEST: usize> = unsafe fn(&[&[u8]; MESSAGES]) -> [[u8; DIGEST]; MESSAGES];

/// A digest of sixteen messages of one length, in the form for a level.
pub(crate) struct Together<const DIGEST: usize>(Form<Run<DIGEST>>);

impl<const DIGEST: usize> Together<DIGEST> {
    /// The level of the form.
    pub(crate) fn level(&self) -> Level {
        self.0.level
    }

    /// The digests of the messages.
    ///
    /// # Panics
    /// If their lengths differ.
    pub(crate) fn digest(&self, messages: &[&[u8]; MESSAGES]) -> [[u8; DIGEST]; MESSAGES] {
        // SAFETY: a form's level is available.
        unsafe { (self.0.run)(messages) }
    }
}

/// Defines the functions that give a digest's form for a level: its bytes, and its type, with the words of its
/// state and the bytes of its block.
macro_rules! together {
    ($($(#[$doc:meta])* $name:ident $digest:literal by $blocks:ident $state:literal $block:literal;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(level: Level) -> Together<$digest> {
            compile! {
                fn form(messages: &[&[u8]; MESSAGES]) -> [[u8; $digest]; MESSAGES]
                    = digests<V, $blocks, $state, $block, $digest>;
                scalar, sse2, avx2, avx512, neon
            }
            Together(form(level))
        }
    )*};
}
together! {
    /// MD5.
    md5 16 by Md5 4 64;
    /// SHA-256.
    sha256 32 by Sha256 8 64;
    /// SHA-512.
    sha512 64 by Sha512 8 128;
    /// SHA3-256.
    sha3_256 32 by Sha3 25 136;
}

/// What a standard says of a digest: a state of so many words, to which blocks of so many bytes are added.
trait Blocks<const STATE: usize, const BLOCK: usize> {
    type Word: Copy;
    /// The register of such words.
    type Register<V: Vector>: Words<Self::Word>;

    /// The state before the first block.
    const START: [Self::Word; STATE];
    const IS_BIG_ENDIAN: bool;
    /// The byte that follows the message.
    const MARK: u8;
    /// Bytes at the end of the last block that tell the message's length.
    const LENGTH: usize;

    /// Ends the last block, zeros but for the rest of a message of so many bytes and its mark.
    fn end(last: &mut [u8; BLOCK], message_bytes: u64);

    /// Adds a block of each message, of which words behind `BLOCK` bytes mean nothing.
    ///
    /// # Safety
    /// The level of `W` is available.
    unsafe fn add<W: Words<Self::Word>>(state: &mut [W; STATE], block: [W; WORDS]);
}

/// The digests of the messages, a register of them at a time.
///
/// # Safety
/// The level of `V` is available.
///
/// # Panics
/// If the lengths of the messages differ.
#[inline(always)]
unsafe fn digests<V, B, const STATE: usize, const BLOCK: usize, const DIGEST: usize>(
    messages: &[&[u8]; MESSAGES],
) -> [[u8; DIGEST]; MESSAGES]
where
    V: Vector,
    B: Blocks<STATE, BLOCK>,
{
    let length = messages[0].len();
    assert!(messages.iter().all(|message| message.len() == length), "messages of one length");
    let lanes = B::Register::<V>::COUNT;
    let mut digests = [[0; DIGEST]; MESSAGES];
    for (messages, digests) in messages.chunks(lanes).zip(digests.chunks_mut(lanes)) {
        // SAFETY: the caller vouches for the level; so everywhere below.
        let mut state = [unsafe { B::Register::<V>::splat(B::START[0]) }; STATE];
        for (word, start) in state.iter_mut().zip(B::START) {
            // SAFETY: see above.
            *word = unsafe { B::Register::<V>::splat(start) };
        }
        let mut blocks = [&[0; BLOCK]; MESSAGES];
        for at in (0..length / BLOCK * BLOCK).step_by(BLOCK) {
            for (block, message) in blocks.iter_mut().zip(messages) {
                *block = message[at..].first_chunk().expect("it is as long as the first");
            }
            // SAFETY: see above.
            unsafe { B::add(&mut state, gathered::<V, B, STATE, BLOCK>(&blocks)) };
        }
        let rest = length % BLOCK;
        let tail_blocks = (rest + 1 + B::LENGTH).div_ceil(BLOCK);
        let mut tails = [[[0; BLOCK]; 2]; MESSAGES];
        for (tail, message) in tails.iter_mut().zip(messages) {
            let bytes = tail.as_flattened_mut();
            bytes[..rest].copy_from_slice(&message[length - rest..]);
            bytes[rest] = B::MARK;
            B::end(&mut tail[tail_blocks - 1], length as u64);
        }
        for at in 0..tail_blocks {
            for (block, tail) in blocks.iter_mut().zip(&tails) {
                *block = &tail[at];
            }
            // SAFETY: see above.
            unsafe { B::add(&mut state, gathered::<V, B, STATE, BLOCK>(&blocks)) };
        }
        let word_bytes = size_of::<B::Word>();
        for (word, at) in state.into_iter().zip((0..DIGEST).step_by(word_bytes)) {
            let mut bytes = [0; 8 * MOST_WORDS];
            // SAFETY: there is room for the widest register; the level as above.
            unsafe { ordered::<B, _, STATE, BLOCK>(word).store(bytes.as_mut_ptr()) };
            for (digest, bytes) in digests.iter_mut().zip(bytes.chunks_exact(word_bytes)) {
                digest[at..at + word_bytes].copy_from_slice(bytes);
            }
        }
    }
    digests
}

/// Register t has word t of each block.
///
/// L words of each of L blocks are a square of L registers, which is transposed. Where a word is, its register
/// and its place in there, is a number of 2 log2 L bits, and zipping the registers of the upper half with those
/// of the lower rotates it by one bit: after log2 L times register and place are exchanged.
///
/// ```text
/// a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
/// b0 b1 b2 b3  ─►  a2 c2 a3 c3  ─►  a1 b1 c1 d1
/// c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
/// d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
/// ```
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn gathered<V: Vector, B: Blocks<STATE, BLOCK>, const STATE: usize, const BLOCK: usize>(
    blocks: &[&[u8; BLOCK]; MESSAGES],
) -> [B::Register<V>; WORDS] {
    let (lanes, words) = (B::Register::<V>::COUNT, BLOCK / size_of::<B::Word>());
    const { assert!(BLOCK / size_of::<B::Word>() >= B::Register::<V>::COUNT) };
    // SAFETY: the caller vouches for the level; a block is longer than a register. So everywhere below.
    let mut all = [unsafe { B::Register::<V>::load(blocks[0].as_ptr()) }; WORDS];
    for set in 0..words.div_ceil(lanes) {
        // The last ones reach back where a block is no multiple of a register.
        let at = (set * lanes).min(words - lanes);
        let mut rows = [all[0]; MOST_WORDS];
        for (row, block) in rows.iter_mut().zip(blocks).take(lanes) {
            // SAFETY: `lanes` words are left in a block; see above.
            *row = unsafe {
                let words = block.as_ptr().add(at * size_of::<B::Word>());
                ordered::<B, _, STATE, BLOCK>(B::Register::<V>::load(words))
            };
        }
        for _ in 0..lanes.ilog2() {
            let before = rows;
            for i in 0..lanes / 2 {
                // SAFETY: see above.
                [rows[2 * i], rows[2 * i + 1]] = unsafe { before[i].zip(before[lanes / 2 + i]) };
            }
        }
        all[at..at + lanes].copy_from_slice(&rows[..lanes]);
    }
    all
}

/// Words as a processor reads them, from the standard's order of bytes, or back.
///
/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn ordered<B, W, const STATE: usize, const BLOCK: usize>(words: W) -> W
where
    B: Blocks<STATE, BLOCK>,
    W: Words<B::Word>,
{
    if B::IS_BIG_ENDIAN == cfg!(target_endian = "big") {
        return words;
    }
    // SAFETY: as the caller says.
    unsafe { words.swapped() }
}

#[cfg(test)]
mod tests;
