//! OpenSSL's libcrypto of this system through the crate `openssl`: assembly chosen when it runs. Its
//! one-call interface looks the algorithm up anew in every call since version 3.0.

use fathom_measure::contender::{Meta, Simple};
use openssl::hash::{MessageDigest, hash};
use openssl::pkey::PKey;
use openssl::sign::Signer;

use super::workload::{Messages, Operation, SECRET};
use crate::library;

pub(super) static OPEN_SSL: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("openssl.rs"), ..library::OPENSSL },
    prepare: |workload| {
        let kind = match workload.operation {
            Operation::Md5 | Operation::HmacMd5 => MessageDigest::md5(),
            Operation::Sha1 | Operation::HmacSha1 => MessageDigest::sha1(),
            Operation::Sha256 | Operation::HmacSha256 => MessageDigest::sha256(),
            Operation::Sha384 | Operation::HmacSha384 => MessageDigest::sha384(),
            Operation::Sha512 | Operation::HmacSha512 => MessageDigest::sha512(),
            Operation::Sha3_256 => MessageDigest::sha3_256(),
            Operation::Sha3_512 => MessageDigest::sha3_512(),
            Operation::Blake3 => return workload.operation.unsupported(),
        };
        match workload.operation {
            Operation::HmacMd5
            | Operation::HmacSha1
            | Operation::HmacSha256
            | Operation::HmacSha384
            | Operation::HmacSha512 => {
                let key = PKey::hmac(SECRET).expect("a key");
                workload.timed(move |bytes| {
                    let mut signer = Signer::new(kind, &key).expect("a digest it has");
                    signer.sign_oneshot_to_vec(bytes).expect("memory")
                })
            }
            _ => workload.timed(move |bytes| hash(kind, bytes).expect("a digest it has").to_vec()),
        }
    },
};
