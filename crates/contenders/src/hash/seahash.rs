//! SeaHash with its default seeds, in the crate of the same name: four lanes of multiply and
//! xor-shift. Vector of its documentation.

use super::methods::function;

function! {
    SeaHash, library!("seahash", "seahash", "MIT", "seahash.rs");
    bytes(bytes) => seahash::hash(bytes),
    vectors [(SeaHash.bytes(b"to be or not to be"), 1_988_685_042_348_123_509)]
}
