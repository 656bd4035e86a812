//! wyhash final version 3, seed 0, in the crate `wyhash`: wide multiplications, 48 bytes a turn.
//! Secret and vectors are those of the original and its `test_vector.cpp`.

use wyhash::final3::wyhash;

use super::methods::function;

function! {
    WyHash, library!("wyhash", "wyhash", "MIT OR Apache-2.0", "wyhash.rs");
    const SECRET: [u64; 4] = [
        0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3
    ];
    bytes(bytes) => wyhash::final3::wyhash(bytes, 0, SECRET),
    vectors [
        (wyhash(b"", 0, pasted::SECRET), 0x42bc_986d_c5ee_c4d3),
        (wyhash(b"a", 1, pasted::SECRET), 0x8450_8dc9_03c3_1551),
        (wyhash(b"abc", 2, pasted::SECRET), 0x0bc5_4887_cfc9_ecb1),
    ]
}
