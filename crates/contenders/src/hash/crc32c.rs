//! CRC-32C on the hardware instruction, in the crate `crc32c`: a checksum, and linear: keys that
//! differ in the same bits have hashes that differ in the same bits. Vector of the CRC catalogue.

use super::methods::function;

function! {
    Crc32c, library!("crc32c", "crc32c", "Apache-2.0 OR MIT", "crc32c.rs"), bits 32, avalanches false;
    bytes(bytes) => crc32c::crc32c(bytes).into(),
    vectors [(Crc32c.bytes(b"123456789"), 0xe306_9283)]
}
