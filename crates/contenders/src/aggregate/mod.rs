//! Strategies of aggregating `key;value` text: the stations of the mORMot entry to the Object Pascal
//! challenge beside this program's own engine, each written anew in `journey`.
//!
//! One iteration opens the file, aggregates it and formats the result; what a process pays before
//! and after is no part of it. All run on several threads, so only the wall clock counts. Where
//! hashes are trusted a wrong result on the given file costs the contender its row. Any preset takes
//! other choices, as a variant or by `--strategy final,check=full`:
//! entry=inline|compact|fathom, table=perthread|shared, check=full|hash,
//! parse=branches|branchless, scan=row|twostage, input=pread|whole|whole-populate|chunk|
//! chunk-populate, affinity=on|off, chunk=SIZE, threads=N.
//!
//! Strategies other than fathom take values from -99.9 to 99.9 of one decimal, up to 65,535
//! keys (old: of 51 bytes at most) and sums of 32 bits; what exceeds this takes no part. Files
//! that they map must not change meanwhile: a file that is cut short ends the worker with a
//! signal. sharedht, perthreadht and final trust 32-bit hashes without a seed: "aaaa" and
//! "aaaaa" are one key to them.

use fathom_measure::family::Family;

mod fathom;
mod final_full;
mod final_hash;
mod fullcheck;
pub mod journey;
mod old;
mod outside;
mod perthreadht;
mod plain;
mod reference;
mod sharedht;
mod station;
mod tables;
mod workload;

pub use workload::Text;

/// The family.
pub(crate) const FAMILY: Family<Text> = Family {
    name: "aggregate",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::Plain,
        &old::OLD,
        &sharedht::SHAREDHT,
        &fullcheck::FULLCHECK,
        &perthreadht::PERTHREADHT,
        &final_hash::FINAL_HASH,
        &final_full::FINAL_FULL,
        &fathom::FATHOM,
    ],
    absent: &[],
    facts: &workload::FACTS,
};

#[cfg(test)]
mod tests {
    use fathom_measure::family::AnyFamily;

    use super::FAMILY;
    use super::journey::PRESETS;

    #[test]
    fn every_preset_is_a_contender() {
        let ids: Vec<String> = FAMILY.entries().into_iter().map(|entry| entry.id).collect();
        for preset in PRESETS {
            assert!(ids.iter().any(|id| id == preset.name), "{}", preset.name);
        }
    }
}
