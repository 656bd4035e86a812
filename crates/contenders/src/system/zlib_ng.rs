//! zlib-ng under its own names: zlib with the vectors of the processor. Where it stands in for zlib, it is
//! met as that.

use std::ffi::{c_char, c_int};

use super::loading::told;
use super::{At, Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<ZlibNg> = System::new("zlib-ng", &["libz-ng.so.2"], "", |zlib| {
    // SAFETY: returns a constant text.
    unsafe { told((zlib.version)()) }
});

meta! { "zlib-ng", "zlib-ng", "https://github.com/zlib-ng/zlib-ng", "zlib-ng", "Zlib" }

functions! {
    /// Of `zlib-ng.h`.
    ZlibNg {
        version = "zlibng_version" () -> *const c_char;
        crc32 = "zng_crc32_z" (u32, *const u8, usize) -> u32;
        adler32 = "zng_adler32_z" (u32, *const u8, usize) -> u32;
        bound = "zng_compressBound" (usize) -> usize;
        compress = "zng_compress2" (*mut u8, *mut usize, *const u8, usize, c_int) -> c_int;
        uncompress = "zng_uncompress" (*mut u8, *mut usize, *const u8, usize) -> c_int;
    }
}

impl ZlibNg {
    /// CRC-32 of a whole buffer.
    pub(crate) fn crc32(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as there are.
        unsafe { (self.crc32)(0, bytes.as_ptr(), bytes.len()) }
    }

    /// Adler-32 of a whole buffer.
    pub(crate) fn adler32(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as there are.
        unsafe { (self.adler32)(1, bytes.as_ptr(), bytes.len()) }
    }
}

impl Blocks for At<ZlibNg> {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.library.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, read) = (plain.as_ptr(), into.as_mut_ptr(), plain.len());
        let mut length = into.len();
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.library.compress)(to, &mut length, from, read, self.level) };
        (code == 0).then_some(length)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, read) = (payload.as_ptr(), into.as_mut_ptr(), payload.len());
        let mut length = into.len();
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.library.uncompress)(to, &mut length, from, read) };
        (code == 0).then_some(length)
    }
}
