//! libsodium of this machine: SHA-2 in portable code and its HMACs, keyed in every call.

use fathom_measure::contender::{Meta, Path};

use super::workload::{Messages, Operation, SECRET};
use crate::system::Lent;
use crate::system::sodium::{self, Sodium};

pub(super) static SODIUM: Lent<Messages, Sodium> = Lent {
    meta: Meta { hardware: Path::portable, source: include_str!("sodium.rs"), ..sodium::META },
    library: &sodium::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Sha256 => workload.timed(|bytes| library.sha256(bytes)),
        Operation::Sha512 => workload.timed(|bytes| library.sha512(bytes)),
        Operation::HmacSha256 => workload.timed(library.hmac_sha256(SECRET)),
        Operation::HmacSha512 => workload.timed(library.hmac_sha512(SECRET)),
        _ => workload.operation.unsupported(),
    },
};
