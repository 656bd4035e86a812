//! Random numbers that stay the same for ever: a seed names a file, so the generator may not change
//! with the version of a library.
//!
//! Xoshiro256++ and SplitMix64, in the form their authors published (D. Blackman, S. Vigna,
//! "Scrambled linear pseudorandom number generators", 2021; G. Steele, D. Lea, C. Flood, "Fast
//! splittable pseudorandom number generators", 2014). Not for secrets.
//!
//! ```
//! use fathom_random::Random;
//!
//! let mut random = Random::new(1);
//! let dice: Vec<u64> = (0..5).map(|_| 1 + random.below(6)).collect();
//! assert_eq!(dice, [5, 5, 1, 5, 2]);
//! ```
#![deny(unsafe_code)]

/// Xoshiro256++ 1.0.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator named `seed`; its state is filled by SplitMix64, as its authors advise.
    pub fn new(seed: u64) -> Random {
        let mut filler = SplitMix(seed);
        Random { state: std::array::from_fn(|_| filler.word()) }
    }

    /// Stream `number` of `seed`: unrelated streams for blocks that are filled independently.
    ///
    /// The number passes through SplitMix64 once before it meets the seed, so that neighbouring
    /// seeds and neighbouring numbers share no stream.
    pub fn stream(seed: u64, number: u64) -> Random {
        Random::new(SplitMix(seed).word() ^ SplitMix(!number).word().rotate_left(32))
    }

    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number below `bound`, and what randomness the draw left over.
    ///
    /// The product of a word and the bound, read as a fixed-point number: the integer part is the
    /// draw, the fraction is uniform again. A draw's probability is off by at most `bound / 2^64`
    /// (D. Lemire, "Fast random integer generation in an interval", 2019, without the rejection).
    #[inline]
    pub fn below_with_rest(&mut self, bound: u64) -> (u64, u64) {
        let product = u128::from(self.word()) * u128::from(bound);
        ((product >> 64) as u64, product as u64)
    }

    /// A number below `bound`; 0 when the bound is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.below_with_rest(bound).0
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles in place, every order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// SplitMix64: a counter and a mixer, started at the number it is made of. Fills the state of the
/// other, and serves where a few numbers are wanted at once.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro256_plus_plus_gives_the_published_sequence() {
        // The vector of rand_xoshiro's tests, made with the authors' C code.
        let mut random = Random { state: [1, 2, 3, 4] };
        let expected = [
            41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205,
            9973669472204895162, 14011001112246962877, 12406186145184390807, 15849039046786891736,
            10450023813501588000,
        ];
        assert_eq!(expected.map(|_| random.word()), expected);
    }

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        let mut filler = SplitMix(1234567);
        let expected = [
            6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
            16408922859458223821,
        ];
        assert_eq!(expected.map(|_| filler.word()), expected);
    }

    #[test]
    fn draws_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(7);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[random.below(10) as usize] = true;
        }
        assert_eq!(seen, [true; 10]);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn shuffling_keeps_every_item_and_fractions_stay_below_one() {
        let mut random = Random::new(3);
        let mut items: Vec<u32> = (0..100).collect();
        random.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.fraction())));
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut random = Random::new(5);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert!(seen.values().all(|times| (880..1120).contains(times)), "{seen:?}");
    }

    #[test]
    fn neighbouring_streams_and_seeds_differ() {
        let first = |seed, number| Random::stream(seed, number).word();
        let words = [first(0, 0), first(0, 1), first(1, 0), first(1, 1), Random::new(0).word()];
        for (i, word) in words.iter().enumerate() {
            assert!(!words[..i].contains(word));
        }
    }
}
