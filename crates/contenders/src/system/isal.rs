//! ISA-L, Intel's library for storage: CRCs and Adler-32 in assembly, chosen when it runs.

use std::ffi::c_uint;

use super::{System, functions, meta};

pub(crate) static LIBRARY: System<IsaL> =
    System::new("isa-l", &["libisal.so.2"], "libisal2", |_| Ok(String::new()));

meta! { "isa-l", "ISA-L", "https://github.com/intel/isa-l", "libisal", "BSD-3-Clause" }

functions! {
    /// Of `isa-l/crc.h` and `isa-l/igzip_lib.h`.
    IsaL {
        crc32c = "crc32_iscsi" (*const u8, i32, c_uint) -> c_uint;
        crc32 = "crc32_gzip_refl" (u32, *const u8, u64) -> u32;
        adler32 = "isal_adler32" (u32, *const u8, u64) -> u32;
    }
}

/// The longest piece that its CRC-32C takes in a call.
const PIECE: usize = 1 << 30;

impl IsaL {
    /// CRC-32C of a whole buffer; it leaves both inversions to the caller.
    pub(crate) fn crc32c(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as the piece has, which fit the type.
        let add =
            |sum, piece: &[u8]| unsafe { (self.crc32c)(piece.as_ptr(), piece.len() as i32, sum) };
        !bytes.chunks(PIECE).fold(!0, add)
    }

    /// CRC-32 of a whole buffer.
    pub(crate) fn crc32(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as there are.
        unsafe { (self.crc32)(0, bytes.as_ptr(), bytes.len() as u64) }
    }

    /// Adler-32 of a whole buffer.
    pub(crate) fn adler32(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as there are.
        unsafe { (self.adler32)(1, bytes.as_ptr(), bytes.len() as u64) }
    }
}
