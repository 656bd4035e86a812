//! mORMot's `AesNiHash`, 64 bits: AES rounds as a mixing step, after the hash of the Go runtime.
//!
//! Its value depends on eight random keys, here drawn from a seed so that every process agrees; in
//! its home they are new in each process. On AArch64 it runs on the AES instructions too, which its
//! original does not. Its plain version is its definition.

use fathom_measure::contender::{Meta, Path, Simple};

use super::kernel::aesnihash;
use super::plain_aesnihash::Keys;
use super::workload::{Buffer, Operation};

pub(super) const AES_NI_HASH: Simple<Buffer> = Simple {
    meta: Meta {
        name: "aesnihash",
        hardware: |_| Path::takes("aes"),
        ..Meta::of(include_str!("aesnihash.rs"))
    },
    prepare: |workload| {
        if workload.operation != Operation::AesNiHash {
            return workload.operation.unsupported();
        }
        if !aesnihash::is_available() {
            return Err(fathom_measure::contender::Unsupported("needs AES instructions".into()));
        }
        let keys = Keys::of_seed(1);
        workload.timed(move |bytes| aesnihash::hash(&keys, 0, bytes))
    },
};
