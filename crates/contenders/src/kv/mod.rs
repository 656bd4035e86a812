//! Every structure that holds keys with values, as one family: what `fathom kv` chooses from.
//!
//! Maps, trees, tries and stores have families of their own, with their own pages; here they compete in the
//! same rounds. One iteration is a pass over all keys. Nothing is defined here but the union, and
//! contenders that fail on purpose, which are served but never listed.

use fathom_measure::facts::Facts;
use fathom_measure::family::{Absent, AnyFamily, Entry, Family, OpenError, Opened};
use fathom_measure::workload::{Offer, Spec, SpecError};

use crate::keyed::Keyed;
use crate::keyed::operation::Plain;

mod oracle;
mod planted;

use planted::{CRASH, HANG, NONE, Planted, SLOW, SLOWER, WRONG};

/// The family.
pub static FAMILY: Union = Union {
    name: "kv",
    source: include_str!("mod.rs"),
    families: &[
        &crate::map::FAMILY,
        &crate::tree::FAMILY,
        &crate::trie::FAMILY,
        &crate::store::FAMILY,
    ],
    hidden: &PLANTED,
};

/// Structures that are wrong, crash or hang: what the tests of the method plant.
static PLANTED: Family<Keyed> = Family {
    name: "planted-kv",
    source: include_str!("planted.rs"),
    reference: "oracle",
    contenders: &[
        &oracle::Oracle,
        &Plain(Planted::<WRONG, 0>),
        &Plain(Planted::<CRASH, 1>),
        &Plain(Planted::<HANG, 2>),
        &Plain(Planted::<SLOW, 3>),
        &Plain(Planted::<NONE, 4>),
        &Plain(Planted::<NONE, 5>),
        &Plain(Planted::<SLOWER, 6>),
    ],
    absent: &[],
    facts: &Facts::NONE,
};

/// Families with the same workload, seen as one.
pub struct Union {
    name: &'static str,
    source: &'static str,
    families: &'static [&'static dyn AnyFamily],
    hidden: &'static Family<Keyed>,
}

impl Union {
    /// The families it consists of.
    #[must_use]
    pub fn families(&self) -> &'static [&'static dyn AnyFamily] {
        self.families
    }

    /// The contenders that fail on purpose; not among [`AnyFamily::entries`].
    #[must_use]
    pub fn planted(&self) -> Vec<Entry> {
        self.hidden.entries().into_iter().filter(|entry| entry.id.starts_with("planted")).collect()
    }

    /// Whether contender `id` is of the family `store`: in transactions, and slow for it.
    #[must_use]
    pub fn stores(&self, id: &str) -> bool {
        let entries = crate::store::FAMILY.entries();
        id != crate::store::FAMILY.reference() && entries.iter().any(|entry| entry.id == id)
    }

    fn holder(&self, id: &str) -> Option<&dyn AnyFamily> {
        let name = id.split('+').next().unwrap_or(id);
        let has = |family: &&dyn AnyFamily| {
            family.entries().iter().any(|entry| entry.id.split('+').next() == Some(name))
        };
        let hidden: &dyn AnyFamily = self.hidden;
        self.families.iter().copied().chain([hidden]).find(has)
    }
}

impl AnyFamily for Union {
    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &'static str {
        self.source
    }

    fn reference(&self) -> &'static str {
        self.hidden.reference
    }

    /// The entries of all families; what two of them have is listed once.
    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in self.families.iter().flat_map(|family| family.entries()) {
            if !entries.iter().any(|known| known.id == entry.id) {
                entries.push(entry);
            }
        }
        entries
    }

    fn absent(&self) -> &'static [Absent] {
        &[]
    }

    fn operations(&self) -> &'static [Offer] {
        self.hidden.operations()
    }

    fn parameters(&self) -> &'static [Offer] {
        self.hidden.parameters()
    }

    fn made(&self) -> &'static [&'static str] {
        self.hidden.made()
    }

    fn cases(&self) -> Vec<Spec> {
        self.hidden.cases()
    }

    fn small_cases(&self) -> Vec<Spec> {
        self.hidden.small_cases()
    }

    fn wants_bytes(&self) -> bool {
        self.hidden.wants_bytes()
    }

    fn prepared(&self, spec: &Spec) -> Result<Option<Vec<u8>>, SpecError> {
        self.hidden.prepared(spec)
    }

    fn reads_prepared(&self) -> bool {
        self.hidden.reads_prepared()
    }

    /// Without the parameters that this operation does not use, for whoever reads its title.
    fn completed(&self, spec: &Spec) -> Result<Spec, SpecError> {
        let mut full = self.hidden.completed(spec)?;
        let operation = full.operation.clone();
        let has_file = full.file.is_some();
        let has_hot = full.fraction("hot").is_ok_and(|share| share > 0.0);
        full.parameters.retain(|name, _| match name.as_str() {
            "format" => has_file,
            "hit" => matches!(operation.as_str(), "find-mixed" | "shared"),
            "skew" => operation == "find-zipf" || (operation == "shared" && has_hot),
            "span" => operation == "range",
            "threads" | "reads" | "hot" | "inserts" | "erases" => operation == "shared",
            "probes" => !matches!(operation.as_str(), "find-same" | "iterate" | "scan"),
            _ => true,
        });
        Ok(full)
    }

    fn open(
        &self,
        id: &str,
        spec: &Spec,
        then: &mut dyn FnMut(Opened<'_>),
    ) -> Result<(), OpenError> {
        match self.holder(id) {
            Some(family) => family.open(id, spec, then),
            None => Err(OpenError::Unknown(id.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::digest::Digest;
    use fathom_measure::meter::Untimed;

    use super::*;

    fn digest(id: &str, operation: &str) -> Digest {
        let spec = FAMILY.completed(&Spec::new(operation, &[("count", "500")])).unwrap();
        let mut digest = Digest::default();
        FAMILY
            .open(id, &spec, &mut |mut opened| digest = opened.prepared.sample(1, &mut Untimed))
            .unwrap();
        digest
    }

    #[test]
    fn every_family_s_contenders_are_found_under_their_names() {
        let entries = FAMILY.entries();
        assert!(entries.iter().filter(|entry| entry.id == "btreemap").count() == 1);
        assert!(entries.iter().all(|entry| !entry.id.starts_with("planted")));
        assert_eq!(digest("hashbrown+xxh3-64", "find-hit"), digest("btreemap", "find-hit"));
        let spec = FAMILY.completed(&Spec::new("insert", &[])).unwrap();
        assert!(FAMILY.open("no-such", &spec, &mut |_| ()).is_err());
    }

    #[test]
    fn the_planted_ones_are_as_planted() {
        assert_eq!(FAMILY.planted().len(), 7);
        assert_ne!(digest("planted-wrong", "find-hit"), digest("btreemap", "find-hit"));
        for right in ["planted-slow", "planted-right", "planted-twin", "planted-slower"] {
            assert_eq!(digest(right, "find-hit"), digest("btreemap", "find-hit"), "{right}");
        }
    }
}
