//! Read: ways to get a file into a program, by the size of the buffer, from the page cache and from a disk.
//!
//! An iteration opens the file, reads it once from beginning to end and adds its bytes up as 64-bit
//! numbers in four lanes, so that every byte is seen to have arrived; the sums are compared. Wall clock, since most ways
//! leave work to the kernel or to other threads.
//!
//! With `cache=warm` the file is in the page cache: what is measured is copying, mapping and page faults, not the disk, but for the ways that
//! go past the cache. With `cache=cold` it is put out of it before each iteration, which is not timed, and every page
//! is looked at: a file of which one stays, as in a file system in memory, is refused. A device, or the host of a virtual
//! machine, may have the bytes in a memory of its own, and nobody here can put them out of that.

use fathom_measure::family::Family;

mod advised;
mod ahead;
mod direct;
mod fresh;
mod huge;
#[allow(unsafe_code)] // mapping a file that others could change
mod mmap;
mod overlap;
mod plain;
mod pread;
#[cfg(feature = "cpu")]
#[allow(unsafe_code)] // the kernel writes into buffers while requests are on their way
mod ring;
mod sum;
mod tables;
#[cfg(feature = "cpu")]
mod uring;
mod workload;

pub use workload::File;

/// The family.
pub(crate) const FAMILY: Family<File> = Family {
    name: "read",
    source: include_str!("mod.rs"),
    reference: "read",
    contenders: &[
        &plain::READ,
        &pread::PREAD,
        &fresh::FRESH,
        &huge::HUGE,
        &mmap::MMAP,
        &overlap::OVERLAP,
        &advised::ADVISED,
        &direct::DIRECT,
        &ahead::AHEAD,
        #[cfg(feature = "cpu")]
        &uring::Uring,
    ],
    absent: &[],
    facts: &workload::FACTS,
};
