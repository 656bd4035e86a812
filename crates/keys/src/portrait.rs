//! What kind of keys these are: the figures that decide which structure suits them. Exact over all
//! keys, except where a field says that it comes from a sample. Advises nothing.

use std::borrow::Cow;
use std::fmt;

use fathom_random::Random;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::counted;
use crate::set::{KeySet, Keys};

/// Keys that are sorted to see how much neighbours share.
const NEIGHBOURS: usize = 1 << 16;

/// The figures. Lengths are in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// Keys, duplicates counted.
    pub keys: u64,
    /// Keys without duplicates; of byte strings, by a 128-bit hash.
    pub distinct: u64,
    /// Bytes of all keys; an integer has eight.
    pub bytes: u64,
    /// Lengths; 8 for integers.
    pub lengths: Lengths,
    /// How the keys stand in the file.
    pub order: Order,
    /// Shannon entropy of a byte, in bits, over all bytes of all keys; integers big-endian.
    pub entropy_bits_per_byte: f64,
    /// Different bytes that occur.
    pub alphabet: u32,
    /// What they are.
    pub alphabet_name: Cow<'static, str>,
    /// Bytes with which every key begins.
    pub common_prefix_bytes: u64,
    /// Mean length of what two neighbours share when the keys are sorted, from a sample of at most
    /// 65,536 keys in which neighbours are further apart: a lower bound.
    pub neighbours_share_bytes: f64,
    /// Every key ends with a zero byte.
    pub is_terminated: bool,
    /// Least and greatest, of integers.
    pub range: Option<[u64; 2]>,
    /// Values, where the file has them.
    pub values: Option<Lengths>,
}

/// The distribution of lengths, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// The least.
    pub min: u32,
    /// Mean.
    pub mean: f64,
    /// Half are no longer.
    pub p50: u32,
    /// 99 % are no longer.
    pub p99: u32,
    /// The greatest.
    pub max: u32,
}

/// How the keys stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Never down.
    Sorted,
    /// Never up.
    Reversed,
    /// At most one step in twenty goes down.
    NearlySorted,
    /// Anything else.
    Mixed,
}

impl Portrait {
    /// Looks at every key.
    #[must_use]
    pub fn of(keys: &KeySet<'_>) -> Portrait {
        match &keys.keys {
            Keys::Integers(numbers) => of_integers(numbers),
            Keys::Bytes(_) => of_bytes(keys),
        }
    }

    /// Share of the keys that repeat an earlier one.
    #[must_use]
    pub fn duplicate_share(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { 1.0 - self.distinct as f64 / self.keys as f64 }
    }
}

impl Lengths {
    fn of(lengths: impl Iterator<Item = u32> + Clone) -> Lengths {
        let mut sorted: Vec<u32> = lengths.collect();
        let sum: u64 = sorted.iter().map(|&len| u64::from(len)).sum();
        sorted.sort_unstable();
        let Some(last) = sorted.len().checked_sub(1) else { return Lengths::default() };
        // The smallest length that at least this share of the keys does not exceed.
        let at = |share: f64| sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1];
        Lengths {
            min: sorted[0],
            mean: sum as f64 / sorted.len() as f64,
            p50: at(0.5),
            p99: at(0.99),
            max: sorted[last],
        }
    }
}

fn of_bytes(keys: &KeySet<'_>) -> Portrait {
    let Keys::Bytes(spans) = &keys.keys else { unreachable!("only for byte strings") };
    let all = || spans.iter().map(|span| span.of(&keys.bytes));
    let mut hashes: Vec<u128> = all().map(xxh3_128).collect();
    let mut counts = [0_u64; 256];
    all().for_each(|key| key.iter().for_each(|&byte| counts[usize::from(byte)] += 1));
    let first = all().next().unwrap_or_default();
    let common = all().fold(first.len(), |least, key| shared(first, key).min(least));
    let mut random = Random::new(0);
    let mut sample: Vec<&[u8]> = match spans.len() {
        0..=NEIGHBOURS => all().collect(),
        many => (0..NEIGHBOURS)
            .map(|_| spans[random.below(many as u64) as usize].of(&keys.bytes))
            .collect(),
    };
    sample.sort_unstable();
    sample.dedup();
    Portrait {
        keys: spans.len() as u64,
        distinct: distinct(&mut hashes),
        bytes: keys.key_bytes(),
        lengths: Lengths::of(spans.iter().map(|span| span.len)),
        order: order(all()),
        entropy_bits_per_byte: entropy(&counts),
        alphabet: counts.iter().filter(|&&count| count > 0).count() as u32,
        alphabet_name: alphabet_name(&counts, all()).into(),
        common_prefix_bytes: common as u64,
        neighbours_share_bytes: neighbours(sample.windows(2).map(|w| shared(w[0], w[1]))),
        is_terminated: !spans.is_empty() && all().all(|key| key.last() == Some(&0)),
        range: None,
        values: keys.values.as_ref().map(|values| Lengths::of(values.iter().map(|s| s.len))),
    }
}

fn of_integers(numbers: &[u64]) -> Portrait {
    let mut counts = [0_u64; 256];
    for number in numbers {
        number.to_be_bytes().iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    }
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let range = sorted.first().zip(sorted.last()).map(|(&least, &most)| [least, most]);
    sorted.dedup();
    let shared = |a: u64, b: u64| (a ^ b).leading_zeros() as usize / 8;
    let common = range.map_or(0, |[least, most]| shared(least, most));
    Portrait {
        keys: numbers.len() as u64,
        distinct: sorted.len() as u64,
        bytes: 8 * numbers.len() as u64,
        lengths: Lengths::of(numbers.iter().map(|_| 8)),
        order: order(numbers.iter()),
        entropy_bits_per_byte: entropy(&counts),
        alphabet: counts.iter().filter(|&&count| count > 0).count() as u32,
        alphabet_name: "integers".into(),
        common_prefix_bytes: common as u64,
        neighbours_share_bytes: neighbours(sorted.windows(2).map(|w| shared(w[0], w[1]))),
        is_terminated: false,
        range,
        values: None,
    }
}

fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn neighbours(shared: impl Iterator<Item = usize>) -> f64 {
    let (count, sum) = shared.fold((0_u64, 0_u64), |(n, sum), len| (n + 1, sum + len as u64));
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

fn distinct<T: Ord>(keys: &mut [T]) -> u64 {
    keys.sort_unstable();
    let changes = keys.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
    if keys.is_empty() { 0 } else { changes + 1 }
}

fn order<T: Ord>(mut keys: impl Iterator<Item = T>) -> Order {
    let (mut ups, mut downs, mut steps) = (0_u64, 0_u64, 0_u64);
    if let Some(mut last) = keys.next() {
        for key in keys {
            steps += 1;
            ups += u64::from(key > last);
            downs += u64::from(key < last);
            last = key;
        }
    }
    match (ups, downs) {
        (_, 0) => Order::Sorted,
        (0, _) => Order::Reversed,
        _ if downs * 20 <= steps => Order::NearlySorted,
        _ => Order::Mixed,
    }
}

/// H = -Σ p log2 p (Shannon 1948).
fn entropy(counts: &[u64; 256]) -> f64 {
    let total: u64 = counts.iter().sum();
    let share = |&count: &u64| count as f64 / total.max(1) as f64;
    let terms = counts.iter().filter(|count| **count > 0).map(share);
    terms.map(|p| -p * p.log2()).sum::<f64>().max(0.0)
}

fn alphabet_name<'k>(
    counts: &[u64; 256],
    mut keys: impl Iterator<Item = &'k [u8]>,
) -> &'static str {
    let only = |fits: fn(u8) -> bool| (0..=255).all(|b| fits(b) || counts[usize::from(b)] == 0);
    if only(|b| b.is_ascii_digit()) {
        "digits"
    } else if only(|b| b.is_ascii_digit() || b == b'-') {
        "digits and hyphens"
    } else if only(|b| b.is_ascii_hexdigit() || b == b'-') {
        "hexadecimal"
    } else if only(|b| b.is_ascii_alphabetic()) {
        "letters"
    } else if only(|b| matches!(b, 0x20..=0x7e)) {
        "printable ASCII"
    } else if only(|b| b.is_ascii()) {
        "ASCII"
    } else if keys.all(|key| std::str::from_utf8(key).is_ok()) {
        "UTF-8"
    } else {
        "any bytes"
    }
}

impl fmt::Display for Portrait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repeated = self.duplicate_share() * 100.0;
        writeln!(
            out,
            "keys       {}, {} distinct ({repeated:.1} % repeat an earlier one), {}",
            grouped(self.keys),
            grouped(self.distinct),
            match self.order {
                Order::Sorted => "sorted",
                Order::Reversed => "sorted downwards",
                Order::NearlySorted => "nearly sorted",
                Order::Mixed => "in no order",
            }
        )?;
        match self.range {
            Some([least, most]) => writeln!(out, "range      {least} to {most}")?,
            None => {
                let Lengths { min, mean, p50, p99, max } = self.lengths;
                writeln!(
                    out,
                    "lengths    {min} to {}, mean {mean:.1}, median {p50}, 99 % within {p99}",
                    counted(max.into(), "byte")
                )?;
            }
        }
        let bits = self.entropy_bits_per_byte;
        let zero = if self.is_terminated { ", each closed by a zero byte" } else { "" };
        writeln!(
            out,
            "content    {} ({}), {bits:.2} bits of entropy per byte{zero}",
            self.alphabet_name,
            counted(self.alphabet.into(), "different byte")
        )?;
        write!(
            out,
            "prefixes   {} common to all, {:.1} shared by sorted neighbours",
            counted(self.common_prefix_bytes, "byte"),
            self.neighbours_share_bytes
        )?;
        if let Some(Lengths { min, mean, max, .. }) = self.values {
            let most = counted(max.into(), "byte");
            write!(out, "\nvalues     {min} to {most}, mean {mean:.1}")?;
        }
        Ok(())
    }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, read};

    fn of(text: &[u8]) -> Portrait {
        Portrait::of(&read(text, &crate::detect(text).unwrap()).unwrap())
    }

    #[test]
    fn words_have_lengths_duplicates_and_prefixes() {
        let portrait = of(b"prefix prelude press prefix");
        assert_eq!((portrait.keys, portrait.distinct), (4, 3));
        assert_eq!(portrait.lengths, Lengths { min: 5, mean: 6.0, p50: 6, p99: 7, max: 7 });
        assert_eq!((portrait.common_prefix_bytes, portrait.order), (3, Order::Mixed));
        // prefix, prelude, press share "pre" and "pre".
        assert_eq!(portrait.neighbours_share_bytes, 3.0);
        assert_eq!(portrait.alphabet_name, "letters");
        assert!((portrait.duplicate_share() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn an_alphabet_is_that_of_the_keys_whatever_lies_between_them() {
        let named = |file: &[u8], format: &str| {
            Portrait::of(&read(file, &format.parse().unwrap()).unwrap()).alphabet_name
        };
        // A first byte of two at the end of a key, and a length that reads as the second.
        let cut = [&[2, 0, 0, 0, 1, 0, 0, 0, 0xc3, 0xa9, 0, 0, 0][..], &[b'a'; 0xa9]].concat();
        assert_eq!(named(&cut, "bin-text"), "any bytes");
        let long = [&[1, 0, 0, 0, 0x80, 0, 0, 0][..], "é".repeat(64).as_bytes()].concat();
        assert_eq!(named(&long, "bin-text"), "UTF-8");
        assert_eq!(named(b"\xe9,\xc3\xa9\n", "csv:2"), "UTF-8");
        assert_eq!(named(b"\xe9,\xc3\xa9\n", "csv:1"), "any bytes");
        // Numbers below zero were hexadecimal.
        assert_eq!(named(b"-5\n7\n", "lines"), "digits and hyphens");
        assert_eq!(named(b"0a-b1\n", "lines"), "hexadecimal");
    }

    #[test]
    fn integers_have_a_range() {
        let portrait = of(b"1 2 2 258");
        assert_eq!((portrait.distinct, portrait.range), (3, Some([1, 258])));
        assert_eq!((portrait.order, portrait.common_prefix_bytes), (Order::Sorted, 6));
    }

    #[test]
    fn entropy_is_that_of_the_distribution() {
        let mut counts = [0; 256];
        (counts[1], counts[2], counts[3]) = (2, 1, 1);
        assert!((entropy(&counts) - 1.5).abs() < 1e-12);
        assert_eq!(entropy(&[0; 256]), 0.0);
        assert!((entropy(&[7; 256]) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn orders_are_told_apart() {
        let kind = |keys: &[u32]| order(keys.iter());
        assert_eq!(kind(&[1, 2, 2, 3]), Order::Sorted);
        assert_eq!(kind(&[3, 2, 2]), Order::Reversed);
        assert_eq!(kind(&[3, 1, 2]), Order::Mixed);
        let mut nearly: Vec<u32> = (0..100).collect();
        nearly.swap(5, 6);
        assert_eq!(kind(&nearly), Order::NearlySorted);
        assert_eq!(kind(&[]), Order::Sorted);
    }

    #[test]
    fn one_byte_is_singular() {
        let pairs = b"\x01\0\0\0\x01\0\0\0\x01\0\0\0ab";
        for text in [of(b"a a"), Portrait::of(&read(pairs, &Format::BinSliceKv).unwrap())] {
            let text = text.to_string();
            assert!(text.contains("1 to 1 byte,") && text.contains("(1 different byte)"), "{text}");
            assert!(text.contains("1 byte common") && !text.contains("1 bytes"), "{text}");
        }
    }

    #[test]
    fn a_portrait_of_nothing_is_possible_and_the_text_is_one_block() {
        let empty = Portrait::of(&read(&[0; 4], &Format::BinText).unwrap());
        assert_eq!((empty.keys, empty.duplicate_share()), (0, 0.0));
        let text = of(b"1000 2 3").to_string();
        assert!(text.starts_with("keys       3, 3 distinct (0.0 % repeat"), "{text}");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
    }
}
