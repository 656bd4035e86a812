//! OpenSSL again, its algorithm looked up once and its context kept: what a program that digests many short
//! messages should do since version 3.0. `openssl speed -evp` looks up once, too. HMACs by `EVP_MAC`.

use super::workload::{Messages, digests};
use crate::system::lent;

lent! {
    OPEN_SSL_FETCHED of Messages: openssl::Crypto, "openssl_fetched.rs", called "openssl-fetched";
    |library, _, workload| digests!(
        library, workload, fetched, fetched_hmac,
        [c"MD5", c"SHA1", c"SHA256", c"SHA384", c"SHA512", c"SHA3-256", c"SHA3-512"]
    )
}
