//! A machine for people: one subject a line, what is not known said so.

use std::fmt::Write;

use super::{Cache, Machine};

const LABEL_WIDTH: usize = 11;

/// Feature bits that decide which path a kernel or a library takes; the rest is in the JSON.
const FEATURES: &[&str] = &[
    // x86
    "sse4_2", "popcnt", "aes", "pclmulqdq", "sha_ni", "avx", "f16c", "fma", "bmi1", "bmi2", "erms",
    "fsrm", "avx2", "vaes", "vpclmulqdq", "gfni", "avx512f", "avx512bw", "avx512vl", "avx512_vbmi",
    "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx_vnni",
    // ARM
    "neon", "asimd", "pmull", "sha1", "sha2", "crc32", "atomics", "sha3", "sha512", "asimddp",
    "sve", "sve2",
];

pub(super) fn title(machine: &Machine) -> String {
    let count = machine.topology.cpus.map_or("?".to_owned(), |cpus| cpus.to_string());
    let model = machine.processor.model.as_deref().unwrap_or("unknown processor");
    format!("{count} x {model} ({})", machine.system.architecture)
}

pub(super) fn text(machine: &Machine) -> String {
    let mut page = Page(String::new());
    let Machine { host, system, processor, .. } = machine;
    page.line("system", &join(&[system.name.clone(), system.kernel.clone()], " - "));
    page.line("processor", &title(machine));
    page.line("", &revision(machine));
    let within = system.container.as_ref().map(|container| format!("in a container ({container})"));
    let above = host.hypervisor.as_ref().map(|hypervisor| format!("hypervisor {hypervisor}"));
    page.line("host", &listed(&[host.board.clone(), above, within]));
    page.line("topology", &topology(machine));
    page.lines(
        "memory node",
        machine.topology.numa_nodes.iter().map(|node| {
            let cpus = if node.cpus.is_empty() { "none" } else { &node.cpus };
            format!("{}: processors {cpus}, {}", node.number, bytes(node.memory_bytes))
        }),
    );
    page.lines("caches", machine.caches.iter().map(cache));
    page.line("memory", &memory(machine));
    page.line("huge pages", &huge_pages(machine));
    page.line("limits", &limits(machine));
    page.line("features", &features(&processor.features));
    page.line("levels", &levels(machine));
    page.lines("timers", timers(machine).into_iter());
    page.0
}

struct Page(String);

impl Page {
    /// A line with its label; nothing for an empty one without.
    fn line(&mut self, label: &str, text: &str) {
        let text = if text.is_empty() { "unknown" } else { text };
        if !label.is_empty() || text != "unknown" {
            let _ = writeln!(self.0, "{label:LABEL_WIDTH$}  {text}");
        }
    }

    /// Lines that share a label.
    fn lines(&mut self, label: &str, mut texts: impl Iterator<Item = String>) {
        self.line(label, &texts.next().unwrap_or_default());
        for text in texts {
            self.line(" ", &text);
        }
    }
}

fn join(parts: &[Option<String>], by: &str) -> String {
    parts.iter().flatten().cloned().collect::<Vec<_>>().join(by)
}

fn listed(parts: &[Option<String>]) -> String {
    join(parts, ", ")
}

fn revision(machine: &Machine) -> String {
    let processor = &machine.processor;
    let boost = processor.has_boost.map(|on| if on { "boost on" } else { "boost off" }.to_owned());
    let frequency =
        processor.frequency_hz_max.map(|hz| format!("up to {:.2} GHz", hz as f64 / 1e9));
    listed(&[
        processor.revision.as_ref().map(|revision| format!("revision {revision}")),
        processor.microcode.as_ref().map(|microcode| format!("microcode {microcode}")),
        frequency,
        processor.governor.as_ref().map(|governor| format!("governor {governor}")),
        boost,
    ])
}

fn topology(machine: &Machine) -> String {
    let topology = &machine.topology;
    let nodes = Some(topology.numa_nodes.len()).filter(|&nodes| nodes > 0);
    listed(&[
        topology.sockets.map(|n| plural(n, "socket")),
        topology.cores.map(|n| plural(n, "core")),
        topology.cpus.map(|n| plural(n, "thread")),
        nodes.map(|n| plural(n, "memory node")),
    ])
}

fn cache(cache: &Cache) -> String {
    let kind = if cache.kind == "unified" { String::new() } else { format!(" {}", cache.kind) };
    let each = if cache.instances > 1 { " each" } else { "" };
    let line = cache.line_bytes.map(|line| format!(", lines of {line} bytes"));
    let ways = cache.ways.map(|ways| format!(", {ways} ways"));
    format!(
        "L{}{kind}: {} x {}{}{}, shared by {}{each}",
        cache.level,
        cache.instances,
        bytes(cache.size_bytes),
        line.unwrap_or_default(),
        ways.unwrap_or_default(),
        plural(cache.shared_by, "thread"),
    )
}

fn memory(machine: &Machine) -> String {
    let memory = &machine.memory;
    let swap = memory.swap_bytes.filter(|&swap| swap > 0);
    listed(&[
        memory.total_bytes.map(|total| bytes(Some(total))),
        memory.available_bytes.map(|free| format!("{} available", bytes(Some(free)))),
        swap.map(|swap| format!("swap {}", bytes(Some(swap)))),
        memory.page_bytes.map(|page| format!("pages of {}", bytes(Some(page)))),
    ])
}

fn huge_pages(machine: &Machine) -> String {
    let pages = &machine.memory.huge_pages;
    let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    let mut parts = vec![
        pages.transparent.as_ref().map(|setting| format!("transparent: {setting}")),
        pages.defragmentation.as_ref().map(|setting| format!("defragmentation: {setting}")),
    ];
    parts.extend(pages.pools.iter().map(|pool| {
        let page = bytes(Some(pool.page_bytes));
        Some(format!("{page}: {} reserved, {} free", number(pool.total), number(pool.free)))
    }));
    join(&parts, "; ")
}

fn limits(machine: &Machine) -> String {
    let limits = &machine.limits;
    let or_none = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |n| bytes(Some(n)));
    listed(&[
        limits.allowed_cpus.map(|n| format!("may run on {}", plural(n, "thread"))),
        limits.cpu_quota.map(|quota| format!("{quota:.2} processors of time")),
        Some(format!("memory {}", or_none(limits.memory_bytes))),
        limits.address_space_bytes.map(|n| format!("address space {}", bytes(Some(n)))),
        Some(format!("locked memory {}", or_none(limits.locked_bytes))),
    ])
}

fn features(all: &[String]) -> String {
    let shown: Vec<&str> =
        FEATURES.iter().copied().filter(|name| all.iter().any(|other| other == name)).collect();
    shown.join(" ")
}

fn levels(machine: &Machine) -> String {
    let levels = &machine.levels;
    let forced = if levels.is_forced { " (forced by FATHOM_LEVEL)" } else { "" };
    let chosen = levels.chosen.as_ref().map(|level| format!("{level} chosen{forced}"));
    let found = Some(levels.found.join(" ")).filter(|found| !found.is_empty());
    join(&[found, chosen], "; ")
}

fn timers(machine: &Machine) -> Vec<String> {
    let timers = &machine.timers;
    let hz = timers.register_hz.map(|hz| format!(" at {:.1} MHz", hz / 1e6)).unwrap_or_default();
    let constant = match timers.register_is_invariant {
        Some(true) => ", constant rate",
        Some(false) => ", constant rate not promised",
        None => "",
    };
    let register = timers.register.as_ref().map(|name| format!("register {name}{hz}{constant}"));
    let source = timers.source.as_ref().map(|source| format!("kernel's source {source}"));
    let mut lines = vec![listed(&[source, register])];
    lines.extend(timers.clocks.iter().map(|timer| {
        let (name, cost, step) = (&timer.name, timer.cost_ns, timer.step_ns);
        format!("{name:17} {cost:6.1} ns a read, steps of {step:.1} ns")
    }));
    lines
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// In the binary unit that leaves 1 to 1023.9 of them when rounded; one decimal where it says something.
fn bytes(count: Option<u64>) -> String {
    let Some(count) = count else { return "unknown size".to_owned() };
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut tenths = 0;
    let fits = |step: &usize| {
        tenths = (u128::from(count) * 10 + (1 << (10 * step)) / 2) >> (10 * step);
        tenths < 10_240
    };
    let step = (0..units.len()).find(fits).expect("2^64 bytes are 16 EiB");
    match tenths % 10 {
        0 => format!("{} {}", tenths / 10, units[step]),
        tenth => format!("{}.{tenth} {}", tenths / 10, units[step]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_with_a_decimal_where_it_says_something() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (49152, "48 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1 MiB"),
            (1_048_524, "1023.9 KiB"),
            (25276502016, "23.5 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (count, expected) in cases {
            assert_eq!(bytes(Some(count)), expected);
        }
    }

    #[test]
    fn an_unknown_machine_is_described_as_unknown() {
        let text = text(&Machine::default());
        assert!(text.contains("processor    ? x unknown processor ()"), "{text}");
        for label in ["system", "host", "topology", "caches", "memory", "features", "levels"] {
            assert!(text.contains(&format!("{label:LABEL_WIDTH$}  unknown\n")), "{label}: {text}");
        }
    }
}
