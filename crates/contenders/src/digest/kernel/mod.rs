//! SHA-256 of sixteen messages at once: a message per lane.
//!
//! SHA-256 is one chain of dependent operations per message, so a processor is idle for most of it; with a
//! message in each lane of a register, every operation of the standard's loop works on all of them:
//!
//! ```text
//! registers  a … h, w[0] … w[15]         each with a word of L messages
//! transpose  w[t] = (word t of message 0, of message 1, … of message L - 1)
//! 64 rounds  as in FIPS 180-4, 6.2.2
//! ```
//!
//! All messages have one length, so that they end together.

#[cfg(target_arch = "x86_64")]
mod x86_64;

use fathom_machine::level::{Form, Here, Level};

/// Messages that are digested together.
pub(crate) const MESSAGES: usize = 16;

/// Sixteen messages of one length, and their digests.
pub(crate) type Together = fn(&[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES];

/// The form at a level; `None` where no registers are written for.
pub(crate) fn form(level: Level) -> Option<Form<Together>> {
    match level.here() {
        #[cfg(target_arch = "x86_64")]
        Here::Avx2 => Some(Form { level: Level::Avx2, run: x86_64::avx2 }),
        #[cfg(target_arch = "x86_64")]
        Here::Avx512 => Some(Form { level: Level::Avx512, run: x86_64::avx512 }),
        #[cfg(target_arch = "x86_64")]
        Here::Sse2 => None,
        #[cfg(target_arch = "aarch64")]
        Here::Neon => None,
        Here::Scalar => None,
    }
}

/// A word of `LANES` messages each.
///
/// # Safety
/// Methods use instructions of a level: whoever calls them guarantees that it is available.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::missing_safety_doc)] // stated once, above
unsafe trait Words: Copy {
    const LANES: usize;

    unsafe fn splat(word: u32) -> Self;
    /// The words at `from`, `LANES` of them.
    unsafe fn load(from: *const u32) -> Self;
    /// Writes them.
    unsafe fn store(self, to: *mut u32);
    unsafe fn plus(self, other: Self) -> Self;
    /// Bytes of each word in the other order.
    unsafe fn swapped(self) -> Self;
    /// Σ and σ of the standard: three rotations to the right, or two and a shift.
    unsafe fn rotations<const A: i32, const B: i32, const C: i32>(self) -> Self;
    unsafe fn rotations_and_shift<const A: i32, const B: i32, const C: i32>(self) -> Self;
    /// Bits of `yes` where a bit is set, and of `no` where it is not.
    unsafe fn choose(self, yes: Self, no: Self) -> Self;
    /// Bits that two of three have.
    unsafe fn majority(self, b: Self, c: Self) -> Self;
}

/// FIPS 180-4, 4.2.2.
#[cfg(target_arch = "x86_64")]
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// FIPS 180-4, 5.3.3.
#[cfg(target_arch = "x86_64")]
const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 64;

/// The digests of the messages, `W::LANES` at a time.
///
/// # Safety
/// The level of `W` is available.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn digests<W: Words>(messages: &[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES] {
    let mut digests = [[0; 32]; MESSAGES];
    let sets = messages.chunks_exact(W::LANES).zip(digests.chunks_exact_mut(W::LANES));
    for (messages, digests) in sets {
        let length = messages[0].len();
        assert!(messages.iter().all(|message| message.len() == length), "messages of one length");
        // SAFETY: the caller vouches for the level; so everywhere below.
        let mut state = START.map(|word| unsafe { W::splat(word) });
        let mut blocks = [[0; BLOCK]; MESSAGES];
        for at in (0..length / BLOCK * BLOCK).step_by(BLOCK) {
            for (block, message) in blocks.iter_mut().zip(messages) {
                block.copy_from_slice(&message[at..at + BLOCK]);
            }
            // SAFETY: see above.
            unsafe { add_block::<W>(&mut state, &blocks) };
        }
        // The rest, a one and the length in bits: one block more, or two.
        let rest = length % BLOCK;
        let mut tails = [[0; 2 * BLOCK]; MESSAGES];
        let tail_bytes = if rest < BLOCK - 8 { BLOCK } else { 2 * BLOCK };
        for (tail, message) in tails.iter_mut().zip(messages) {
            tail[..rest].copy_from_slice(&message[length - rest..]);
            tail[rest] = 0x80;
            tail[tail_bytes - 8..tail_bytes].copy_from_slice(&(8 * length as u64).to_be_bytes());
        }
        for at in (0..tail_bytes).step_by(BLOCK) {
            for (block, tail) in blocks.iter_mut().zip(&tails) {
                block.copy_from_slice(&tail[at..at + BLOCK]);
            }
            // SAFETY: see above.
            unsafe { add_block::<W>(&mut state, &blocks) };
        }
        for (i, word) in state.into_iter().enumerate() {
            let mut words = [0_u32; MESSAGES];
            // SAFETY: there is room for the widest; the level as above.
            unsafe { word.store(words.as_mut_ptr()) };
            for (digest, word) in digests.iter_mut().zip(words) {
                digest[4 * i..4 * i + 4].copy_from_slice(&word.to_be_bytes());
            }
        }
    }
    digests
}

/// FIPS 180-4, 6.2.2, for a block of each message.
///
/// # Safety
/// The level of `W` is available.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn add_block<W: Words>(state: &mut [W; 8], blocks: &[[u8; BLOCK]; MESSAGES]) {
    // SAFETY: the caller vouches for the level; what is loaded are whole arrays.
    unsafe {
        let mut words = [[0_u32; MESSAGES]; 16];
        for (lane, block) in blocks.iter().enumerate().take(W::LANES) {
            for (t, bytes) in block.as_chunks::<4>().0.iter().enumerate() {
                words[t][lane] = u32::from_ne_bytes(*bytes);
            }
        }
        let mut w = [W::splat(0); 16];
        for (w, words) in w.iter_mut().zip(&words) {
            *w = W::load(words.as_ptr()).swapped();
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        /// A round, whose letters the next one moves on by one, so that no register is.
        macro_rules! round {
            ($t:expr, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
                let mixed = $e.choose($f, $g).plus($e.rotations::<6, 11, 25>());
                let first = $h.plus(W::splat(K[$t])).plus(word(&mut w, $t)).plus(mixed);
                $d = $d.plus(first);
                $h = first.plus($a.rotations::<2, 13, 22>()).plus($a.majority($b, $c));
            };
        }
        for t in (0..64).step_by(8) {
            round!(t, a b c d e f g h);
            round!(t + 1, h a b c d e f g);
            round!(t + 2, g h a b c d e f);
            round!(t + 3, f g h a b c d e);
            round!(t + 4, e f g h a b c d);
            round!(t + 5, d e f g h a b c);
            round!(t + 6, c d e f g h a b);
            round!(t + 7, b c d e f g h a);
        }
        for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.plus(more);
        }
    }
}

/// Word `t` of the schedule; `w` holds the last sixteen.
///
/// # Safety
/// The level of `W` is available.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn word<W: Words>(w: &mut [W; 16], t: usize) -> W {
    if t >= 16 {
        // SAFETY: as the caller says.
        unsafe {
            let early = w[(t + 1) % 16].rotations_and_shift::<7, 18, 3>();
            let late = w[(t + 14) % 16].rotations_and_shift::<17, 19, 10>();
            w[t % 16] = w[t % 16].plus(early).plus(w[(t + 9) % 16]).plus(late);
        }
    }
    w[t % 16]
}

#[cfg(test)]
mod tests {
    use cryptoxide::hashing::sha256;

    use super::*;

    #[test]
    fn every_length_and_lane_agrees_with_the_reference() {
        let bytes = crate::mix::random(5, 400 + 3 * MESSAGES);
        for length in (0..200).chain([255, 256, 257, 400]) {
            let messages: [&[u8]; MESSAGES] =
                std::array::from_fn(|lane| &bytes[3 * lane..3 * lane + length]);
            for level in Level::available() {
                let Some(form) = form(level) else { continue };
                let expected = messages.map(sha256);
                assert_eq!((form.run)(&messages), expected, "{level}, {length} bytes");
            }
        }
    }
}
