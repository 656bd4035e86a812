//! Botan of this machine: C++ with instructions of the processor's chosen when it runs, in an object that
//! is kept.

use super::workload::{Messages, Operation, SECRET};
use crate::system::lent;

lent! {
    BOTAN of Messages: botan::Botan, "botan.rs";
    |library, _, workload| match workload.operation {
        Operation::Md5 => workload.perhaps(library.digest::<16>(c"MD5")),
        Operation::Sha1 => workload.perhaps(library.digest::<20>(c"SHA-1")),
        Operation::Sha256 => workload.perhaps(library.digest::<32>(c"SHA-256")),
        Operation::Sha384 => workload.perhaps(library.digest::<48>(c"SHA-384")),
        Operation::Sha512 => workload.perhaps(library.digest::<64>(c"SHA-512")),
        Operation::Sha3_256 => workload.perhaps(library.digest::<32>(c"SHA-3(256)")),
        Operation::Sha3_512 => workload.perhaps(library.digest::<64>(c"SHA-3(512)")),
        Operation::HmacMd5 => workload.perhaps(library.hmac::<16>(c"HMAC(MD5)", SECRET)),
        Operation::HmacSha1 => workload.perhaps(library.hmac::<20>(c"HMAC(SHA-1)", SECRET)),
        Operation::HmacSha256 => workload.perhaps(library.hmac::<32>(c"HMAC(SHA-256)", SECRET)),
        Operation::HmacSha384 => workload.perhaps(library.hmac::<48>(c"HMAC(SHA-384)", SECRET)),
        Operation::HmacSha512 => workload.perhaps(library.hmac::<64>(c"HMAC(SHA-512)", SECRET)),
        _ => workload.operation.unsupported(),
    }
}
