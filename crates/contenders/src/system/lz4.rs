//! LZ4, of its own author: the block format.

use std::ffi::{c_char, c_int};

use super::loading::told;
use super::{Blocks, System, functions, int, meta, positive};

pub(crate) static LIBRARY: System<Lz4> = System::new("lz4", &["liblz4.so.1"], "liblz4-1", |lz4| {
    // SAFETY: returns a constant text.
    unsafe { told((lz4.version)()) }
});

meta! { "lz4", "LZ4", "https://lz4.org", "liblz4", "BSD-2-Clause" }

functions! {
    /// Of `lz4.h`.
    Lz4 {
        version = "LZ4_versionString" () -> *const c_char;
        bound = "LZ4_compressBound" (c_int) -> c_int;
        compress = "LZ4_compress_default" (*const u8, *mut u8, c_int, c_int) -> c_int;
        decompress = "LZ4_decompress_safe" (*const u8, *mut u8, c_int, c_int) -> c_int;
    }
}

impl Blocks for &'static Lz4 {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        positive(unsafe { (self.bound)(int(plain)) }).unwrap_or(0)
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (read, room) = (int(plain.len()), int(into.len()));
        // SAFETY: lengths are at most those of the slices.
        positive(unsafe { (self.compress)(plain.as_ptr(), into.as_mut_ptr(), read, room) })
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (read, room) = (int(payload.len()), int(into.len()));
        // SAFETY: lengths are at most those of the slices.
        positive(unsafe { (self.decompress)(payload.as_ptr(), into.as_mut_ptr(), read, room) })
    }
}
