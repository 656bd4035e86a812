//! bzip2's library.

use std::ffi::{c_char, c_int, c_uint};

use super::loading::told;
use super::{At, Blocks, System, functions, meta};

pub(crate) static LIBRARY: System<Bzip2> =
    System::new("bzip2", &["libbz2.so.1.0", "libbz2.so.1"], "libbz2-1.0", |bzip2| {
        // SAFETY: returns a constant text.
        unsafe { told((bzip2.version)()) }
    });

meta! {
    "bzip2", "bzip2", "https://sourceware.org/bzip2/", "-lbz2", "bzip2-1.0.6",
    hardware: fathom_measure::contender::Path::portable
}

functions! {
    /// Of `bzlib.h`.
    Bzip2 {
        version = "BZ2_bzlibVersion" () -> *const c_char;
        compress = "BZ2_bzBuffToBuffCompress"
            (*mut u8, *mut c_uint, *const u8, c_uint, c_int, c_int, c_int) -> c_int;
        decompress = "BZ2_bzBuffToBuffDecompress"
            (*mut u8, *mut c_uint, *const u8, c_uint, c_int, c_int) -> c_int;
    }
}

impl Blocks for At<Bzip2> {
    /// What `bzlib.h` says: one percent more, and 600 bytes.
    fn bound(&self, plain: usize) -> usize {
        plain + plain / 100 + 600
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let mut length = c_uint::try_from(into.len()).ok()?;
        let (read, run) = (c_uint::try_from(plain.len()).ok()?, self.library.compress);
        let (from, to) = (plain.as_ptr(), into.as_mut_ptr());
        // SAFETY: lengths are those of the slices; it only reads the source.
        let code = unsafe { run(to, &mut length, from, read, self.level, 0, 0) };
        (code == 0).then_some(length as usize)
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let mut length = c_uint::try_from(into.len()).ok()?;
        let (read, run) = (c_uint::try_from(payload.len()).ok()?, self.library.decompress);
        // SAFETY: lengths are those of the slices; it only reads the source.
        let code = unsafe { run(into.as_mut_ptr(), &mut length, payload.as_ptr(), read, 0, 0) };
        (code == 0).then_some(length as usize)
    }
}
