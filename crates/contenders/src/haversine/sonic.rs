//! The crate `sonic-rs`, into a typed vector: vector searches, chosen when it is compiled.

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::serde_json::Root;
use super::workload::Document;

pub(super) struct Sonic;

impl Contender<Document> for Sonic {
    fn meta(&self) -> Meta {
        Meta {
            name: "sonic-rs",
            origin: Origin::Crate("sonic-rs"),
            link: "https://crates.io/crates/sonic-rs",
            licence: "Apache-2.0",
            hardware: || if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" }.into(),
            caveat: "wider vectors need -C target-cpu",
            ..Meta::of(include_str!("sonic.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Document) -> Preparation<'w> {
        workload.timed_pairs(read)
    }
}

fn read(json: &[u8]) -> Vec<Pair> {
    sonic_rs::from_slice::<Root>(json).expect("the document is valid").into_pairs()
}
