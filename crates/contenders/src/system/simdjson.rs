//! simdjson: its check of UTF-8. A C++ library, of which this is a function of pointer and length like one
//! of C; its name, which says what it takes, is all that is relied on. Documents are classes of its
//! header, which need a compiler.

use std::ffi::c_char;

use super::{System, functions, meta};

pub(crate) static LIBRARY: System<Simdjson> = System::new(
    "simdjson",
    &["libsimdjson.so.14", "libsimdjson.so.25", "libsimdjson.so"],
    "libsimdjson14",
    |_| Ok(String::new()),
);

meta! { "simdjson", "simdjson", "https://simdjson.org", "simdjson", "Apache-2.0" }

functions! {
    /// `bool simdjson::validate_utf8(const char *, size_t)` of `simdjson.h`.
    Simdjson {
        validate_utf8 = "_ZN8simdjson13validate_utf8EPKcm" (*const c_char, usize) -> bool;
    }
}

impl Simdjson {
    /// Whether a text is UTF-8.
    pub(crate) fn is_utf8(&self, text: &[u8]) -> bool {
        // SAFETY: as many bytes are read as there are.
        unsafe { (self.validate_utf8)(text.as_ptr().cast(), text.len()) }
    }
}
