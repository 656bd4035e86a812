//! Whether a program that was built for a machine works there: what it computes, by its fastest kernels and by
//! the plain ones, and contenders against their references.
//!
//! All of it in single processes, since an emulator starts no programs of another machine: contenders are asked
//! as a conductor asks them (`docs/protocol.md`).

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::packages::{cache, run};

/// Rows with vector instructions of their own on both machines: family, operation and contender.
const ROWS: &[[&str; 3]] = &[
    ["checksum", "crc32c", "crc-fast"],
    ["cipher", "aes-128-ctc", "fathom"],
    ["cipher", "aes-128-gcm", "aes-gcm"],
    ["digest", "sha256", "sha2"],
];

/// Runs the program that `command` starts.
pub(super) fn works(command: &dyn Fn() -> Command) -> Result<()> {
    let folder = cache().join("dist-proof");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("rows"), "Oslo;1.5\nOslo;2.5\n")?;
    let said = |words: &str, level: Option<&str>| -> Result<String> {
        let mut program = command();
        program.current_dir(&folder).args(words.split(' '));
        program.envs(level.map(|level| ("FATHOM_LEVEL", level)));
        Ok(String::from_utf8(run(&mut program).with_context(|| words.to_owned())?.stdout)?)
    };
    said("generate pairs --count 10k -o pairs.json --answers pairs.f64", None)?;
    said("generate measurements --rows 100k -o measurements", None)?;
    let by_any_level = |words: &str| -> Result<String> {
        let plain = said(words, Some("scalar"))?;
        let fastest = said(words, None)?;
        ensure!(plain == fastest, "{words}: by plain kernels\n{plain}by the fastest\n{fastest}");
        Ok(plain)
    };
    let added = by_any_level("aggregate rows")?;
    ensure!(added == "{Oslo=1.5/2.0/2.5}\n", "does not add rightly: {added}");
    by_any_level("aggregate measurements")?;
    by_any_level("haversine --format json pairs.json pairs.f64")?;
    ROWS.iter().try_for_each(|row| agrees(command().arg("worker"), row))
}

/// Whether a contender's answer is that of its family's reference.
fn agrees(worker: &mut Command, [family, operation, contender]: &[&str; 3]) -> Result<()> {
    let asked: String = ["plain", contender]
        .map(|name| {
            format!(
                "{{\"ask\":\"open\",\"family\":\"{family}\",\"contender\":\"{name}\",\"workload\":\
                 {{\"operation\":\"{operation}\",\"parameters\":{{}}}}}}\n\
                 {{\"ask\":\"sample\",\"iterations\":1,\"warm\":0}}\n{{\"ask\":\"close\"}}\n"
            )
        })
        .concat();
    let mut child = worker.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("it is piped")?.write_all(asked.as_bytes())?;
    let output = child.wait_with_output()?;
    let answers = String::from_utf8(output.stdout)?;
    let check = |line| -> Option<String> {
        serde_json::from_str::<Value>(line).ok()?["check"].as_str().map(str::to_owned)
    };
    let checks: Vec<String> = answers.lines().filter_map(check).collect();
    let is_alike = output.status.success() && checks.len() == 2 && checks[0] == checks[1];
    ensure!(is_alike, "{family}/{contender} {operation} is not its reference: {answers}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contender_that_answers_otherwise_or_not_at_all_is_none() {
        let worker = |answers: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("cat > /dev/null; printf '{answers}'")]);
            agrees(&mut shell, &ROWS[0])
        };
        let sample = |check: &str| format!("{{\"answer\":\"sample\",\"check\":\"{check}\"}}\\n");
        worker(&(sample("ab") + &sample("ab"))).unwrap();
        for wrong in
            [sample("ab") + &sample("ac"), sample("ab"), "{\"answer\":\"error\"}\\n".into()]
        {
            assert!(worker(&wrong).is_err(), "{wrong}");
        }
    }
}
