//! What the command line says of keys and of who takes part: names into candidates. Measures nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use fathom_contenders::alloc::{self, COUNTING};
use fathom_contenders::kv;
use fathom_keys::Format;
use fathom_measure::family::Absent;

use super::alias;
use super::candidate::{self, Candidate};
use crate::measuring;

/// Where keys come from.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// The file of keys; - is stdin
    #[arg(value_name = "FILE", conflicts_with = "alias")]
    file: Option<PathBuf>,

    /// The same, as kvbench has it
    #[arg(short = 'f', id = "alias", value_name = "FILE")]
    alias: Option<PathBuf>,

    /// Its format, told from its bytes where they tell: words, lines, csv:COLUMN[:DELIMITER] (by
    /// number from 1 it has no header), jsonl:FIELD, integers, u32, u64, bin-text, bin-text1,
    /// bin-text-kv, bin-slice-kv
    #[arg(short = 'F', long, value_name = "FORMAT")]
    pub(super) from: Option<Format>,
}

/// Who takes part; nothing said is everybody.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// Only these structures (kvbench's names too: cuckoo, f14, hot, art), or `all`; `kv bench` has to be told
    #[arg(short = 'd', long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) structure: Vec<String>,

    /// Only these hash functions (kvbench's names too: xxhash:XX3_64bits, t1ha::t1ha,
    /// city::cityhash64), or `all`; `kv bench` takes foldhash unless told
    #[arg(short = 'h', long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) hash: Vec<String>,

    /// Only these allocators, or `all`, those to be preloaded included; `kv bench` takes the system's unless told
    #[arg(short = 'a', long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) allocator: Vec<String>,
}

impl Source {
    pub(super) fn path(&self) -> anyhow::Result<&Path> {
        self.named().context("no file of keys was given")
    }

    /// The file, if one is.
    pub(super) fn named(&self) -> Option<&Path> {
        self.file.as_deref().or(self.alias.as_deref())
    }
}

impl Choice {
    /// Whether everybody is wanted.
    pub(super) fn is_open(&self) -> bool {
        self.structure.is_empty() && self.allocator.is_empty()
    }

    /// The allocators that are named, unless all are wanted.
    pub(super) fn allocators(&self) -> &[String] {
        if self.allocator == ["all"] { &[] } else { &self.allocator }
    }

    /// The combinations that are wanted.
    ///
    /// # Errors
    /// A name that nothing in this build has.
    pub(super) fn candidates(
        &self,
        everybody: bool,
        with_planted: bool,
    ) -> anyhow::Result<Vec<Candidate>> {
        let structures: Vec<&str> =
            self.structure.iter().map(|name| alias::structure(name)).collect();
        let hashes: Vec<String> = self.hash.iter().map(|name| alias::hash(name)).collect();
        let planted = kv::planted();
        let asks_planted =
            structures.iter().any(|name| planted.iter().any(|entry| entry.id == *name));
        let allocators: Vec<&str> = self.allocator.iter().map(String::as_str).collect();
        let unasked = |name: &str| {
            let is_named = allocators.contains(&name) || structures.contains(&name);
            is_named || self.is_meant(name, everybody)
        };
        let mut all = candidate::all(&unasked, with_planted || asks_planted);
        let any = |names: &[&str]| names.is_empty() || names == ["all"];
        for name in structures.iter().filter(|_| !any(&structures)) {
            let known = all.iter().any(|candidate| candidate.structure == *name);
            ensure!(
                known,
                "no structure {name:?} in this build; fathom list names them{}",
                absent(name)
            );
        }
        let hash_names: Vec<&str> = hashes.iter().map(String::as_str).collect();
        for name in hash_names.iter().filter(|_| !any(&hash_names)) {
            let known = all.iter().any(|candidate| candidate.hash.as_deref() == Some(*name));
            ensure!(known, "no hash function {name:?} in this build; fathom list hash names them");
        }
        for name in allocators.iter().filter(|_| !any(&allocators)) {
            measuring::worker(Some(name))?;
        }
        all.retain(|candidate| {
            let hash = candidate.hash.as_deref();
            (any(&structures) || structures.contains(&candidate.structure.as_str()))
                && (any(&hash_names) || hash.is_none_or(|hash| hash_names.contains(&hash)))
                && (any(&allocators) || allocators.contains(&candidate.allocator.as_str()))
        });
        Ok(all)
    }

    /// Whether what takes part only when asked for is, without its name.
    fn is_meant(&self, name: &str, everybody: bool) -> bool {
        if alloc::is_preloaded(name) {
            // What the machine happens to have must not change the answer.
            self.allocator == ["all"]
        } else {
            everybody && name != COUNTING
        }
    }
}

/// Why a structure is not in this build, if it is known at all.
fn absent(name: &str) -> String {
    let is_it = |absent: &Absent| match absent.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => absent.name == name,
    };
    let found = kv::absent().find(is_it);
    found.map_or_else(String::new, |absent| format!(" ({})", absent.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They took part with `--all`, which asks for structures.
    #[test]
    fn allocators_that_are_preloaded_take_part_if_all_allocators_are_asked_for() {
        let choice = |names: &[&str]| Choice {
            structure: Vec::new(),
            hash: Vec::new(),
            allocator: names.iter().map(|&name| name.to_owned()).collect(),
        };
        assert!(!choice(&[]).is_meant("hoard", true) && choice(&["all"]).is_meant("hoard", false));
        assert!(choice(&[]).is_meant("arena", true) && !choice(&["all"]).is_meant("arena", false));
        assert!(!choice(&["all"]).is_meant(COUNTING, true));
    }
}
