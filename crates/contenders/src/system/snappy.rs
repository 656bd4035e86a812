//! Snappy, Google's, through its C interface.

use std::ffi::c_int;

use super::{Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Snappy> =
    System::new("snappy", &["libsnappy.so.1"], "libsnappy1v5", |_| Ok(String::new()));

meta! { "snappy", "Snappy", "https://google.github.io/snappy/", "snappy", "BSD-3-Clause" }

functions! {
    /// Of `snappy-c.h`.
    Snappy {
        bound = "snappy_max_compressed_length" (usize) -> usize;
        compress = "snappy_compress" (*const u8, usize, *mut u8, *mut usize) -> c_int;
        uncompress = "snappy_uncompress" (*const u8, usize, *mut u8, *mut usize) -> c_int;
    }
}

impl Blocks for &'static Snappy {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (to, mut length) = (into.as_mut_ptr(), into.len());
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.compress)(plain.as_ptr(), plain.len(), to, &mut length) };
        (code == 0).then_some(length)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (to, mut length) = (into.as_mut_ptr(), into.len());
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.uncompress)(payload.as_ptr(), payload.len(), to, &mut length) };
        (code == 0).then_some(length)
    }
}
