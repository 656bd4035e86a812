//! wolfSSL's cryptography, which devices link where OpenSSL is too large: digests, HMACs, ciphers, SHAKE256.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use super::loading::told;
use super::{Room, System, functions, meta};

pub(crate) static LIBRARY: System<Wolf> = System::new(
    "wolfssl",
    &["libwolfssl.so.44", "libwolfssl.so.43", "libwolfssl.so.42", "libwolfssl.so.35"],
    "libwolfssl35",
    |wolf| {
        // SAFETY: returns a constant text.
        let version = unsafe { told((wolf.version)()) }?;
        // The sizes of objects below are those of this number, with room.
        if !version.starts_with("5.") {
            return Err(format!("is of version {version}, and 5 is known"));
        }
        // SAFETY: gets the library ready; may be called more than once.
        match unsafe { (wolf.init)() } {
            0 => Ok(version),
            code => Err(format!("does not start ({code})")),
        }
    },
);

meta! { "wolfssl", "wolfSSL", "https://www.wolfssl.com", "wolfssl", "GPL-2.0-or-later" }

type Object = *mut c_void;

functions! {
    /// Of `wolfssl/ssl.h` and `wolfssl/wolfcrypt`. What a build may leave out may be missing.
    Wolf {
        version = "wolfSSL_lib_version" () -> *const c_char;
        init = "wolfCrypt_Init" () -> c_int;
        sha256 = "wc_Sha256Hash" (*const u8, c_uint, *mut u8) -> c_int;
        hmac_init = "wc_HmacInit" (Object, Object, c_int) -> c_int;
        hmac_key = "wc_HmacSetKey" (Object, c_int, *const u8, c_uint) -> c_int;
        hmac_update = "wc_HmacUpdate" (Object, *const u8, c_uint) -> c_int;
        hmac_final = "wc_HmacFinal" (Object, *mut u8) -> c_int;
        hmac_free = "wc_HmacFree" (Object);
        hmac_length = "wc_HmacSizeByType" (c_int) -> c_int;
        aes_init = "wc_AesInit" (Object, Object, c_int) -> c_int;
        aes_key = "wc_AesSetKey" (Object, *const u8, c_uint, *const u8, c_int) -> c_int;
        aes_iv = "wc_AesSetIV" (Object, *const u8) -> c_int;
        aes_free = "wc_AesFree" (Object);
        ? md5 = "wc_Md5Hash" (*const u8, c_uint, *mut u8) -> c_int;
        ? sha1 = "wc_ShaHash" (*const u8, c_uint, *mut u8) -> c_int;
        ? sha384 = "wc_Sha384Hash" (*const u8, c_uint, *mut u8) -> c_int;
        ? sha512 = "wc_Sha512Hash" (*const u8, c_uint, *mut u8) -> c_int;
        ? sha3_256 = "wc_Sha3_256Hash" (*const u8, c_uint, *mut u8) -> c_int;
        ? sha3_512 = "wc_Sha3_512Hash" (*const u8, c_uint, *mut u8) -> c_int;
        ? cfb = "wc_AesCfbEncrypt" (Object, *mut u8, *const u8, c_uint) -> c_int;
        ? ofb = "wc_AesOfbEncrypt" (Object, *mut u8, *const u8, c_uint) -> c_int;
        ? ctr = "wc_AesCtrEncrypt" (Object, *mut u8, *const u8, c_uint) -> c_int;
        ? gcm_key = "wc_AesGcmSetKey" (Object, *const u8, c_uint) -> c_int;
        ? gcm = "wc_AesGcmEncrypt" (Object, *mut u8, *const u8, c_uint, *const u8, c_uint, *mut u8, c_uint, *const u8, c_uint) -> c_int;
        ? chacha = "wc_ChaCha20Poly1305_Encrypt"
            (*const u8, *const u8, *const u8, c_uint, *const u8, c_uint, *mut u8, *mut u8) -> c_int;
        ? rc4_init = "wc_Arc4Init" (Object, Object, c_int) -> c_int;
        ? rc4_key = "wc_Arc4SetKey" (Object, *const u8, c_uint) -> c_int;
        ? rc4 = "wc_Arc4Process" (Object, *mut u8, *const u8, c_uint) -> c_int;
        ? rc4_free = "wc_Arc4Free" (Object);
        ? shake256_init = "wc_InitShake256" (Object, Object, c_int) -> c_int;
        ? shake256_absorb = "wc_Shake256_Absorb" (Object, *const u8, c_uint) -> c_int;
        ? shake256_squeeze = "wc_Shake256_SqueezeBlocks" (Object, *mut u8, c_uint) -> c_int;
        ? shake256_free = "wc_Shake256_Free" (Object);
    }
}

/// Digests, `enum wc_HashType`.
#[derive(Clone, Copy)]
pub(crate) enum Md {
    Md5 = 3,
    Sha1 = 4,
    Sha256 = 6,
    Sha384 = 7,
    Sha512 = 8,
    Sha3_256,
    Sha3_512,
}

/// Modes of AES that are keyed alike.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    Cfb,
    Ofb,
    Ctr,
}

/// `INVALID_DEVID`: no device but the processor.
const NO_DEVICE: c_int = -2;
const DONE: &str = "wolfSSL does what it did before";
/// Bytes of a block of AES.
const BLOCK: usize = 16;

type Start = unsafe extern "C" fn(Object, Object, c_int) -> c_int;

/// A state in memory of ours, for the library does not tell what it takes: the largest, AES, has 1104 bytes in
/// Debian's build of version 5.5, and 4096 more where a build keeps GCM's table (`GCM_TABLE`).
struct State {
    room: Room,
    free: unsafe extern "C" fn(Object),
}

impl State {
    const BYTES: usize = 16 << 10;

    fn of(start: Start, free: unsafe extern "C" fn(Object)) -> Option<State> {
        let mut room = Room::of(State::BYTES);
        // SAFETY: there is room for it.
        let code = unsafe { start(room.start(), ptr::null_mut(), NO_DEVICE) };
        (code == 0).then(|| State { room, free })
    }

    fn object(&mut self) -> Object {
        self.room.start()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: it was started, and is not used any more.
        unsafe { (self.free)(self.room.start()) }
    }
}

/// A length as it counts them; what is longer is cut, and then has another answer.
fn length(bytes: &[u8]) -> c_uint {
    c_uint::try_from(bytes.len()).unwrap_or(c_uint::MAX)
}

fn done(code: c_int) {
    assert_eq!(code, 0, "{DONE}");
}

impl Wolf {
    /// A digest of `N` bytes; `None` where this wolfSSL was built without it.
    pub(crate) fn digest<const N: usize>(
        &'static self,
        md: Md,
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let (run, bytes) = match md {
            Md::Md5 => (self.md5, 16),
            Md::Sha1 => (self.sha1, 20),
            Md::Sha256 => (Some(self.sha256), 32),
            Md::Sha384 => (self.sha384, 48),
            Md::Sha512 => (self.sha512, 64),
            Md::Sha3_256 => (self.sha3_256, 32),
            Md::Sha3_512 => (self.sha3_512, 64),
        };
        let run = run.filter(|_| bytes == N)?;
        Some(move |bytes: &[u8]| {
            let mut digest = [0; N];
            // SAFETY: as many bytes are read as there are, and as many written as the digest has.
            done(unsafe { run(bytes.as_ptr(), length(bytes), digest.as_mut_ptr()) });
            digest
        })
    }

    /// HMAC of a digest, keyed in every call.
    pub(crate) fn hmac<const N: usize>(
        &'static self,
        md: Md,
        key: &'static [u8],
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        // SAFETY: looks a number up.
        let bytes = unsafe { (self.hmac_length)(md as c_int) };
        if usize::try_from(bytes) != Ok(N) {
            return None;
        }
        let mut state = State::of(self.hmac_init, self.hmac_free)?;
        Some(move |bytes: &[u8]| {
            let (mut mac, hmac) = ([0; N], state.object());
            // SAFETY: the state was started; as many bytes are read as there are, and `N` are written.
            unsafe {
                done((self.hmac_key)(hmac, md as c_int, key.as_ptr(), length(key)));
                done((self.hmac_update)(hmac, bytes.as_ptr(), length(bytes)));
                done((self.hmac_final)(hmac, mac.as_mut_ptr()));
            }
            mac
        })
    }

    /// AES in place with a key that is set once: a function of IV and bytes.
    pub(crate) fn aes(
        &'static self,
        way: Way,
        key: &[u8],
    ) -> Option<impl FnMut(&[u8; BLOCK], &mut [u8]) + use<>> {
        let run = match way {
            Way::Cfb => self.cfb,
            Way::Ofb => self.ofb,
            Way::Ctr => self.ctr,
        }?;
        let mut state = State::of(self.aes_init, self.aes_free)?;
        // SAFETY: the state was started; the key has as many bytes as it says, and the IV is zero.
        let code =
            unsafe { (self.aes_key)(state.object(), key.as_ptr(), length(key), ptr::null(), 0) };
        (code == 0).then_some(move |iv: &[u8; BLOCK], bytes: &mut [u8]| {
            let (aes, at, count) = (state.object(), bytes.as_mut_ptr(), length(bytes));
            // What is left of the last block would go on in the next message, which no IV forgets.
            let mut rest = [0; BLOCK];
            let (to, left) = (rest.as_mut_ptr(), bytes.len().wrapping_neg() % BLOCK);
            // SAFETY: the state has its key, and the IV the length it wants; it may work in place.
            unsafe {
                done((self.aes_iv)(aes, iv.as_ptr()));
                done(run(aes, at, at, count));
                if left > 0 {
                    done(run(aes, to, to, left as c_uint));
                }
            }
        })
    }

    /// AES-GCM in place with a key that is set once: a function of nonce and bytes that returns the tag.
    pub(crate) fn gcm(
        &'static self,
        key: &[u8],
    ) -> Option<impl FnMut(&[u8; 12], &mut [u8]) -> [u8; 16] + use<>> {
        let (set_key, run) = (self.gcm_key?, self.gcm?);
        let mut state = State::of(self.aes_init, self.aes_free)?;
        // SAFETY: the state was started; the key has as many bytes as it says.
        let code = unsafe { set_key(state.object(), key.as_ptr(), length(key)) };
        (code == 0).then_some(move |nonce: &[u8; 12], bytes: &mut [u8]| {
            let (mut tag, aes, at) = ([0; 16], state.object(), bytes.as_mut_ptr());
            let (to, nonce, none, count) =
                (tag.as_mut_ptr(), nonce.as_ptr(), ptr::null(), length(bytes));
            // SAFETY: nonce and tag have the lengths that are told; it may work in place.
            done(unsafe { run(aes, at, at, count, nonce, 12, to, 16, none, 0) });
            tag
        })
    }

    /// ChaCha20-Poly1305 in place, after RFC 8439: a function of nonce and bytes that returns the tag.
    pub(crate) fn chacha20_poly1305(
        &self,
        key: [u8; 32],
    ) -> Option<impl FnMut(&[u8; 12], &mut [u8]) -> [u8; 16] + use<>> {
        let run = self.chacha?;
        Some(move |nonce: &[u8; 12], bytes: &mut [u8]| {
            let (mut tag, at, none) = ([0; 16], bytes.as_mut_ptr(), ptr::null());
            let (key, nonce, to) = (key.as_ptr(), nonce.as_ptr(), tag.as_mut_ptr());
            // SAFETY: key, nonce and tag have the lengths it wants; it may work in place.
            done(unsafe { run(key, nonce, none, 0, at, length(bytes), at, to) });
            tag
        })
    }

    /// RC4 in place, going on from call to call.
    pub(crate) fn rc4(&self, key: &[u8]) -> Option<impl FnMut(&mut [u8]) + use<>> {
        let run = self.rc4?;
        let mut state = State::of(self.rc4_init?, self.rc4_free?)?;
        // SAFETY: the state was started; the key has as many bytes as it says.
        let code = unsafe { (self.rc4_key?)(state.object(), key.as_ptr(), length(key)) };
        (code == 0).then_some(move |bytes: &mut [u8]| {
            let at = bytes.as_mut_ptr();
            // SAFETY: the state has its key; it may work in place.
            done(unsafe { run(state.object(), at, at, length(bytes)) });
        })
    }

    /// The output of SHAKE256 of a text, a block after the other.
    pub(crate) fn shake256(&self, text: &[u8]) -> Option<impl FnMut(&mut [u8; 136]) + use<>> {
        let squeeze = self.shake256_squeeze?;
        let mut state = State::of(self.shake256_init?, self.shake256_free?)?;
        // SAFETY: the state was started; as many bytes are read as there are.
        let code = unsafe { (self.shake256_absorb?)(state.object(), text.as_ptr(), length(text)) };
        (code == 0).then_some(move |block: &mut [u8; 136]| {
            // SAFETY: the state has taken its text; one block is written.
            done(unsafe { squeeze(state.object(), block.as_mut_ptr(), 1) });
        })
    }
}
