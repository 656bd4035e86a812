//! liblzma, of XZ Utils: the `.xz` format.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use fathom_measure::contender::{Meta, Origin};

use super::loading::told;
use super::{Blocks, System, functions};

pub(crate) static LIBRARY: System<Lzma> =
    System::new("lzma", &["liblzma.so.5"], "liblzma5", |lzma| {
        // SAFETY: returns a constant text.
        unsafe { told((lzma.version)()) }
    });

pub(crate) const META: Meta = Meta {
    name: "lzma",
    origin: Origin::Library("XZ Utils", || LIBRARY.version()),
    link: "https://tukaani.org/xz/",
    pkg_config: "liblzma",
    hardware: fathom_measure::contender::Path::portable,
    ..Meta::of_crate("", "0BSD", "")
};

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

impl Lzma {
    /// XZ at a preset from 0 to 9.
    pub(crate) fn at(&'static self, preset: c_int) -> Level {
        Level { library: self, preset: preset.unsigned_abs() }
    }
}

/// XZ at a preset.
pub(crate) struct Level {
    library: &'static Lzma,
    preset: u32,
}

/// `LZMA_CHECK_CRC32`: the least the format has besides none.
const CRC32: c_int = 1;

impl Blocks for Level {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.library.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, read, to, room) = (plain.as_ptr(), plain.len(), into.as_mut_ptr(), into.len());
        let (run, mut length) = (self.library.encode, 0);
        // SAFETY: lengths are those of the slices; no allocator is the usual one.
        let code =
            unsafe { run(self.preset, CRC32, ptr::null(), from, read, to, &mut length, room) };
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
