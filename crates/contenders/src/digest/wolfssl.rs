//! wolfSSL of this machine: portable C, or assembly where it was built with it. Its digests of whole messages.

use fathom_measure::contender::Meta;

use super::workload::{Messages, Operation, SECRET};
use crate::system::Lent;
use crate::system::wolfssl::{self, Md, Wolf};

pub(super) static WOLF_SSL: Lent<Messages, Wolf> = Lent {
    meta: Meta { source: include_str!("wolfssl.rs"), ..wolfssl::META },
    library: &wolfssl::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Md5 => workload.perhaps(library.digest::<16>(Md::Md5)),
        Operation::Sha1 => workload.perhaps(library.digest::<20>(Md::Sha1)),
        Operation::Sha256 => workload.perhaps(library.digest::<32>(Md::Sha256)),
        Operation::Sha384 => workload.perhaps(library.digest::<48>(Md::Sha384)),
        Operation::Sha512 => workload.perhaps(library.digest::<64>(Md::Sha512)),
        Operation::Sha3_256 => workload.perhaps(library.digest::<32>(Md::Sha3_256)),
        Operation::Sha3_512 => workload.perhaps(library.digest::<64>(Md::Sha3_512)),
        Operation::HmacMd5 => workload.perhaps(library.hmac::<16>(Md::Md5, SECRET)),
        Operation::HmacSha1 => workload.perhaps(library.hmac::<20>(Md::Sha1, SECRET)),
        Operation::HmacSha256 => workload.perhaps(library.hmac::<32>(Md::Sha256, SECRET)),
        Operation::HmacSha384 => workload.perhaps(library.hmac::<48>(Md::Sha384, SECRET)),
        Operation::HmacSha512 => workload.perhaps(library.hmac::<64>(Md::Sha512, SECRET)),
        _ => workload.operation.unsupported(),
    },
};
