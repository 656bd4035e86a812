//! Which processors share what: sockets, cores, threads, memory nodes, caches.
//!
//! All from `/sys/devices/system`; where that is hidden, the processors are counted in
//! `/proc/cpuinfo` and the rest is unknown.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::processor::{CPUS, values};
use crate::os::source::Source;

const NODES: &str = "sys/devices/system/node";

/// How many of everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Processors the kernel runs on, counting each thread of a core.
    pub cpus: Option<usize>,
    /// Packages.
    pub sockets: Option<usize>,
    /// Physical cores.
    pub cores: Option<usize>,
    /// Memory nodes that have processors or memory.
    pub numa_nodes: Vec<NumaNode>,
}

/// A memory node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumaNode {
    /// Its number.
    pub number: u32,
    /// Its processors, as the kernel lists them (`0-3,8`); empty for memory alone.
    pub cpus: String,
    /// Its memory, in bytes.
    pub memory_bytes: Option<u64>,
}

/// One kind of cache; `instances` of them exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Of one instance.
    pub size_bytes: Option<u64>,
    /// Of one line.
    pub line_bytes: Option<u64>,
    /// Ways of associativity.
    pub ways: Option<u32>,
    /// How many processors share one instance.
    pub shared_by: usize,
    /// How many there are.
    pub instances: usize,
}

pub(super) fn topology(source: &dyn Source) -> Topology {
    let cpus = online(source);
    let package = |cpu: &u32| {
        let text = source.text(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"))?;
        // Kernels that do not know say -1.
        text.parse::<i64>().ok().filter(|&number| number >= 0)
    };
    // Siblings rather than core_id: that repeats from cluster to cluster on ARM.
    let siblings = |cpu: &u32| {
        let path = |name| format!("{CPUS}/cpu{cpu}/topology/{name}");
        source.text(&path("core_cpus_list")).or_else(|| source.text(&path("thread_siblings_list")))
    };
    let from_info = || {
        let info = source.text("proc/cpuinfo")?;
        let count = values(&info, "processor").filter(|value| value.parse::<u32>().is_ok()).count();
        (count > 0).then_some(count)
    };
    Topology {
        cpus: if cpus.is_empty() { from_info() } else { Some(cpus.len()) },
        sockets: count_distinct(cpus.iter().map(package)),
        cores: count_distinct(cpus.iter().map(siblings)),
        numa_nodes: numa_nodes(source),
    }
}

/// How many different values there are; `None` as soon as one is missing, or without any.
fn count_distinct<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Option<usize> {
    let distinct: BTreeSet<T> = values.collect::<Option<_>>()?;
    (!distinct.is_empty()).then_some(distinct.len())
}

fn online(source: &dyn Source) -> Vec<u32> {
    source.text(&format!("{CPUS}/online")).and_then(|list| cpu_list(&list)).unwrap_or_default()
}

/// `0-3,8,10-11` as numbers. `None` when it is no such list.
pub(super) fn cpu_list(list: &str) -> Option<Vec<u32>> {
    // Far more than any kernel is built for; a range beyond it is no list of processors.
    const MOST: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

fn numbered(source: &dyn Source, folder: &str, prefix: &str) -> Vec<u32> {
    let names = source.entries(folder);
    let mut numbers: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn numa_nodes(source: &dyn Source) -> Vec<NumaNode> {
    let node = |number: u32| {
        let folder = format!("{NODES}/node{number}");
        // "Node 0 MemTotal:       24684084 kB"
        let memory_kib = source.text(&format!("{folder}/meminfo")).and_then(|text| {
            let line = text.lines().find(|line| line.contains("MemTotal:"))?;
            line.split_whitespace().rev().nth(1)?.parse::<u64>().ok()
        });
        NumaNode {
            number,
            cpus: source.text(&format!("{folder}/cpulist")).unwrap_or_default(),
            memory_bytes: memory_kib.and_then(|kib| kib.checked_mul(1024)),
        }
    };
    numbered(source, NODES, "node").into_iter().map(node).collect()
}

pub(super) fn caches(source: &dyn Source) -> Vec<Cache> {
    let mut found: Vec<(Cache, BTreeSet<String>)> = Vec::new();
    for cpu in online(source) {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in numbered(source, &folder, "index") {
            let Some((cache, shared)) = cache(source, &format!("{folder}/index{index}"), cpu)
            else {
                continue;
            };
            match found.iter_mut().find(|(other, _)| *other == cache) {
                Some((_, instances)) => {
                    instances.insert(shared);
                }
                None => found.push((cache, BTreeSet::from([shared]))),
            }
        }
    }
    let mut caches: Vec<Cache> = found
        .into_iter()
        .map(|(cache, instances)| Cache { instances: instances.len(), ..cache })
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// The cache in a folder, counted as no instance yet, and who shares it.
fn cache(source: &dyn Source, folder: &str, cpu: u32) -> Option<(Cache, String)> {
    let text = |name: &str| source.text(&format!("{folder}/{name}"));
    let level = text("level")?.parse().ok()?;
    let kind = text("type")?.to_lowercase();
    let shared = text("shared_cpu_list").unwrap_or_else(|| cpu.to_string());
    let cache = Cache {
        level,
        kind,
        size_bytes: text("size").and_then(|size| cache_size(&size)),
        line_bytes: text("coherency_line_size").and_then(|line| line.parse().ok()),
        ways: text("ways_of_associativity").and_then(|ways| ways.parse().ok()).filter(|&w| w > 0),
        shared_by: cpu_list(&shared).map_or(1, |cpus| cpus.len()),
        instances: 0,
    };
    Some((cache, shared))
}

/// `48K`, `1M`, in bytes.
fn cache_size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&size| size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::source::Captured;

    #[test]
    fn lists_of_processors() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpu_list(""), Some(vec![]));
        for bad in ["a", "3-1", "0-", "-1", "0-4294967295", "1-2-3"] {
            assert_eq!(cpu_list(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_of_caches() {
        assert_eq!(cache_size("48K"), Some(49152));
        assert_eq!(cache_size("1M"), Some(1 << 20));
        assert_eq!(cache_size("512"), Some(512));
        for bad in ["", "K", "x", "0K", "99999999999999999999K", "18446744073709551615M"] {
            assert_eq!(cache_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn unequal_cores_have_unequal_caches() {
        let mut source = Captured::new("== sys/devices/system/cpu/online\n0-3\n");
        for (cpu, size, shared) in
            [(0, "48K", "0"), (1, "48K", "1"), (2, "32K", "2"), (3, "32K", "3")]
        {
            let folder = format!("{CPUS}/cpu{cpu}/cache/index0");
            source = source
                .with(&format!("{folder}/level"), "1")
                .with(&format!("{folder}/type"), "Data")
                .with(&format!("{folder}/size"), size)
                .with(&format!("{folder}/shared_cpu_list"), shared);
        }
        let found = caches(&source);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|cache| cache.instances == 2 && cache.shared_by == 1));
    }

    #[test]
    fn a_package_of_minus_one_is_unknown() {
        let source = Captured::new(
            "== sys/devices/system/cpu/online\n0\n\
             == sys/devices/system/cpu/cpu0/topology/physical_package_id\n-1\n\
             == sys/devices/system/cpu/cpu0/topology/thread_siblings_list\n0\n",
        );
        let topology = topology(&source);
        assert_eq!((topology.sockets, topology.cores), (None, Some(1)));
    }
}
