//! OpenSSL's libcrypto again, its algorithm looked up once and its context kept: what a program that
//! digests many short messages should do since version 3.0. `openssl speed -evp` looks up once, too.

use fathom_measure::contender::{Meta, Preparation, Simple};
use openssl::md::Md;
use openssl::md_ctx::MdCtx;

use super::workload::{Messages, Operation};
use crate::library;

pub(super) static OPEN_SSL_FETCHED: Simple<Messages> = Simple {
    meta: Meta {
        name: "openssl-fetched",
        source: include_str!("openssl_fetched.rs"),
        ..library::OPENSSL
    },
    prepare: |workload| match workload.operation {
        Operation::Md5 => digest::<16>(workload, "MD5"),
        Operation::Sha1 => digest::<20>(workload, "SHA1"),
        Operation::Sha256 => digest::<32>(workload, "SHA256"),
        Operation::Sha384 => digest::<48>(workload, "SHA384"),
        Operation::Sha512 => digest::<64>(workload, "SHA512"),
        Operation::Sha3_256 => digest::<32>(workload, "SHA3-256"),
        Operation::Sha3_512 => digest::<64>(workload, "SHA3-512"),
        _ => workload.operation.unsupported(),
    },
};

fn digest<'w, const N: usize>(workload: &'w Messages, name: &str) -> Preparation<'w> {
    const DONE: &str = "libcrypto does what it did before";
    let algorithm = Md::fetch(None, name, None).expect("a digest it has");
    let mut context = MdCtx::new().expect("memory");
    workload.timed(move |bytes| {
        let mut digest = [0; N];
        context.digest_init(&algorithm).expect(DONE);
        context.digest_update(bytes).expect(DONE);
        context.digest_final(&mut digest).expect(DONE);
        digest
    })
}
