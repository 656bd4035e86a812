//! Hash functions: from a key to 64 bits (or 32) that look random.
//!
//! None but SipHash and HighwayHash resists anybody who chooses keys on purpose, and those do only
//! with a secret seed; here every seed is fixed, so that runs repeat. The same functions are the
//! variants of every map that takes one (`hashbrown+xxh3-64`). A function is right when it reproduces
//! the vectors its authors published.
//!
//! gxhash and t1ha0 are left out: gxhash's crate compiles only where AES instructions are enabled for the whole
//! build, and t1ha's has t1ha1 in the place of t1ha0 without them; here the level is chosen at run time.

use std::hash::{BuildHasher, Hasher};

use fathom_measure::contender::{Contender, Meta, Preparation};
use fathom_measure::facts::Facts;
use fathom_measure::family::{Absent, Family};

mod ahash;
mod city128;
mod city32;
mod city64;
mod crc32c;
mod farm32;
mod farm64;
mod fnv1a;
mod foldhash;
mod foldhash_quality;
mod highway;
mod komihash;
mod methods;
mod metro128;
mod metro64;
mod murmur3_128;
mod murmur3_32;
mod rapidhash;
mod rustc_hash;
mod seahash;
mod siphash13;
mod siphash24;
mod t1ha1;
mod t1ha2;
mod workload;
mod wyhash;
mod xxh32;
mod xxh3_128;
mod xxh3_64;
mod xxh3_64_twox;
mod xxh64;

pub use workload::Hashing;

/// A hash function, with its seed if it has one.
pub trait HashFunction: Clone + Default + Send + Sync + 'static {
    /// What is known about it; the name is also that of the variant of a map.
    const META: Meta;
    /// Bits of the result, 32 or 64.
    const BITS: u32 = 64;
    /// Whether each bit of the key changes the highest and lowest bits of the hash about half the
    /// time. Where not, a table that uses few bits must mix once more.
    const AVALANCHES: bool = true;
    /// Whether keys can be chosen that collide.
    const FLOODING: Flooding = Flooding::Open;
    /// What it gives and what it must give, for inputs whose hash somebody else published; none
    /// where the authors reserve the right to change the function.
    fn vectors() -> Vec<(u64, u64)>;
    /// The hash of a byte string.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// The hash of an integer: of its eight bytes, unless there is a shorter way.
    #[inline]
    fn word(&self, word: u64) -> u64 {
        self.bytes(&word.to_le_bytes())
    }
}

/// What becomes of a table whose keys an enemy may choose: who finds keys that collide makes every
/// operation take time proportional to their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flooding {
    /// Made to resist, as long as its seed is random and secret.
    Keyed,
    /// Seeded at random in every process: such keys must be found anew, but it is not made to resist
    /// somebody who sees how long operations take.
    Seeded,
    /// The same in every process: such keys can be prepared.
    Open,
}

/// What is known of a hash function, as [`HashFunction`] describes it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What is known about every contender.
    pub meta: Meta,
    /// Bits of the result, 32 or 64.
    pub bits: u32,
    /// Whether keys can be chosen that collide.
    pub flooding: Flooding,
}

/// A hash function as a structure uses it: 64 bits that fill a machine word.
pub trait Hashes: Clone + Send + Sync + 'static {
    /// The hash of a byte string.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// The hash of an integer.
    fn word(&self, word: u64) -> u64;
    /// See [`HashFunction::AVALANCHES`].
    fn avalanches(&self) -> bool;
}

impl<H: HashFunction> Hashes for H {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        filled::<H>(HashFunction::bytes(self, bytes))
    }

    #[inline]
    fn word(&self, word: u64) -> u64 {
        filled::<H>(HashFunction::word(self, word))
    }

    #[inline]
    fn avalanches(&self) -> bool {
        H::AVALANCHES
    }
}

/// Swiss tables look at the highest bits, all tables at the lowest: a hash of 32 bits gives both.
#[inline]
fn filled<H: HashFunction>(hash: u64) -> u64 {
    if H::BITS == 32 { hash | (hash << 32) } else { hash }
}

/// A hash function behind two pointers: called, not inlined.
///
/// Large functions are never inlined anyway; for them one instance of each map serves all, which
/// keeps the build light. The price is an indirect call, well predicted: under a nanosecond.
#[derive(Clone, Copy)]
pub(crate) struct Called {
    bytes: fn(&[u8]) -> u64,
    word: fn(u64) -> u64,
    avalanches: bool,
}

impl Called {
    fn of<H: HashFunction>() -> Called {
        Called {
            bytes: |bytes| Hashes::bytes(&H::default(), bytes),
            word: |word| Hashes::word(&H::default(), word),
            avalanches: H::AVALANCHES,
        }
    }
}

impl Hashes for Called {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        (self.bytes)(bytes)
    }

    #[inline]
    fn word(&self, word: u64) -> u64 {
        (self.word)(word)
    }

    #[inline]
    fn avalanches(&self) -> bool {
        self.avalanches
    }
}

/// A hash function as the hasher of any map.
#[derive(Clone, Default)]
pub struct Build<H>(pub(crate) H);

impl<H: Hashes> BuildHasher for Build<H> {
    type Hasher = OneShot<H>;

    #[inline]
    fn build_hasher(&self) -> OneShot<H> {
        OneShot { function: self.0.clone(), hash: 0 }
    }
}

/// The hash of a key that is written in one piece: the function as its authors meant it, without
/// the buffering of a stream.
pub struct OneShot<H> {
    function: H,
    hash: u64,
}

impl<H: Hashes> OneShot<H> {
    /// The first piece leaves its hash as it is; further ones are mixed in plainly.
    #[inline]
    fn take(&mut self, hash: u64) {
        self.hash = self.hash.rotate_left(23) ^ hash;
    }
}

impl<H: Hashes> Hasher for OneShot<H> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.take(self.function.bytes(bytes));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.take(self.function.word(word));
    }

    /// The end of a string, which nothing comes after.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.hash
    }
}

/// Something to be done with a hash function known by name.
pub(crate) trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<H: Hashes>(self, function: H) -> Self::Output;
}

/// A hash function as a contender of this family.
struct Function<H>(std::marker::PhantomData<H>);

impl<H: HashFunction> Contender<Hashing> for Function<H> {
    fn meta(&self) -> Meta {
        H::META
    }

    fn prepare<'w>(&self, workload: &'w Hashing) -> Preparation<'w> {
        Ok(workload.prepare::<H>())
    }
}

/// One list, three uses: contenders of this family, names of variants, functions by name.
macro_rules! functions {
    (inlined $function:ty) => { <$function>::default() };
    (called $function:ty) => { Called::of::<$function>() };
    (short $function:ty) => {{
        // Called where nothing is timed: each that is inlined compiles eight maps twice.
        #[cfg(debug_assertions)]
        let function = Called::of::<$function>();
        #[cfg(not(debug_assertions))]
        let function = <$function>::default();
        function
    }};
    ($($how:ident $function:ty),* $(,)?) => {
        const CONTENDERS: &[&dyn Contender<Hashing>] =
            &[$(&Function::<$function>(std::marker::PhantomData)),*];

        /// The names of all hash functions, in the order they are shown.
        pub const NAMES: &[&str] = &[$(<$function as HashFunction>::META.name),*];

        /// Calls `visitor` with the hash function called `name`, if there is one.
        pub(crate) fn with<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$function as HashFunction>::META.name {
                return Some(visitor.visit(functions!($how $function)));
            })*
            None
        }

        /// What is known of the hash function called `name`.
        #[must_use]
        pub fn known(name: &str) -> Option<Known> {
            $(if name == <$function as HashFunction>::META.name {
                return Some(Known {
                    meta: <$function>::META,
                    bits: <$function>::BITS,
                    flooding: <$function>::FLOODING,
                });
            })*
            None
        }

        /// The hash function called `name`, if there is one, behind a pointer.
        pub(crate) fn called(name: &str) -> Option<Called> {
            $(if name == <$function as HashFunction>::META.name {
                return Some(Called::of::<$function>());
            })*
            None
        }

        #[cfg(test)]
        fn each_of(visit: &mut impl tests::Each) {
            $(visit.each::<$function>();)*
        }
    };
}

// Inlined into the maps: some short ones; of these, builds with assertions inline the default alone. The
// others are called.
functions!(
    called fnv1a::Fnv1a,
    called siphash13::SipHash13,
    called siphash24::SipHash24,
    inlined foldhash::FoldHash,
    called foldhash_quality::FoldHashQuality,
    short rapidhash::RapidHash,
    short ahash::AHash,
    short rustc_hash::RustcHash,
    called xxh32::Xxh32,
    called xxh64::Xxh64,
    short xxh3_64::Xxh3,
    called xxh3_64_twox::Xxh3Twox,
    called xxh3_128::Xxh3Wide,
    called wyhash::WyHash,
    called komihash::KomiHash,
    called t1ha1::T1ha1,
    called t1ha2::T1ha2,
    called city32::City32,
    called city64::City64,
    called city128::City128,
    called farm32::Farm32,
    called farm64::Farm64,
    called metro64::Metro64,
    called metro128::Metro128,
    called murmur3_32::Murmur32,
    called murmur3_128::Murmur128,
    called highway::Highway,
    called seahash::SeaHash,
    called crc32c::Crc32c,
);

/// The function a map gets when none is asked for.
pub const DEFAULT: &str = Default64::META.name;

/// See [`DEFAULT`].
pub type Default64 = foldhash::FoldHash;

/// The family.
pub(crate) const FAMILY: Family<Hashing> = Family {
    name: "hash",
    source: include_str!("mod.rs"),
    reference: "fnv1a",
    contenders: CONTENDERS,
    absent: &[
        Absent::left_out(
            "gxhash",
            "its crate does not compile unless AES is enabled for the whole build \
             (RUSTFLAGS=-Ctarget-cpu=native), which a binary for any processor is not",
        ),
        Absent::left_out(
            "t1ha0",
            "in its crate it is t1ha1 unless AES is enabled for the whole build, as with gxhash",
        ),
    ],
    facts: &Facts::NONE,
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    pub(super) trait Each {
        fn each<H: HashFunction>(&mut self);
    }

    struct Check;

    impl Each for Check {
        fn each<H: HashFunction>(&mut self) {
            let (name, function) = (H::META.name, H::default());
            let (vectors, bytes_of) = (H::vectors(), |b: &[u8]| HashFunction::bytes(&function, b));
            for (at, (found, expected)) in vectors.into_iter().enumerate() {
                assert_eq!(found, expected, "{name}: vector {at}: {found:#x} {expected:#x}");
            }
            // Every length up to 300 and every bit of a short key make a difference.
            let bytes: Vec<u8> = (0..300_u32).map(|at| (at * 7 + 1) as u8).collect();
            let mut seen: HashSet<u64> = (0..300).map(|n| bytes_of(&bytes[..n])).collect();
            for bit in 0..8 * 24 {
                let mut changed = bytes[..24].to_vec();
                changed[bit / 8] ^= 1 << (bit % 8);
                seen.insert(bytes_of(&changed));
            }
            // Among 492 values of 32 bits a collision has a chance of 1 in 35,000.
            assert_eq!(seen.len(), 300 + 8 * 24, "{name}");
            let word = |word| HashFunction::word(&function, word);
            assert_eq!((0..1000).map(word).collect::<HashSet<u64>>().len(), 1000, "{name}");
            assert_eq!(bytes_of(b"same"), HashFunction::bytes(&H::default(), b"same"), "{name}");
            assert!(H::BITS == 64 || seen.iter().all(|hash| hash >> 32 == 0), "{name}");
            // Called through pointers it is the same function, filled to 64 bits.
            let called = Called::of::<H>();
            assert_eq!(called.bytes(b"same"), Hashes::bytes(&function, b"same"), "{name}");
            assert_eq!(called.word(7), Hashes::word(&function, 7), "{name}");
        }
    }

    #[test]
    fn each_function_reproduces_its_published_vectors_and_uses_every_bit() {
        each_of(&mut Check);
        assert!(NAMES.len() >= 20);
    }

    struct Hashes100(Vec<(u64, &'static str)>);

    impl Each for Hashes100 {
        fn each<H: HashFunction>(&mut self) {
            let bytes: [u8; 100] = std::array::from_fn(|at| at as u8);
            self.0.push((HashFunction::bytes(&H::default(), &bytes), H::META.name));
        }
    }

    /// t1ha0 was t1ha1 under another name.
    #[test]
    fn no_function_is_another_but_where_two_crates_have_it() {
        let mut all = Hashes100(Vec::new());
        each_of(&mut all);
        all.0.sort_unstable();
        let same = all.0.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let same: Vec<[&str; 2]> = same.map(|pair| [pair[0].1, pair[1].1]).collect();
        assert_eq!(same, [["xxh3-64", "xxh3-64-twox"]]);
    }

    struct Avalanche;

    impl Each for Avalanche {
        fn each<H: HashFunction>(&mut self) {
            if !H::AVALANCHES {
                return;
            }
            let function = H::default();
            for key_bit in 0..64 {
                let flips = (0..256_u64).map(|n| {
                    let word = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    Hashes::word(&function, word) ^ Hashes::word(&function, word ^ (1 << key_bit))
                });
                let (mut high, mut low) = (0, 0);
                for flip in flips {
                    high += (flip >> 57).count_ones();
                    low += (flip & 0x7f).count_ones();
                }
                // Of 1792 bits half should flip; a quarter to three quarters is good enough.
                for flipped in [high, low] {
                    let name = H::META.name;
                    assert!((448..1344).contains(&flipped), "{name}: {key_bit}: {flipped}");
                }
            }
        }
    }

    #[test]
    fn functions_that_claim_to_avalanche_do() {
        each_of(&mut Avalanche);
    }

    #[test]
    fn a_hasher_gives_what_the_function_gives() {
        let mut hasher = Build::<xxh64::Xxh64>::default().build_hasher();
        hasher.write(b"abc");
        assert_eq!(hasher.finish(), 0x44bc_2cf5_ad77_0999);
        let mut hasher = Build::<xxh32::Xxh32>::default().build_hasher();
        hasher.write(b"abc");
        assert_eq!(hasher.finish(), 0x32d1_53ff_32d1_53ff);
    }
}
