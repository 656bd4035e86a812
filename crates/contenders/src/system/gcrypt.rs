//! libgcrypt, which GnuPG is made of: digests, SHAKE, HMACs and ciphers.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use super::loading::told;
use super::{System, functions, meta};

pub(crate) static LIBRARY: System<Gcrypt> =
    System::new("gcrypt", &["libgcrypt.so.20"], "libgcrypt20", |gcrypt| {
        const DISABLE_SECURE_MEMORY: c_int = 37;
        const INITIALIZATION_FINISHED: c_int = 38;
        // SAFETY: asked first, as its manual wants; the answer is a constant text.
        let version = unsafe { told((gcrypt.check_version)(ptr::null())) };
        // SAFETY: both take an integer. No secrets are kept here that would be worth locked memory.
        unsafe {
            (gcrypt.control)(DISABLE_SECURE_MEMORY, 0 as c_int);
            (gcrypt.control)(INITIALIZATION_FINISHED, 0 as c_int);
        }
        version
    });

meta! {
    "gcrypt", "libgcrypt", "https://gnupg.org/software/libgcrypt/",
    "libgcrypt", "LGPL-2.1-or-later"
}

type Handle = *mut c_void;

functions! {
    /// Of `gcrypt.h`.
    Gcrypt {
        check_version = "gcry_check_version" (*const c_char) -> *const c_char;
        control = "gcry_control" (c_int, ...) -> c_uint;
        md_open = "gcry_md_open" (*mut Handle, c_int, c_uint) -> c_uint;
        md_setkey = "gcry_md_setkey" (Handle, *const u8, usize) -> c_uint;
        md_reset = "gcry_md_reset" (Handle);
        md_write = "gcry_md_write" (Handle, *const u8, usize);
        md_read = "gcry_md_read" (Handle, c_int) -> *const u8;
        md_extract = "gcry_md_extract" (Handle, c_int, *mut u8, usize) -> c_uint;
        md_close = "gcry_md_close" (Handle);
        cipher_open = "gcry_cipher_open" (*mut Handle, c_int, c_int, c_uint) -> c_uint;
        cipher_setkey = "gcry_cipher_setkey" (Handle, *const u8, usize) -> c_uint;
        cipher_setiv = "gcry_cipher_setiv" (Handle, *const u8, usize) -> c_uint;
        cipher_setctr = "gcry_cipher_setctr" (Handle, *const u8, usize) -> c_uint;
        cipher_encrypt = "gcry_cipher_encrypt" (Handle, *mut u8, usize, *const u8, usize) -> c_uint;
        cipher_gettag = "gcry_cipher_gettag" (Handle, *mut u8, usize) -> c_uint;
        cipher_close = "gcry_cipher_close" (Handle);
    }
}

/// Digests, `enum gcry_md_algos`.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub(crate) enum Md {
    Md5 = 1,
    Sha1 = 2,
    Sha256 = 8,
    Sha384 = 9,
    Sha512 = 10,
    Sha3_256 = 313,
    Sha3_512 = 315,
    Shake128 = 316,
    Shake256 = 317,
}

/// Ciphers, `enum gcry_cipher_algos`.
#[derive(Clone, Copy)]
pub(crate) enum Algorithm {
    Aes128 = 7,
    Aes256 = 9,
    Arcfour = 301,
    ChaCha20 = 316,
}

/// Modes, `enum gcry_cipher_modes`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Cfb = 2,
    Stream = 4,
    Ofb = 5,
    Ctr = 6,
    Gcm = 9,
    Poly1305 = 10,
}

const DONE: &str = "libgcrypt does what it did before";
/// `GCRY_MD_FLAG_HMAC`.
const HMAC: c_uint = 2;

impl Gcrypt {
    /// A digest of `N` bytes, in a handle that is kept; `None` where this libgcrypt may not do it.
    pub(crate) fn digest<const N: usize>(
        &'static self,
        md: Md,
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let handle = self.opened(md, 0)?;
        Some(move |bytes: &[u8]| {
            handle.reset();
            handle.write(bytes);
            handle.read()
        })
    }

    /// HMAC of a digest, keyed in every call.
    pub(crate) fn hmac<const N: usize>(
        &'static self,
        md: Md,
        key: &'static [u8],
    ) -> Option<impl FnMut(&[u8]) -> [u8; N] + use<N>> {
        let handle = self.opened(md, HMAC)?;
        // In FIPS mode it wants longer ones.
        handle.takes_key(key).then_some(move |bytes: &[u8]| {
            assert!(handle.takes_key(key), "{DONE}");
            handle.write(bytes);
            handle.read()
        })
    }

    /// The output of SHAKE128 or SHAKE256 of a text.
    pub(crate) fn shake(&'static self, md: Md, text: &[u8]) -> Option<Handles> {
        let handle = self.opened(md, 0)?;
        handle.write(text);
        Some(handle)
    }

    fn opened(&'static self, md: Md, flags: c_uint) -> Option<Handles> {
        let (library, mut handle) = (self, ptr::null_mut());
        // SAFETY: the handle is written if the answer is 0, and ours to close then.
        let code = unsafe { (self.md_open)(&mut handle, md as c_int, flags) };
        (code == 0).then(|| Handles { library, handle, md: md as c_int })
    }

    /// A cipher with its key; `None` where this libgcrypt may not do it.
    pub(crate) fn cipher(
        &'static self,
        algorithm: Algorithm,
        mode: Mode,
        key: &[u8],
    ) -> Option<Cipher> {
        let (library, mut handle) = (self, ptr::null_mut());
        // SAFETY: the handle is written if the answer is 0, and ours to close then.
        let code = unsafe { (self.cipher_open)(&mut handle, algorithm as c_int, mode as c_int, 0) };
        let mut cipher = (code == 0).then(|| Cipher { library, handle, mode })?;
        // SAFETY: the handle is open; the key is as long as it says.
        let code = unsafe { (self.cipher_setkey)(handle, key.as_ptr(), key.len()) };
        let mut is_allowed = || {
            cipher.begin(&[0; 12]);
            // With its end, or the next message would go on with it.
            cipher.encrypts(&mut [0]).then(|| cipher.tag()).is_some()
        };
        // In FIPS mode it is refused with a nonce of the caller's, and not before something is encrypted.
        (code == 0 && (mode != Mode::Gcm || is_allowed())).then_some(cipher)
    }
}

/// An open digest.
pub(crate) struct Handles {
    library: &'static Gcrypt,
    handle: Handle,
    md: c_int,
}

impl Handles {
    fn reset(&self) {
        // SAFETY: the handle is open.
        unsafe { (self.library.md_reset)(self.handle) }
    }

    /// Sets the key, unless it is refused.
    fn takes_key(&self, key: &[u8]) -> bool {
        // SAFETY: the handle is open; this also makes it ready for a message.
        unsafe { (self.library.md_setkey)(self.handle, key.as_ptr(), key.len()) == 0 }
    }

    fn write(&self, bytes: &[u8]) {
        // SAFETY: the handle is open; as many bytes are read as there are.
        unsafe { (self.library.md_write)(self.handle, bytes.as_ptr(), bytes.len()) }
    }

    fn read<const N: usize>(&self) -> [u8; N] {
        // SAFETY: the handle is open; the answer points to the whole digest, which has `N` bytes, until
        // the handle is used again.
        unsafe { (self.library.md_read)(self.handle, self.md).cast::<[u8; N]>().read() }
    }

    /// What comes next in the output of SHAKE.
    pub(crate) fn extract(&mut self, into: &mut [u8]) {
        let (to, room) = (into.as_mut_ptr(), into.len());
        // SAFETY: the handle is open; as many bytes are written as there is room for.
        let code = unsafe { (self.library.md_extract)(self.handle, self.md, to, room) };
        assert_eq!(code, 0, "{DONE}");
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: it is open.
        unsafe { (self.library.md_close)(self.handle) }
    }
}

/// An open cipher with its key.
pub(crate) struct Cipher {
    library: &'static Gcrypt,
    handle: Handle,
    mode: Mode,
}

impl Cipher {
    /// Begins a message with its IV, counter or nonce.
    pub(crate) fn begin(&mut self, iv: &[u8]) {
        let set = match self.mode {
            Mode::Ctr => self.library.cipher_setctr,
            _ => self.library.cipher_setiv,
        };
        // SAFETY: the handle is open; the IV is as long as it says.
        let code = unsafe { set(self.handle, iv.as_ptr(), iv.len()) };
        assert_eq!(code, 0, "{DONE}");
    }

    /// Encrypts in place what comes next.
    pub(crate) fn encrypt(&mut self, bytes: &mut [u8]) {
        assert!(self.encrypts(bytes), "{DONE}");
    }

    fn encrypts(&mut self, bytes: &mut [u8]) -> bool {
        let (run, at, length) = (self.library.cipher_encrypt, bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the handle is open; without a source it works in place.
        unsafe { run(self.handle, at, length, ptr::null(), 0) == 0 }
    }

    /// The tag of an authenticated message.
    pub(crate) fn tag(&mut self) -> [u8; 16] {
        let mut tag = [0; 16];
        // SAFETY: the handle is open; both modes have tags of 16 bytes.
        let code = unsafe { (self.library.cipher_gettag)(self.handle, tag.as_mut_ptr(), 16) };
        assert_eq!(code, 0, "{DONE}");
        tag
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: it is open.
        unsafe { (self.library.cipher_close)(self.handle) }
    }
}
