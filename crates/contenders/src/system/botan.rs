//! Botan through its C interface: digests and HMACs.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use super::loading::told;
use super::{Held, System, functions, meta};

pub(crate) static LIBRARY: System<Botan> = System::new(
    "botan",
    &["libbotan-3.so.7", "libbotan-3.so.5", "libbotan-2.so.19"],
    "libbotan-2-19",
    |botan| {
        // SAFETY: returns a constant text.
        unsafe { told((botan.version)()) }
    },
);

meta! {
    // By the version of the file that was opened.
    "botan", "Botan", "https://botan.randombit.net", "botan-{major}", "BSD-2-Clause"
}

type Handle = *mut c_void;

functions! {
    /// Of `botan/ffi.h`.
    Botan {
        version = "botan_version_string" () -> *const c_char;
        hash_init = "botan_hash_init" (*mut Handle, *const c_char, u32) -> c_int;
        hash_update = "botan_hash_update" (Handle, *const u8, usize) -> c_int;
        hash_final = "botan_hash_final" (Handle, *mut u8) -> c_int;
        hash_length = "botan_hash_output_length" (Handle, *mut usize) -> c_int;
        hash_destroy = "botan_hash_destroy" (Handle) -> c_int;
        mac_init = "botan_mac_init" (*mut Handle, *const c_char, u32) -> c_int;
        mac_set_key = "botan_mac_set_key" (Handle, *const u8, usize) -> c_int;
        mac_update = "botan_mac_update" (Handle, *const u8, usize) -> c_int;
        mac_final = "botan_mac_final" (Handle, *mut u8) -> c_int;
        mac_length = "botan_mac_output_length" (Handle, *mut usize) -> c_int;
        mac_destroy = "botan_mac_destroy" (Handle) -> c_int;
    }
}

const DONE: &str = "Botan does what it did before";

impl Botan {
    /// A digest of `N` bytes, in an object that is kept and that a digest leaves empty; `None` where this
    /// Botan lacks it.
    pub(crate) fn digest<const N: usize>(
        &'static self,
        name: &CStr,
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let hash = self.opened(name, self.hash_init, self.hash_length, self.hash_destroy, N)?;
        Some(move |bytes: &[u8]| {
            let (mut digest, handle) = ([0; N], hash.object());
            // SAFETY: the object is open; as many bytes are read as there are, and `N` are written.
            let codes = unsafe {
                [
                    (self.hash_update)(handle, bytes.as_ptr(), bytes.len()),
                    (self.hash_final)(handle, digest.as_mut_ptr()),
                ]
            };
            assert_eq!(codes, [0; 2], "{DONE}");
            digest
        })
    }

    /// HMAC of a digest, keyed in every call.
    pub(crate) fn hmac<const N: usize>(
        &'static self,
        name: &CStr,
        key: &'static [u8],
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let mac = self.opened(name, self.mac_init, self.mac_length, self.mac_destroy, N)?;
        Some(move |bytes: &[u8]| {
            let (mut tag, handle) = ([0; N], mac.object());
            // SAFETY: the object is open; as many bytes are read as there are, and `N` are written.
            let codes = unsafe {
                [
                    (self.mac_set_key)(handle, key.as_ptr(), key.len()),
                    (self.mac_update)(handle, bytes.as_ptr(), bytes.len()),
                    (self.mac_final)(handle, tag.as_mut_ptr()),
                ]
            };
            assert_eq!(codes, [0; 3], "{DONE}");
            tag
        })
    }

    /// An object whose output has `wanted` bytes.
    fn opened(
        &self,
        name: &CStr,
        init: unsafe extern "C" fn(*mut Handle, *const c_char, u32) -> c_int,
        length: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        destroy: unsafe extern "C" fn(Handle) -> c_int,
        wanted: usize,
    ) -> Option<Held<c_int>> {
        let (mut handle, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: the name ends with a zero; the handle is written if the answer is 0, and ours then.
        let code = unsafe { init(&mut handle, name.as_ptr(), 0) };
        if code != 0 {
            return None;
        }
        // SAFETY: as above.
        let object = unsafe { Held::new(handle, destroy) };
        // SAFETY: the object is open.
        let code = unsafe { length(object.object(), &mut bytes) };
        (code == 0 && bytes == wanted).then_some(object)
    }
}
