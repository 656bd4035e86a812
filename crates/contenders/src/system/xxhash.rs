//! xxHash, which `xxhsum` is made of. Where it has them, the functions that choose their vectors when they
//! run.

use std::ffi::{c_uint, c_void};

use fathom_measure::contender::Path;

use super::{System, functions, meta};

pub(crate) static LIBRARY: System<XxHash> =
    System::new("xxhash", &["libxxhash.so.0"], "libxxhash0", |library| {
        // SAFETY: returns a constant.
        let number = unsafe { (library.version)() };
        Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
    });

meta! {
    "xxhash-c", "xxHash", "https://xxhash.com", "libxxhash", "BSD-2-Clause",
    hardware: |operation| match operation {
        // Its four lanes are one chain of multiplications each: nobody vectorises one message.
        "xxhash32" => Path::Portable,
        _ if LIBRARY.get().is_ok_and(|library| library.chosen.is_some()) => Path::NotKnown,
        _ => Path::compiled(operation),
    }
}

functions! {
    /// Of `xxhash.h` and `xxh_x86dispatch.h`.
    XxHash {
        version = "XXH_versionNumber" () -> c_uint;
        xxh32 = "XXH32" (*const c_void, usize, u32) -> u32;
        xxh3 = "XXH3_64bits" (*const c_void, usize) -> u64;
        ? chosen = "XXH3_64bits_dispatch" (*const c_void, usize) -> u64;
    }
}

impl XxHash {
    /// XXH32 with seed 0.
    pub(crate) fn xxh32(&self, bytes: &[u8]) -> u32 {
        // SAFETY: it reads as many bytes as there are.
        unsafe { (self.xxh32)(bytes.as_ptr().cast(), bytes.len(), 0) }
    }

    /// XXH3 of 64 bits with seed 0.
    pub(crate) fn xxh3(&self, bytes: &[u8]) -> u64 {
        let run = self.chosen.unwrap_or(self.xxh3);
        // SAFETY: it reads as many bytes as there are.
        unsafe { run(bytes.as_ptr().cast(), bytes.len()) }
    }
}
