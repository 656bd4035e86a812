//! Hyperscan, or Vectorscan in its place: patterns of intrusion detection, compiled to automata on vectors.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use super::loading::told;
use super::{Held, System, functions, meta};

pub(crate) static LIBRARY: System<Hyperscan> =
    System::new("hyperscan", &["libhs.so.5"], "libhyperscan5", |hyperscan| {
        // SAFETY: asks the processor.
        if unsafe { (hyperscan.valid_platform)() } != 0 {
            return Err("does not run on this processor".to_owned());
        }
        // SAFETY: returns a constant text.
        unsafe { told((hyperscan.version)()) }
    });

meta! { "hyperscan", "Hyperscan", "https://www.hyperscan.io", "libhs", "BSD-3-Clause" }

type Handle = *mut c_void;
type Match = unsafe extern "C" fn(c_uint, u64, u64, c_uint, *mut c_void) -> c_int;

functions! {
    /// Of `hs/hs_compile.h` and `hs/hs_runtime.h`.
    Hyperscan {
        version = "hs_version" () -> *const c_char;
        valid_platform = "hs_valid_platform" () -> c_int;
        compile = "hs_compile" (*const c_char, c_uint, c_uint, *const c_void, *mut Handle, *mut Handle) -> c_int;
        free_error = "hs_free_compile_error" (Handle) -> c_int;
        free_database = "hs_free_database" (Handle) -> c_int;
        alloc_scratch = "hs_alloc_scratch" (Handle, *mut Handle) -> c_int;
        free_scratch = "hs_free_scratch" (Handle) -> c_int;
        scan = "hs_scan" (Handle, *const c_char, c_uint, c_uint, Handle, Match, *mut c_void) -> c_int;
    }
}

impl Hyperscan {
    /// A pattern, as a function that adds up the ends of all its matches; `None` where it cannot compile
    /// it. Matches that overlap all count.
    pub(crate) fn ends(&'static self, pattern: &CStr) -> Option<impl FnMut(&[u8]) -> u64 + use<>> {
        const WHOLE_TEXTS: c_uint = 1;
        let (mut database, mut error, mut scratch) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (text, any) = (pattern.as_ptr(), ptr::null());
        // SAFETY: the pattern ends with a zero; one of both is written, and ours to free.
        let code = unsafe { (self.compile)(text, 0, WHOLE_TEXTS, any, &mut database, &mut error) };
        if code != 0 {
            // SAFETY: see above.
            unsafe { (self.free_error)(error) };
            return None;
        }
        // SAFETY: see above.
        let database = unsafe { Held::new(database, self.free_database) };
        // SAFETY: the database is there; what is written is ours to free.
        let code = unsafe { (self.alloc_scratch)(database.object(), &mut scratch) };
        // SAFETY: see above; null is left alone.
        let scratch = unsafe { Held::new(scratch, self.free_scratch) };
        (code == 0).then_some(move |text: &[u8]| {
            let mut sum = 0_u64;
            let (database, at, into) = (database.object(), text.as_ptr().cast(), &raw mut sum);
            let length = c_uint::try_from(text.len()).unwrap_or(c_uint::MAX);
            // SAFETY: as many bytes are read as there are; the sum lives as long as the call.
            unsafe { (self.scan)(database, at, length, 0, scratch.object(), add_end, into.cast()) };
            sum
        })
    }
}

/// Called with each match.
unsafe extern "C" fn add_end(_: c_uint, _: u64, end: u64, _: c_uint, sum: *mut c_void) -> c_int {
    // SAFETY: it is the sum of the call that found the match, and nobody else has it meanwhile.
    unsafe { *sum.cast::<u64>() += end };
    0
}
