//! What is done to the keys and in which shares: `hit=0.9,insert=0.1`. Knows no structure.

use std::str::FromStr;

use fathom_measure::workload::Spec;

/// Shares of operations; they sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mix {
    parts: Vec<(&'static str, f64)>,
}

/// What can be in a mix: its name, the operation of the workload, what a sentence calls it.
const PARTS: [(&str, &str, &str); 10] = [
    ("hit", "find-hit", "finds of present keys"),
    ("miss", "find-miss", "finds of absent keys"),
    ("insert", "insert", "inserts"),
    ("update", "update", "updates"),
    ("erase", "erase", "erases"),
    ("churn", "churn", "replacements"),
    ("iterate", "iterate", "steps of an iteration"),
    ("scan", "scan", "steps of an ordered scan"),
    ("range", "range", "steps of ordered ranges"),
    ("zipf", "find-zipf", "finds of few keys often"),
];

/// One operation that is measured, and its share of the mix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The operation and the parameters that the mix decides.
    pub(super) workload: Spec,
    /// Its share, from 0 to 1.
    pub(super) share: f64,
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Mix, String> {
        let mut parts: Vec<(&'static str, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, share) =
                part.split_once('=').ok_or_else(|| format!("{part:?}: no share"))?;
            let known = PARTS.iter().map(|part| part.0).find(|known| *known == name);
            let names = || PARTS.map(|part| part.0).join(", ");
            let name = known.ok_or_else(|| format!("{name:?} is none of {}", names()))?;
            let share = share.parse().ok().filter(|share: &f64| (0.0..=1e9).contains(share));
            let share = share.ok_or_else(|| format!("{part:?}: not a share"))?;
            if parts.iter().any(|(other, _)| *other == name) {
                return Err(format!("{name} twice"));
            }
            parts.push((name, share));
        }
        let sum: f64 = parts.iter().map(|(_, share)| share).sum();
        if sum <= 0.0 {
            return Err("all shares are 0".to_owned());
        }
        parts.iter_mut().for_each(|(_, share)| *share /= sum);
        parts.retain(|(_, share)| *share > 0.0);
        Ok(Mix { parts })
    }
}

impl Mix {
    /// What is taken when nothing is said: mostly finds that succeed, some that do not, inserts.
    pub(super) fn usual(ordered: bool) -> Mix {
        let text =
            if ordered { "hit=0.7,insert=0.1,range=0.2" } else { "hit=0.8,miss=0.1,insert=0.1" };
        text.parse().expect("the default is right")
    }

    fn share(&self, name: &str) -> f64 {
        self.parts.iter().find(|(part, _)| *part == name).map_or(0.0, |part| part.1)
    }

    /// The operations that are measured for it. Finds that hit and finds that miss are one
    /// operation, because that is how a program meets them. With several threads all of it is one.
    pub(super) fn parts(&self, threads: Option<u32>) -> Vec<Part> {
        let (hit, miss) = (self.share("hit"), self.share("miss"));
        if let Some(threads) = threads {
            let (threads, reads) = (threads.to_string(), format!("{:.4}", self.reads()));
            let workload = Spec::new("shared", &[("threads", &threads), ("reads", &reads)]);
            return vec![Part { workload, share: 1.0 }];
        }
        let mut parts = Vec::new();
        if hit > 0.0 && miss > 0.0 {
            let share = format!("{:.4}", hit / (hit + miss));
            let workload = Spec::new("find-mixed", &[("hit", &share)]);
            parts.push(Part { workload, share: hit + miss });
        }
        for &(name, share) in &self.parts {
            let is_mixed = matches!(name, "hit" | "miss") && hit > 0.0 && miss > 0.0;
            let operation = PARTS.iter().find(|part| part.0 == name).map(|part| part.1);
            if let (Some(operation), false) = (operation, is_mixed) {
                parts.push(Part { workload: Spec::new(operation, &[]), share });
            }
        }
        parts
    }

    /// Share of the operations that change nothing.
    fn reads(&self) -> f64 {
        self.share("hit") + self.share("miss") + self.share("zipf")
    }

    /// What is measured, in words: `80 % finds of present keys, 20 % inserts`. Several threads find
    /// and update keys that are there, whatever the mix says of misses and inserts.
    pub(super) fn words(&self, threads: Option<u32>) -> String {
        if let Some(threads) = threads {
            let percent = |share: f64| (share * 1000.0).round() / 10.0;
            let (finds, updates) = (percent(self.reads()), percent(1.0 - self.reads()));
            return format!(
                "{finds} % finds and {updates} % updates of present keys on {threads} threads"
            );
        }
        let words = |&(name, share): &(&str, f64)| {
            let what = PARTS.iter().find(|part| part.0 == name).map_or(name, |part| part.2);
            format!("{} % {what}", (share * 1000.0).round() / 10.0)
        };
        self.parts.iter().map(words).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_their_sum_and_hits_and_misses_are_one_operation() {
        let mix: Mix = "hit=6,miss=2,insert=2".parse().unwrap();
        let parts = mix.parts(None);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].workload, Spec::new("find-mixed", &[("hit", "0.7500")]));
        assert!((parts[0].share - 0.8).abs() < 1e-12);
        assert_eq!(parts[1].workload.operation, "insert");
        assert_eq!(
            mix.words(None),
            "60 % finds of present keys, 20 % finds of absent keys, 20 % inserts"
        );
        let hits: Mix = "hit=1".parse().unwrap();
        assert_eq!(hits.parts(None)[0].workload.operation, "find-hit");
    }

    #[test]
    fn threads_make_it_one_operation() {
        let mix: Mix = "hit=0.9,update=0.1".parse().unwrap();
        let parts = mix.parts(Some(2));
        let expected = Spec::new("shared", &[("threads", "2"), ("reads", "0.9000")]);
        assert_eq!(parts, [Part { workload: expected, share: 1.0 }]);
        let words = "90 % finds and 10 % updates of present keys on 2 threads";
        assert_eq!(mix.words(Some(2)), words);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "hit", "hit=x", "hit=-1", "dance=1", "hit=1,hit=1", "hit=0"] {
            assert!(text.parse::<Mix>().is_err(), "{text}");
        }
    }
}
