//! A match per byte, every byte of a token copied by itself, numbers by the C library's `strtod`, 4 KiB
//! at a time: where the notes began.

use std::ffi::CStr;

use super::quick::each_byte;
use super::workload::step;

step! {
    STRTOD, Strtod: "strtod", "strtod.rs";
    |source, take| each_byte(source, strtod, take)
}

/// A token as the C library reads it, in the locale "C" that this program never leaves. Longer
/// tokens than a number needs are cut, which only a wrong answer would show.
fn strtod(text: &[u8]) -> f64 {
    let mut buffer = [0u8; 800];
    let length = text.len().min(buffer.len() - 1);
    buffer[..length].copy_from_slice(&text[..length]);
    let Ok(text) = CStr::from_bytes_until_nul(&buffer) else { return f64::NAN };
    // SAFETY: a string that ends with a zero; no end pointer is asked for.
    unsafe { libc::strtod(text.as_ptr(), std::ptr::null_mut()) }
}
