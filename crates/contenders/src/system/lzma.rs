//! liblzma, of XZ Utils: the `.xz` format.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::loading::told;
use super::{At, Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Lzma> =
    System::new("lzma", &["liblzma.so.5"], "liblzma5", |lzma: &Lzma| {
        // SAFETY: returns a constant text.
        unsafe { told((lzma.version)()) }
    })
    .before("5.6", "LicenseRef-public-domain");

meta! {
    "lzma", "XZ Utils", "https://tukaani.org/xz/", "liblzma", "0BSD",
    hardware: fathom_measure::contender::Path::portable
}

functions! {
    /// Of `lzma/container.h`.
    Lzma {
        version = "lzma_version_string" () -> *const c_char;
        bound = "lzma_stream_buffer_bound" (usize) -> usize;
        encode = "lzma_easy_buffer_encode"
            (u32, c_int, *const c_void, *const u8, usize, *mut u8, *mut usize, usize) -> c_int;
        decode = "lzma_stream_buffer_decode"
            (*mut u64, u32, *const c_void, *const u8, *mut usize, usize, *mut u8, *mut usize, usize) -> c_int;
    }
}

/// `LZMA_CHECK_CRC32`: the least the format has besides none.
const CRC32: c_int = 1;

impl Blocks for At<Lzma> {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.library.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, read, to, room) = (plain.as_ptr(), plain.len(), into.as_mut_ptr(), into.len());
        let (run, mut length) = (self.library.encode, 0);
        // SAFETY: lengths are those of the slices; no allocator is the usual one.
        let code = unsafe {
            run(self.level.unsigned_abs(), CRC32, ptr::null(), from, read, to, &mut length, room)
        };
        (code == 0).then_some(length)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, read, to, room) =
            (payload.as_ptr(), payload.len(), into.as_mut_ptr(), into.len());
        let (mut memory, mut at, mut length) = (u64::MAX, 0, 0);
        let (run, none) = (self.library.decode, ptr::null());
        // SAFETY: lengths are those of the slices; no allocator is the usual one.
        let code = unsafe { run(&mut memory, 0, none, from, &mut at, read, to, &mut length, room) };
        (code == 0).then_some(length)
    }
}
