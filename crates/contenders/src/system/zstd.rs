//! Zstandard, of its own authors.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::loading::told;
use super::{Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Zstd> =
    System::new("zstd", &["libzstd.so.1"], "libzstd1", |zstd| {
        // SAFETY: returns a constant text.
        unsafe { told((zstd.version)()) }
    });

meta! { "zstd", "Zstandard", "https://facebook.github.io/zstd/", "libzstd", "BSD-3-Clause" }

functions! {
    /// Of `zstd.h`.
    Zstd {
        version = "ZSTD_versionString" () -> *const c_char;
        bound = "ZSTD_compressBound" (usize) -> usize;
        is_error = "ZSTD_isError" (usize) -> c_uint;
        create_compressor = "ZSTD_createCCtx" () -> *mut c_void;
        compress = "ZSTD_compressCCtx" (*mut c_void, *mut u8, usize, *const u8, usize, c_int) -> usize;
        free_compressor = "ZSTD_freeCCtx" (*mut c_void) -> usize;
        create_decompressor = "ZSTD_createDCtx" () -> *mut c_void;
        decompress = "ZSTD_decompressDCtx" (*mut c_void, *mut u8, usize, *const u8, usize) -> usize;
        free_decompressor = "ZSTD_freeDCtx" (*mut c_void) -> usize;
    }
}

impl Zstd {
    /// Contexts at a level, kept from text to text; `None` where there is no memory for them.
    pub(crate) fn at(&'static self, level: c_int) -> Option<Level> {
        // SAFETY: the answer is null or ours to free.
        let compressor = unsafe { (self.create_compressor)() };
        // SAFETY: as above.
        let decompressor = unsafe { (self.create_decompressor)() };
        let contexts = Level { library: self, compressor, decompressor, level };
        (!compressor.is_null() && !decompressor.is_null()).then_some(contexts)
    }

    fn length(&self, code: usize) -> Option<usize> {
        // SAFETY: a calculation.
        let is_error = unsafe { (self.is_error)(code) } != 0;
        (!is_error).then_some(code)
    }
}

/// Zstandard's contexts at a level.
pub(crate) struct Level {
    library: &'static Zstd,
    compressor: *mut c_void,
    decompressor: *mut c_void,
    level: c_int,
}

impl Blocks for Level {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.library.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, run) = (plain.as_ptr(), into.as_mut_ptr(), self.library.compress);
        // SAFETY: the context lives; lengths are those of the slices.
        let code = unsafe { run(self.compressor, to, into.len(), from, plain.len(), self.level) };
        self.library.length(code)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, run) = (payload.as_ptr(), into.as_mut_ptr(), self.library.decompress);
        // SAFETY: the context lives; lengths are those of the slices.
        let code = unsafe { run(self.decompressor, to, into.len(), from, payload.len()) };
        self.library.length(code)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        let Zstd { free_compressor, free_decompressor, .. } = self.library;
        // SAFETY: both are ours, or null, which is freed as well.
        let _ = unsafe { (free_compressor(self.compressor), free_decompressor(self.decompressor)) };
    }
}
