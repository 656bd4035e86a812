//! OpenSSL's libcrypto, 4, 3 or 1.1: digests, HMACs and ciphers through EVP.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use super::loading::told;
use super::{Held, System, functions, meta};

pub(crate) static LIBRARY: System<Crypto> = System::new(
    "openssl",
    &["libcrypto.so.4", "libcrypto.so.3", "libcrypto.so.1.1"],
    "libssl3",
    |crypto: &Crypto| {
        // SAFETY: returns a constant text, `OpenSSL 3.0.22 …`.
        unsafe { told((crypto.version)(0)) }
    },
)
.before("3", "OpenSSL");

meta! { "openssl", "OpenSSL", "https://www.openssl.org", "libcrypto", "Apache-2.0" }

/// Objects of libcrypto that are only passed on.
type Object = *mut c_void;
type Name = *const c_char;

functions! {
    /// Of `openssl/evp.h` and `openssl/crypto.h`.
    Crypto {
        version = "OpenSSL_version" (c_int) -> Name;
        md_by_name = "EVP_get_digestbyname" (Name) -> Object;
        digest = "EVP_Digest" (*const u8, usize, *mut u8, *mut c_uint, Object, Object) -> c_int;
        md_new = "EVP_MD_CTX_new" () -> Object;
        md_init = "EVP_DigestInit_ex" (Object, Object, Object) -> c_int;
        md_update = "EVP_DigestUpdate" (Object, *const u8, usize) -> c_int;
        md_final = "EVP_DigestFinal_ex" (Object, *mut u8, *mut c_uint) -> c_int;
        md_free = "EVP_MD_CTX_free" (Object);
        hmac = "HMAC" (Object, *const u8, c_int, *const u8, usize, *mut u8, *mut c_uint) -> *mut u8;
        cipher_by_name = "EVP_get_cipherbyname" (Name) -> Object;
        cipher_new = "EVP_CIPHER_CTX_new" () -> Object;
        cipher_init = "EVP_EncryptInit_ex" (Object, Object, Object, *const u8, *const u8) -> c_int;
        cipher_update = "EVP_EncryptUpdate" (Object, *mut u8, *mut c_int, *const u8, c_int) -> c_int;
        cipher_final = "EVP_EncryptFinal_ex" (Object, *mut u8, *mut c_int) -> c_int;
        cipher_control = "EVP_CIPHER_CTX_ctrl" (Object, c_int, c_int, Object) -> c_int;
        cipher_free = "EVP_CIPHER_CTX_free" (Object);
        ? md_fetch = "EVP_MD_fetch" (Object, Name, Name) -> Object;
        ? cipher_fetch = "EVP_CIPHER_fetch" (Object, Name, Name) -> Object;
        ? mac_fetch = "EVP_MAC_fetch" (Object, Name, Name) -> Object;
        ? mac_new = "EVP_MAC_CTX_new" (Object) -> Object;
        ? mac_init = "EVP_MAC_init" (Object, *const u8, usize, *const Parameter) -> c_int;
        ? mac_update = "EVP_MAC_update" (Object, *const u8, usize) -> c_int;
        ? mac_final = "EVP_MAC_final" (Object, *mut u8, *mut usize, usize) -> c_int;
    }
}

/// `OSSL_PARAM` of `openssl/core.h`.
#[repr(C)]
struct Parameter {
    key: Name,
    data_type: c_uint,
    data: *const c_void,
    data_bytes: usize,
    return_bytes: usize,
}

const DONE: &str = "libcrypto does what it did before";

impl Crypto {
    /// A digest of `N` bytes as its one-call interface has it, which since version 3.0 looks the
    /// algorithm up in every call.
    pub(crate) fn digest<const N: usize>(
        &'static self,
        name: &CStr,
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        // SAFETY: the name ends with a zero.
        let md = unsafe { (self.md_by_name)(name.as_ptr()) };
        let none = ptr::null_mut();
        let run = move |bytes: &[u8]| {
            let (mut digest, mut length) = ([0; N], 0);
            let (from, to) = (bytes.as_ptr(), digest.as_mut_ptr());
            // SAFETY: lengths are those of the slices; the digest is one of `N` bytes.
            let code = unsafe { (self.digest)(from, bytes.len(), to, &mut length, md, none) };
            ((code, length as usize) == (1, N)).then_some(digest)
        };
        // In FIPS mode MD5 has its name, and is refused when it is called.
        (!md.is_null() && run(b"").is_some()).then_some(move |bytes: &[u8]| run(bytes).expect(DONE))
    }

    /// HMAC as its one-call interface has it.
    pub(crate) fn hmac<const N: usize>(
        &'static self,
        name: &CStr,
        key: &'static [u8],
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        // SAFETY: the name ends with a zero.
        let md = unsafe { (self.md_by_name)(name.as_ptr()) };
        let run = move |bytes: &[u8]| {
            let (mut mac, mut length, key_length) = ([0; N], 0, key.len() as c_int);
            let (from, read, to) = (bytes.as_ptr(), bytes.len(), mac.as_mut_ptr());
            // SAFETY: lengths are those of the slices; the digest is one of `N` bytes.
            let done =
                unsafe { (self.hmac)(md, key.as_ptr(), key_length, from, read, to, &mut length) };
            (!done.is_null() && length as usize == N).then_some(mac)
        };
        // As above.
        (!md.is_null() && run(b"").is_some()).then_some(move |bytes: &[u8]| run(bytes).expect(DONE))
    }

    /// A digest that was looked up once, in a context that is kept; `None` before version 3.0, where
    /// there is nothing to look up.
    pub(crate) fn fetched<const N: usize>(
        &'static self,
        name: &CStr,
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        // SAFETY: the name ends with a zero; the usual library and properties.
        let md = unsafe { (self.md_fetch?)(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        // SAFETY: the answer is null or ours to free.
        let context = unsafe { Held::new((self.md_new)(), self.md_free) };
        (!md.is_null() && !context.is_null()).then_some(move |bytes: &[u8]| {
            let (mut digest, mut length, object) = ([0; N], 0, context.object());
            // SAFETY: the context lives, and the digest is one of `N` bytes.
            let codes = unsafe {
                [
                    (self.md_init)(object, md, ptr::null_mut()),
                    (self.md_update)(object, bytes.as_ptr(), bytes.len()),
                    (self.md_final)(object, digest.as_mut_ptr(), &mut length),
                ]
            };
            assert_eq!((codes, length as usize), ([1; 3], N), "{DONE}");
            digest
        })
    }

    /// HMAC of a digest, both looked up once, keyed in every call; `None` before version 3.0.
    pub(crate) fn fetched_hmac<const N: usize>(
        &'static self,
        digest: &'static CStr,
        key: &'static [u8],
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let (init, update, finish) = (self.mac_init?, self.mac_update?, self.mac_final?);
        // SAFETY: the name ends with a zero; the usual library and properties.
        let mac = unsafe { (self.mac_fetch?)(ptr::null_mut(), c"HMAC".as_ptr(), ptr::null()) };
        if mac.is_null() {
            return None;
        }
        // SAFETY: the algorithm is there. The context lives as long as the process.
        let context = unsafe { (self.mac_new?)(mac) };
        if context.is_null() {
            return None;
        }
        let parameters = [Parameter::text(c"digest", digest), Parameter::END];
        // SAFETY: the parameters end with the one that ends them, and outlive the call.
        let code = unsafe { init(context, key.as_ptr(), key.len(), parameters.as_ptr()) };
        (code == 1).then_some(move |bytes: &[u8]| {
            let (mut mac, mut length) = ([0; N], 0);
            // SAFETY: lengths are those of the slices.
            let codes = unsafe {
                [
                    init(context, key.as_ptr(), key.len(), ptr::null()),
                    update(context, bytes.as_ptr(), bytes.len()),
                    finish(context, mac.as_mut_ptr(), &mut length, N),
                ]
            };
            assert_eq!((codes, length), ([1; 3], N), "{DONE}");
            mac
        })
    }

    /// A cipher with its key, looked up once; `None` where this libcrypto has none of that name.
    pub(crate) fn cipher(&'static self, name: &CStr, key: &[u8]) -> Option<Cipher> {
        let name = name.as_ptr();
        // SAFETY: the name ends with a zero; the usual library and properties.
        let cipher = unsafe {
            match self.cipher_fetch {
                Some(fetch) => fetch(ptr::null_mut(), name, ptr::null()),
                None => (self.cipher_by_name)(name),
            }
        };
        // SAFETY: the answer is null or ours to free.
        let context = unsafe { Held::new((self.cipher_new)(), self.cipher_free) };
        let none = ptr::null_mut();
        let is_there = !cipher.is_null() && !context.is_null();
        // SAFETY: the key has the cipher's length, as its name says.
        let keyed = is_there
            && unsafe {
                (self.cipher_init)(context.object(), cipher, none, key.as_ptr(), ptr::null()) == 1
            };
        keyed.then_some(Cipher { library: self, context })
    }
}

impl Parameter {
    const END: Parameter = Parameter {
        key: ptr::null(),
        data_type: 0,
        data: ptr::null(),
        data_bytes: 0,
        return_bytes: 0,
    };

    /// A text, `OSSL_PARAM_UTF8_STRING`.
    fn text(key: &'static CStr, text: &'static CStr) -> Parameter {
        let (key, data) = (key.as_ptr(), text.as_ptr().cast());
        let data_bytes = text.to_bytes().len();
        Parameter { key, data_type: 4, data, data_bytes, return_bytes: usize::MAX }
    }
}

/// A cipher and its key in a context.
pub(crate) struct Cipher {
    library: &'static Crypto,
    context: Held,
}

/// `EVP_CTRL_AEAD_SET_IVLEN` and `EVP_CTRL_AEAD_GET_TAG` of `openssl/evp.h`.
const SET_NONCE_BYTES: c_int = 0x9;
const GET_TAG: c_int = 0x10;
/// The longest piece a call takes.
const PIECE: usize = 1 << 30;

impl Cipher {
    /// Begins a message with its IV or nonce, of the cipher's length.
    pub(crate) fn begin(&mut self, iv: &[u8]) {
        self.begin_with(ptr::null(), iv);
    }

    /// The same with a key, of the cipher's length.
    pub(crate) fn begin_keyed(&mut self, key: &[u8], iv: &[u8]) {
        self.control(SET_NONCE_BYTES, iv.len(), ptr::null_mut());
        self.begin_with(key.as_ptr(), iv);
    }

    fn begin_with(&mut self, key: *const u8, iv: &[u8]) {
        let none = ptr::null_mut();
        // SAFETY: the context lives; key and IV have the cipher's lengths.
        let code = unsafe {
            (self.library.cipher_init)(self.context.object(), none, none, key, iv.as_ptr())
        };
        assert_eq!(code, 1, "{DONE}");
    }

    /// Encrypts in place what comes next; only for ciphers that give a byte for a byte.
    pub(crate) fn encrypt(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(PIECE) {
            let (at, length, mut written) = (piece.as_mut_ptr(), piece.len() as c_int, 0);
            let run = self.library.cipher_update;
            // SAFETY: the context lives; it may work in place, and writes what it reads.
            let code = unsafe { run(self.context.object(), at, &mut written, at, length) };
            assert_eq!((code, written), (1, length), "{DONE}");
        }
    }

    /// Ends an authenticated message: its tag.
    pub(crate) fn tag(&mut self) -> [u8; 16] {
        let (mut tag, mut written) = ([0_u8; 16], 0);
        // SAFETY: nothing is left to write.
        let code = unsafe {
            (self.library.cipher_final)(self.context.object(), tag.as_mut_ptr(), &mut written)
        };
        assert_eq!((code, written), (1, 0), "{DONE}");
        self.control(GET_TAG, 16, tag.as_mut_ptr().cast());
        tag
    }

    fn control(&mut self, what: c_int, number: usize, at: Object) {
        let run = self.library.cipher_control;
        // SAFETY: the context lives; what is pointed to has as many bytes.
        let code = unsafe { run(self.context.object(), what, number as c_int, at) };
        // Where there is no length to set, as in counter mode, the one it has is meant.
        assert!(code == 1 || what == SET_NONCE_BYTES, "{DONE}");
    }
}
