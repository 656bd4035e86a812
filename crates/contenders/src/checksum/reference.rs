//! One table of 256 entries, one byte at a time: the textbook's CRC, and the oracle of the others.
//!
//! The table is derived from the polynomial when the program is compiled (Sarwate, "Computation of
//! cyclic redundancy checks via table look-up", 1988).

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::workload::{Buffer, Operation};

pub(super) struct Table;

/// Polynomials with the least significant bit first.
const CRC32C: [u32; 256] = table(0x82f6_3b78);
const CRC32: [u32; 256] = table(0xedb8_8320);

impl Contender<Buffer> for Table {
    fn meta(&self) -> Meta {
        Meta {
            name: "table",
            hardware: || "table".into(),
            ..Meta::of(include_str!("reference.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32c => workload.timed(|bytes| sum(&CRC32C, bytes)),
            Operation::Crc32 => workload.timed(|bytes| sum(&CRC32, bytes)),
        }
    }
}

fn sum(table: &[u32; 256], bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| table[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

const fn table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_s_check_values_are_reproduced() {
        // "123456789", the check input of the catalogue of parametrised CRC algorithms.
        assert_eq!(sum(&CRC32C, b"123456789"), 0xe306_9283);
        assert_eq!(sum(&CRC32, b"123456789"), 0xcbf4_3926);
    }
}
