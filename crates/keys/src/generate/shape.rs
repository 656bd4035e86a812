//! What single keys look like. Distinctness, order and number are the caller's.

use std::str::FromStr;

use fathom_random::Random;

use super::RecipeError;
use super::sizes::Sizes;

/// A look of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Letters and digits.
    #[default]
    Random,
    /// 1, 2, 3 … with zeros in front.
    Sequential,
    /// Few prefixes, many endings.
    Clustered,
    /// Addresses of pages.
    Urls,
    /// Addresses of people.
    Emails,
    /// Version 4, in hexadecimal with hyphens (RFC 9562).
    Uuids,
    /// Words that can be spoken.
    Words,
    /// IPv4 addresses in dotted decimals, many to a network.
    Ipv4,
    /// Files in folders in folders.
    Paths,
    /// Digests: lower-case hexadecimal digits.
    Hex,
    /// Pieces of one genome, at every place of it: A, C, G, T.
    Dna,
}

impl Shape {
    /// All of them with their names.
    pub const ALL: [(&'static str, Shape); 11] = [
        ("random", Shape::Random),
        ("sequential", Shape::Sequential),
        ("clustered", Shape::Clustered),
        ("urls", Shape::Urls),
        ("emails", Shape::Emails),
        ("uuids", Shape::Uuids),
        ("words", Shape::Words),
        ("ipv4", Shape::Ipv4),
        ("paths", Shape::Paths),
        ("hex", Shape::Hex),
        ("dna", Shape::Dna),
    ];

    /// Lengths that suit it; sequential keys are as long as the last one needs.
    pub(super) fn usual_sizes(self) -> Sizes {
        match self {
            Shape::Random => Sizes::Fixed(16),
            Shape::Sequential => Sizes::Fixed(0),
            Shape::Clustered => Sizes::Uniform(16, 32),
            Shape::Urls => Sizes::Uniform(30, 90),
            Shape::Emails => Sizes::Uniform(12, 32),
            Shape::Uuids => Sizes::Fixed(36),
            Shape::Words => Sizes::Normal(11.8, 3.0),
            // They are as long as their numbers.
            Shape::Ipv4 => Sizes::Fixed(0),
            Shape::Paths => Sizes::Normal(60.0, 15.0),
            Shape::Hex => Sizes::Fixed(40),
            Shape::Dna => Sizes::Fixed(31),
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let found = Shape::ALL.iter().find(|(name, _)| *name == text);
        let names = || Shape::ALL.map(|(name, _)| name).join(", ");
        found.map(|&(_, shape)| shape).ok_or_else(|| format!("{text:?} is none of {}", names()))
    }
}

/// Makes keys of one shape.
pub(super) struct Maker {
    shape: Shape,
    /// Beginnings of clusters, hosts and networks of addresses, folders, or the genome.
    stems: Vec<Vec<u8>>,
    /// Digits of the last sequential key.
    digits: usize,
}

const LETTERS_AND_DIGITS: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOP_LEVELS: [&str; 8] = ["com", "org", "net", "de", "io", "co.uk", "fr", "edu"];

impl Maker {
    /// Draws what the keys of a set of `count` share, of which the longest has so many bytes.
    ///
    /// # Errors
    /// When that does not fit in memory.
    pub(super) fn new(
        shape: Shape,
        count: u64,
        longest: u32,
        random: &mut Random,
    ) -> Result<Maker, RecipeError> {
        // As many stems as keys below each of them.
        let stems = (count.max(1).isqrt()).min(100_000);
        let mut stem = |_| {
            let mut stem = Vec::new();
            match shape {
                Shape::Clustered => letters(random, 8, &mut stem),
                Shape::Urls | Shape::Emails => {
                    let length = 4 + random.below(9) as usize;
                    word(random, length, &mut stem);
                    stem.push(b'.');
                    stem.extend(TOP_LEVELS[random.below(8) as usize].as_bytes());
                }
                Shape::Ipv4 => {
                    let [a, b] = [1 + random.below(223), random.below(256)];
                    stem.extend(format!("{a}.{b}").into_bytes());
                }
                Shape::Paths => {
                    for _ in 0..1 + random.below(5) {
                        stem.push(b'/');
                        let length = 2 + random.below(9) as usize;
                        word(random, length, &mut stem);
                    }
                }
                Shape::Dna => {
                    let size = 4 * u128::from(count) + u128::from(longest.max(1024));
                    let size = usize::try_from(size).ok();
                    let size = size.filter(|&size| stem.try_reserve_exact(size).is_ok());
                    bases(random, size.ok_or(RecipeError::Memory(count))?, &mut stem);
                }
                _ => {}
            }
            Ok(stem)
        };
        let stems = match shape {
            Shape::Clustered | Shape::Urls | Shape::Emails | Shape::Ipv4 | Shape::Paths => {
                (0..stems).map(stem).collect::<Result<_, _>>()?
            }
            Shape::Dna => vec![stem(0)?],
            _ => Vec::new(),
        };
        Ok(Maker { shape, stems, digits: count.max(1).to_string().len() })
    }

    /// Appends key number `number` (from 0) of `size` bytes, or a little more where the shape
    /// cannot be shorter.
    pub(super) fn key(&self, number: u64, size: usize, random: &mut Random, out: &mut Vec<u8>) {
        let start = out.len();
        let stem =
            |random: &mut Random| &self.stems[random.below(self.stems.len() as u64) as usize];
        match self.shape {
            Shape::Random => letters(random, size.max(1), out),
            Shape::Sequential => {
                let width = size.max(self.digits);
                out.extend(format!("{:0width$}", number + 1).into_bytes());
            }
            Shape::Clustered => {
                out.extend_from_slice(stem(random));
                letters(random, size.saturating_sub(8).max(1), out);
            }
            Shape::Words => word(random, size.max(1), out),
            Shape::Ipv4 => {
                out.extend_from_slice(stem(random));
                let [c, d] = [random.below(256), random.below(256)];
                out.extend(format!(".{c}.{d}").into_bytes());
            }
            Shape::Paths => {
                const ENDINGS: [&str; 6] = [".rs", ".o", ".txt", ".json", ".so.1", ""];
                out.extend_from_slice(stem(random));
                let ending = ENDINGS[random.below(6) as usize];
                parts(random, (start + size).saturating_sub(out.len() + ending.len()), out);
                out.extend(ending.as_bytes());
            }
            Shape::Hex => {
                out.extend(
                    (0..size.max(1)).map(|_| b"0123456789abcdef"[random.below(16) as usize]),
                );
            }
            Shape::Dna => {
                let genome = &self.stems[0];
                let size = size.max(1);
                let place = random.below((genome.len() - size + 1) as u64) as usize;
                out.extend_from_slice(&genome[place..place + size]);
            }
            Shape::Uuids => uuid(random, out),
            Shape::Emails => {
                let host = stem(random);
                let name = size.saturating_sub(host.len() + 1).max(1);
                word(random, name, out);
                if name > 6 && random.below(2) == 0 {
                    let dot = start + 2 + random.below(name as u64 - 4) as usize;
                    out[dot] = b'.';
                }
                out.push(b'@');
                out.extend_from_slice(host);
            }
            Shape::Urls => {
                out.extend_from_slice(b"https://www.");
                out.extend_from_slice(stem(random));
                parts(random, (start + size).saturating_sub(out.len()), out);
            }
        }
    }
}

/// Words behind slashes, `size` bytes in all, two at least.
fn parts(random: &mut Random, size: usize, out: &mut Vec<u8>) {
    let mut left = size.max(2);
    while left > 0 {
        out.push(b'/');
        let most = 3 + random.below(10) as usize;
        // No part of one byte at the end: it would be a bare slash.
        let part = if left - 1 <= most + 2 { left - 1 } else { most };
        word(random, part, out);
        left -= part + 1;
    }
}

fn letters(random: &mut Random, size: usize, out: &mut Vec<u8>) {
    out.extend((0..size).map(|_| LETTERS_AND_DIGITS[random.below(62) as usize]));
}

fn bases(random: &mut Random, size: usize, out: &mut Vec<u8>) {
    out.extend((0..size).map(|_| b"ACGT"[random.below(4) as usize]));
}

/// Consonants and vowels by turns, now and then two consonants.
fn word(random: &mut Random, size: usize, out: &mut Vec<u8>) {
    const CONSONANTS: &[u8; 24] = b"bcdfghjklmnprstvwzlnrsts";
    const VOWELS: &[u8; 5] = b"aeiou";
    let mut vowel = random.below(4) == 0;
    for _ in 0..size {
        out.push(match vowel {
            true => VOWELS[random.below(5) as usize],
            false => CONSONANTS[random.below(24) as usize],
        });
        vowel = !vowel && random.below(6) > 0;
    }
}

fn uuid(random: &mut Random, out: &mut Vec<u8>) {
    let high = random.word() & !0xf000 | 0x4000;
    let low = random.word() >> 2 | 1 << 63;
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    let (d, e) = (low >> 48, low & 0xffff_ffff_ffff);
    out.extend(format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}").into_bytes());
}
