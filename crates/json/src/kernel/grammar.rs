//! The grammar of JSON by bits: whether 64 bytes at a time go on as a valid document, one body
//! compiled once per level that has vector registers.
//!
//! Says yes or no, with a state between calls; which byte is wrong and why, the lexer says. No events
//! and no values.
//!
//! In plain words: a byte is in a string, white space, punctuation or part of a number or word; what
//! may stand beside what is asked of every two neighbours; commas and colons must fit the container
//! they stand in. The departures from a machine that walks over bytes:
//! 1. Each question gets a 64-bit mask for each block, a bit per byte, and all bytes are asked at
//!    once. No branch depends on a token's kind or length, so none is predicted wrongly.
//! 2. The masks of up to 32 blocks lie in a [`Row`] per question, so that what is asked of
//!    neighbours is asked of several blocks in one register.
//! 3. In a string is what has an odd number of quotes up to it. A block that a string goes right
//!    through has nothing to check but its bytes; its slot is the next one's, too, and in a long string
//!    it is not even asked.
//! 4. "The token after this one" and "the token after this string" are additions: a bit added to the
//!    lower end of a run of ones clears the run and comes out above it. What comes out above bit 63
//!    goes into the next block.
//!
//!    ```text
//!    text     {"a": \t  1,                 lowest bit first
//!    run      .....11111.....              white space
//!    behind   .....1..........             one place behind the colon
//!    sum      ..........1.....             the token after the colon
//!    ```
//!    Two of them tell what a token follows: a value, a comma, an opening bracket (a value may not
//!    follow one, a closing bracket may; a key may follow one as well as a comma), or none of these: a
//!    colon or nothing.
//! 5. A number's digits before the point are a run as well: a point is right exactly where it ends.
//! 6. Only brackets, escapes, words (`true`, `false`, `null`) and exponents are looked at one by one.
//!    Brackets leave a mask of what is in objects. A comma or opening bracket that leads to a key must be
//!    there, one that leads to something else must not: each leaves a mark where that is known.
//! 7. Signs and points are looked for in blocks where not all scalars are digits, which are few, unless a
//!    block is one register.

use fathom_machine::each_64;
use fathom_machine::simd::{Vector, is_utf8_64};

use crate::lexer::{Expect, Limits};

const DEPTH: usize = Limits::DEFAULT.depth;

/// Bytes looked at together: one for each bit of a mask.
pub(crate) const BLOCK_BYTES: usize = 64;

/// Readable bytes behind a block: an escape or word that begins in it may end there.
pub(crate) const BEHIND_BYTES: usize = 8;

/// Blocks judged together, and one for the last of those before. Their masks are 8 KiB, which leaves
/// first-level caches room for the text.
const ROW: usize = 32 + 1;

/// The same for texts of at most [`SHORT_BYTES`], since it takes longer to clear long rows than to read
/// a short text: a block more than they have, for white space behind them.
const SHORT_ROW: usize = SHORT_BYTES / BLOCK_BYTES + 1 + 1;

/// The longest text of [`accepts_short`].
pub(crate) const SHORT_BYTES: usize = 512;

/// Bytes read in a call, most of them within strings if it is more than the slots have.
const SPAN_BYTES: usize = 256 * BLOCK_BYTES;

/// Blocks in the middle of a string after which the next one is expected to be another.
const LONG_STRING: usize = 4;

/// A block and what stands behind it.
type Block = [u8; BLOCK_BYTES + BEHIND_BYTES];

/// A mask for each slot; the first is the last one of the call before.
type Row<const N: usize> = [u64; N];

/// What a block must know of the ones before it.
#[derive(Clone, Debug)]
pub(crate) struct State<const N: usize = ROW> {
    rows: Rows<N>,
    strings: Strings,
    carries: Carries,
    nest: Nest,
    token_bytes: usize,
    /// Bytes up to here that may all be of one token.
    long_bytes: usize,
}

/// Masks by question.
#[derive(Clone, Debug)]
struct Rows<const N: usize> {
    /// Where each slot's block begins.
    places: [usize; N],
    quotes: Row<N>,
    /// In a string, its opening quote included and its closing one not.
    inside: Row<N>,
    spaces: Row<N>,
    commas: Row<N>,
    colons: Row<N>,
    openings: Row<N>,
    closings: Row<N>,
    /// Curly brackets, among others.
    curlies: Row<N>,
    digits: Row<N>,
    zeros: Row<N>,
    minuses: Row<N>,
    points: Row<N>,
    /// Bytes of numbers and words.
    scalars: Row<N>,
    words: Row<N>,
    /// First bytes of numbers and words; of words.
    firsts: Row<N>,
    word_firsts: Row<N>,
    /// Minus signs before the first digit, and zeros that are the first byte.
    signs: Row<N>,
    first_zeros: Row<N>,
    /// Last bytes of values, but for numbers and words, and opening brackets; commas and opening brackets.
    ends: Row<N>,
    leads: Row<N>,
    /// The bytes behind these; a token after them and white space. What neither stands before is led by a
    /// colon, or the first.
    behind_ends: Row<N>,
    behind_leads: Row<N>,
    after_ends: Row<N>,
    after_leads: Row<N>,
    /// Behind the digits before the point.
    behind_integers: Row<N>,
    /// Tokens after strings where keys may stand.
    after_keys: Row<N>,
    /// Bytes of numbers that need a closer look.
    others: Row<N>,
    /// Marks of elements of arrays.
    in_array: Row<N>,
    /// What is in objects, but for containers within.
    objects: Row<N>,
}

/// What finding strings must know.
#[derive(Clone, Copy, Debug, Default)]
struct Strings {
    /// Bit 0: the next byte is escaped.
    escaped: u64,
    /// All bits: it is in a string.
    inside: u64,
    /// The last four bytes, if any of the last three is not ASCII.
    before: u32,
}

/// What additions take over from the block before: 0 or 1.
#[derive(Clone, Copy, Debug, Default)]
struct Carries {
    end: u64,
    lead: u64,
    integer: u64,
    key: u64,
    /// A word goes on in these bits.
    word: u64,
    /// The byte before is an exponent's mark, its sign, one of its digits.
    mark: u64,
    mark_sign: u64,
    exponent: u64,
}

/// The open containers, innermost last.
#[derive(Clone, Debug)]
struct Nest {
    kinds: [i8; KINDS],
    depth: usize,
}

/// Places for one more than may be open, and a power of two.
const KINDS: usize = (DEPTH + 2).next_power_of_two();
const OBJECT: i8 = 0;
const ARRAY: i8 = 1;
/// Below the outermost container.
const NEITHER: i8 = 2;
/// The bit that curly brackets have and square ones have not, and the one of closing brackets.
const CURLY: u8 = b'[' ^ b'{';
const CLOSING: u8 = b']' & !b'[' & b'}' & !b'{';

impl<const N: usize> State<N> {
    /// At the beginning of a document. A token longer than `token_bytes` is refused, and perhaps one
    /// that is less than 32 KiB shorter.
    pub(crate) fn new(token_bytes: usize) -> Self {
        let none = [0; N];
        State {
            rows: Rows {
                places: [0; N],
                quotes: none,
                inside: none,
                spaces: none,
                commas: none,
                colons: none,
                openings: none,
                closings: none,
                curlies: none,
                digits: none,
                zeros: none,
                minuses: none,
                points: none,
                scalars: none,
                words: none,
                firsts: none,
                word_firsts: none,
                signs: none,
                first_zeros: none,
                ends: none,
                leads: none,
                behind_ends: none,
                behind_leads: none,
                after_ends: none,
                after_leads: none,
                behind_integers: none,
                after_keys: none,
                others: none,
                in_array: none,
                objects: none,
            },
            strings: Strings::default(),
            carries: Carries::default(),
            nest: Nest { kinds: [NEITHER; KINDS], depth: 0 },
            token_bytes,
            long_bytes: 0,
        }
    }

    /// Whether a whole document was read, white space behind its last token.
    pub(crate) fn is_complete(&self) -> bool {
        self.nest.depth == 0 && self.strings.inside == 0 && self.carries.end == 1
    }

    /// What a lexer would expect here, unless a token is cut.
    pub(crate) fn expect(&self) -> Option<Expect> {
        let (rows, carries) = (&self.rows, &self.carries);
        if self.strings.inside != 0 || rows.scalars[0] >> 63 == 1 {
            return None;
        }
        let is_after = |lasts: &Row<N>, carry: u64| lasts[0] >> 63 | carry == 1;
        let is_object = self.nest.depth > 0 && self.nest.innermost() == OBJECT;
        let is_after_end = is_after(&rows.ends, carries.end);
        Some(match (is_after_end, is_after(&rows.leads, carries.lead)) {
            (true, false) => match carries.key == 1 {
                _ if self.nest.depth == 0 => Expect::Done,
                true if is_object => Expect::Colon,
                _ => Expect::CommaOrEnd,
            },
            (true, true) if is_object => Expect::KeyOrEnd,
            (true, true) => Expect::ValueOrEnd,
            (false, true) if is_object => Expect::Key,
            (false, _) => Expect::Value,
        })
    }

    /// The open containers, outermost first: whether each is an object.
    pub(crate) fn containers(&self) -> impl Iterator<Item = bool> {
        self.nest.kinds[1..=self.nest.depth].iter().map(|&kind| kind == OBJECT)
    }
}

/// Reads blocks from `text[from]` on, as many as find room, while [`BEHIND_BYTES`] more follow them:
/// where the next one begins, or `None` when one is not valid.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn read_blocks<V: Vector, const N: usize>(
    state: &mut State<N>,
    text: &[u8],
    from: usize,
) -> Option<usize> {
    let State { rows, strings, carries, nest, token_bytes, long_bytes } = state;
    let text = &text[..text.len().min(from + SPAN_BYTES + BEHIND_BYTES)];
    // SAFETY: the caller vouches for the level.
    let (slots, end) = unsafe { rows.fill::<V>(strings, text, from)? };
    let slots = slots.min(N - 1); // as the compiler should know
    let is_broken = rows.part(slots);
    // SAFETY: as above.
    unsafe { rows.find_signs::<V>(text, slots)? };
    if rows.find_firsts(slots) | carries.word != 0 {
        rows.find_words(carries, text, slots)?;
    } else {
        rows.words[1..=slots].fill(0);
    }
    rows.follow(carries, slots);
    rows.find_integers(carries, slots);
    let (wrong, others) = rows.judge(slots);
    if wrong != 0 {
        return None;
    }
    if others | carries.mark | carries.mark_sign | carries.exponent != 0 {
        // SAFETY: the caller vouches for the level.
        unsafe { rows.find_exponents::<V>(carries, text, slots)? };
    }
    nest.fit(rows, text, slots)?;
    rows.keep_last(slots);

    // A token may have begun in the span before and may end in the next one.
    *long_bytes = if is_broken { 0 } else { *long_bytes + (end - from) };
    (*long_bytes + 2 * SPAN_BYTES <= *token_bytes).then_some(end)
}

/// Whether `text`, of at most [`SHORT_BYTES`], is a document, all of it at once.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn accepts_short<V: Vector>(text: &[u8]) -> bool {
    let mut padded = [b' '; SHORT_BYTES + BLOCK_BYTES + BEHIND_BYTES];
    padded[..text.len()].copy_from_slice(text);
    let blocks = text.len() / BLOCK_BYTES + 1;
    let mut state = State::<SHORT_ROW>::new(Limits::DEFAULT.token_bytes);
    // SAFETY: the caller vouches for the level.
    let read = unsafe {
        read_blocks::<V, SHORT_ROW>(&mut state, &padded[..blocks * BLOCK_BYTES + BEHIND_BYTES], 0)
    };
    read.is_some() && state.is_complete()
}

/// A row's bits, one place further: bit i is about the byte before byte i.
#[inline(always)]
fn behind<const N: usize>(row: &Row<N>, slot: usize) -> u64 {
    row[slot] << 1 | row[slot - 1] >> 63
}

impl<const N: usize> Rows<N> {
    /// Finds strings and makes masks of what may stand outside them: slots used, and where the first
    /// block without one begins. `None` for what a string must not have.
    ///
    /// # Safety
    /// The level of `V` is available.
    #[inline(always)]
    unsafe fn fill<V: Vector>(
        &mut self,
        strings: &mut Strings,
        text: &[u8],
        from: usize,
    ) -> Option<(usize, usize)> {
        let Strings { mut escaped, inside: mut goes_on, mut before } = *strings;
        let (mut slot, mut at) = (0, from);
        let (mut wrong, mut skipped) = (0, 0_usize);
        while slot + 1 < N && at + BLOCK_BYTES + BEHIND_BYTES <= text.len() {
            let block: &Block = text[at..].first_chunk()?;
            // SAFETY: the block is there to be read; the caller vouches for the level.
            let (v, quotes, backslashes, controls, highs) = unsafe {
                let v = Wide::<V>::load(block);
                (v, v.equal(b'"'), v.equal(b'\\'), v.at_most(0x1f), v.highs())
            };
            if highs | u64::from(before) != 0 {
                // SAFETY: as above.
                if !unsafe { is_utf8_64::<V>(block.as_ptr(), before) } {
                    return None;
                }
                let last = u32::from_le_bytes([block[60], block[61], block[62], block[63]]);
                before = if highs >> 61 != 0 { last } else { 0 };
            }
            at += BLOCK_BYTES;
            if skipped >= LONG_STRING && quotes | backslashes | escaped == 0 {
                wrong |= controls;
                continue;
            }
            let mut escapes = 0;
            if backslashes != 0 {
                (escapes, escaped) = find_escapes(block, backslashes, escaped)?;
            }
            let quotes = quotes & !escaped;
            escaped = escapes >> 63;
            // SAFETY: the caller vouches for the level.
            let inside = unsafe { V::parities(quotes) } ^ goes_on;
            goes_on = 0_u64.wrapping_sub(inside >> 63);
            wrong |= escapes & !inside | controls & inside;
            let place = slot + 1;
            // A branch would depend on how long strings are; so what nobody needs is overwritten.
            let is_skipped = (quotes == 0) & (inside == u64::MAX);
            slot += usize::from(!is_skipped);
            skipped = (skipped + 1) * usize::from(is_skipped);
            self.places[place] = at - BLOCK_BYTES;
            self.quotes[place] = quotes;
            self.inside[place] = inside;
            // SAFETY: as above.
            unsafe {
                self.spaces[place] = v.spaces();
                self.commas[place] = v.equal(b',');
                self.colons[place] = v.equal(b':');
                // The two brackets of each direction differ in one bit.
                self.openings[place] = v.with(CURLY).equal(b'{');
                self.closings[place] = v.with(CURLY).equal(b'}');
                self.curlies[place] = v.with(b'{' ^ b'}').equal(b'{' | b'}');
                self.digits[place] = !v.no_digits();
                self.zeros[place] = v.equal(b'0');
                if Wide::<V>::IS_ONE {
                    self.minuses[place] = v.equal(b'-');
                    self.points[place] = v.equal(b'.');
                }
            }
        }
        *strings = Strings { escaped, inside: goes_on, before };
        (wrong == 0).then_some((slot, at))
    }

    /// Parts what is outside of strings into white space, punctuation and scalars; whether there is
    /// anything but the inside of one token.
    #[inline(always)]
    fn part(&mut self, slots: usize) -> bool {
        let mut breaks = 0;
        for i in 1..slots + 1 {
            let outside = !(self.inside[i] | self.quotes[i]);
            let spaces = self.spaces[i] & outside;
            let commas = self.commas[i] & outside;
            let colons = self.colons[i] & outside;
            let openings = self.openings[i] & outside;
            let closings = self.closings[i] & outside;
            let scalars = outside & !(spaces | commas | colons | openings | closings);
            self.spaces[i] = spaces;
            self.commas[i] = commas;
            self.colons[i] = colons;
            self.openings[i] = openings;
            self.closings[i] = closings;
            self.scalars[i] = scalars;
            self.digits[i] &= scalars;
            self.zeros[i] &= scalars;
            self.ends[i] = self.quotes[i] & !self.inside[i] | openings | closings;
            self.leads[i] = commas | openings;
            breaks |= self.quotes[i] | outside & !scalars;
        }
        breaks != 0
    }

    /// Finds signs and points, in blocks where not all scalars are digits unless all were asked.
    ///
    /// # Safety
    /// The level of `V` is available.
    #[inline(always)]
    unsafe fn find_signs<V: Vector>(&mut self, text: &[u8], slots: usize) -> Option<()> {
        if Wide::<V>::IS_ONE {
            for i in 1..slots + 1 {
                self.minuses[i] &= self.scalars[i];
                self.points[i] &= self.scalars[i];
            }
            return Some(());
        }
        for i in 1..slots + 1 {
            let others = self.scalars[i] & !self.digits[i];
            (self.minuses[i], self.points[i]) = (0, 0);
            if others != 0 {
                let block: &Block = text.get(self.places[i]..)?.first_chunk()?;
                // SAFETY: the block is there to be read; the caller vouches for the level.
                unsafe {
                    let v = Wide::<V>::load(block);
                    self.minuses[i] = v.equal(b'-') & others;
                    self.points[i] = v.equal(b'.') & others;
                }
            }
        }
        Some(())
    }

    /// Finds where numbers and words begin and end; a bit if there are words.
    #[inline(always)]
    fn find_firsts(&mut self, slots: usize) -> u64 {
        let mut words = 0;
        for i in 1..slots + 1 {
            let before = behind(&self.scalars, i);
            let firsts = self.scalars[i] & !before;
            let word_firsts = firsts & !(self.digits[i] | self.minuses[i]);
            self.firsts[i] = firsts;
            self.word_firsts[i] = word_firsts;
            self.signs[i] = firsts & self.minuses[i];
            self.first_zeros[i] = firsts & self.zeros[i];
            self.behind_ends[i] = behind(&self.ends, i) | before & !self.scalars[i];
            self.behind_leads[i] = behind(&self.leads, i);
            words |= word_firsts;
        }
        words
    }

    /// Finds the bytes of words.
    #[inline(always)]
    fn find_words(&mut self, carries: &mut Carries, text: &[u8], slots: usize) -> Option<()> {
        let (mut goes_on, mut is_wrong) = (carries.word, false);
        for i in 1..slots + 1 {
            let mut words = std::mem::take(&mut goes_on);
            let mut rest = self.word_firsts[i];
            if rest != 0 {
                let block: &Block = text.get(self.places[i]..)?.first_chunk()?;
                while rest != 0 {
                    let at = rest.trailing_zeros();
                    let (is_word, is_longer) = word(*block[at as usize..].first_chunk()?);
                    is_wrong |= !is_word;
                    let bits = 0b1111 | u64::from(is_longer) << 4;
                    words |= bits << at;
                    // What is shifted out goes into the next block.
                    goes_on |= bits >> 1 >> (63 - at);
                    rest &= rest - 1;
                }
            }
            self.words[i] = words;
        }
        carries.word = goes_on;
        (!is_wrong).then_some(())
    }

    /// Finds the tokens after others, by addition.
    #[inline(always)]
    fn follow(&mut self, carries: &mut Carries, slots: usize) {
        let Carries { mut end, mut lead, mut key, .. } = *carries;
        for i in 1..slots + 1 {
            let spaces = self.spaces[i];
            self.after_ends[i] = past_run(self.behind_ends[i], spaces, &mut end);
            let leads = past_run(self.behind_leads[i], spaces, &mut lead);
            self.after_leads[i] = leads;
            let (quotes, inside) = (self.quotes[i], self.inside[i]);
            self.after_keys[i] =
                past_run(quotes & inside & leads, quotes | inside | spaces, &mut key);
        }
        *carries = Carries { end, lead, key, ..*carries };
    }

    /// Finds where digits before a point end, if there are points; a number may go on in the next row.
    #[inline(always)]
    fn find_integers(&mut self, carries: &mut Carries, slots: usize) {
        let points = self.points[1..slots + 1].iter().fold(0, |all, bits| all | bits);
        let goes_on = (self.digits[slots] | self.signs[slots]) >> 63;
        if points | goes_on == 0 {
            carries.integer = 0;
            return;
        }
        for i in 1..slots + 1 {
            let digits = self.digits[i] | self.signs[i];
            self.behind_integers[i] = past_run(self.firsts[i], digits, &mut carries.integer);
        }
    }

    /// Judges neighbours: a bit where they are wrong, and one where a number is of a rarer kind.
    #[inline(always)]
    fn judge(&mut self, slots: usize) -> (u64, u64) {
        let (mut wrong, mut any_others) = (0, 0);
        for i in 1..slots + 1 {
            let opening_quotes = self.quotes[i] & self.inside[i];
            let first_of_values = opening_quotes | self.firsts[i] | self.openings[i];
            let after_values = self.after_ends[i] & !self.after_leads[i];
            wrong |= first_of_values & after_values
                | self.commas[i] & !after_values
                | self.closings[i] & !self.after_ends[i]
                | self.colons[i] & !self.after_keys[i];

            let digits = self.digits[i];
            let behind_signs = behind(&self.signs, i);
            let second_zeros = behind(&self.zeros, i) & two_behind(&self.signs, i);
            wrong |= (behind_signs | behind(&self.points, i)) & !digits
                | (behind(&self.first_zeros, i) | second_zeros) & digits
                | self.points[i] & !self.behind_integers[i];
            let words = self.words[i];
            wrong |= behind(&self.words, i) & self.scalars[i] & !words;
            let usual = words | digits | self.points[i] | self.signs[i];
            let others = self.scalars[i] & !usual;
            self.others[i] = others;
            any_others |= others;

            let no_keys = self.after_leads[i] & (self.firsts[i] | self.openings[i]);
            self.in_array[i] = no_keys | self.after_keys[i] & !self.colons[i];
        }
        (wrong, any_others)
    }

    /// Judges exponents, and finds what belongs to no number.
    ///
    /// # Safety
    /// The level of `V` is available.
    #[inline(always)]
    unsafe fn find_exponents<V: Vector>(
        &mut self,
        carries: &mut Carries,
        text: &[u8],
        slots: usize,
    ) -> Option<()> {
        let mut wrong = 0;
        for i in 1..slots + 1 {
            let others = self.others[i];
            let block: &Block = text.get(self.places[i]..)?.first_chunk()?;
            // SAFETY: the block is there to be read; the caller vouches for the level.
            let (marks, pluses) = unsafe {
                let v = Wide::<V>::load(block);
                (v.with(0x20).equal(b'e') & others, v.equal(b'+') & others)
            };
            let behind_marks = marks << 1 | carries.mark;
            let signs = behind_marks & (self.minuses[i] | pluses);
            let firsts = behind_marks & !signs | signs << 1 | carries.mark_sign;
            (carries.mark, carries.mark_sign) = (marks >> 63, signs >> 63);
            let ends = past_run(firsts, self.digits[i], &mut carries.exponent);
            wrong |= marks & !behind(&self.digits, i)
                | marks & ends
                | firsts & !self.digits[i]
                | others & !(marks | signs);
        }
        (wrong == 0).then_some(())
    }

    /// Keeps what the next slots must know of the last one.
    #[inline(always)]
    fn keep_last(&mut self, slots: usize) {
        for row in [
            &mut self.scalars, &mut self.words, &mut self.digits, &mut self.zeros,
            &mut self.points, &mut self.signs, &mut self.first_zeros, &mut self.ends,
            &mut self.leads,
        ] {
            row[0] = row[slots];
        }
    }
}

/// [`behind`], two places further.
#[inline(always)]
fn two_behind<const N: usize>(row: &Row<N>, slot: usize) -> u64 {
    row[slot] << 2 | row[slot - 1] >> 62
}

/// `firsts`, moved past the runs of ones in `runs` that begin there or that the block before began.
#[inline(always)]
fn past_run(firsts: u64, runs: u64, carry: &mut u64) -> u64 {
    let (sum, goes_on) = runs.overflowing_add(firsts | *carry);
    *carry = goes_on.into();
    sum & !runs
}

/// A block in registers, and masks of what it holds: bit i for byte i. All want the level of `V` to be
/// available.
#[derive(Clone, Copy)]
struct Wide<V>([V; 8]);

impl<V: Vector> Wide<V> {
    /// Whether it is one register: then a question takes less time than a branch around it.
    const IS_ONE: bool = V::BYTES == BLOCK_BYTES;

    #[inline(always)]
    unsafe fn load(block: &Block) -> Wide<V> {
        // SAFETY: a block has 64 bytes; the caller vouches for the level, here and in all that follow.
        unsafe { Wide(V::load_64(block.as_ptr())) }
    }

    /// Each byte with the bits of `byte` set.
    #[inline(always)]
    unsafe fn with(self, byte: u8) -> Wide<V> {
        // SAFETY: as above.
        unsafe { Wide(each_64!(V, self.0, v => v.or(V::splat(byte)))) }
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { V::bits_64(each_64!(V, self.0, v => v.is(V::splat(byte)))) }
    }

    #[inline(always)]
    unsafe fn at_most(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { V::bits_64(each_64!(V, self.0, v => v.is_at_most(V::splat(byte)))) }
    }

    #[inline(always)]
    unsafe fn spaces(self) -> u64 {
        // SAFETY: as above.
        unsafe { V::bits_64(each_64!(V, self.0, v => v.is_space())) }
    }

    #[inline(always)]
    unsafe fn no_digits(self) -> u64 {
        // SAFETY: as above.
        unsafe { V::bits_64(each_64!(V, self.0, v => v.is_no_digit())) }
    }

    #[inline(always)]
    unsafe fn highs(self) -> u64 {
        // SAFETY: as above.
        unsafe { V::bits_64(each_64!(V, self.0, v => v.is_high())) }
    }
}

/// The backslashes that begin an escape, and the bytes that are escaped (with the first byte, if it
/// was); `None` when one escapes what may not be.
#[inline(always)]
fn find_escapes(text: &Block, backslashes: u64, mut escaped: u64) -> Option<(u64, u64)> {
    let mut escapes = 0;
    let mut rest = backslashes & !escaped;
    while rest != 0 {
        let at = rest.trailing_zeros() as usize;
        if !is_escape(*text[at + 1..].first_chunk()?) {
            return None;
        }
        escapes |= 1 << at;
        escaped |= 2 << at;
        rest &= !(3 << at);
    }
    Some((escapes, escaped))
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

/// Whether a word stands here, and whether it has five letters and not four.
#[inline(always)]
fn word(text: [u8; 5]) -> (bool, bool) {
    let [a, b, c, d, e] = text;
    let four = u32::from_le_bytes([a, b, c, d]);
    let is_longer = (four == u32::from_le_bytes(*b"fals")) & (e == b'e');
    let is_shorter =
        (four == u32::from_le_bytes(*b"true")) | (four == u32::from_le_bytes(*b"null"));
    (is_longer | is_shorter, is_longer)
}

impl Nest {
    /// Compares what is between brackets with the containers: a colon must be in an object; what a comma
    /// leads to that is no key, in an array; a comma, in one of both.
    #[inline(always)]
    fn fit<const N: usize>(&mut self, rows: &mut Rows<N>, text: &[u8], slots: usize) -> Option<()> {
        if self.fits_shallow(rows, slots) { Some(()) } else { self.fit_any(rows, text, slots) }
    }

    /// Whether all is right, and one container or more, but few, are open all the time: otherwise nothing is changed.
    ///
    /// Containers are the bits of one integer, below a bit that is always set; and loops ask masks and no
    /// text, and have next to no other state, so that all of it stays in registers.
    #[inline(always)]
    fn fits_shallow<const N: usize>(&mut self, rows: &mut Rows<N>, slots: usize) -> bool {
        let openings = || rows.openings[1..slots + 1].iter().map(|bits| bits.count_ones() as usize);
        if self.depth == 0 || self.depth + openings().sum::<usize>() >= u64::BITS as usize {
            return false;
        }
        let push = |stack: u64, kind: &i8| stack << 1 | u64::from(*kind == OBJECT);
        let mut stack = self.kinds[1..=self.depth].iter().fold(1, push);
        let mut is_wrong = 0;
        for i in 1..slots + 1 {
            let (closings, curlies) = (rows.closings[i], rows.curlies[i]);
            let mut brackets = rows.openings[i] | closings;
            let mut objects = 0_u64.wrapping_sub(stack & 1);
            while brackets != 0 {
                let up_to = brackets ^ (brackets - 1);
                let bracket = brackets & up_to;
                let is_closing = closings & bracket != 0;
                let is_object = u64::from(curlies & bracket != 0);
                is_wrong |= (stack ^ is_object) & u64::from(is_closing);
                stack = if is_closing { stack >> 1 } else { stack << 1 | is_object };
                is_wrong |= u64::from(stack < 2);
                objects = objects & up_to | 0_u64.wrapping_sub(stack & 1) & !up_to;
                brackets &= !up_to;
            }
            rows.objects[i] = objects;
        }
        for i in 1..slots + 1 {
            let objects = rows.objects[i];
            is_wrong |= rows.colons[i] & !objects | rows.in_array[i] & objects;
        }
        if is_wrong != 0 {
            return false;
        }
        self.depth = stack.ilog2() as usize;
        for (at, kind) in self.kinds[1..=self.depth].iter_mut().rev().enumerate() {
            *kind = if stack >> at & 1 == 1 { OBJECT } else { ARRAY };
        }
        true
    }

    /// The same however many are open. Compares the marks between brackets with the containers: a colon
    /// marks an object; what a comma leads to that is no key marks an array.
    ///
    /// Without a branch for what a bracket is: its kind is written above the innermost container,
    /// where it stands for nothing unless the depth grows. What is wrong is found out at the block's
    /// end; until then the depth may be any number, of which the array takes what it can.
    #[inline(never)]
    fn fit_any<const N: usize>(&mut self, rows: &Rows<N>, text: &[u8], slots: usize) -> Option<()> {
        let mut depth = self.depth;
        let mut kind = self.innermost();
        for i in 1..slots + 1 {
            let mut brackets = rows.openings[i] | rows.closings[i];
            let mut marks = [rows.colons[i], rows.in_array[i], rows.commas[i]];
            let mut is_wrong = false;
            if brackets != 0 {
                let block: &Block = text.get(rows.places[i]..)?.first_chunk()?;
                while brackets != 0 {
                    let bracket = block[brackets.trailing_zeros() as usize];
                    let up_to = brackets ^ (brackets - 1);
                    let is_closing = bracket & CLOSING != 0;
                    let bracket_kind = if bracket & CURLY != 0 { OBJECT } else { ARRAY };
                    is_wrong |= misplaced(kind, marks) & up_to != 0;
                    is_wrong |= is_closing & (kind != bracket_kind);
                    marks = marks.map(|marks| marks & !up_to);
                    brackets &= !up_to;
                    depth = depth.wrapping_add(1);
                    self.kinds[depth % KINDS] = bracket_kind;
                    depth = depth.wrapping_sub(2 * usize::from(is_closing));
                    is_wrong |= depth > DEPTH;
                    kind = self.kinds[depth % KINDS];
                }
            }
            if is_wrong | (misplaced(kind, marks) != 0) {
                return None;
            }
        }
        self.depth = depth;
        Some(())
    }

    fn innermost(&self) -> i8 {
        self.kinds[self.depth % KINDS]
    }
}

/// Marks of objects, of arrays, and commas that should not stand in a container of this kind.
#[inline(always)]
fn misplaced(kind: i8, [in_object, in_array, commas]: [u64; 3]) -> u64 {
    let unless = |is: bool| u64::from(is).wrapping_sub(1);
    in_object & unless(kind == OBJECT)
        | in_array & unless(kind == ARRAY)
        | commas & unless(kind != NEITHER)
}
