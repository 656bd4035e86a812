//! FNV-1a, 64 bits: one byte at a time, xor and multiply. The plainest hash in use, and the
//! yardstick of the others. Vectors of the draft by Fowler, Noll and Vo.

use fathom_measure::contender::Meta;

use super::methods::function;

function! {
    Fnv1a, Meta {
        name: "fnv1a",
        link: "https://datatracker.ietf.org/doc/draft-eastlake-fnv/",
        ..Meta::of(include_str!("fnv1a.rs"))
    }, avalanches false;
    bytes(bytes) => {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    },
    vectors [
        (Fnv1a.bytes(b""), 0xcbf2_9ce4_8422_2325),
        (Fnv1a.bytes(b"foobar"), 0x8594_4171_f739_67e8),
    ]
}
