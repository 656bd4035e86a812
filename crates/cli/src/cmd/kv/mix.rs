//! What is done to the keys and in which shares: `hit=0.9,insert=0.1`. Knows no structure.

use std::str::FromStr;

use anyhow::ensure;
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
    /// Several threads walk nothing.
    pub(super) fn usual(ordered: bool, threads: Option<u32>) -> Mix {
        let text = match (ordered, threads) {
            (true, None) => "hit=0.7,insert=0.1,range=0.2",
            _ => "hit=0.8,miss=0.1,insert=0.1",
        };
        text.parse().expect("the default is right")
    }

    fn share(&self, name: &str) -> f64 {
        self.parts.iter().find(|(part, _)| *part == name).map_or(0.0, |part| part.1)
    }

    /// The operations that are measured for it. Finds that hit and finds that miss are one
    /// operation, because that is how a program meets them. With several threads all of it is one.
    ///
    /// # Errors
    /// What several threads are not measured at.
    pub(super) fn parts(&self, threads: Option<u32>) -> anyhow::Result<Vec<Part>> {
        let (hit, miss) = (self.share("hit"), self.share("miss"));
        if let Some(threads) = threads {
            return Ok(vec![Part { workload: self.shared(threads)?, share: 1.0 }]);
        }
        // One table for the whole mix: where keys are inserted one by one, finds meet a grown one.
        let table = if self.share("insert") > 0.0 { "grown" } else { "built" };
        let mut parts = Vec::new();
        if hit > 0.0 && miss > 0.0 {
            let share = written(hit / (hit + miss));
            let workload = Spec::new("find-mixed", &[("hit", &share), ("table", table)]);
            parts.push(Part { workload, share: hit + miss });
        }
        for &(name, share) in &self.parts {
            let is_mixed = matches!(name, "hit" | "miss") && hit > 0.0 && miss > 0.0;
            let operation = PARTS.iter().find(|part| part.0 == name).map(|part| part.1);
            if let (Some(operation), false) = (operation, is_mixed) {
                let workload = Spec::new(operation, &[("table", table)]);
                parts.push(Part { workload, share });
            }
        }
        Ok(parts)
    }

    /// All of it at once by so many threads.
    fn shared(&self, threads: u32) -> anyhow::Result<Spec> {
        let walk = ["iterate", "scan", "range"].into_iter().find(|name| self.share(name) > 0.0);
        ensure!(
            walk.is_none(),
            "--concurrent measures hit, miss, zipf, insert, update, erase and churn, not {}",
            walk.unwrap_or_default()
        );
        let churn = self.share("churn");
        let (hit, miss, zipf) = (self.share("hit"), self.share("miss"), self.share("zipf"));
        let (insert, erase) =
            (self.share("insert") + churn / 2.0, self.share("erase") + churn / 2.0);
        let (reads, changes) = (hit + miss + zipf, insert + erase + self.share("update"));
        // A share of nothing is nothing.
        let of = |part: f64, whole: f64| written(if part > 0.0 { part / whole } else { 0.0 });
        let parameters = [
            ("threads", threads.to_string()),
            ("reads", of(reads, reads + changes)),
            ("hit", of(hit, hit + miss)),
            ("hot", of(zipf, reads)),
            ("inserts", of(insert, changes)),
            ("erases", of(erase, changes)),
            ("table", if insert > 0.0 { "grown" } else { "built" }.to_owned()),
        ];
        let parameters = parameters.each_ref().map(|(name, value)| (*name, value.as_str()));
        Ok(Spec::new("shared", &parameters))
    }

    /// What is measured, in words: `80 % finds of present keys, 20 % inserts`.
    pub(super) fn words(&self, threads: Option<u32>) -> String {
        let words = |&(name, share): &(&str, f64)| {
            let what = PARTS.iter().find(|part| part.0 == name).map_or(name, |part| part.2);
            format!("{} % {what}", percent(share))
        };
        let words = self.parts.iter().map(words).collect::<Vec<_>>().join(", ");
        match threads {
            Some(1) => format!("{words} by 1 thread"),
            Some(threads) => format!("{words} by {threads} threads at once"),
            None => words,
        }
    }
}

/// A share in percent, to a tenth; in more digits where these make none or all of it.
fn percent(share: f64) -> f64 {
    let rounded = |digits: i32| {
        let unit = 10_f64.powi(digits);
        (share * 100.0 * unit).round() / unit
    };
    let is_told = |percent: &f64| share == share.round() || (*percent > 0.0 && *percent < 100.0);
    (1..12).map(rounded).find(is_told).unwrap_or(share * 100.0)
}

/// A share as a parameter: in four decimals, which runs are compared by, unless these make none or all of it.
fn written(share: f64) -> String {
    let short = format!("{share:.4}");
    let is_told = share == share.round() || !["0.0000", "1.0000"].contains(&&*short);
    if is_told { short } else { share.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_is_one() {
        let mix: Mix = "insert=1".parse().unwrap();
        assert!(mix.words(Some(1)).ends_with(" by 1 thread"));
        assert!(mix.words(Some(2)).ends_with(" by 2 threads at once"));
    }

    #[test]
    fn shares_are_of_their_sum_and_hits_and_misses_are_one_operation() {
        let mix: Mix = "hit=6,miss=2,insert=2".parse().unwrap();
        let parts = mix.parts(None).unwrap();
        assert_eq!(parts.len(), 2);
        let finds = Spec::new("find-mixed", &[("hit", "0.7500"), ("table", "grown")]);
        assert_eq!(parts[0].workload, finds);
        assert!((parts[0].share - 0.8).abs() < 1e-12);
        assert_eq!(parts[1].workload.operation, "insert");
        let said = "60 % finds of present keys, 20 % finds of absent keys, 20 % inserts";
        assert_eq!(mix.words(None), said);
        let few: Mix = "hit=0.99999,miss=0.00001".parse().unwrap();
        assert_eq!(few.parts(None).unwrap()[0].workload.parameters["hit"], "0.99999");
        let words = "99.999 % finds of present keys, 0.001 % finds of absent keys";
        assert_eq!(few.words(None), words);
        let hits: Mix = "hit=1".parse().unwrap();
        let hits = &hits.parts(None).unwrap()[0].workload;
        assert_eq!((&*hits.operation, &*hits.parameters["table"]), ("find-hit", "built"));
    }

    #[test]
    fn threads_make_it_one_operation_with_the_shares_of_the_mix() {
        let shared = |text: &str| {
            let mix: Mix = text.parse().unwrap();
            let [Part { workload, share: 1.0 }] = &mix.parts(Some(2)).unwrap()[..] else {
                panic!()
            };
            assert_eq!((&*workload.operation, &*workload.parameters["threads"]), ("shared", "2"));
            ["reads", "hit", "hot", "inserts", "erases"]
                .map(|name| workload.parameters[name].clone())
        };
        let numbers = shared("hit=0.9,update=0.1");
        assert_eq!(numbers, ["0.9000", "1.0000", "0.0000", "0.0000", "0.0000"]);
        let all = "hit=0.3,miss=0.1,zipf=0.1,insert=0.2,update=0.1,erase=0.1,churn=0.1";
        assert_eq!(shared(all), ["0.5000", "0.7500", "0.2000", "0.5000", "0.3000"]);
        assert_eq!(shared("insert=1"), ["0.0000", "0.0000", "0.0000", "1.0000", "0.0000"]);
        assert_eq!(shared("hit=0.99999,insert=0.00001")[0], "0.99999");
        let mix: Mix = "hit=0.9,erase=0.1".parse().unwrap();
        let words = "90 % finds of present keys, 10 % erases by 2 threads at once";
        assert_eq!(mix.words(Some(2)), words);
        let walk: Mix = "hit=0.9,scan=0.1".parse().unwrap();
        assert!(walk.parts(Some(2)).unwrap_err().to_string().contains("not scan"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "hit", "hit=x", "hit=-1", "dance=1", "hit=1,hit=1", "hit=0"] {
            assert!(text.parse::<Mix>().is_err(), "{text}");
        }
    }
}
