//! What can be done to keys, by name, and the parameters that decide how. Does none of it.

use fathom_measure::workload::{Offer, Spec};

use super::load;
use crate::tasks::{offer, parameter};

/// What is done to the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every key into an empty structure that grows as it must.
    Insert,
    /// A structure with all keys, in the best way it offers: pre-sized, in bulk, static.
    Build,
    /// Finds.
    Find(Find),
    /// A new value for every key, shuffled.
    Update,
    /// Every key out, shuffled.
    Erase,
    /// One key out, another one in: all keys replaced by others and back again.
    Churn,
    /// Every value, in any order.
    Iterate,
    /// Every value, in key order.
    Scan,
    /// From random keys on, some values in key order.
    Range,
    /// Finds, inserts, updates and erases by several threads.
    Shared,
    /// What a program did, in its order.
    Replay,
    /// Reads every byte of every probe and nothing else: what all other operations contain.
    Touch,
}

/// Which keys are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Present ones, shuffled, from separate copies.
    Hit,
    /// Present ones, in the order they were inserted and from the very same bytes.
    Same,
    /// Absent ones of the same shape.
    Miss,
    /// Present with probability `hit`.
    Mixed,
    /// Present ones, few of them often.
    Zipf,
}

pub(super) const OPERATIONS: &[(Operation, Offer)] = &[
    (Operation::Find(Find::Hit), offer("find-hit", "every key, shuffled, from separate copies")),
    (
        Operation::Find(Find::Same),
        offer("find-same", "every key in insertion order from the same bytes, as kvbench does"),
    ),
    (Operation::Find(Find::Miss), offer("find-miss", "absent keys of the same shape")),
    (Operation::Find(Find::Mixed), offer("find-mixed", "present keys with probability `hit`")),
    (
        Operation::Find(Find::Zipf),
        offer("find-zipf", "present keys, rank k with probability proportional to k^-skew"),
    ),
    (Operation::Insert, offer("insert", "every key into an empty structure that grows")),
    (
        Operation::Build,
        offer("build", "all keys at once: pre-sized, bulk-loaded or static, whichever it offers"),
    ),
    (Operation::Update, offer("update", "a new value for every key, shuffled")),
    (Operation::Erase, offer("erase", "every key out, shuffled")),
    (Operation::Churn, offer("churn", "one key out and another in, until all are back again")),
    (Operation::Iterate, offer("iterate", "every value in any order")),
    (Operation::Scan, offer("scan", "every value in key order")),
    (Operation::Range, offer("range", "`span` values in key order from random keys on")),
    (
        Operation::Shared,
        offer(
            "shared",
            "`threads` threads find with probability `reads`, or insert, erase, update; a pass \
             begins with the same keys each time",
        ),
    ),
    (
        Operation::Replay,
        offer("replay", "the operations of a trace, in their order, on the keys it begins with"),
    ),
    (Operation::Touch, offer("touch", "every byte of every probe read; no structure at all")),
];

impl Operation {
    /// The one of this name; specs are completed before they are read, so that there is one.
    pub(super) fn of(name: &str) -> Operation {
        let found = OPERATIONS.iter().find(|(_, offer)| offer.name == name);
        found.map_or(Operation::Insert, |(operation, _)| *operation)
    }
}

/// [`OPERATIONS`] without what they mean here.
pub(super) const OFFERED: [Offer; OPERATIONS.len()] = {
    let mut offered = [OPERATIONS[0].1; OPERATIONS.len()];
    let mut at = 0;
    while at < offered.len() {
        offered[at] = OPERATIONS[at].1;
        at += 1;
    }
    offered
};

/// The parameters.
pub(super) const PARAMETERS: &[Offer] = &[
    load::PARAMETERS[0],
    load::PARAMETERS[1],
    load::PARAMETERS[2],
    load::PARAMETERS[3],
    parameter(
        "probes",
        "1000000",
        "keys looked for, updated or erased in a pass, at most: chosen at random; \
              find-same, insert and build always take all",
    ),
    parameter("hit", "0.9", "find-mixed, shared, replay: share of finds whose key is there"),
    parameter("skew", "0.99", "find-zipf, shared: the exponent; 0 is uniform"),
    parameter("span", "100", "range: values read from each start"),
    parameter("threads", "2", "shared: number of threads"),
    parameter("reads", "0.9", "shared, replay: share of finds; the rest changes"),
    parameter(
        "hot",
        "0",
        "shared: share of the finds that look for few keys often, as find-zipf does",
    ),
    parameter("inserts", "0.25", "shared, replay: share of the changes that insert a new key"),
    parameter(
        "erases",
        "0.25",
        "shared, replay: share of the changes that erase a key; the rest updates",
    ),
    parameter(
        "table",
        "built",
        "what finds, changes and walks begin with: `built` from all keys in the best way it \
              offers, or `grown` by one insert after another",
    ),
    parameter(
        "trace",
        "",
        "replay: the file of the trace, with a line `get KEY`, `put KEY`, `del KEY` or \
              `scan KEY N` for each operation; without one it is drawn from the keys",
    ),
];

/// Whether `parameter` decides anything about what `spec`, which is complete, measures.
pub(super) fn takes(spec: &Spec, parameter: &str) -> bool {
    let operation = spec.operation.as_str();
    let has_trace = matches!(operation, "replay" | "touch") && !spec.text("trace").is_empty();
    let is_drawn = operation == "replay" && !has_trace;
    match parameter {
        "format" => spec.file.is_some() || has_trace,
        "keys" => !(has_trace && spec.text("count") == "0"),
        "hit" => matches!(operation, "find-mixed" | "shared") || is_drawn,
        "skew" if operation == "shared" => spec.fraction("hot").is_ok_and(|share| share > 0.0),
        "skew" => operation == "find-zipf",
        "span" => operation == "range",
        "threads" | "hot" => operation == "shared",
        "reads" | "inserts" | "erases" => operation == "shared" || is_drawn,
        "probes" => {
            let takes_all = ["insert", "build", "find-same", "iterate", "scan"];
            !takes_all.contains(&operation) && !has_trace
        }
        "trace" => has_trace,
        "table" => !matches!(operation, "insert" | "build" | "touch"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Keyed;
    use super::*;

    #[test]
    fn probes_decide_nothing_where_all_keys_are_taken() {
        let takes = |operation| {
            let spec = Spec::new(operation, &[]).completed::<Keyed>().unwrap();
            takes(&spec, "probes")
        };
        assert!(!["insert", "build", "find-same", "iterate", "scan"].into_iter().any(takes));
        assert!(["find-hit", "erase", "update", "churn", "range"].into_iter().all(takes));
    }
}
