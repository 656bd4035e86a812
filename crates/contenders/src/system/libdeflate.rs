//! libdeflate: CRC-32, Adler-32 and deflate of whole buffers, in the zlib format.

use std::ffi::{c_int, c_void};

use super::{Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Libdeflate> =
    System::new("libdeflate", &["libdeflate.so.0"], "libdeflate0", |_| Ok(String::new()));

meta! { "libdeflate", "libdeflate", "https://github.com/ebiggers/libdeflate", "libdeflate", "MIT" }

functions! {
    /// Of `libdeflate.h`.
    Libdeflate {
        crc32 = "libdeflate_crc32" (u32, *const u8, usize) -> u32;
        adler32 = "libdeflate_adler32" (u32, *const u8, usize) -> u32;
        alloc_compressor = "libdeflate_alloc_compressor" (c_int) -> *mut c_void;
        compress = "libdeflate_zlib_compress" (*mut c_void, *const u8, usize, *mut u8, usize) -> usize;
        compress_bound = "libdeflate_zlib_compress_bound" (*mut c_void, usize) -> usize;
        free_compressor = "libdeflate_free_compressor" (*mut c_void);
        alloc_decompressor = "libdeflate_alloc_decompressor" () -> *mut c_void;
        decompress = "libdeflate_zlib_decompress"
            (*mut c_void, *const u8, usize, *mut u8, usize, *mut usize) -> c_int;
        free_decompressor = "libdeflate_free_decompressor" (*mut c_void);
    }
}

impl Libdeflate {
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

    /// The zlib format at a level; `None` where there is no such level.
    pub(crate) fn at(&'static self, level: c_int) -> Option<Level> {
        // SAFETY: any level may be asked for; the answer is null or ours to free.
        let compressor = unsafe { (self.alloc_compressor)(level) };
        // SAFETY: as above.
        let decompressor = unsafe { (self.alloc_decompressor)() };
        let level = Level { library: self, compressor, decompressor };
        (!compressor.is_null() && !decompressor.is_null()).then_some(level)
    }
}

/// A compressor and a decompressor of libdeflate.
pub(crate) struct Level {
    library: &'static Libdeflate,
    compressor: *mut c_void,
    decompressor: *mut c_void,
}

impl Blocks for Level {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: the compressor lives as long as this.
        unsafe { (self.library.compress_bound)(self.compressor, plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (plain.as_ptr(), into.as_mut_ptr());
        let (read, room) = (plain.len(), into.len());
        // SAFETY: the compressor lives; lengths are those of the slices.
        let length = unsafe { (self.library.compress)(self.compressor, from, read, to, room) };
        (length > 0).then_some(length)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (payload.as_ptr(), into.as_mut_ptr());
        let (read, room, mut length) = (payload.len(), into.len(), 0);
        let run = self.library.decompress;
        // SAFETY: the decompressor lives; lengths are those of the slices.
        let code = unsafe { run(self.decompressor, from, read, to, room, &mut length) };
        (code == 0).then_some(length)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        // SAFETY: both are ours, or null, which is freed as well.
        unsafe {
            (self.library.free_compressor)(self.compressor);
            (self.library.free_decompressor)(self.decompressor);
        }
    }
}
