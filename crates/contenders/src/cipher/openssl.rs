//! OpenSSL's libcrypto of this system through the crate `openssl`: one context, keyed once and given
//! a new IV per message.

use fathom_measure::contender::{Meta, Preparation, Simple};
use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::CipherCtx;

use super::container::Tag;
use super::workload::{FIXED_IV, Messages, Mode, Operation};
use crate::library;

pub(super) static OPEN_SSL: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("openssl.rs"), ..library::OPENSSL },
    prepare: |workload| {
        let cipher = match workload.operation {
            Operation::Aes(128, Mode::Cfb) => Cipher::aes_128_cfb128(),
            Operation::Aes(256, Mode::Cfb) => Cipher::aes_256_cfb128(),
            Operation::Aes(128, Mode::Ofb) => Cipher::aes_128_ofb(),
            Operation::Aes(256, Mode::Ofb) => Cipher::aes_256_ofb(),
            Operation::Aes(128, Mode::Ctr) => Cipher::aes_128_ctr(),
            Operation::Aes(256, Mode::Ctr) => Cipher::aes_256_ctr(),
            Operation::Aes(128, Mode::Gcm) => return sealed(workload, Cipher::aes_128_gcm()),
            Operation::Aes(256, Mode::Gcm) => return sealed(workload, Cipher::aes_256_gcm()),
            Operation::ChaCha20Poly1305 => return sealed(workload, Cipher::chacha20_poly1305()),
            _ => return workload.operation.unsupported(),
        };
        let mut context = keyed(workload, cipher);
        let seal = move |iv: &[u8; 16], _: &[u8; 32], bytes: &mut [u8]| {
            context.encrypt_init(None, None, Some(iv)).expect("an IV of its length");
            context.cipher_update_inplace(bytes, bytes.len()).expect("a stream cipher");
            [0; 32]
        };
        let (go_on, begin) = others(workload, cipher, &FIXED_IV);
        workload.sealed_in_any_form(seal, go_on, begin)
    },
};

fn keyed(workload: &Messages, cipher: &CipherRef) -> CipherCtx {
    let mut context = CipherCtx::new().expect("memory");
    context.encrypt_init(Some(cipher), Some(workload.key()), None).expect("a key of its length");
    context
}

/// A message begun once, which goes on with every call; and one begun with its key in every call.
fn others<'w>(
    workload: &'w Messages,
    cipher: &CipherRef,
    iv: &'static [u8],
) -> (impl FnMut(&mut [u8]) + use<'w>, impl FnMut(&mut [u8]) + use<'w>) {
    let (mut one, mut other) = (keyed(workload, cipher), keyed(workload, cipher));
    one.encrypt_init(None, None, Some(iv)).expect("an IV of its length");
    let go_on = move |bytes: &mut [u8]| {
        one.cipher_update_inplace(bytes, bytes.len()).expect("a stream cipher");
    };
    let begin = move |bytes: &mut [u8]| {
        other.set_iv_length(iv.len()).expect("the length it has");
        other.encrypt_init(None, Some(workload.key()), Some(iv)).expect("a key of its length");
        other.cipher_update_inplace(bytes, bytes.len()).expect("a stream cipher");
        other.cipher_final(&mut []).expect("nothing is left");
    };
    (go_on, begin)
}

fn sealed<'w>(workload: &'w Messages, cipher: &CipherRef) -> Preparation<'w> {
    let mut context = keyed(workload, cipher);
    let seal = move |iv: &[u8; 16], _: &[u8; 32], bytes: &mut [u8]| {
        let mut tag: Tag = [0; 32];
        context.encrypt_init(None, None, Some(&iv[..12])).expect("a nonce of its length");
        context.cipher_update_inplace(bytes, bytes.len()).expect("a stream cipher");
        context.cipher_final(&mut []).expect("nothing is left");
        context.tag(&mut tag[..16]).expect("a tag of its length");
        tag
    };
    let (go_on, begin) = others(workload, cipher, &FIXED_IV[..12]);
    workload.sealed_in_any_form(seal, go_on, begin)
}
