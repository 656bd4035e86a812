//! xxHash of this machine, the C library that `xxhsum` is made of: XXH3 on vectors chosen when it runs,
//! where it was built to choose.

use fathom_measure::contender::Meta;

use super::workload::{Buffer, Operation};
use crate::system::Lent;
use crate::system::xxhash::{self, XxHash};

pub(super) static XXHASH_C: Lent<Buffer, XxHash> = Lent {
    meta: Meta { source: include_str!("xxhash_c.rs"), ..xxhash::META },
    library: &xxhash::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Xxhash32 => workload.foreign(|bytes| library.xxh32(bytes)),
        Operation::Xxh3 => workload.foreign(|bytes| library.xxh3(bytes)),
        _ => workload.operation.unsupported(),
    },
};
