//! libgcrypt of this machine, which GnuPG is made of: AES in its modes, ChaCha20-Poly1305, RC4, and SHAKE as
//! a stream. A handle is keyed once and given a new IV per message.

use fathom_measure::contender::Preparation;

use super::container::Tag;
use super::reference::{RC4_DROPPED, rc4_key};
use super::workload::{Messages, Mode, Operation, SECRET};
use crate::system::gcrypt::{Algorithm, Gcrypt, Md, Mode as Way};
use crate::system::lent;

lent! {
    GCRYPT of Messages: gcrypt::Gcrypt, "gcrypt.rs";
    |library, _, workload| match workload.operation {
        Operation::Shake128 => stream(library, workload, Md::Shake128),
        Operation::Shake256 => stream(library, workload, Md::Shake256),
        Operation::Rc4 => rc4(library, workload),
        _ => sealed(library, workload),
    }
}

fn stream<'w>(library: &'static Gcrypt, workload: &'w Messages, md: Md) -> Preparation<'w> {
    if library.shake(md, SECRET).is_none() {
        return workload.operation.unsupported();
    }
    let fresh = move || library.shake(md, SECRET).expect("it was there");
    let mut output = vec![0; workload.longest()];
    workload.streamed(fresh, move |shake, bytes| {
        let output = &mut output[..bytes.len()];
        shake.extract(output);
        bytes.iter_mut().zip(output).for_each(|(byte, key)| *byte ^= *key);
    })
}

fn rc4<'w>(library: &'static Gcrypt, workload: &'w Messages) -> Preparation<'w> {
    let keyed = move || library.cipher(Algorithm::Arcfour, Way::Stream, &rc4_key());
    if keyed().is_none() {
        return workload.operation.unsupported();
    }
    let fresh = move || {
        let mut rc4 = keyed().expect("it was there");
        rc4.encrypt(&mut [0; RC4_DROPPED]);
        rc4
    };
    workload.streamed(fresh, |rc4, bytes| rc4.encrypt(bytes))
}

fn sealed<'w>(library: &'static Gcrypt, workload: &'w Messages) -> Preparation<'w> {
    let (algorithm, way) = match workload.operation {
        Operation::Aes(128, mode) => (Algorithm::Aes128, way(mode)),
        Operation::Aes(_, mode) => (Algorithm::Aes256, way(mode)),
        _ => (Algorithm::ChaCha20, Some(Way::Poly1305)),
    };
    let cipher = way.and_then(|way| library.cipher(algorithm, way, workload.key()));
    let Some(mut cipher) = cipher else { return workload.operation.unsupported() };
    let is_authenticated = matches!(way, Some(Way::Gcm | Way::Poly1305));
    workload.sealed(move |iv, _, bytes| {
        let mut tag: Tag = [0; 32];
        cipher.begin(if is_authenticated { &iv[..12] } else { iv });
        cipher.encrypt(bytes);
        if is_authenticated {
            tag[..16].copy_from_slice(&cipher.tag());
        }
        tag
    })
}

fn way(mode: Mode) -> Option<Way> {
    match mode {
        Mode::Cfb => Some(Way::Cfb),
        Mode::Ofb => Some(Way::Ofb),
        Mode::Ctr => Some(Way::Ctr),
        Mode::Gcm => Some(Way::Gcm),
        Mode::C64 | Mode::Cfc | Mode::Ofc | Mode::Ctc => None,
    }
}
