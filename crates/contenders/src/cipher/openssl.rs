//! OpenSSL's libcrypto of this machine: one context, keyed once and given a new IV per message.

use fathom_measure::contender::{Meta, Preparation};

use super::container::Tag;
use super::workload::{FIXED_IV, Messages, Mode, Operation};
use crate::system::Lent;
use crate::system::openssl::{self, Crypto};

pub(super) static OPEN_SSL: Lent<Messages, Crypto> = Lent {
    meta: Meta { source: include_str!("openssl.rs"), ..openssl::META },
    library: &openssl::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| prepared(library, workload),
};

fn prepared<'w>(library: &'static Crypto, workload: &'w Messages) -> Preparation<'w> {
    let (name, iv_bytes) = match workload.operation {
        Operation::Aes(128, Mode::Cfb) => (c"AES-128-CFB", 16),
        Operation::Aes(256, Mode::Cfb) => (c"AES-256-CFB", 16),
        Operation::Aes(128, Mode::Ofb) => (c"AES-128-OFB", 16),
        Operation::Aes(256, Mode::Ofb) => (c"AES-256-OFB", 16),
        Operation::Aes(128, Mode::Ctr) => (c"AES-128-CTR", 16),
        Operation::Aes(256, Mode::Ctr) => (c"AES-256-CTR", 16),
        Operation::Aes(128, Mode::Gcm) => (c"aes-128-gcm", 12),
        Operation::Aes(256, Mode::Gcm) => (c"aes-256-gcm", 12),
        Operation::ChaCha20Poly1305 => (c"ChaCha20-Poly1305", 12),
        _ => return workload.operation.unsupported(),
    };
    let keyed = || library.cipher(name, workload.key());
    let (Some(mut cipher), Some(mut one), Some(mut other)) = (keyed(), keyed(), keyed()) else {
        return workload.operation.unsupported();
    };
    let is_authenticated = iv_bytes == 12;
    let seal = move |iv: &[u8; 16], _: &[u8; 32], bytes: &mut [u8]| {
        let mut tag: Tag = [0; 32];
        cipher.begin(&iv[..iv_bytes]);
        cipher.encrypt(bytes);
        if is_authenticated {
            tag[..16].copy_from_slice(&cipher.tag());
        }
        tag
    };
    // A message begun once, which goes on with every call; and one begun with its key in every call.
    one.begin(&FIXED_IV[..iv_bytes]);
    let go_on = move |bytes: &mut [u8]| one.encrypt(bytes);
    let begin = move |bytes: &mut [u8]| {
        other.begin_keyed(workload.key(), &FIXED_IV[..iv_bytes]);
        other.encrypt(bytes);
        if is_authenticated {
            other.tag();
        }
    };
    workload.sealed_in_any_form(seal, go_on, begin)
}
