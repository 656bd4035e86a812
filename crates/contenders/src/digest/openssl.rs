//! OpenSSL's libcrypto of this machine: assembly chosen when it runs. Its one-call interface looks the
//! algorithm up anew in every call since version 3.0.

use super::workload::{Messages, Operation, SECRET};
use crate::system::lent;

lent! {
    OPEN_SSL of Messages: openssl::Crypto, "openssl.rs";
    |library, _, workload| match workload.operation {
        Operation::Md5 => workload.perhaps(library.digest::<16>(c"MD5")),
        Operation::Sha1 => workload.perhaps(library.digest::<20>(c"SHA1")),
        Operation::Sha256 => workload.perhaps(library.digest::<32>(c"SHA256")),
        Operation::Sha384 => workload.perhaps(library.digest::<48>(c"SHA384")),
        Operation::Sha512 => workload.perhaps(library.digest::<64>(c"SHA512")),
        Operation::Sha3_256 => workload.perhaps(library.digest::<32>(c"SHA3-256")),
        Operation::Sha3_512 => workload.perhaps(library.digest::<64>(c"SHA3-512")),
        Operation::HmacMd5 => workload.perhaps(library.hmac::<16>(c"MD5", SECRET)),
        Operation::HmacSha1 => workload.perhaps(library.hmac::<20>(c"SHA1", SECRET)),
        Operation::HmacSha256 => workload.perhaps(library.hmac::<32>(c"SHA256", SECRET)),
        Operation::HmacSha384 => workload.perhaps(library.hmac::<48>(c"SHA384", SECRET)),
        Operation::HmacSha512 => workload.perhaps(library.hmac::<64>(c"SHA512", SECRET)),
        _ => workload.operation.unsupported(),
    }
}
