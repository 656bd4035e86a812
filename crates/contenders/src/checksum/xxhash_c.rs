//! xxHash of this machine, the C library that `xxhsum` is made of: XXH3 on vectors chosen when it runs,
//! where it was built to choose.

use super::workload::{Buffer, Operation};
use crate::system::lent;

lent! {
    XXHASH_C of Buffer: xxhash::XxHash, "xxhash_c.rs";
    |library, _, workload| match workload.operation {
        Operation::Xxhash32 => workload.foreign(|bytes| library.xxh32(bytes)),
        Operation::Xxh3 => workload.foreign(|bytes| library.xxh3(bytes)),
        _ => workload.operation.unsupported(),
    }
}
