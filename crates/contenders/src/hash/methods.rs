//! `HashFunction` in few lines: for functions a library has as functions, and for those it has only as
//! hashers of the standard library's traits: a hasher is made for each key, which costs nothing once
//! it is inlined.

/// Implements `HashFunction` for `$name`, a new type around the `BuildHasher` `$state`, which `$new`
/// makes with fixed seeds. Most such functions have no vectors: their authors may change them.
macro_rules! by_build_hasher {
    (
        $(#[$doc:meta])* $seen:vis $name:ident($state:ty) = $new:expr, $avalanches:literal,
        $meta:expr, flooding $flooding:ident by $random:ty $(, vectors [$($vectors:tt)*])?
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        $seen struct $name($state);

        impl Default for $name {
            #[inline]
            fn default() -> $name {
                $name($new)
            }
        }

        impl $crate::hash::HashFunction for $name {
            const META: fathom_measure::contender::Meta = {
                /// That this is a `BuildHasher` of that crate.
                const _: fn() -> $random = <$random>::default;
                fathom_measure::contender::Meta { code: stringify!($random), ..$meta }
            };
            const AVALANCHES: bool = $avalanches;
            const FLOODING: $crate::hash::Flooding = $crate::hash::Flooding::$flooding;

            fn vectors() -> Vec<(u64, u64)> {
                vec![$($($vectors)*)?]
            }

            #[inline]
            fn bytes(&self, bytes: &[u8]) -> u64 {
                use std::hash::{BuildHasher, Hasher};
                let mut hasher = self.0.build_hasher();
                hasher.write(bytes);
                hasher.finish()
            }

            #[inline]
            fn word(&self, word: u64) -> u64 {
                use std::hash::{BuildHasher, Hasher};
                let mut hasher = self.0.build_hasher();
                hasher.write_u64(word);
                hasher.finish()
            }
        }
    };
}

/// Implements `HashFunction` for `$name`, a new type without state, from what it does with bytes (and the
/// constant that it takes) and from what it gives beside what it must give. One that reads beside its keys does so in
/// builds with assertions `within` what copies them first.
macro_rules! function {
    (
        $name:ident, $meta:expr $(, within $copied:ident)? $(, bits $bits:literal)? $(, avalanches $avalanches:literal)?
        $(, flooding $flooding:ident $(by $random:ty)?)?;
        $(const $constant:ident: $type:ty = $value:expr;)?
        bytes($bytes:ident) => $hash:expr,
        vectors [$($vectors:tt)*]
    ) => {
        #[derive(Clone, Copy, Default)]
        pub(super) struct $name;

        /// What a program pastes: it sees as little of this file as that program does.
        mod pasted {
            $(pub(super) const $constant: $type = $value;)?

            #[inline]
            pub(super) fn hash($bytes: &[u8]) -> u64 {
                $hash
            }
        }

        impl $crate::hash::HashFunction for $name {
            const META: fathom_measure::contender::Meta = {
                let code = [
                    $($(stringify!($random),)?)?
                    $(concat!(
                        "{\n    const ", stringify!($constant), ": ", stringify!($type), " = ",
                        stringify!($value), ";\n    ", stringify!($hash), "\n}"
                    ),)?
                    stringify!($hash),
                ][0];
                $($(
                    /// That this is a `BuildHasher` of that crate.
                    const _: fn() -> $random = <$random>::default;
                )?)?
                fathom_measure::contender::Meta { code, ..$meta }
            };
            $(const FLOODING: $crate::hash::Flooding = $crate::hash::Flooding::$flooding;)?
            $(const BITS: u32 = $bits;)?
            $(const AVALANCHES: bool = $avalanches;)?

            fn vectors() -> Vec<(u64, u64)> {
                vec![$($vectors)*]
            }

            #[inline]
            fn bytes(&self, bytes: &[u8]) -> u64 {
                $(if cfg!(debug_assertions) {
                    return $copied(bytes, pasted::hash);
                })?
                pasted::hash(bytes)
            }
        }
    };
}

/// The hash of a key amid bytes that may be read, too: what the address sanitizer sees of a function that reads up to seven
/// bytes on either side.
pub(super) fn amid(key: &[u8], hash: fn(&[u8]) -> u64) -> u64 {
    const BESIDE: usize = 8;
    let mut all = vec![0; BESIDE + key.len() + BESIDE];
    let copy = &mut all[BESIDE..][..key.len()];
    copy.copy_from_slice(key);
    hash(copy)
}

/// The bytes of which `city-test.cc` hashes its test number `number`: so many, of a stream of its own.
pub(super) fn city_test(number: usize) -> Vec<u8> {
    const K0: u64 = 0xc3a5_c85c_97cb_3127;
    let (mut a, mut b) = (9_u64, 777_u64);
    let byte = |at: usize| {
        a = a.wrapping_add(b);
        b = b.wrapping_add(a);
        a = (a ^ (a >> 41)).wrapping_mul(K0);
        b = (b ^ (b >> 41)).wrapping_mul(K0).wrapping_add(at as u64);
        (b >> 37) as u8
    };
    let all: Vec<u8> = (0..number * (number + 1)).map(byte).collect();
    all[number * number..].to_vec()
}

pub(super) use {by_build_hasher, function};
