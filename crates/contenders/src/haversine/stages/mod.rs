//! The way from the plain program to the product, a step at a time: what the haversine notes tried
//! in that order, and what fathom does beyond them. Every step reads the file by itself, in chunks.
//!
//! The steps differ in one thing each, so a step's time beside the one before it is what that thing
//! is worth on this machine. The early ones get numbers wrong; how many pairs, and by how much the
//! mean is off, is found by comparing with exact arithmetic, never assumed. A step whose mean is off
//! by more than a ten-thousandth has not done the work and gets no time.
//!
//! ```text
//! strtod ─► quick ─► scan ─► views ─► chunks+16k ─► chunks+256k ─► exact ─► vector ─► strict ─► fathom ─► threads
//!   a match per byte  │ tokens in one piece           │ numbers        │ distances  │ grammar   │ templates
//! ```

use fathom_measure::facts::Facts;
use fathom_measure::family::{AnyFamily, Family};

mod chunks;
mod exact;
mod fathom;
mod number;
mod quick;
mod row;
mod scan;
mod scanner;
mod strict;
#[allow(unsafe_code)] // the C library's strtod, a foreign function
mod strtod;
mod threads;
mod vector;
mod views;
mod workload;

pub use workload::{File, MEAN_OFF_KM, PAIRS_WRONG};

/// The family: hidden, since `fathom haversine FILE --stages` is its command.
#[must_use]
#[inline(never)]
pub fn family() -> &'static dyn AnyFamily {
    &FAMILY
}

pub(crate) const FAMILY: Family<File> = Family {
    name: "haversine-stages",
    source: include_str!("mod.rs"),
    reference: "fathom",
    contenders: &[
        &strtod::STRTOD,
        &quick::QUICK,
        &scan::SCAN,
        &views::VIEWS,
        &chunks::CHUNKS,
        &exact::EXACT,
        &vector::VECTOR,
        &strict::STRICT,
        &fathom::FATHOM,
        &threads::THREADS,
    ],
    absent: &[],
    facts: &Facts::NONE,
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fathom_measure::family::AnyFamily;
    use fathom_measure::meter::Untimed;
    use fathom_measure::workload::Spec;

    use super::*;

    /// Wrong pairs and the error of the mean in kilometres, by step.
    fn ladder(numbers: &str, count: &str) -> BTreeMap<String, (f64, f64)> {
        let small = FAMILY.small_cases().into_iter();
        let wanted = |spec: &Spec| spec.text("numbers") == numbers && spec.text("count") == count;
        let spec = FAMILY.completed(&small.clone().find(wanted).unwrap()).unwrap();
        let mut digests = Vec::new();
        let mut steps = BTreeMap::new();
        for entry in FAMILY.entries() {
            let opened = FAMILY.open(&entry.id, &spec, &mut |mut opened| {
                digests.push(opened.prepared.sample(1, &mut Untimed));
                let metrics = opened.prepared.metrics();
                let value = |name: &str| metrics.iter().find(|m| m.name == name).unwrap().value;
                steps.insert(entry.id.clone(), (value(PAIRS_WRONG), value(MEAN_OFF_KM)));
            });
            opened.unwrap();
        }
        assert!(digests.windows(2).all(|two| two[0] == two[1]), "{digests:?}");
        steps
    }

    #[test]
    fn every_step_reads_every_pair_and_only_the_quick_numbers_are_wrong() {
        for numbers in ["course", "shortest"] {
            for (step, (wrong, off)) in ladder(numbers, "3K") {
                let is_quick = ["quick", "scan", "views", "chunks+16k", "chunks+256k"];
                let is_quick = is_quick.contains(&step.as_str());
                assert_eq!(wrong > 0.0, is_quick, "{step} on {numbers}: {wrong} pairs");
                assert!(off < 1e-6, "{step} on {numbers}: off by {off}");
            }
        }
    }

    #[test]
    fn a_few_pairs_are_enough() {
        for (step, (_, off)) in ladder("course", "1") {
            assert!(off < 1e-8, "{step}: off by {off}");
        }
    }

    /// Some read one JSON document and no more.
    #[test]
    fn every_step_reads_what_the_engine_reads_a_pair_per_line_or_a_bare_array() {
        let pair = r#"{"x0":1.5,"y0":2.5,"x1":-3.5,"y1":4.5}"#;
        for text in [format!("{pair}\n{pair}\n"), format!("[{pair},{pair}]")] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            let spec = Spec { file: Some(file.path().into()), ..Spec::new("mean", &[]) };
            let digest = |id: &str| super::super::digest(&FAMILY, id, &spec);
            for entry in FAMILY.entries() {
                assert_eq!(digest(&entry.id), digest(FAMILY.reference), "{} on {text}", entry.id);
            }
        }
    }
}
