//! AES modes and mORMot's tags on the AES and CRC instructions of x86-64 and AArch64.
//!
//! [`Schedule`] is the checked door: it only exists where the instructions do.
//!
//! The modes are written once, in [`modes`], over the few operations each architecture file defines
//! (`Lane` = one block in a register). In pseudo-code, counter modes with a tag:
//!
//! ```text
//! for each 8 blocks:
//!     state[0..8] = counter, counter + 1, …             add and byte shuffle in registers
//!     for each round key: state[i] = round(state[i])     8 independent chains hide the latency
//!     cipher[i] = plain[i] xor state[i]
//!     for each pair of blocks (a, b), plain and cipher:
//!         interleave their words: (a0 b0)(a1 b1)(a2 b2)(a3 b3)
//!         lane i = crc(lane i, (ai bi))                  8 bytes per instruction
//! ```
//!
//! The definition feeds a lane four bytes at a time; interleaving two blocks feeds it eight, which
//! halves the CRC instructions. They run beside the AES rounds of the neighbouring blocks.
//!
//! Where registers of four blocks exist, the counter modes use them: [`wide`].

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod modes;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use fathom_machine::level::Level;

use super::container::Lanes;
use super::workload::Mode;
use crate::aes::Key;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// Whether this processor has the AES and CRC instructions.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("sse4.2")
        && std::arch::is_x86_feature_detected!("ssse3");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("crc");
    #[allow(unreachable_code)] // other architectures
    false
}

/// Whether the level also encrypts several blocks per instruction, which the counter modes then do.
pub(crate) fn is_wide() -> bool {
    is_available() && Level::current() == Level::Avx512
}

/// An expanded key.
pub(crate) struct Schedule {
    keys: Vec<[u8; 16]>,
    /// Counter modes on wide registers.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // nothing to choose there
    is_wide: bool,
}

impl Schedule {
    /// Takes over the round keys; `None` on a processor without the instructions.
    pub(crate) fn new(key: &Key) -> Option<Schedule> {
        let keys = key.rounds().to_vec();
        is_available().then(|| Schedule { keys, is_wide: is_wide() })
    }

    /// The same without wide registers, whatever the processor has.
    #[cfg(test)]
    fn narrow(key: &Key) -> Option<Schedule> {
        Some(Schedule { is_wide: false, ..Schedule::new(key)? })
    }

    /// One block by itself (SP 800-38A, ECB), given as two little-endian numbers.
    pub(crate) fn block(&self, halves: [u64; 2]) -> [u8; 16] {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: a schedule only exists where the instructions were detected.
        return unsafe { arch::block(&self.keys, halves) };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        std::array::from_fn(|at| halves[at / 8].to_le_bytes()[at % 8])
    }

    /// Encrypts in place. The modes with a tag update `lanes`; the others leave them alone. GCM is
    /// not written here.
    ///
    /// # Panics
    /// With GCM.
    pub(crate) fn encrypt(&self, mode: Mode, iv: &[u8; 16], bytes: &mut [u8], lanes: &mut Lanes) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            let keys = &self.keys;
            // SAFETY: `is_wide` says that the level has the instructions.
            unsafe {
                match mode {
                    Mode::C64 => return wide::counter::<true, false>(keys, iv, bytes, lanes),
                    Mode::Ctr => return wide::counter::<false, false>(keys, iv, bytes, lanes),
                    Mode::Ctc => return wide::counter::<false, true>(keys, iv, bytes, lanes),
                    Mode::Cfb | Mode::Cfc | Mode::Ofb | Mode::Ofc | Mode::Gcm => {}
                }
            }
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: a schedule only exists where the instructions were detected.
        unsafe {
            match mode {
                Mode::Cfb => arch::feedback::<false, false>(&self.keys, iv, bytes, lanes),
                Mode::Cfc => arch::feedback::<false, true>(&self.keys, iv, bytes, lanes),
                Mode::Ofb => arch::feedback::<true, false>(&self.keys, iv, bytes, lanes),
                Mode::Ofc => arch::feedback::<true, true>(&self.keys, iv, bytes, lanes),
                Mode::C64 => arch::counter::<true, false>(&self.keys, iv, bytes, lanes),
                Mode::Ctr => arch::counter::<false, false>(&self.keys, iv, bytes, lanes),
                Mode::Ctc => arch::counter::<false, true>(&self.keys, iv, bytes, lanes),
                Mode::Gcm => panic!("GCM is not written here"),
            }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = (mode, iv, bytes, lanes);
    }
}

/// The counter in an IV, in the low number, and what is above it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
fn counter_of<const C64: bool>(iv: &[u8; 16]) -> (u64, u64) {
    let number = u128::from_be_bytes(*iv);
    match C64 {
        true => ((number >> 64) as u64, (number as u64).swap_bytes()),
        false => (number as u64, (number >> 64) as u64),
    }
}

/// Which bytes of such a pair of numbers make the halves of a block: `c64` turns its counter round and
/// keeps the rest, the others turn all.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn order<const C64: bool>() -> [u64; 2] {
    const REVERSED: u64 = 0x0001_0203_0405_0607;
    const ALL: u64 = 0x0808_0808_0808_0808;
    match C64 {
        true => [REVERSED, 0x0f0e_0d0c_0b0a_0908],
        false => [REVERSED + ALL, REVERSED],
    }
}

/// Stores a little-endian number as one block, by one instruction. A block that is stored in parts and
/// soon loaded as a whole is not passed on inside the processor: the load waits until the parts are in
/// the cache, and with it the tag and the next message (0.69x of `ctr` instead of 0.76x for the mix).
#[inline]
pub(crate) fn put(block: &mut [u8; 16], number: u128) {
    #[cfg(target_arch = "x86_64")]
    arch::put(block, number);
    #[cfg(not(target_arch = "x86_64"))]
    {
        *block = number.to_le_bytes();
    }
}

/// The same of four lanes.
pub(crate) fn put_lanes(lanes: &mut [u32; 4], number: u128) {
    // SAFETY: sixteen bytes either way, and bytes need no alignment.
    put(unsafe { &mut *std::ptr::from_mut(lanes).cast() }, number);
}

/// [`crc32c`] of as many bytes as the compiler knows: without loops.
pub(crate) fn crc32c_of<const N: usize>(start: u32, bytes: &[u8; N]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the instruction was just detected.
        return unsafe { arch::crc32c_of(start, bytes) };
    }
    crc32c(start, bytes)
}

/// CRC-32C from `start`, with the usual inversions: on the instruction where there is one.
pub(crate) fn crc32c(start: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the instruction was just detected.
        return unsafe { arch::crc32c(start, bytes) };
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("crc") {
        // SAFETY: the instruction was just detected.
        return unsafe { arch::crc32c(start, bytes) };
    }
    !bytes.iter().fold(!start, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;
    use crate::mix::random;

    #[test]
    fn crc32c_has_its_check_value() {
        assert_eq!(crc32c(0, b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(crc32c(0, b"1234"), b"56789"), 0xe306_9283);
    }

    #[test]
    fn every_mode_and_length_agrees_with_the_definition() {
        fathom_machine::needs!("AES or CRC instructions", is_available());
        let modes = [Mode::Cfb, Mode::Cfc, Mode::Ofb, Mode::Ofc, Mode::C64, Mode::Ctr, Mode::Ctc];
        // IVs whose counters wrap in every place they can wrap.
        let mut ivs = vec![[0; 16], [0xff; 16]];
        ivs.push(std::array::from_fn(|at| if at < 8 { 1 } else { 0xff }));
        ivs.push(std::array::from_fn(|at| if at < 8 { 0xff } else { 1 }));
        for blocks in [1, 4, 5, 13, 16, 17, 20] {
            ivs.push((u128::from(u64::MAX) - blocks).to_be_bytes());
        }
        for key_bytes in [16, 24, 32] {
            let key = Key::new(&random(key_bytes, key_bytes as usize));
            let schedules = [Schedule::new(&key), Schedule::narrow(&key)].map(Option::unwrap);
            let halves = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
            let block = std::array::from_fn(|at| at as u8);
            assert_eq!(schedules[0].block(halves), key.encrypt(block));
            for mode in modes {
                for iv in &ivs {
                    for length in (0..=300).chain([511, 512, 528, 704, 1024, 1040]) {
                        let plain = random(length as u64, length);
                        let start = Lanes::start(&[length as u8; 32], None);
                        let (mut expected, mut lanes) = (plain.clone(), start);
                        reference::encrypt(&key, mode, *iv, &mut expected, Some(&mut lanes));
                        for schedule in &schedules {
                            let (mut found, mut fast) = (plain.clone(), start);
                            schedule.encrypt(mode, iv, &mut found, &mut fast);
                            let wide = schedule.is_wide;
                            assert_eq!(found, expected, "{mode:?} {key_bytes} {length} {wide}");
                            if matches!(mode, Mode::Cfc | Mode::Ofc | Mode::Ctc) {
                                assert_eq!(fast, lanes, "{mode:?} {key_bytes} {length} {wide}");
                            }
                        }
                    }
                }
            }
        }
    }
}
