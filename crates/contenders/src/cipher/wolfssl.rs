//! wolfSSL of this machine: portable C, or assembly where it was built with it: AES in its modes,
//! ChaCha20-Poly1305, RC4, and SHAKE256 as a stream. A key is set once and a new IV per message.

use fathom_measure::contender::Preparation;

use super::reference::{RC4_DROPPED, rc4_key, with_zeros};
use super::workload::{Messages, Mode, Operation, SECRET};
use crate::system::lent;
use crate::system::wolfssl::{Way, Wolf};

lent! {
    WOLF_SSL of Messages: wolfssl::Wolf, "wolfssl.rs";
    |library, _, workload| {
        let prepared = match workload.operation {
            Operation::Aes(_, Mode::Cfb) => encrypted(library, Way::Cfb, workload),
            Operation::Aes(_, Mode::Ofb) => encrypted(library, Way::Ofb, workload),
            Operation::Aes(_, Mode::Ctr) => encrypted(library, Way::Ctr, workload),
            Operation::Aes(_, Mode::Gcm) => {
                library.gcm(workload.key()).map(|seal| sealed(seal, workload))
            }
            Operation::ChaCha20Poly1305 => {
                let seal = library.chacha20_poly1305(workload.key_array());
                seal.map(|seal| sealed(seal, workload))
            }
            Operation::Rc4 => rc4(library, workload),
            Operation::Shake256 => shake256(library, workload),
            _ => None,
        };
        prepared.unwrap_or_else(|| workload.operation.unsupported())
    }
}

fn encrypted<'w>(
    library: &'static Wolf,
    way: Way,
    workload: &'w Messages,
) -> Option<Preparation<'w>> {
    Some(workload.encrypted(library.aes(way, workload.key())?))
}

fn sealed<'w>(
    mut seal: impl FnMut(&[u8; 12], &mut [u8]) -> [u8; 16] + 'w,
    workload: &'w Messages,
) -> Preparation<'w> {
    workload.sealed(move |iv, _, bytes| {
        let nonce = iv.first_chunk().expect("twelve of sixteen bytes");
        with_zeros(seal(nonce, bytes))
    })
}

fn rc4<'w>(library: &'static Wolf, workload: &'w Messages) -> Option<Preparation<'w>> {
    drop(library.rc4(&rc4_key())?);
    let fresh = move || {
        let mut rc4 = library.rc4(&rc4_key()).expect("it was there");
        rc4(&mut [0; RC4_DROPPED]);
        rc4
    };
    Some(workload.streamed(fresh, |rc4, bytes| rc4(bytes)))
}

fn shake256<'w>(library: &'static Wolf, workload: &'w Messages) -> Option<Preparation<'w>> {
    drop(library.shake256(SECRET)?);
    let fresh = move || {
        let next = library.shake256(SECRET).expect("it was there");
        (next, [0; 136], 136)
    };
    Some(workload.streamed(fresh, |(next, block, used), mut bytes| {
        while !bytes.is_empty() {
            if *used == block.len() {
                next(block);
                *used = 0;
            }
            let (now, later) = bytes.split_at_mut(bytes.len().min(block.len() - *used));
            now.iter_mut().zip(&block[*used..]).for_each(|(byte, key)| *byte ^= *key);
            *used += now.len();
            bytes = later;
        }
    }))
}
