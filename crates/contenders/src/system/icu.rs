//! ICU, which browsers and databases read text with: UTF-8 to UTF-16, here without the text.

use std::ffi::{c_char, c_int};
use std::ptr;

use super::{System, functions, meta};

pub(crate) static LIBRARY: System<Icu> = System::new(
    "icu",
    &["libicuuc.so.78", "libicuuc.so.76", "libicuuc.so.74", "libicuuc.so.72", "libicuuc.so.70"],
    "libicu72",
    |icu: &Icu| {
        let mut version = [0; 4];
        // SAFETY: it writes four numbers.
        unsafe { (icu.version)(version.as_mut_ptr()) };
        Ok(format!("{}.{}", version[0], version[1]))
    },
)
.before("74", "ICU");

meta! { "icu", "ICU", "https://icu.unicode.org", "icu-uc", "Unicode-3.0" }

functions! {
    /// Of `unicode/ustring.h` and `unicode/uversion.h`.
    Icu {
        version = "u_getVersion" (*mut u8);
        from_utf8 = "u_strFromUTF8" (*mut u16, i32, *mut i32, *const c_char, i32, *mut c_int) -> *mut u16;
    }
}

/// `U_ZERO_ERROR`.
const RIGHT: c_int = 0;
/// `U_BUFFER_OVERFLOW_ERROR`: only that there was no room.
const NO_ROOM: c_int = 15;

impl Icu {
    /// Whether a text is UTF-8; one of more than 2 GiB is none, since lengths have 31 bits.
    pub(crate) fn is_utf8(&self, text: &[u8]) -> bool {
        i32::try_from(text.len()).is_ok_and(|length| self.read(text, length))
    }

    /// Whether a text that ends with a zero is UTF-8 up to its first zero.
    pub(crate) fn is_utf8_up_to_zero(&self, text: &[u8]) -> bool {
        text.last() == Some(&0) && i32::try_from(text.len()).is_ok() && self.read(text, -1)
    }

    /// Asks how long it is in UTF-16; `length` is that of the text, or -1 for up to its first zero.
    fn read(&self, text: &[u8], length: i32) -> bool {
        let (from, mut units, mut error) = (text.as_ptr().cast(), 0, RIGHT);
        // SAFETY: as many bytes are read as there are, or up to a zero that is there; without room
        // nothing but the length is written.
        unsafe { (self.from_utf8)(ptr::null_mut(), 0, &mut units, from, length, &mut error) };
        // Warnings are negative.
        error <= RIGHT || error == NO_ROOM
    }
}
