//! OpenSSL again, its algorithm looked up once and its context kept: what a program that digests many short
//! messages should do since version 3.0. `openssl speed -evp` looks up once, too. HMACs by `EVP_MAC`.

use super::workload::{Messages, Operation, SECRET};
use crate::system::lent;

lent! {
    OPEN_SSL_FETCHED of Messages: openssl::Crypto, "openssl_fetched.rs", called "openssl-fetched";
    |library, _, workload| match workload.operation {
        Operation::Md5 => workload.perhaps(library.fetched::<16>(c"MD5")),
        Operation::Sha1 => workload.perhaps(library.fetched::<20>(c"SHA1")),
        Operation::Sha256 => workload.perhaps(library.fetched::<32>(c"SHA256")),
        Operation::Sha384 => workload.perhaps(library.fetched::<48>(c"SHA384")),
        Operation::Sha512 => workload.perhaps(library.fetched::<64>(c"SHA512")),
        Operation::Sha3_256 => workload.perhaps(library.fetched::<32>(c"SHA3-256")),
        Operation::Sha3_512 => workload.perhaps(library.fetched::<64>(c"SHA3-512")),
        Operation::HmacMd5 => workload.perhaps(library.fetched_hmac::<16>(c"MD5", SECRET)),
        Operation::HmacSha1 => workload.perhaps(library.fetched_hmac::<20>(c"SHA1", SECRET)),
        Operation::HmacSha256 => workload.perhaps(library.fetched_hmac::<32>(c"SHA256", SECRET)),
        Operation::HmacSha384 => workload.perhaps(library.fetched_hmac::<48>(c"SHA384", SECRET)),
        Operation::HmacSha512 => workload.perhaps(library.fetched_hmac::<64>(c"SHA512", SECRET)),
        _ => workload.operation.unsupported(),
    }
}
