//! The grammar of JSON by bits: whether 64 bytes at a time go on as a valid document, one body
//! compiled once per level that has vector registers.
//!
//! Says yes or no, block by block, with a state between; which byte is wrong and why, the lexer says.
//! No events and no values.
//!
//! In plain words: a byte is in a string, white space, punctuation or part of a number or word; what
//! may stand beside what is asked of every two neighbours; commas and colons must fit the container
//! they stand in. The departures from a machine that walks over bytes:
//! 1. Each question gets a 64-bit mask, a bit per byte, and all bytes are asked at once. No branch
//!    depends on a token's kind or length, so none is predicted wrongly.
//! 2. In a string is what has an odd number of quotes up to it.
//! 3. "The token after this one" and "the end of this string" are additions: a bit added to the
//!    lower end of a run of ones clears the run and comes out above it. What comes out above bit 63
//!    goes into the next block.
//!
//!    ```text
//!    text     {"a": \t  1,                 lowest bit first
//!    run      .....11111.....              white space
//!    behind   .....1..........             one place behind the colon
//!    sum      ..........1.....             the token after the colon
//!    ```
//! 4. A number's digits before the point, behind it and in the exponent are runs as well: a point is
//!    right exactly where the first run ends.
//! 5. Only brackets, escapes and words (`true`, `false`, `null`) are walked one by one. Between two
//!    brackets all commas are of one container: a comma that leads to a key must be in an object,
//!    one that leads to something else in an array. Each leaves a mark where that is known, and the
//!    marks up to the next bracket are compared with the container together.
//! 6. A block inside a long string has nothing but its bytes to check.

use super::wide::{BLOCK_BYTES, Wide};
use crate::lexer::{Expect, Limits};

const DEPTH: usize = Limits::DEFAULT.depth;

/// Readable bytes behind a block: an escape or word that begins in it may end there.
pub(crate) const BEHIND_BYTES: usize = 8;

/// An array, an object, or neither: the byte of its bracket, as far as the two differ.
const ARRAY: u8 = b'[' & CURLY;
const OBJECT: u8 = b'{' & CURLY;
const NEITHER: u8 = 1;
const CURLY: u8 = b'[' ^ b'{';
/// The bit that closing brackets have and opening ones have not.
const CLOSING: u8 = b']' & !b'[' & b'}' & !b'{';

/// What a block must know of the ones before it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    carry: Carry,
    nest: Nest,
    token_bytes: usize,
}

/// The state but for the open containers. Where nothing else is said, bit 0 is about the block's
/// first byte and no other bit is set.
#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    /// It is escaped.
    escaped: u64,
    /// It is inside a string: all bits.
    in_string: u64,
    /// It, or the token after white space here, follows a value, a comma or colon, a comma or `{`,
    /// and a string where a key may stand.
    after_value: u64,
    after_comma_or_colon: u64,
    after_comma_or_brace: u64,
    after_key: u64,
    /// The string it is in stands where a key may stand.
    in_key: u64,
    /// The byte before belongs to a number or word.
    in_scalar: u64,
    /// A word goes on in these bytes, and must have ended at this one.
    word: u64,
    word_end: u64,
    /// The byte before is a digit before the point, behind it; a number's sign, first zero, point,
    /// exponent mark, exponent's sign.
    in_integer: u64,
    in_fraction: u64,
    after_minus: u64,
    after_zero: u64,
    after_point: u64,
    after_mark: u64,
    after_sign: u64,
    /// The last four bytes, if any of the last three is not ASCII.
    before: u32,
    /// Bytes of whole blocks up to here that lie within one token.
    long_bytes: usize,
}

/// The open containers, innermost last, below them [`NEITHER`].
#[derive(Clone, Debug)]
struct Nest {
    kinds: [u8; (DEPTH + 2).next_power_of_two()],
    depth: usize,
}

impl State {
    /// At the beginning of a document. A token longer than `token_bytes` is refused, and perhaps one
    /// that is almost as long.
    pub(crate) fn new(token_bytes: usize) -> State {
        let nest = Nest { kinds: [NEITHER; (DEPTH + 2).next_power_of_two()], depth: 0 };
        State { carry: Carry::default(), nest, token_bytes }
    }

    /// Whether a whole document was read, white space behind its last token.
    pub(crate) fn is_complete(&self) -> bool {
        self.nest.depth == 0 && self.carry.after_value == 1
    }

    /// What a lexer would expect here, unless a token is cut.
    pub(crate) fn expect(&self) -> Option<Expect> {
        let carry = self.carry;
        if carry.in_string != 0 || carry.in_scalar != 0 {
            return None;
        }
        let is_object = self.nest.kinds[self.nest.depth] == OBJECT;
        let separator = (carry.after_comma_or_colon == 1, carry.after_comma_or_brace == 1);
        Some(match separator {
            _ if carry.after_value == 1 && self.nest.depth == 0 => Expect::Done,
            _ if carry.after_value == 1 && is_object && carry.after_key == 1 => Expect::Colon,
            _ if carry.after_value == 1 => Expect::CommaOrEnd,
            (true, true) if is_object => Expect::Key,
            (true, _) => Expect::Value,
            (false, true) => Expect::KeyOrEnd,
            (false, false) if self.nest.depth == 0 => Expect::Value,
            (false, false) => Expect::ValueOrEnd,
        })
    }

    /// The open containers, outermost first: whether each is an object.
    pub(crate) fn containers(&self) -> impl Iterator<Item = bool> {
        self.nest.kinds[1..=self.nest.depth].iter().map(|&kind| kind == OBJECT)
    }
}

/// Reads whole blocks from `text[from]` on while [`BEHIND_BYTES`] more follow them: where the next
/// one begins, or `None` when one is not valid.
///
/// # Safety
/// The level of `W` is available.
#[inline(always)]
pub(super) unsafe fn read_blocks<W: Wide>(
    state: &mut State,
    text: &[u8],
    from: usize,
) -> Option<usize> {
    let State { carry, nest, token_bytes } = state;
    let mut at = from;
    while at + BLOCK_BYTES + BEHIND_BYTES <= text.len() {
        let block = text[at..].first_chunk()?;
        // SAFETY: the caller vouches for the level.
        unsafe { read_block::<W>(carry, nest, block, *token_bytes)? };
        at += BLOCK_BYTES;
    }
    Some(at)
}

/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn read_block<W: Wide>(
    carry: &mut Carry,
    nest: &mut Nest,
    text: &[u8; BLOCK_BYTES + BEHIND_BYTES],
    token_bytes: usize,
) -> Option<()> {
    // SAFETY: a block is there to be read; the caller vouches for the level. So in all that follow.
    let v = unsafe { W::load(text.as_ptr()) };
    let is = |byte| unsafe { v.equal(byte).bits() };
    let (quotes, backslashes) = (is(b'"'), is(b'\\'));
    let controls = unsafe { v.at_most(0x1f).bits() };

    let highs = unsafe { v.bits() };
    if highs | u64::from(carry.before) != 0 {
        if !unsafe { W::is_utf8(text.as_ptr(), carry.before) } {
            return None;
        }
        let last = u32::from_le_bytes([text[60], text[61], text[62], text[63]]);
        carry.before = if highs >> 61 != 0 { last } else { 0 };
    }

    if carry.in_string != 0 && quotes | backslashes | carry.escaped == 0 {
        carry.long_bytes += BLOCK_BYTES;
        let fits = carry.long_bytes + 2 * BLOCK_BYTES <= token_bytes;
        return (controls == 0 && fits).then_some(());
    }

    // Strings.
    let mut escaped = carry.escaped;
    let mut escapes = 0;
    if backslashes != 0 {
        let mut rest = backslashes & !escaped;
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            if !is_escape(text[at + 1..at + 6].try_into().ok()?) {
                return None;
            }
            escapes |= 1 << at;
            escaped |= 2 << at;
            rest &= !(3 << at);
        }
    }
    carry.escaped = escapes >> 63;
    let quotes = quotes & !escaped;
    let inside = unsafe { W::parities(quotes) } ^ carry.in_string; // with the opening quote
    carry.in_string = 0_u64.wrapping_sub(inside >> 63);
    let opening_quotes = quotes & inside;
    let closing_quotes = quotes & !inside;
    let outside = !(inside | quotes);
    let mut wrong = escapes & !inside | controls & inside;

    // Outside of them: white space, punctuation, and what remains.
    let spaces = unsafe { v.spaces().bits() } & outside;
    let commas = is(b',') & outside;
    let colons = is(b':') & outside;
    // The two brackets of each direction differ in one bit.
    let openings = unsafe { v.with(CURLY).equal(b'{').bits() } & outside;
    let closings = unsafe { v.with(CURLY).equal(b'}').bits() } & outside;
    let braces = is(b'{') & outside;
    let scalars = outside & !(spaces | commas | colons | openings | closings);
    let before = scalars << 1 | carry.in_scalar;
    carry.in_scalar = scalars >> 63;
    let first_of_scalars = scalars & !before;
    let behind_scalars = before & !scalars;

    // Words.
    let digits = unsafe { v.less(b'0').at_most(9).bits() } & scalars;
    let minuses = is(b'-') & scalars;
    let mut words = carry.word;
    wrong |= carry.word_end & scalars;
    (carry.word, carry.word_end) = (0, 0);
    let mut rest = first_of_scalars & !(digits | minuses);
    while rest != 0 {
        let at = rest.trailing_zeros() as usize;
        let len = word_bytes(text[at..at + 5].try_into().ok()?)?;
        let bits = ((1_u128 << len) - 1) << at;
        let end = 1_u128 << (at + len);
        words |= bits as u64;
        wrong |= end as u64 & scalars;
        carry.word |= (bits >> 64) as u64;
        carry.word_end |= (end >> 64) as u64;
        rest &= rest - 1;
    }

    // Numbers: the digits before the point, the point, the digits behind it.
    let signs = minuses & first_of_scalars;
    let behind_signs = signs << 1 | carry.after_minus;
    carry.after_minus = signs >> 63;
    let first_digits = first_of_scalars & digits | behind_signs;
    let zeros = is(b'0') & first_digits;
    let points = is(b'.') & scalars;
    let behind_points = points << 1 | carry.after_point;
    carry.after_point = points >> 63;
    let behind_zeros = zeros << 1 | carry.after_zero;
    carry.after_zero = zeros >> 63;
    let behind_integers = run_ends(first_digits, digits, &mut carry.in_integer);
    let behind_fractions = run_ends(behind_points, digits, &mut carry.in_fraction);
    wrong |= (behind_signs | behind_points) & !digits
        | behind_zeros & digits
        | points & !behind_integers;
    // What else a number may have is rare.
    let others = scalars & !(words | digits | points | signs);
    if others | carry.after_mark | carry.after_sign != 0 {
        let marks = unsafe { v.with(0x20).equal(b'e').bits() } & others;
        let behind_marks = marks << 1 | carry.after_mark;
        carry.after_mark = marks >> 63;
        let signs = behind_marks & (minuses | is(b'+'));
        let firsts = behind_marks & !signs | signs << 1 | carry.after_sign;
        carry.after_sign = signs >> 63;
        wrong |= marks & !(behind_integers | behind_fractions)
            | firsts & !digits
            | others & !(marks | signs);
    }

    // Neighbours.
    let first_of_values = opening_quotes | first_of_scalars | openings;
    let after_values =
        next_tokens(closing_quotes | closings, behind_scalars, spaces, &mut carry.after_value);
    let after_comma_or_colon =
        next_tokens(commas | colons, 0, spaces, &mut carry.after_comma_or_colon);
    let after_comma_or_brace =
        next_tokens(commas | braces, 0, spaces, &mut carry.after_comma_or_brace);
    let keys = opening_quotes & after_comma_or_brace;
    let ends_of_keys = run_ends(keys, inside, &mut carry.in_key);
    let after_keys = next_tokens(ends_of_keys, 0, spaces, &mut carry.after_key);
    wrong |= first_of_values & after_values
        | commas & !after_values
        | closings & after_comma_or_colon
        | colons & !after_keys;
    if wrong != 0 {
        return None;
    }

    // Containers. A colon marks an object; what a comma leads to that is no key marks an array.
    let mut in_object = colons;
    let mut in_array = after_comma_or_brace & (first_of_scalars | openings) | after_keys & !colons;
    let mut brackets = openings | closings;
    while brackets != 0 {
        let at = brackets.trailing_zeros() as usize;
        let bracket = text[at];
        let up_to = brackets ^ (brackets - 1);
        let is_closing = bracket & CLOSING != 0;
        let is_other = nest.innermost() != bracket & CURLY;
        let misplaced = nest.misplaced(in_object, in_array) & up_to;
        if misplaced != 0 || is_closing && is_other {
            return None;
        }
        nest.step(bracket & CURLY, is_closing)?;
        in_object &= !up_to;
        in_array &= !up_to;
        brackets &= brackets - 1;
    }
    if nest.misplaced(in_object, in_array) != 0 {
        return None;
    }

    let is_within_token = quotes | (outside & !scalars) == 0;
    carry.long_bytes = if is_within_token { carry.long_bytes + BLOCK_BYTES } else { 0 };
    (carry.long_bytes + 2 * BLOCK_BYTES <= token_bytes).then_some(())
}

/// The places right behind the runs of ones in `runs` that begin at `firsts`, or that the last block
/// has begun.
#[inline(always)]
fn run_ends(firsts: u64, runs: u64, carry: &mut u64) -> u64 {
    let (sum, goes_on) = runs.overflowing_add(firsts | *carry);
    *carry = goes_on.into();
    sum & !runs
}

/// The tokens after those whose last bytes are `lasts`, or that stand right before `behind`.
#[inline(always)]
fn next_tokens(lasts: u64, behind: u64, spaces: u64, carry: &mut u64) -> u64 {
    let (sum, goes_on) = spaces.overflowing_add(lasts << 1 | behind | *carry);
    *carry = lasts >> 63 | u64::from(goes_on);
    sum & !spaces
}

impl Nest {
    #[inline(always)]
    fn innermost(&self) -> u8 {
        self.kinds[self.depth % self.kinds.len()]
    }

    /// Marks that the innermost container should not have.
    #[inline(always)]
    fn misplaced(&self, in_object: u64, in_array: u64) -> u64 {
        let kind = self.innermost();
        let unless = |is: bool| u64::from(is).wrapping_sub(1);
        in_object & unless(kind == OBJECT) | in_array & unless(kind == ARRAY)
    }

    /// Without a branch: the kind is written above the innermost container, where it stands for
    /// nothing unless the depth grows.
    #[inline(always)]
    fn step(&mut self, kind: u8, is_closing: bool) -> Option<()> {
        let above = (self.depth + 1) % self.kinds.len();
        self.kinds[above] = kind;
        self.depth = self.depth.wrapping_add(1).wrapping_sub(2 * usize::from(is_closing));
        (self.depth <= DEPTH).then_some(())
    }
}

/// Whether what follows a backslash may.
#[inline(always)]
fn is_escape(behind: [u8; 5]) -> bool {
    match behind {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

/// How long the word is that stands here.
#[inline(always)]
fn word_bytes(text: [u8; 5]) -> Option<usize> {
    match &text {
        b"false" => Some(5),
        [b't', b'r', b'u', b'e', _] | [b'n', b'u', b'l', b'l', _] => Some(4),
        _ => None,
    }
}
