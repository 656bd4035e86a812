//! OpenSSL's libcrypto of this machine: assembly chosen when it runs. Its one-call interface looks the
//! algorithm up anew in every call since version 3.0.

use super::workload::{Messages, digests};
use crate::system::lent;

lent! {
    OPEN_SSL of Messages: openssl::Crypto, "openssl.rs";
    |library, _, workload| digests!(
        library, workload, digest, hmac,
        [c"MD5", c"SHA1", c"SHA256", c"SHA384", c"SHA512", c"SHA3-256", c"SHA3-512"]
    )
}
