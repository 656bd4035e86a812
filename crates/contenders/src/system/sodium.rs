//! libsodium: SHA-2, its HMACs, ChaCha20-Poly1305, and AES-256-GCM where the processor has AES.

use std::ffi::{c_char, c_int, c_ulonglong, c_void};
use std::ptr;

use super::loading::told;
use super::{Room, System, functions, meta};

pub(crate) static LIBRARY: System<Sodium> =
    System::new("sodium", &["libsodium.so.26", "libsodium.so.23"], "libsodium23", |sodium| {
        // SAFETY: may be called as often as one likes, before all others.
        if unsafe { (sodium.init)() } < 0 {
            return Err("cannot get itself ready".to_owned());
        }
        // SAFETY: returns a constant text.
        unsafe { told((sodium.version)()) }
    });

meta! { "sodium", "libsodium", "https://libsodium.org", "libsodium", "ISC" }

type Hash = unsafe extern "C" fn(*mut u8, *const u8, c_ulonglong) -> c_int;
type Length = *mut c_ulonglong;

functions! {
    /// Of `sodium.h`.
    Sodium {
        init = "sodium_init" () -> c_int;
        version = "sodium_version_string" () -> *const c_char;
        sha256 = "crypto_hash_sha256" (*mut u8, *const u8, c_ulonglong) -> c_int;
        sha512 = "crypto_hash_sha512" (*mut u8, *const u8, c_ulonglong) -> c_int;
        mac256_bytes = "crypto_auth_hmacsha256_statebytes" () -> usize;
        mac256_init = "crypto_auth_hmacsha256_init" (*mut c_void, *const u8, usize) -> c_int;
        mac256_update = "crypto_auth_hmacsha256_update" (*mut c_void, *const u8, c_ulonglong) -> c_int;
        mac256_final = "crypto_auth_hmacsha256_final" (*mut c_void, *mut u8) -> c_int;
        mac512_bytes = "crypto_auth_hmacsha512_statebytes" () -> usize;
        mac512_init = "crypto_auth_hmacsha512_init" (*mut c_void, *const u8, usize) -> c_int;
        mac512_update = "crypto_auth_hmacsha512_update" (*mut c_void, *const u8, c_ulonglong) -> c_int;
        mac512_final = "crypto_auth_hmacsha512_final" (*mut c_void, *mut u8) -> c_int;
        chacha = "crypto_aead_chacha20poly1305_ietf_encrypt_detached"
            (*mut u8, *mut u8, Length, *const u8, c_ulonglong, *const u8, c_ulonglong, *const u8, *const u8, *const u8) -> c_int;
        has_aes = "crypto_aead_aes256gcm_is_available" () -> c_int;
        aes_bytes = "crypto_aead_aes256gcm_statebytes" () -> usize;
        aes_key = "crypto_aead_aes256gcm_beforenm" (*mut c_void, *const u8) -> c_int;
        aes = "crypto_aead_aes256gcm_encrypt_detached_afternm"
            (*mut u8, *mut u8, Length, *const u8, c_ulonglong, *const u8, c_ulonglong, *const u8, *const u8, *const c_void) -> c_int;
    }
}

impl Sodium {
    /// SHA-256.
    pub(crate) fn sha256(&self, bytes: &[u8]) -> [u8; 32] {
        hashed(self.sha256, bytes)
    }

    /// SHA-512.
    pub(crate) fn sha512(&self, bytes: &[u8]) -> [u8; 64] {
        hashed(self.sha512, bytes)
    }

    /// HMAC of SHA-256 with a key that is set in each call.
    pub(crate) fn hmac_sha256(&'static self, key: &'static [u8]) -> impl FnMut(&[u8]) -> [u8; 32] {
        // SAFETY: a calculation.
        let mut state = Room::of(unsafe { (self.mac256_bytes)() });
        move |bytes| {
            let (mut mac, state) = ([0; 32], state.start());
            // SAFETY: the state has the bytes it asks for, and the answer 32.
            unsafe {
                (self.mac256_init)(state, key.as_ptr(), key.len());
                (self.mac256_update)(state, bytes.as_ptr(), bytes.len() as c_ulonglong);
                (self.mac256_final)(state, mac.as_mut_ptr());
            }
            mac
        }
    }

    /// HMAC of SHA-512 likewise.
    pub(crate) fn hmac_sha512(&'static self, key: &'static [u8]) -> impl FnMut(&[u8]) -> [u8; 64] {
        // SAFETY: a calculation.
        let mut state = Room::of(unsafe { (self.mac512_bytes)() });
        move |bytes| {
            let (mut mac, state) = ([0; 64], state.start());
            // SAFETY: the state has the bytes it asks for, and the answer 64.
            unsafe {
                (self.mac512_init)(state, key.as_ptr(), key.len());
                (self.mac512_update)(state, bytes.as_ptr(), bytes.len() as c_ulonglong);
                (self.mac512_final)(state, mac.as_mut_ptr());
            }
            mac
        }
    }

    /// ChaCha20-Poly1305 in place, after RFC 8439: the tag.
    pub(crate) fn chacha20_poly1305(
        &self,
        key: &[u8; 32],
        nonce: &[u8; 12],
        bytes: &mut [u8],
    ) -> [u8; 16] {
        let (mut tag, at, length) = ([0; 16], bytes.as_mut_ptr(), bytes.len() as c_ulonglong);
        let (none, nonce, key) = (ptr::null(), nonce.as_ptr(), key.as_ptr());
        let to = tag.as_mut_ptr();
        // SAFETY: key, nonce and tag have the lengths it wants; it may work in place.
        unsafe { (self.chacha)(at, to, ptr::null_mut(), at, length, none, 0, none, nonce, key) };
        tag
    }

    /// AES-256-GCM in place with a key that is set once, if this processor has AES: a function of
    /// nonce and bytes that returns the tag.
    pub(crate) fn aes_256_gcm(
        &'static self,
        key: &[u8; 32],
    ) -> Option<impl FnMut(&[u8; 12], &mut [u8]) -> [u8; 16] + use<>> {
        // SAFETY: asks the processor.
        if unsafe { (self.has_aes)() } == 0 {
            return None;
        }
        // SAFETY: a calculation.
        let mut state = Room::of(unsafe { (self.aes_bytes)() });
        // SAFETY: the state has the bytes it asks for, at a multiple of 64.
        unsafe { (self.aes_key)(state.start(), key.as_ptr()) };
        Some(move |nonce: &[u8; 12], bytes: &mut [u8]| {
            let (mut tag, at, length) = ([0; 16], bytes.as_mut_ptr(), bytes.len() as c_ulonglong);
            let (none, nonce, state) = (ptr::null(), nonce.as_ptr(), state.start());
            let to = tag.as_mut_ptr();
            // SAFETY: nonce and tag have the lengths it wants; it may work in place.
            unsafe { (self.aes)(at, to, ptr::null_mut(), at, length, none, 0, none, nonce, state) };
            tag
        })
    }
}

fn hashed<const N: usize>(hash: Hash, bytes: &[u8]) -> [u8; N] {
    let mut digest = [0; N];
    // SAFETY: it reads as many bytes as there are; the answer has as many as it writes.
    unsafe { hash(digest.as_mut_ptr(), bytes.as_ptr(), bytes.len() as c_ulonglong) };
    digest
}
