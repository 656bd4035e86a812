//! The head of the results: the machine as mORMot's tests print it, and the features that decide which
//! path a library takes.

use fathom_machine::describe::Machine;

/// System, processors, board; features and caches below.
pub(super) fn text(machine: &Machine) -> String {
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let system = format!("{} - {}", unknown(&machine.system.name), unknown(&machine.system.kernel));
    let host = [&machine.host.board, &machine.host.hypervisor];
    let host: Vec<String> = host.into_iter().flatten().cloned().collect();
    let mut text = format!("{system}\n{}\n", machine.title());
    if !host.is_empty() {
        text += &format!("on {}\n", host.join(", "));
    }
    let page = machine.text();
    let mut is_kept = false;
    for line in page.lines() {
        // A subject's further lines have no label.
        if !line.starts_with(' ') {
            is_kept = line.starts_with("features") || line.starts_with("caches");
        }
        if is_kept {
            text += &format!("{line}\n");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_the_forebear_s() {
        let mut machine = Machine::default();
        machine.system.name = Some("Debian GNU/Linux 12".to_owned());
        machine.system.kernel = Some("Linux 6.1.0".to_owned());
        machine.system.architecture = "aarch64".to_owned();
        machine.topology.cpus = Some(4);
        machine.processor.model = Some("ARM Neoverse-N1".to_owned());
        machine.host.board = Some("QEMU KVM Virtual Machine virt-4.2".to_owned());
        let text = text(&machine);
        let lines: Vec<&str> = text.lines().take(3).collect();
        assert_eq!(
            lines,
            [
                "Debian GNU/Linux 12 - Linux 6.1.0", "4 x ARM Neoverse-N1 (aarch64)",
                "on QEMU KVM Virtual Machine virt-4.2"
            ]
        );
    }
}
