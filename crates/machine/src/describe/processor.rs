//! The processor as `/proc/cpuinfo` tells it: model, features, frequency rules.
//!
//! The file has a block per processor on x86, and on ARM too, with other words in it; old ARM
//! kernels put the model into one block at the end. Nothing is asked of the processor itself.

use serde::{Deserialize, Serialize};

use super::arm;
use crate::os::source::Source;

/// A folder for each processor.
pub(super) const CPUS: &str = "sys/devices/system/cpu";

/// What the processor is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Model name; the cores of an ARM system by name, different ones joined by ` / `.
    pub model: Option<String>,
    /// Family, model and stepping on x86, as numbers `6/167/1`; revision on ARM (`r3p1`).
    pub revision: Option<String>,
    /// Version of the microcode.
    pub microcode: Option<String>,
    /// All feature bits, in the kernel's words and order.
    pub features: Vec<String>,
    /// The highest frequency of any core, as the kernel knows the hardware, in hertz.
    pub frequency_hz_max: Option<u64>,
    /// How the kernel chooses frequencies (`performance`, `powersave` …); different ones joined by ` / `.
    pub governor: Option<String>,
    /// Whether the processor may exceed its nominal frequency.
    pub has_boost: Option<bool>,
}

pub(super) fn processor(source: &dyn Source) -> Processor {
    let info = source.text("proc/cpuinfo").unwrap_or_default();
    let first = |key: &str| values(&info, key).next().map(str::to_owned);
    // The first core is a small one on many systems. What is offline has none that can be read.
    let of_each = |file: &str| -> Vec<String> {
        let folders = source.entries(CPUS);
        let paths = folders.iter().map(|cpu| format!("{CPUS}/{cpu}/cpufreq/{file}"));
        paths.filter_map(|path| source.text(&path)).collect()
    };
    let frequencies = of_each("cpuinfo_max_freq");
    let frequency_khz = frequencies.iter().filter_map(|text| text.parse::<u64>().ok()).max();
    let mut governors = of_each("scaling_governor");
    governors.sort();
    governors.dedup();
    Processor {
        model: model(&info),
        revision: revision(&info),
        microcode: first("microcode"),
        features: first("flags")
            .or_else(|| first("Features"))
            .or_else(|| first("isa"))
            .map(|line| line.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        frequency_hz_max: frequency_khz.and_then(|khz| khz.checked_mul(1000)),
        governor: (!governors.is_empty()).then(|| governors.join(" / ")),
        has_boost: boost(source),
    }
}

/// The values of all lines with this key.
pub(super) fn values<'a>(info: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(move |(name, value)| name.trim() == key && !value.trim().is_empty())
        .map(|(_, value)| value.trim())
}

fn model(info: &str) -> Option<String> {
    // Decoded cores come first: old ARM kernels say no more than "ARMv7 Processor" as model name.
    let cores = arm_cores(info);
    if !cores.is_empty() {
        return Some(cores.join(" / "));
    }
    // x86; RISC-V; PowerPC and MIPS.
    ["model name", "uarch", "cpu model", "cpu", "Processor"]
        .iter()
        .find_map(|key| values(info, key).next())
        .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The distinct cores of an ARM system, in the order of the processors.
fn arm_cores(info: &str) -> Vec<String> {
    let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let mut cores = Vec::new();
    let parts = values(info, "CPU part");
    for (implementer, part) in values(info, "CPU implementer").zip(parts) {
        let (Some(implementer), Some(part)) = (number(implementer), number(part)) else { continue };
        let name = arm::core_name(implementer, part);
        if !cores.contains(&name) {
            cores.push(name);
        }
    }
    cores
}

fn revision(info: &str) -> Option<String> {
    let first = |key| values(info, key).next();
    if let (Some(family), Some(model), Some(stepping)) =
        (first("cpu family"), first("model"), first("stepping"))
    {
        return Some(format!("{family}/{model}/{stepping}"));
    }
    let variant = first("CPU variant")?.trim_start_matches("0x");
    let variant = u32::from_str_radix(variant, 16).ok()?;
    Some(format!("r{variant}p{}", first("CPU revision")?))
}

fn boost(source: &dyn Source) -> Option<bool> {
    let flag = |path| source.text(path).and_then(|text| text.parse::<u8>().ok());
    let no_turbo = flag("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == 0);
    no_turbo.or_else(|| flag("sys/devices/system/cpu/cpufreq/boost").map(|on| on == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::source::Captured;

    #[test]
    fn different_cores_are_joined_once_each() {
        let core = |part: &str| format!("CPU implementer\t: 0x41\nCPU part\t: {part}\n\n");
        let info = [core("0xd05"), core("0xd05"), core("0xd0b"), core("0xd05")].concat();
        assert_eq!(model(&info).as_deref(), Some("ARM Cortex-A55 / ARM Cortex-A76"));
    }

    #[test]
    fn numbers_that_are_none_are_passed_over() {
        assert_eq!(model("CPU implementer : zz\nCPU part : 0xd0c\n"), None);
        assert_eq!(revision("CPU variant : x\nCPU revision : 1\n"), None);
        assert_eq!(model("::\n:\nmodel name\nmodel name :\n"), None);
    }

    /// That of the first core was told, a small one.
    #[test]
    fn the_highest_frequency_is_that_of_the_fastest_core() {
        let core = |number: u32, khz: u32, governor: &str| {
            let folder = format!("sys/devices/system/cpu/cpu{number}/cpufreq");
            let frequency = format!("== {folder}/cpuinfo_max_freq\n{khz}\n");
            format!("{frequency}== {folder}/scaling_governor\n{governor}\n")
        };
        let cores = [core(0, 1_800_000, "schedutil"), core(10, 2_400_000, "performance")];
        let found = processor(&Captured::new(&cores.concat()));
        assert_eq!(found.frequency_hz_max, Some(2_400_000_000));
        assert_eq!(found.governor.as_deref(), Some("performance / schedutil"));
    }

    #[test]
    fn boost_is_read_from_either_driver() {
        let intel = Captured::new("== sys/devices/system/cpu/intel_pstate/no_turbo\n1\n");
        assert_eq!(boost(&intel), Some(false));
        let amd = Captured::new("== sys/devices/system/cpu/cpufreq/boost\n1\n");
        assert_eq!(boost(&amd), Some(true));
        assert_eq!(boost(&Captured::new("")), None);
    }
}
