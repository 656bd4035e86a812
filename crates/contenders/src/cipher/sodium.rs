//! libsodium of this machine: ChaCha20-Poly1305 on the vectors of the processor, and AES-256-GCM where it
//! has AES instructions.

use super::reference::with_zeros;
use super::workload::{Messages, Mode, Operation};
use crate::system::lent;

lent! {
    SODIUM of Messages: sodium::Sodium, "sodium.rs";
    |library, _, workload| match workload.operation {
        Operation::ChaCha20Poly1305 => {
            let key = workload.key_array();
            workload.sealed(move |iv, _, bytes| {
                with_zeros(library.chacha20_poly1305(&key, nonce(iv), bytes))
            })
        }
        Operation::Aes(256, Mode::Gcm) => match library.aes_256_gcm(&workload.key_array()) {
            Some(mut seal) => {
                workload.sealed(move |iv, _, bytes| with_zeros(seal(nonce(iv), bytes)))
            }
            None => workload.operation.unsupported(),
        },
        _ => workload.operation.unsupported(),
    }
}

fn nonce(iv: &[u8; 16]) -> &[u8; 12] {
    iv.first_chunk().expect("twelve of sixteen bytes")
}
