//! Brotli, Google's, in its two libraries: an encoder and a decoder.

use std::ffi::c_int;

use super::{Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Encoder> =
    System::new("brotlienc", &["libbrotlienc.so.1"], "libbrotli1", |encoder| {
        DECODER.get().map_err(|why| format!("needs its decoder ({why})"))?;
        // SAFETY: returns a constant.
        let number = unsafe { (encoder.version)() };
        Ok(format!("{}.{}.{}", number >> 24, number >> 12 & 0xfff, number & 0xfff))
    });

pub(crate) static DECODER: System<Decoder> =
    System::new("brotlidec", &["libbrotlidec.so.1"], "libbrotli1", |_| Ok(String::new()));

meta! { "brotli", "Brotli", "https://brotli.org", "libbrotlienc libbrotlidec", "MIT" }

functions! {
    /// Of `brotli/encode.h`.
    Encoder {
        version = "BrotliEncoderVersion" () -> u32;
        bound = "BrotliEncoderMaxCompressedSize" (usize) -> usize;
        compress = "BrotliEncoderCompress"
            (c_int, c_int, c_int, usize, *const u8, *mut usize, *mut u8) -> c_int;
    }
}

functions! {
    /// Of `brotli/decode.h`.
    Decoder {
        decompress = "BrotliDecoderDecompress" (usize, *const u8, *mut usize, *mut u8) -> c_int;
    }
}

impl Encoder {
    /// Brotli at a quality from 0 to 11; `None` without its decoder.
    pub(crate) fn at(&'static self, quality: c_int) -> Option<Level> {
        Some(Level { encoder: self, decoder: DECODER.get().ok()?, quality })
    }
}

/// Brotli at a quality.
pub(crate) struct Level {
    encoder: &'static Encoder,
    decoder: &'static Decoder,
    quality: c_int,
}

/// `BROTLI_DEFAULT_WINDOW` and `BROTLI_MODE_GENERIC`.
const WINDOW: c_int = 22;
const GENERIC: c_int = 0;

impl Blocks for Level {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        unsafe { (self.encoder.bound)(plain) }
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, mut length) = (plain.as_ptr(), into.as_mut_ptr(), into.len());
        let (run, read) = (self.encoder.compress, plain.len());
        // SAFETY: lengths are those of the slices.
        let code = unsafe { run(self.quality, WINDOW, GENERIC, read, from, &mut length, to) };
        (code == 1).then_some(length)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to, mut length) = (payload.as_ptr(), into.as_mut_ptr(), into.len());
        // SAFETY: lengths are those of the slices.
        let code = unsafe { (self.decoder.decompress)(payload.len(), from, &mut length, to) };
        (code == 1).then_some(length)
    }
}
