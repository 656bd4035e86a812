//! The crate `xxhash-rust`: XXH32 and XXH3. Its vector code is chosen when it is compiled, so a
//! build for every processor of the architecture gets SSE2 or NEON.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};

pub(super) struct XxhashRust;

impl Contender<Buffer> for XxhashRust {
    fn meta(&self) -> Meta {
        Meta {
            name: "xxhash-rust",
            origin: Origin::Crate("xxhash-rust"),
            link: "https://crates.io/crates/xxhash-rust",
            licence: "BSL-1.0",
            hardware: || if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" }.into(),
            caveat: "wider vectors need -C target-cpu",
            ..Meta::of(include_str!("xxhash_rust.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            // Its four lanes are one chain of multiplications each: nobody vectorises one message.
            "xxhash32" => "scalar".into(),
            _ => (self.meta().hardware)(),
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Xxhash32 => workload.timed(|bytes| xxhash_rust::xxh32::xxh32(bytes, 0)),
            Operation::Xxh3 => workload.timed(xxhash_rust::xxh3::xxh3_64),
            _ => workload.unsupported(),
        }
    }
}
