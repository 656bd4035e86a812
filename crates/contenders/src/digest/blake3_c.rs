//! BLAKE3 of this machine, in C and assembly by its authors: sixteen chunks at once on AVX-512. One thread.

use super::workload::{Messages, Operation};
use crate::system::lent;

lent! {
    BLAKE3_C of Messages: blake3::Blake3, "blake3_c.rs";
    |library, _, workload| match workload.operation {
        Operation::Blake3 => workload.timed(library.digest()),
        _ => workload.operation.unsupported(),
    }
}
