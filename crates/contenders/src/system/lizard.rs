//! Lizard, LZ4's successor by the author of lzbench: its block interface. No distribution has it: it is
//! there for whoever built it, by its file or `FATHOM_LIBRARY_PATH`.

use std::ffi::c_int;

use super::{At, Blocks, System, functions, int, meta, positive};

pub(crate) static LIBRARY: System<Lizard> =
    System::new("lizard", &["liblizard.so.1", "liblizard.so"], "", |library| {
        // SAFETY: returns a constant.
        let number = library.version.map(|version| unsafe { version() });
        let text = |number| format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100);
        Ok(number.map_or_else(String::new, text))
    });

meta! { "lizard", "Lizard", "https://github.com/inikep/lizard", "liblizard", "BSD-2-Clause" }

functions! {
    /// Of `lizard_compress.h` and `lizard_decompress.h`.
    Lizard {
        bound = "Lizard_compressBound" (c_int) -> c_int;
        compress = "Lizard_compress" (*const u8, *mut u8, c_int, c_int, c_int) -> c_int;
        decompress = "Lizard_decompress_safe" (*const u8, *mut u8, c_int, c_int) -> c_int;
        ? version = "Lizard_versionNumber" () -> c_int;
    }
}

impl Blocks for At<Lizard> {
    fn bound(&self, plain: usize) -> usize {
        // SAFETY: a calculation.
        positive(unsafe { (self.library.bound)(int(plain)) }).unwrap_or(0)
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (plain.as_ptr(), into.as_mut_ptr());
        let (read, room) = (int(plain.len()), int(into.len()));
        // SAFETY: lengths are at most those of the slices.
        positive(unsafe { (self.library.compress)(from, to, read, room, self.level) })
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        let (from, to) = (payload.as_ptr(), into.as_mut_ptr());
        let (read, room) = (int(payload.len()), int(into.len()));
        // SAFETY: lengths are at most those of the slices.
        positive(unsafe { (self.library.decompress)(from, to, read, room) })
    }
}
