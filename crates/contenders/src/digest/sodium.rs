//! libsodium of this machine: SHA-2 in portable code and its HMACs, keyed in every call.

use fathom_measure::contender::Path;

use super::workload::{Messages, Operation, SECRET};
use crate::system::lent;

lent! {
    SODIUM of Messages: sodium::Sodium, "sodium.rs", hardware Path::portable;
    |library, _, workload| match workload.operation {
        Operation::Sha256 => workload.timed(|bytes| library.sha256(bytes)),
        Operation::Sha512 => workload.timed(|bytes| library.sha512(bytes)),
        Operation::HmacSha256 => workload.timed(library.hmac_sha256(SECRET)),
        Operation::HmacSha512 => workload.timed(library.hmac_sha512(SECRET)),
        _ => workload.operation.unsupported(),
    }
}
