//! Read: ways to get a file that is in the page cache into a program, by the size of the buffer.
//!
//! An iteration opens the file, reads it once from beginning to end and adds its bytes up as 64-bit
//! numbers in four lanes, so that every byte is seen to have arrived; the sums are compared. What is
//! measured is copying, mapping and page faults, not the disk: a file that does not fit in memory
//! is another question. Wall clock, since two of the ways use a second thread.

use fathom_measure::family::Family;

mod fresh;
mod huge;
#[allow(unsafe_code)] // mapping a file that others could change
mod mmap;
mod overlap;
mod plain;
mod pread;
mod sum;
mod tables;
mod workload;

pub use workload::File;

/// The family.
pub static FAMILY: Family<File> = Family {
    name: "read",
    source: include_str!("mod.rs"),
    reference: "read",
    contenders: contenders![
        &plain::READ,
        &pread::PREAD,
        &fresh::FRESH,
        &huge::HUGE,
        &mmap::Mmap,
        &overlap::OVERLAP,
    ],
    absent: &[],
    facts: &workload::FACTS,
};
