//! What runs the programs (the operating system) and what runs the operating system (a board, a
//! hypervisor).

use serde::{Deserialize, Serialize};

use super::processor::values;
use crate::os::source::Source;

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// Name and version, as the system presents itself.
    pub name: Option<String>,
    /// Kernel and release.
    pub kernel: Option<String>,
    /// The kernel's word for the architecture (`x86_64`, `aarch64`).
    pub architecture: String,
    /// What keeps this process apart from the rest of the system (`docker`, `podman`, `wsl` …).
    pub container: Option<String>,
}

/// What the computer is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Vendor, product and version of the board or machine.
    pub board: Option<String>,
    /// The hypervisor, by name; `unknown` where there is one that does not say.
    pub hypervisor: Option<String>,
}

pub(super) fn system(source: &dyn Source) -> System {
    let release = source
        .text("etc/os-release")
        .or_else(|| source.text("usr/lib/os-release"))
        .or_else(|| source.text("etc/lsb-release"))
        .unwrap_or_default();
    let name = ["PRETTY_NAME", "DISTRIB_DESCRIPTION", "NAME"]
        .iter()
        .find_map(|key| release_value(&release, key));
    System {
        name,
        kernel: source.text("proc/sys/kernel/osrelease").map(|release| format!("Linux {release}")),
        architecture: std::env::consts::ARCH.to_owned(),
        container: container(source),
    }
}

/// A value of os-release, without its quotes.
fn release_value(text: &str, key: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    let value = value.trim();
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let inner = ['"', '\''].into_iter().find_map(within).unwrap_or(value);
    (!inner.is_empty()).then(|| inner.to_owned())
}

fn container(source: &dyn Source) -> Option<String> {
    if source.has(".dockerenv") {
        return Some("docker".into());
    }
    if source.has("run/.containerenv") {
        return Some("podman".into());
    }
    let release = source.text("proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_lowercase().contains("microsoft") {
        return Some("wsl".into());
    }
    source.text("run/systemd/container")
}

pub(super) fn host(source: &dyn Source) -> Host {
    Host { board: board(source), hypervisor: hypervisor(source) }
}

/// Vendor, product and version, what a firmware left unset omitted, nothing said twice.
fn board(source: &dyn Source) -> Option<String> {
    let words = ["sys_vendor", "product_name", "product_version"]
        .iter()
        .filter_map(|name| source.text(&format!("sys/class/dmi/id/{name}")))
        .map(|value| value.trim().to_owned())
        .filter(|value| !is_filler(value));
    let mut board: Vec<String> = Vec::new();
    for word in words {
        if !board.iter().any(|earlier| earlier.contains(&word)) {
            board.push(word);
        }
    }
    if !board.is_empty() {
        return Some(board.join(" "));
    }
    let info = source.text("proc/cpuinfo").unwrap_or_default();
    let hardware = values(&info, "Hardware").next();
    let model = source
        .text("proc/device-tree/model")
        .or_else(|| source.text("sys/firmware/devicetree/base/model"))
        .or_else(|| values(&info, "Model").next().map(str::to_owned));
    match (model, hardware) {
        (Some(model), Some(hardware)) => Some(format!("{model} ({hardware})")),
        (model, hardware) => model.or(hardware.map(str::to_owned)),
    }
}

/// What firmware says when nobody filled the field in.
fn is_filler(value: &str) -> bool {
    let value = value.to_lowercase();
    value.is_empty()
        || value.chars().all(|c| c.is_ascii_punctuation() || c == '0' || c == ' ')
        || [
            "to be filled by o.e.m.", "default string", "system product name",
            "system manufacturer", "system version", "not specified", "not applicable", "none",
            "n/a", "unknown", "1.0",
        ]
        .contains(&value.as_str())
}

/// What the files betray; on x86 the processor is asked as well.
fn hypervisor(source: &dyn Source) -> Option<String> {
    if let Some(kind) = source.text("sys/hypervisor/type") {
        return Some(if kind == "xen" { "Xen".into() } else { kind });
    }
    let vendor = source.text("sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = source.text("sys/class/dmi/id/product_name").unwrap_or_default();
    // Cloud machines "of" these vendors are guests unless the product says metal.
    let by_vendor = match vendor.as_str() {
        "QEMU" => Some("QEMU"),
        "Google" if product == "Google Compute Engine" => Some("KVM"),
        "Amazon EC2" if !product.contains("metal") => Some("Nitro"),
        "Microsoft Corporation" if product == "Virtual Machine" => Some("Hyper-V"),
        "VMware, Inc." => Some("VMware"),
        "innotek GmbH" => Some("VirtualBox"),
        "Parallels International GmbH." => Some("Parallels"),
        _ => None,
    };
    if let Some(name) = by_vendor {
        return Some(name.into());
    }
    let info = source.text("proc/cpuinfo").unwrap_or_default();
    let flags = values(&info, "flags").next().unwrap_or_default();
    if flags.split_whitespace().any(|flag| flag == "hypervisor") {
        return Some("unknown".into());
    }
    let compatible = source.text("proc/device-tree/hypervisor/compatible")?;
    Some(compatible.split('\0').next().unwrap_or_default().to_owned())
}

/// The usual name for the signature a hypervisor gives through CPUID.
pub(super) fn hypervisor_name(signature: &str) -> String {
    let signature = signature.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let name = match signature {
        "KVMKVMKVM" | "Linux KVM Hv" => "KVM",
        "TCGTCGTCGTCG" => "QEMU (emulated)",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "VBoxVBoxVBox" => "VirtualBox",
        "prl hyperv" | "lrpepyh vr" => "Parallels",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "ACRN",
        "QNXQVMBSQG" => "QNX",
        "" => "unknown",
        other => other,
    };
    name.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::source::Captured;

    #[test]
    fn names_of_systems_lose_their_quotes() {
        let text = "NAME=Void\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nEMPTY=\"\"\nODD='a\n";
        assert_eq!(release_value(text, "PRETTY_NAME").as_deref(), Some("Ubuntu 24.04.1 LTS"));
        assert_eq!(release_value(text, "NAME").as_deref(), Some("Void"));
        assert_eq!(release_value(text, "EMPTY"), None);
        assert_eq!(release_value(text, "ODD").as_deref(), Some("'a"));
        assert_eq!(release_value(text, "ABSENT"), None);
    }

    #[test]
    fn fields_nobody_filled_in_are_left_out() {
        let source = Captured::new(
            "== sys/class/dmi/id/sys_vendor\nTo Be Filled By O.E.M.\n\
             == sys/class/dmi/id/product_name\nX570 Taichi\n\
             == sys/class/dmi/id/product_version\nDefault string\n",
        );
        assert_eq!(board(&source).as_deref(), Some("X570 Taichi"));
        let twice = Captured::new(
            "== sys/class/dmi/id/sys_vendor\nGoogle\n\
             == sys/class/dmi/id/product_name\nGoogle Compute Engine\n",
        );
        assert_eq!(board(&twice).as_deref(), Some("Google Google Compute Engine"));
    }

    #[test]
    fn signatures_have_names() {
        assert_eq!(hypervisor_name("KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(hypervisor_name("\0\0\0\0\0\0\0\0\0\0\0\0"), "unknown");
        assert_eq!(hypervisor_name("SRESRESRESRE"), "SRESRESRESRE");
    }

    #[test]
    fn containers_are_recognised_by_what_they_leave() {
        assert_eq!(container(&Captured::new("== .dockerenv\n\n")).as_deref(), Some("docker"));
        let wsl = "== proc/sys/kernel/osrelease\n5.15.153.1-microsoft-standard-WSL2\n";
        assert_eq!(container(&Captured::new(wsl)).as_deref(), Some("wsl"));
        assert_eq!(container(&Captured::new("")), None);
    }
}
