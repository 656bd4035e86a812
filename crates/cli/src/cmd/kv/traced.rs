//! What a trace does, counted and in words. Reads none.

use fathom_measure::workload::Spec;
use fathom_report::number::plural;
use serde::{Deserialize, Serialize};

use super::mix::Part;

/// What a trace does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Traced {
    pub(super) operations: usize,
    /// Different keys that it names.
    pub(super) keys: usize,
    pub(super) gets: usize,
    /// Of the gets, how many find something.
    pub(super) hits: usize,
    pub(super) puts: usize,
    /// Of the puts, how many insert.
    pub(super) inserts: usize,
    pub(super) dels: usize,
    /// Of the dels, how many find something.
    pub(super) erases: usize,
    pub(super) scans: usize,
    /// The most keys that are there at once, and how many are at the end.
    pub(super) most: usize,
    pub(super) last: usize,
}

impl Traced {
    /// In a sentence about what is measured.
    pub(super) fn words(&self) -> String {
        let percent =
            |part: usize, whole: usize| (part as f64 / whole as f64 * 1000.0).round() / 10.0;
        let of = |count: usize, what: &str, inner: Option<(usize, &str)>| {
            let opening = format!("{} % {what}", percent(count, self.operations));
            let inner =
                inner.map(|(part, what)| format!(", {} % of them {what}", percent(part, count)));
            (count > 0).then(|| opening + &inner.unwrap_or_default())
        };
        let parts = [
            of(self.gets, "gets", Some((self.hits, "hits"))),
            of(self.puts, "puts", Some((self.inserts, "inserts"))),
            of(self.dels, "dels", Some((self.erases, "hits"))),
            of(self.scans, "scans", None),
        ];
        format!("this trace ({})", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// How large it is, in a line.
    pub(super) fn size(&self) -> String {
        format!(
            "{} on {}, at most {} there at once and {} at the end",
            plural(self.operations, "operation"),
            plural(self.keys, "key"),
            self.most,
            self.last
        )
    }

    /// The one operation that is measured for it. Structures that the trace inserts into have grown by
    /// inserts before it begins, too.
    pub(super) fn part(&self) -> Part {
        let table = if self.puts > 0 { "grown" } else { "built" };
        Part { workload: Spec::new("replay", &[("table", table)]), share: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_anything_is_singular() {
        let trace = Traced { operations: 1, keys: 1, most: 1, ..Traced::default() };
        assert_eq!(trace.size(), "1 operation on 1 key, at most 1 there at once and 0 at the end");
    }
}
