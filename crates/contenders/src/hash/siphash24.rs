//! SipHash-2-4 in the crate `siphasher`: the original parameters. The key is that of the vectors
//! in the paper (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).

use super::methods::function;

function! {
    SipHash24, library!("siphash24", "siphasher", "MIT OR Apache-2.0", "siphash24.rs"),
    flooding Keyed;
    const KEY: (u64, u64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
    bytes(bytes) => siphasher::sip::SipHasher24::new_with_keys(KEY.0, KEY.1).hash(bytes),
    vectors [(SipHash24.bytes(b""), 0x726f_db47_dd0e_0e31),
            (
                SipHash24.bytes(&std::array::from_fn::<u8, 15, _>(|at| at as u8)),
                0xa129_ca61_49be_45e5,
            )]
}
