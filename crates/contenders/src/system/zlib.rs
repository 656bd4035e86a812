//! zlib, or zlib-ng in its place: CRC-32, Adler-32 and deflate in the zlib format.

use std::ffi::{c_char, c_int, c_uint, c_ulong};

use super::loading::told;
use super::{At, Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Zlib> = System::new("zlib", &["libz.so.1"], "zlib1g", |zlib| {
    // SAFETY: returns a constant text.
    unsafe { told((zlib.version)()) }
});

meta! { "zlib", "zlib", "https://zlib.net", "zlib", "Zlib" }

functions! {
    /// Of `zlib.h`.
    Zlib {
        version = "zlibVersion" () -> *const c_char;
        crc32 = "crc32" (c_ulong, *const u8, c_uint) -> c_ulong;
        adler32 = "adler32" (c_ulong, *const u8, c_uint) -> c_ulong;
        bound = "compressBound" (c_ulong) -> c_ulong;
        compress = "compress2" (*mut u8, *mut c_ulong, *const u8, c_ulong, c_int) -> c_int;
        uncompress = "uncompress" (*mut u8, *mut c_ulong, *const u8, c_ulong) -> c_int;
    }
}

/// The longest piece a call takes.
const PIECE: usize = 1 << 30;

impl Zlib {
    /// CRC-32 of a whole buffer.
    pub(crate) fn crc32(&self, bytes: &[u8]) -> u32 {
        summed(self.crc32, 0, bytes)
    }

    /// Adler-32 of a whole buffer.
    pub(crate) fn adler32(&self, bytes: &[u8]) -> u32 {
        summed(self.adler32, 1, bytes)
    }
}

fn summed(
    sum: unsafe extern "C" fn(c_ulong, *const u8, c_uint) -> c_ulong,
    start: c_ulong,
    bytes: &[u8],
) -> u32 {
    let pieces = bytes.chunks(PIECE);
    // SAFETY: it reads as many bytes as the piece has, which fit the type.
    let add = |sum_so_far, piece: &[u8]| unsafe {
        sum(sum_so_far, piece.as_ptr(), piece.len() as c_uint)
    };
    pieces.fold(start, add) as u32
}

impl Blocks for At<Zlib> {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.library.bound)(plain as c_ulong) as usize }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (plain.as_ptr(), into.as_mut_ptr());
        let (read, mut length) = (plain.len() as c_ulong, into.len() as c_ulong);
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.library.compress)(to, &mut length, from, read, self.level) };
        (code == 0).then_some(length as usize)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (payload.as_ptr(), into.as_mut_ptr());
        let (read, mut length) = (payload.len() as c_ulong, into.len() as c_ulong);
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.library.uncompress)(to, &mut length, from, read) };
        (code == 0).then_some(length as usize)
    }
}
