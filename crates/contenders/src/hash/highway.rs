//! HighwayHash64 in the crate `highway`: a keyed hash in vector registers (AVX2, SSE4.1, NEON, as
//! the crate decides at run time), strong where its key is secret. Here the key is that of the
//! original test, whose vectors it reproduces.

use super::methods::function;

function! {
    Highway, library!("highwayhash", "highway", "MIT", "highway.rs"), flooding Keyed;
    const KEY: highway::Key = highway::Key([
        0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918
    ]);
    bytes(bytes) => highway::HighwayHash::hash64(highway::HighwayHasher::new(KEY), bytes),
    vectors [
        (Highway.bytes(b""), 0x907a_56de_22c2_6e53),
        (Highway.bytes(&[0]), 0x7eab_43aa_c7cd_dd78),
    ]
}
