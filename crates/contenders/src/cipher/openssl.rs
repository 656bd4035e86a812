//! OpenSSL's libcrypto of this machine: one context, keyed once and given a new IV per message.

use fathom_measure::contender::Preparation;

use super::container::Tag;
use super::reference::with_zeros;
use super::workload::{Messages, Mode, Operation, Pieces};
use crate::system::lent;
use crate::system::openssl::{Cipher, Crypto};

lent! {
    OPEN_SSL of Messages: openssl::Crypto, "openssl.rs";
    |library, _, workload| prepared(library, workload)
}

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
    let (Some(cipher), Some(other)) = (keyed(), keyed()) else {
        return workload.operation.unsupported();
    };
    let mut other = Context { cipher: other, iv_bytes };
    let begun_with_its_key = move |iv: &[u8; 16], _: &[u8; 32], bytes: &mut [u8]| {
        other.cipher.begin_keyed(workload.key(), &iv[..iv_bytes]);
        other.go_on(bytes);
        other.end()
    };
    workload.sealed_in_any_form(Context { cipher, iv_bytes }, begun_with_its_key)
}

struct Context {
    cipher: Cipher,
    iv_bytes: usize,
}

impl Pieces for Context {
    fn begin(&mut self, iv: &[u8; 16]) {
        self.cipher.begin(&iv[..self.iv_bytes]);
    }

    fn go_on(&mut self, bytes: &mut [u8]) {
        self.cipher.encrypt(bytes);
    }

    fn end(&mut self) -> Tag {
        // Those with a nonce of twelve bytes are authenticated.
        match self.iv_bytes {
            12 => with_zeros(self.cipher.tag()),
            _ => [0; 32],
        }
    }
}
