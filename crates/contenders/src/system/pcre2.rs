//! PCRE2: patterns as Perl has them, compiled to machine code.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::loading::told;
use super::{Held, System, functions, meta};

pub(crate) static LIBRARY: System<Pcre2> =
    System::new("pcre2", &["libpcre2-8.so.0"], "libpcre2-8-0", |pcre2| {
        const VERSION: u32 = 11;
        let mut text = [0 as c_char; 64];
        // SAFETY: versions are documented to take at most 24 bytes with their end.
        let code = unsafe { (pcre2.config)(VERSION, text.as_mut_ptr().cast()) };
        if code < 0 {
            return Err("it tells no version".to_owned());
        }
        // SAFETY: it ends with a zero.
        unsafe { told(text.as_ptr()) }
    });

meta! { "pcre2", "PCRE2", "https://www.pcre.org", "libpcre2-8", "BSD-3-Clause" }

type Handle = *mut c_void;

functions! {
    /// Of `pcre2.h`, for bytes.
    Pcre2 {
        config = "pcre2_config_8" (u32, *mut c_void) -> c_int;
        compile = "pcre2_compile_8" (*const u8, usize, u32, *mut c_int, *mut usize, Handle) -> Handle;
        jit_compile = "pcre2_jit_compile_8" (Handle, u32) -> c_int;
        match_data = "pcre2_match_data_create_from_pattern_8" (Handle, Handle) -> Handle;
        matches = "pcre2_match_8" (Handle, *const u8, usize, usize, u32, Handle, Handle) -> c_int;
        places = "pcre2_get_ovector_pointer_8" (Handle) -> *const [usize; 2];
        match_data_free = "pcre2_match_data_free_8" (Handle);
        code_free = "pcre2_code_free_8" (Handle);
    }
}

impl Pcre2 {
    /// A pattern; `None` where this PCRE2 cannot compile it to machine code.
    pub(crate) fn pattern(&'static self, pattern: &str) -> Option<Pattern> {
        const JIT_COMPLETE: u32 = 1;
        let (mut error, mut at) = (0, 0);
        let (text, length) = (pattern.as_ptr(), pattern.len());
        // SAFETY: as many bytes are read as there are; the answer is null or ours to free.
        let code = unsafe {
            let code = (self.compile)(text, length, 0, &mut error, &mut at, ptr::null_mut());
            Held::new(code, self.code_free)
        };
        // SAFETY: the pattern is compiled if it is there.
        if code.is_null() || unsafe { (self.jit_compile)(code.object(), JIT_COMPLETE) } != 0 {
            return None;
        }
        // SAFETY: the same; the answer is null or ours to free.
        let data = unsafe {
            Held::new((self.match_data)(code.object(), ptr::null_mut()), self.match_data_free)
        };
        (!data.is_null()).then_some(Pattern { library: self, data, code })
    }
}

/// A compiled pattern and room for a match.
pub(crate) struct Pattern {
    library: &'static Pcre2,
    data: Held,
    code: Held,
}

impl Pattern {
    /// The end of each match, from left to right, not overlapping.
    pub(crate) fn ends(&mut self, text: &[u8]) -> impl Iterator<Item = usize> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let [_, end] = self.next(text, from)?;
            // A pattern that takes nothing is not asked the same again.
            from = end.max(from + 1);
            Some(end)
        })
    }

    /// The first match from there on.
    fn next(&mut self, text: &[u8], from: usize) -> Option<[usize; 2]> {
        if from > text.len() {
            return None;
        }
        let (run, code, data) = (self.library.matches, self.code.object(), self.data.object());
        let (at, length) = (text.as_ptr(), text.len());
        // SAFETY: pattern and room are alive; as many bytes are read as there are.
        let found = unsafe { run(code, at, length, from, 0, data, ptr::null_mut()) };
        // SAFETY: after a match the room holds at least the place of the whole.
        (found > 0).then(|| unsafe { *(self.library.places)(data) })
    }
}
