//! Every operation at every level, against the scalar one eight bytes at a time, and the scalar one
//! against plain bytes.

use std::fmt;

use super::*;
use crate::level::Level;

/// Bytes in which every value, and every neighbourhood of the ones that matter, occurs.
fn samples() -> Vec<[u8; 64]> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut samples: Vec<[u8; 64]> =
        (0..4).map(|quarter| std::array::from_fn(|i| (64 * quarter + i) as u8)).collect();
    for _ in 0..40 {
        samples.push(std::array::from_fn(|_| next()));
        let few = [b' ', b'\t', b'\n', b'\r', b'0', b'9', b'/', b':', 0, 0x7f, 0x80, 0xff];
        samples.push(std::array::from_fn(|_| few[usize::from(next()) % few.len()]));
    }
    samples
}

/// What a register makes of `a` and `b`, as 64 bytes or bits, one after another.
fn answers<V: Vector>(a: &[u8; 64], b: &[u8; 64]) -> (Vec<[u8; 64]>, Vec<u64>) {
    let mut bytes = vec![[0; 64]; 9];
    let mut bits = vec![0; 8];
    for at in (0..64).step_by(V::BYTES) {
        // SAFETY: registers lie within the 64 bytes; the caller has checked the level.
        unsafe {
            let (v, w) = (V::load(a.as_ptr().add(at)), V::load(b.as_ptr().add(at)));
            let table: [u8; 16] = std::array::from_fn(|i| b[i]);
            let results = [
                v.less(w),
                v.over(w),
                v.and(w),
                v.or(w),
                v.xor(w),
                v.upper(),
                v.upper().lookup(&table),
                v.plus_words(w),
                V::splat(a[0]),
            ];
            for (result, all) in results.into_iter().zip(&mut bytes) {
                result.store(all.as_mut_ptr().add(at));
            }
            let masks = [
                v.equal(w),
                V::bits(v.is_at_most(w)),
                V::bits(v.is_high()),
                V::bits(v.is_no_digit()),
                V::bits(v.is_space()),
                v.below::<0x20>(),
                v.below::<0x80>(),
                v.below::<0xff>(),
            ];
            for (mask, all) in masks.into_iter().zip(&mut bits) {
                assert_eq!(mask.checked_shr(V::BYTES as u32).unwrap_or(0), 0);
                *all |= mask << at;
            }
        }
    }
    // SAFETY: there are 64 bytes; the caller has checked the level.
    unsafe {
        let all = V::load_64(a.as_ptr());
        bits.push(V::bits_64(all.map(|v| v.is_at_most(V::splat(b[0])))));
        bits.push(positions_64::<V>(a.as_ptr(), b[1]));
        bits.push(V::parities(u64::from_le_bytes(*a.first_chunk().unwrap())));
        for chosen in [bits[bits.len() - 1], u64::MAX, 0, 1 << 63, 0x5555 << 13] {
            let mut places = [u32::MAX; 64 + SURPLUS + 1];
            V::write_positions::<6>(chosen, 7, places.as_mut_ptr());
            let found = chosen.count_ones() as usize;
            bits.extend(places[..found].iter().copied().map(u64::from));
            assert!(places[found + SURPLUS..].iter().all(|&place| place == u32::MAX));
        }
        let mut mask = [0; 64];
        mask[3] = 1;
        let (v, w) = (V::load(a.as_ptr()), V::load(b.as_ptr()));
        bits.push(v.differs(w, V::load(mask.as_ptr())).into());
        bits.push(v.differs(v, V::splat(0xff)).into());
        // The places before, over the ends of registers.
        let mut shifted = [[0; 64]; 3];
        let mut before = V::last_four(u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        for at in (0..64).step_by(V::BYTES) {
            let here = V::load(a.as_ptr().add(at));
            for (result, all) in here.earlier(before).into_iter().zip(&mut shifted) {
                result.store(all.as_mut_ptr().add(at));
            }
            before = here;
        }
        bytes.extend(shifted);
    }
    (bytes, bits)
}

fn agrees<V: Vector>(level: Level) {
    crate::needs!(level.name(), level.is_available());
    let samples = samples();
    for (i, a) in samples.iter().enumerate() {
        let b = &samples[(i * 7 + 3) % samples.len()];
        assert_eq!(answers::<V>(a, b), answers::<Scalar>(a, b), "{level} {a:x?} {b:x?}");
    }
    doubles_agree::<V::Doubles>(level);
    words_agree::<u32, V::Words>(level, &samples);
    words_agree::<u64, V::Longs>(level, &samples);
}

/// Per lane what a word alone answers.
fn words_agree<T: Words<T> + PartialEq + fmt::Debug, W: Words<T>>(
    level: Level,
    samples: &[[u8; 64]],
) {
    const { assert!(W::COUNT <= MOST_WORDS && W::COUNT.is_power_of_two()) };
    for (i, a) in samples.iter().enumerate() {
        let (b, c) = (&samples[(i * 7 + 3) % samples.len()], &samples[(i * 5 + 1) % samples.len()]);
        let bits = 1 + i as u32 % (8 * size_of::<T>() as u32 - 1);
        // SAFETY: samples are as long as the widest register; the level is available.
        let (own, zipped) = unsafe {
            let [a, b, c] = [a, b, c].map(|sample| W::load(sample.as_ptr()));
            let zipped = a.zip(b).map(|half| lanes_of::<T, W>(half)).concat();
            (of_words(a, b, c, bits).map(|result| lanes_of::<T, W>(result)), zipped)
        };
        for lane in 0..W::COUNT {
            // SAFETY: as above.
            let plain = unsafe {
                let at = lane * size_of::<T>();
                let [a, b, c] = [a, b, c].map(|sample| T::load(sample[at..].as_ptr()));
                assert_eq!(zipped[2 * lane..2 * lane + 2], [a, b], "{level}, zipped");
                of_words(a, b, c, bits)
            };
            for (i, (own, plain)) in own.iter().zip(plain).enumerate() {
                assert_eq!(own[lane], plain, "{level}, operation {i} of lane {lane}, {bits} bits");
            }
        }
    }
    // SAFETY: as above.
    let [zero, one] = [0, 1].map(|at| unsafe { T::load(samples[at].as_ptr()) });
    // SAFETY: as above.
    let splat = lanes_of::<T, W>(unsafe { W::splat(one) });
    assert!(splat.iter().all(|word| *word == one && *word != zero), "{level}");
}

/// The words of a register.
fn lanes_of<T: Copy, W: Words<T>>(register: W) -> Vec<T> {
    let mut bytes = [0; 64];
    // SAFETY: there is room for the widest; whoever has a register has its level.
    unsafe {
        register.store(bytes.as_mut_ptr());
        (0..W::COUNT).map(|lane| bytes.as_ptr().cast::<T>().add(lane).read_unaligned()).collect()
    }
}

/// # Safety
/// The level of `W` is available.
unsafe fn of_words<T: Copy, W: Words<T>>(a: W, b: W, c: W, bits: u32) -> [W; 14] {
    // SAFETY: the caller's.
    unsafe {
        [
            a.swapped(),
            a.plus(b),
            a.and(b),
            a.xor(b),
            a.without(b),
            a.or_not(b),
            a.left(bits),
            a.right(bits),
            a.down(bits),
            a.parity(b, c),
            a.choose(b, c),
            a.majority(b, c),
            a.xor_without(b, c),
            a.xor_or_not(b, c),
        ]
    }
}

/// Per lane what `f64` answers, but for the sums of products of a level that rounds them twice.
fn doubles_agree<D: Doubles>(level: Level) {
    let values = [0.0, -0.0, 1.5, -2.25, 1e300, 0.1, 3.0, 1.0 + f64::EPSILON, f64::NAN];
    let rows: Vec<f64> = (0..4 * D::COUNT).map(|i| values[i % 8] + i as f64).collect();
    let lanes = |value: D| {
        let mut lanes = [0.0; MOST_DOUBLES];
        // SAFETY: as many doubles as the widest register; the level is available.
        unsafe { value.store(lanes.as_mut_ptr()) };
        lanes.map(f64::to_bits)
    };
    // SAFETY: there are COUNT rows; the level is available.
    let columns = unsafe { D::columns(rows.as_ptr()) };
    for (column, register) in columns.into_iter().enumerate() {
        for (lane, bits) in lanes(register)[..D::COUNT].iter().enumerate() {
            assert_eq!(*bits, rows[4 * lane + column].to_bits(), "{level}");
        }
    }
    for a in values {
        for b in values.into_iter().filter(|b| !b.is_nan() && !a.is_nan()) {
            // SAFETY: the level is available.
            let (own, plain) = unsafe {
                (
                    of_doubles(D::splat(a), D::splat(b)).map(|v| lanes(v)[D::COUNT - 1]),
                    of_doubles(a, b),
                )
            };
            for (i, (own, plain)) in own.into_iter().zip(plain).enumerate() {
                let plain = if i == 6 && level == Level::Sse2 { a * b + a } else { plain };
                assert_eq!(own, plain.to_bits(), "{level} {a} {b} {i}");
            }
        }
        for limit in values {
            // SAFETY: the level is available.
            let beyond = unsafe { D::splat(a).beyond(D::splat(limit)) };
            let all = u32::MAX >> (32 - D::COUNT);
            assert_eq!(beyond, if a <= limit { 0 } else { all }, "{level} {a} {limit}");
        }
    }
}

/// # Safety
/// The level of `D` is available.
unsafe fn of_doubles<D: Doubles>(a: D, b: D) -> [D; 7] {
    // SAFETY: the caller's.
    unsafe {
        [
            a.sub(b),
            a.mul(b),
            a.min(b),
            a.abs(),
            a.abs().sqrt(),
            a.if_above(b, a, b),
            a.mul_add(b, a),
        ]
    }
}

#[test]
fn each_level_answers_as_the_scalar_one() {
    agrees::<Scalar>(Level::Scalar);
    #[cfg(target_arch = "x86_64")]
    {
        agrees::<Sse2>(Level::Sse2);
        agrees::<Avx2>(Level::Avx2);
        agrees::<Avx512>(Level::Avx512);
    }
    #[cfg(target_arch = "aarch64")]
    agrees::<Neon>(Level::Neon);
}

#[test]
fn the_scalar_one_answers_as_bytes_do() {
    for sample in samples() {
        let mut twin = sample;
        twin.rotate_left(5);
        let (_, bits) = answers::<Scalar>(&sample, &twin);
        let mask = |of: &dyn Fn(u8, u8) -> bool| {
            (0..64).fold(0, |all, i| all | u64::from(of(sample[i], twin[i])) << i)
        };
        let expected = [
            mask(&|a, b| a == b),
            mask(&|a, b| a <= b),
            mask(&|a, _| a >= 0x80),
            mask(&|a, _| !a.is_ascii_digit()),
            mask(&|a, _| matches!(a, b' ' | b'\t' | b'\n' | b'\r')),
            mask(&|a, _| a < 0x20),
            mask(&|a, _| a < 0x80),
            mask(&|a, _| a < 0xff),
            mask(&|a, _| a <= twin[0]),
            mask(&|a, _| a == twin[1]),
        ];
        assert_eq!(bits[..10], expected);
    }
}

#[test]
fn functions_of_three_words_are_those_of_the_standards() {
    // 0b1111_0000 and so on: each of the eight combinations of three bits.
    let (a, b, c) = (0xf0_u64, 0xcc_u64, 0xaa_u64);
    // SAFETY: the scalar level is always available.
    let found = unsafe { of_words(a, b, c, 63) };
    let majority = a & b | a & c | b & c;
    let three = [a ^ b ^ c, a & b | !a & c, majority, a ^ (b & !c), a ^ (b | !c)];
    assert_eq!(found[..6], [0xf0 << 56, a + b, a & b, a ^ b, a & !b, a | !b]);
    assert_eq!(found[6..9], [0xf0 >> 1, 0xf0 << 1, 0]);
    assert_eq!(found[9..], three);
    // SAFETY: as above.
    assert_eq!(unsafe { Words::<u32>::left(0x8000_0001_u32, 4) }, 0x18);
}
