//! The crate `lz4_flex`: the LZ4 block format in Rust, here with its unsafe code left out, as it comes.

use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Codec, Texts};

pub(super) struct Lz4Flex;

pub(super) const LZ4_FLEX: Simple<Texts> = Simple {
    meta: Meta {
        name: "lz4-flex",
        hardware: Path::portable,
        ..Meta::of_crate("lz4_flex", "MIT", include_str!("lz4_flex.rs"))
    },
    prepare: |workload| workload.coded(Lz4Flex),
};

impl Codec for Lz4Flex {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        *payload = lz4_flex::block::compress(plain);
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        matches!(lz4_flex::block::decompress_into(payload, plain), Ok(done) if done == plain.len())
    }
}
