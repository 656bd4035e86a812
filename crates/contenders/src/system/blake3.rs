//! BLAKE3 in C and assembly, by its authors.

use std::ffi::{c_char, c_void};

use super::loading::told;
use super::{Room, System, functions, meta};

pub(crate) static LIBRARY: System<Blake3> =
    System::new("blake3", &["libblake3.so.0"], "", |blake3| {
        // SAFETY: returns a constant text.
        unsafe { told((blake3.version)()) }
    });

meta! {
    "blake3-c", "libblake3", "https://github.com/BLAKE3-team/BLAKE3",
    "libblake3", "CC0-1.0 OR Apache-2.0"
}

functions! {
    /// Of `blake3.h`.
    Blake3 {
        version = "blake3_version" () -> *const c_char;
        init = "blake3_hasher_init" (*mut c_void);
        update = "blake3_hasher_update" (*mut c_void, *const c_void, usize);
        finalize = "blake3_hasher_finalize" (*const c_void, *mut u8, usize);
    }
}

impl Blake3 {
    /// A digest of 32 bytes, in a state that is kept.
    pub(crate) fn digest(&'static self) -> impl FnMut(&[u8]) -> [u8; 32] {
        // It does not tell what a state takes: 1912 bytes, by its header, where a chunk and a tree of 54
        // levels stand; twice as many are enough as long as the number in the file's name stays.
        let mut state = Room::of(4 << 10);
        move |bytes| {
            let (mut digest, state) = ([0; 32], state.start());
            // SAFETY: there is room for the state; as many bytes are read as there are, and 32 written.
            unsafe {
                (self.init)(state);
                (self.update)(state, bytes.as_ptr().cast(), bytes.len());
                (self.finalize)(state, digest.as_mut_ptr(), 32);
            }
            digest
        }
    }
}
