//! The head of the results: the machine as mORMot's tests print it, and the features that decide which
//! path a library takes.

use fathom_machine::describe::Machine;
use fathom_report::escape;

/// System, processors, board; features and caches below. The machine may be what another one's run says.
pub(super) fn text(machine: &Machine) -> String {
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let system = format!("{} - {}", unknown(&machine.system.name), unknown(&machine.system.kernel));
    let host = [&machine.host.board, &machine.host.hypervisor];
    let host: Vec<String> = host.into_iter().flatten().cloned().collect();
    let mut text = format!("{}\n{}\n", escape::line(&system), escape::line(&machine.title()));
    if !host.is_empty() {
        text += &format!("on {}\n", escape::line(&host.join(", ")));
    }
    let page = machine.text();
    let mut is_kept = false;
    for line in page.lines() {
        // A subject's further lines have no label.
        if !line.starts_with(' ') {
            is_kept = line.starts_with("features") || line.starts_with("caches");
        }
        if is_kept {
            text += &format!("{}\n", escape::line(line));
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

    /// `--join` takes the runs of other machines, whose names moved the cursor.
    #[test]
    fn no_name_of_another_machine_reaches_the_terminal_as_it_is() {
        let evil = || Some("a\u{1b}[31m\nb\u{202e}".to_owned());
        let mut machine = Machine::default();
        (machine.system.name, machine.system.kernel) = (evil(), evil());
        machine.system.architecture = "x\u{7}".to_owned();
        machine.processor.model = evil();
        (machine.host.board, machine.host.hypervisor) = (evil(), evil());
        let shown = text(&machine);
        assert!(
            !shown.chars().any(|c| c != '\n' && c.is_control() || c == '\u{202e}'),
            "{shown:?}"
        );
        assert!(shown.lines().nth(1).unwrap().contains("\\u{1b}[31m\\nb"), "{shown:?}");
    }
}
