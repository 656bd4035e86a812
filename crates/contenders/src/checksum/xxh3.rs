//! XXH3, 64 bits, seed 0, as its specification reads: one lane at a time, no vector code.
//!
//! Every length class of the specification is here; seeds and custom secrets are not.

/// The specification's default secret, as little-endian words.
const SECRET: [u8; 192] = hex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f\
     cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c\
     3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8\
     a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364\
     eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e\
     2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

const P32: [u64; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];
const P64: [u64; 5] = [
    0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];
const MX1: u64 = 0x1656_6791_9e37_79f9;
const MX2: u64 = 0x9fb2_1c65_1e98_df25;

/// The hash of `bytes`.
pub(super) fn xxh3(bytes: &[u8]) -> u64 {
    match bytes.len() {
        0 => xxh64_avalanche(word(&SECRET, 56) ^ word(&SECRET, 64)),
        1..=3 => up_to_3(bytes),
        4..=8 => up_to_8(bytes),
        9..=16 => up_to_16(bytes),
        17..=128 => up_to_128(bytes),
        129..=240 => up_to_240(bytes),
        _ => longer(bytes),
    }
}

fn up_to_3(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let (first, middle, last) = (bytes[0], bytes[length / 2], bytes[length - 1]);
    let combined =
        u64::from(last) | (length as u64) << 8 | u64::from(first) << 16 | u64::from(middle) << 24;
    xxh64_avalanche(combined ^ u64::from(half(&SECRET, 0) ^ half(&SECRET, 4)))
}

fn up_to_8(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let (first, last) = (u64::from(half(bytes, 0)), u64::from(half(bytes, length - 4)));
    let mut value = (word(&SECRET, 8) ^ word(&SECRET, 16)) ^ (last | first << 32);
    value ^= value.rotate_left(49) ^ value.rotate_left(24);
    value = value.wrapping_mul(MX2);
    value ^= (value >> 35).wrapping_add(length as u64);
    value = value.wrapping_mul(MX2);
    value ^ (value >> 28)
}

fn up_to_16(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let low = (word(&SECRET, 24) ^ word(&SECRET, 32)) ^ word(bytes, 0);
    let high = (word(&SECRET, 40) ^ word(&SECRET, 48)) ^ word(bytes, length - 8);
    let sum = (length as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
    avalanche(sum.wrapping_add(folded(low, high)))
}

fn up_to_128(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let mut sum = (length as u64).wrapping_mul(P64[0]);
    for pair in (0..=(length - 1) / 32).rev() {
        sum = sum.wrapping_add(mixed(bytes, 16 * pair, 32 * pair));
        sum = sum.wrapping_add(mixed(bytes, length - 16 * (pair + 1), 32 * pair + 16));
    }
    avalanche(sum)
}

fn up_to_240(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let mut sum = (length as u64).wrapping_mul(P64[0]);
    for at in 0..8 {
        sum = sum.wrapping_add(mixed(bytes, 16 * at, 16 * at));
    }
    sum = avalanche(sum);
    for at in 8..length / 16 {
        sum = sum.wrapping_add(mixed(bytes, 16 * at, 16 * (at - 8) + 3));
    }
    avalanche(sum.wrapping_add(mixed(bytes, length - 16, 136 - 17)))
}

/// Stripes of 64 bytes over eight lanes; 16 stripes make a block, after which lanes are scrambled.
fn longer(bytes: &[u8]) -> u64 {
    const STRIPES: usize = (SECRET.len() - 64) / 8;
    let mut lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];
    for (number, at) in (0..bytes.len() - 64).step_by(64).enumerate() {
        accumulate(&mut lanes, bytes, at, 8 * (number % STRIPES));
        if number % STRIPES == STRIPES - 1 && at + 64 < bytes.len() {
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane ^= *lane >> 47;
                *lane ^= word(&SECRET, SECRET.len() - 64 + 8 * i);
                *lane = lane.wrapping_mul(P32[0]);
            }
        }
    }
    accumulate(&mut lanes, bytes, bytes.len() - 64, SECRET.len() - 64 - 7);
    let mut sum = (bytes.len() as u64).wrapping_mul(P64[0]);
    for (i, pair) in lanes.chunks_exact(2).enumerate() {
        let (low, high) = (word(&SECRET, 11 + 16 * i), word(&SECRET, 19 + 16 * i));
        sum = sum.wrapping_add(folded(pair[0] ^ low, pair[1] ^ high));
    }
    avalanche(sum)
}

fn accumulate(lanes: &mut [u64; 8], bytes: &[u8], at: usize, secret: usize) {
    for i in 0..8 {
        let value = word(bytes, at + 8 * i);
        let keyed = value ^ word(&SECRET, secret + 8 * i);
        lanes[i ^ 1] = lanes[i ^ 1].wrapping_add(value);
        lanes[i] = lanes[i].wrapping_add((keyed & 0xffff_ffff).wrapping_mul(keyed >> 32));
    }
}

fn mixed(bytes: &[u8], at: usize, secret: usize) -> u64 {
    let low = word(bytes, at) ^ word(&SECRET, secret);
    let high = word(bytes, at + 8) ^ word(&SECRET, secret + 8);
    folded(low, high)
}

/// The two halves of the 128-bit product, xored.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn avalanche(mut value: u64) -> u64 {
    value ^= value >> 37;
    value = value.wrapping_mul(MX1);
    value ^ (value >> 32)
}

fn xxh64_avalanche(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(P64[1]);
    value = (value ^ (value >> 29)).wrapping_mul(P64[2]);
    value ^ (value >> 32)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

const fn hex<const N: usize>(text: &str) -> [u8; N] {
    const fn digit(byte: u8) -> u8 {
        if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 }
    }
    let (text, mut bytes, mut at) = (text.as_bytes(), [0; N], 0);
    while at < N {
        bytes[at] = digit(text[2 * at]) << 4 | digit(text[2 * at + 1]);
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_input_has_its_known_value() {
        assert_eq!(xxh3(b""), 0x2d06_8005_38d3_94c2);
    }

    #[cfg(feature = "cpu")]
    #[test]
    fn every_length_up_to_three_blocks_agrees_with_the_crate() {
        let bytes = crate::mix::random(5, 3200);
        for length in (0..600).chain(1000..1100).chain([2048, 2049, 3072, 3200]) {
            let bytes = &bytes[..length];
            assert_eq!(xxh3(bytes), xxhash_rust::xxh3::xxh3_64(bytes), "{length} bytes");
        }
    }
}
