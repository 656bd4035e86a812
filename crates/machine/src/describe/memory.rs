//! Memory, its pages, and how much of the computer this process may use.
//!
//! Limits come from both generations of control groups. A group's limit holds for all below it, so
//! the smallest on the way from this process's group to the root counts.

use serde::{Deserialize, Serialize};

use crate::os::source::Source;

/// Memory of the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// All that the kernel manages.
    pub total_bytes: Option<u64>,
    /// What programs could get now without swapping.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// An ordinary page.
    pub page_bytes: Option<u64>,
    /// Larger ones.
    pub huge_pages: HugePages,
}

/// Settings of huge pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HugePages {
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent: Option<String>,
    /// When the kernel compacts memory for them.
    pub defragmentation: Option<String>,
    /// Reserved pages, smallest first.
    pub pools: Vec<HugePool>,
}

/// A pool of reserved huge pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HugePool {
    /// Size of one page.
    pub page_bytes: u64,
    /// How many are reserved.
    pub total: Option<u64>,
    /// How many of them are free.
    pub free: Option<u64>,
}

/// What this process may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Processors its threads may run on.
    pub allowed_cpus: Option<usize>,
    /// Processor time a second, in processors, by control group; `None` without a limit.
    pub cpu_quota: Option<f64>,
    /// Memory by control group; `None` without a limit.
    pub memory_bytes: Option<u64>,
    /// Memory that may be locked; `None` without a limit.
    pub locked_bytes: Option<u64>,
    /// Address space; `None` without a limit.
    pub address_space_bytes: Option<u64>,
}

pub(super) fn memory(source: &dyn Source) -> Memory {
    let info = source.text("proc/meminfo").unwrap_or_default();
    // "MemTotal:       24684084 kB"
    let bytes = |key: &str| {
        let line = info.lines().find(|line| line.split(':').next() == Some(key))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Memory {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        swap_bytes: bytes("SwapTotal"),
        page_bytes: None,
        huge_pages: huge_pages(source),
    }
}

fn huge_pages(source: &dyn Source) -> HugePages {
    let setting = |name: &str| {
        let text = source.text(&format!("sys/kernel/mm/transparent_hugepage/{name}"))?;
        bracketed(&text).map(str::to_owned)
    };
    let folder = "sys/kernel/mm/hugepages";
    let pool = |name: &String| {
        let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse::<u64>().ok()?;
        let number = |file: &str| source.text(&format!("{folder}/{name}/{file}"))?.parse().ok();
        let page_bytes = kib.checked_mul(1024)?;
        let (total, free) = (number("nr_hugepages"), number("free_hugepages"));
        Some(HugePool { page_bytes, total, free })
    };
    let mut pools: Vec<HugePool> = source.entries(folder).iter().filter_map(pool).collect();
    pools.sort_by_key(|pool| pool.page_bytes);
    HugePages { transparent: setting("enabled"), defragmentation: setting("defrag"), pools }
}

/// The chosen word of `always [madvise] never`.
fn bracketed(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

pub(super) fn limits(source: &dyn Source) -> Limits {
    let own = source.text("proc/self/limits").unwrap_or_default();
    // "Max locked memory         8388608              8388608              bytes"
    let limit = |name: &str| {
        let rest = own.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    Limits {
        allowed_cpus: None,
        cpu_quota: cpu_quota(source),
        memory_bytes: memory_limit(source),
        locked_bytes: limit("Max locked memory"),
        address_space_bytes: limit("Max address space"),
    }
}

fn memory_limit(source: &dyn Source) -> Option<u64> {
    // Version 1 writes "no limit" as the largest multiple of a page below 2^63.
    const NONE: u64 = 1 << 60;
    let new = up_to_root(source, "", "memory.max");
    let old = up_to_root(source, "memory", "memory.limit_in_bytes");
    new.iter().chain(&old).filter_map(|text| text.parse().ok()).filter(|&bytes| bytes < NONE).min()
}

fn cpu_quota(source: &dyn Source) -> Option<f64> {
    // "150000 100000", or "max 100000"
    let new = up_to_root(source, "", "cpu.max");
    let new = new.iter().filter_map(|text| {
        let (quota, period) = text.split_once(' ')?;
        share(quota, period)
    });
    let quotas = up_to_root(source, "cpu", "cpu.cfs_quota_us");
    let periods = up_to_root(source, "cpu", "cpu.cfs_period_us");
    let old = quotas.iter().zip(&periods).filter_map(|(quota, period)| share(quota, period));
    new.chain(old).min_by(f64::total_cmp)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// The text of `file` in this process's control group and all above it, the group's own first.
///
/// `controller` is empty for version 2. In a container the path in `/proc/self/cgroup` may be the
/// host's; the folders above it that do exist still hold.
fn up_to_root(source: &dyn Source, controller: &str, file: &str) -> Vec<String> {
    let Some(groups) = source.text("proc/self/cgroup") else { return Vec::new() };
    // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
    let path = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == controller).then_some(path)
    });
    let Some(path) = path else { return Vec::new() };
    // Both generations may be mounted at once; then version 2 lies in a folder of its own.
    let mounts: &[String] = match controller {
        "" => &["sys/fs/cgroup".into(), "sys/fs/cgroup/unified".into()],
        name => &[format!("sys/fs/cgroup/{name}")],
    };
    let mut texts = Vec::new();
    for mount in mounts {
        let mut path = path.trim_matches('/');
        loop {
            let folder = if path.is_empty() { mount.clone() } else { format!("{mount}/{path}") };
            texts.extend(source.text(&format!("{folder}/{file}")));
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None if path.is_empty() => break,
                None => path = "",
            }
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::source::Captured;

    #[test]
    fn the_smallest_limit_on_the_way_to_the_root_counts() {
        let source = Captured::new(
            "== proc/self/cgroup\n0::/user.slice/app\n\
             == sys/fs/cgroup/user.slice/app/memory.max\nmax\n\
             == sys/fs/cgroup/user.slice/memory.max\n1073741824\n\
             == sys/fs/cgroup/user.slice/app/cpu.max\n150000 100000\n\
             == sys/fs/cgroup/user.slice/cpu.max\nmax 100000\n",
        );
        assert_eq!(memory_limit(&source), Some(1 << 30));
        assert_eq!(cpu_quota(&source), Some(1.5));
    }

    #[test]
    fn the_first_generation_and_its_way_to_say_no_limit() {
        let source = Captured::new(
            "== proc/self/cgroup\n4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n\
             == sys/fs/cgroup/memory/memory.limit_in_bytes\n536870912\n\
             == sys/fs/cgroup/cpu/cpu.cfs_quota_us\n-1\n\
             == sys/fs/cgroup/cpu/cpu.cfs_period_us\n100000\n",
        );
        assert_eq!(memory_limit(&source), Some(512 << 20));
        assert_eq!(cpu_quota(&source), None);
        let none = Captured::new(
            "== proc/self/cgroup\n4:memory:/\n\
             == sys/fs/cgroup/memory/memory.limit_in_bytes\n9223372036854771712\n",
        );
        assert_eq!(memory_limit(&none), None);
    }

    #[test]
    fn the_bracketed_word_is_the_setting() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("always"), None);
        assert_eq!(bracketed("]["), None);
    }
}
