//! `cargo xtask counters`: the counter code, proved on a machine whose counts are known exactly.
//!
//! Under QEMU's instruction counting every instruction takes 2^shift nanoseconds and the emulated
//! processor's counters count exactly, through the real kernel's real interface. So a loop of 4 N
//! instructions must count 4 N plus the same constant every time, cycles must double and quadruple
//! with the shift, a shared register must scale back to the truth, and an overflow every million
//! cycles must happen once a million cycles. Machines with fewer counters, or none, must say so.
//! What this proves is that the code counts right; it says nothing about speed, and nothing about
//! cache, branch and stall events, which the emulated processor does not have.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::cpio;
use crate::cross::{Speed, Toolchain};
use crate::emulator::{Machine, boot, kernel};
use crate::packages::cache;

/// Events no emulated Cortex-A57 has.
const ABSENT: [&str; 5] = [
    "branches", "branch-misses", "cache-misses", "stalled-cycles-frontend",
    "stalled-cycles-backend",
];

pub(crate) fn run() -> Result<()> {
    let kernel = kernel()?;
    let program =
        Toolchain::find()?.build_static("fathom-guest", "fathom-guest", Speed::Release)?;
    let ramdisk = cache().join("counts.cpio");
    std::fs::write(&ramdisk, cpio::archive(&["proc", "sys", "dev"], &[("init", &program)]))?;

    let observed = |name: &str, processor, icount_shift| {
        let machine = Machine { processor, icount_shift, memory_mib: 512 };
        observe(name, machine, &kernel, &ramdisk)
    };
    let model = "cortex-a57";
    let mut cycles = Vec::new();
    for shift in 0..=2 {
        let name = format!("instruction counting, shift {shift}");
        let seen = observed(&name, model, Some(shift))?;
        cycles.push(full(&seen, shift).with_context(|| name)?);
    }
    let ratios: Vec<u64> = cycles.iter().map(|per_round| per_round / cycles[0]).collect();
    ensure!(ratios == [1, 2, 4] && cycles.iter().all(|c| c % cycles[0] == 0), "cycles {cycles:?}");
    println!("ok: cycles over the three shifts are exactly 1x, 2x and 4x");

    let name = "no instruction counting";
    cycles_only(&observed(name, model, None)?).context(name)?;
    let name = "no counters";
    none(&observed(name, "cortex-a57,pmu=off", None)?).context(name)
}

fn observe(name: &str, machine: Machine, kernel: &Path, ramdisk: &Path) -> Result<Seen> {
    let start = Instant::now();
    let text = boot(machine, kernel, ramdisk).with_context(|| name.to_owned())?;
    println!("booted: {name} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(Seen { lines: text.lines().map(|line| line.trim().to_owned()).collect() })
}

/// What the first program printed.
struct Seen {
    lines: Vec<String>,
}

impl Seen {
    /// The words after `key` of every line that starts with it.
    fn all(&self, key: &str) -> Vec<Vec<&str>> {
        let lines = self.lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.filter(|words| words.first() == Some(&key)).map(|words| words[1..].to_vec()).collect()
    }

    /// Every line that starts with `key`, its words read as numbers.
    fn numbers<const N: usize>(&self, key: &str) -> Result<Vec<[f64; N]>> {
        let read = |words: Vec<&str>| -> Result<[f64; N]> {
            let numbers: Result<Vec<f64>, _> = words.iter().map(|word| word.parse()).collect();
            let numbers = numbers.with_context(|| format!("{key} {words:?}"))?;
            numbers.try_into().map_err(|_| anyhow::anyhow!("{key} {words:?}: not {N} numbers"))
        };
        self.all(key).into_iter().map(read).collect()
    }

    fn event(&self, name: &str) -> Result<String> {
        let found = self.all("event").into_iter().find(|words| words[0] == name);
        Ok(found.with_context(|| format!("nothing on event {name}"))?[1..].join(" "))
    }

    fn is_counted(&self, name: &str) -> Result<()> {
        let answer = self.event(name)?;
        ensure!(answer == "ok", "{name}: {answer}");
        Ok(())
    }

    fn is_absent(&self, name: &str) -> Result<()> {
        let answer = self.event(name)?;
        ensure!(answer.starts_with("missing not available here"), "{name}: {answer}");
        Ok(())
    }
}

/// The checks where everything is counted; cycles per round of the loop.
fn full(seen: &Seen, shift: u32) -> Result<u64> {
    for name in ["cycles", "instructions", "page-faults", "task-clock"] {
        seen.is_counted(name)?;
    }
    ABSENT.iter().try_for_each(|name| seen.is_absent(name))?;

    let through_kernel = exact(&seen.numbers::<4>("loop")?, 25)?;
    println!(
        "ok: {} loops of 4 N instructions, N to 10^7, count 4 N + {} each, {} cycles a round",
        25, through_kernel.instructions, through_kernel.cycles_a_round
    );
    let in_user_space = exact(&seen.numbers::<4>("user")?, 20)?;
    let is_alike = in_user_space.cycles_a_round == through_kernel.cycles_a_round;
    ensure!(is_alike, "user-space cycles differ");
    let registers = seen.all("register");
    ensure!(registers.len() == 2, "registers {registers:?}");
    ensure!(registers.contains(&vec!["cycles", "32", "64"]), "registers {registers:?}");
    println!("ok: read from the registers 4 N + {} ({registers:?})", in_user_space.instructions);

    shared(&seen.numbers::<3>("shared")?)?;
    overflows(&seen.numbers::<3>("samples")?, 100 << shift)?;
    Ok(through_kernel.cycles_a_round)
}

/// What the loops have in common.
struct Exact {
    /// Instructions beside the loop's own: the harness's.
    instructions: f64,
    cycles_a_round: u64,
}

/// Every line `N REPEAT INSTRUCTIONS CYCLES` is 4 N and one constant.
fn exact(lines: &[[f64; 4]], expected: usize) -> Result<Exact> {
    ensure!(lines.len() == expected, "{} loops instead of {expected}", lines.len());
    let constant = |&[rounds, _, instructions, _]: &[f64; 4]| instructions - 4.0 * rounds;
    let first = constant(&lines[0]);
    for line in lines {
        ensure!(constant(line) == first, "{line:?}: not 4 N + {first}");
    }
    // How many depends on how far the harness was inlined; that they never vary is the point.
    ensure!((1.0..1000.0).contains(&first), "a harness of {first} instructions");
    // From the ends of the range: the constant drops out.
    let (small, large) = (&lines[0], &lines[lines.len() - 1]);
    let slope = (large[3] - small[3]) / (large[0] - small[0]);
    ensure!(slope.fract() == 0.0 && slope > 0.0, "{slope} cycles a round");
    for line in lines {
        let off = line[3] - slope * line[0];
        ensure!((0.0..slope * 200.0).contains(&off), "{line:?}: not {slope} N cycles");
    }
    Ok(Exact { instructions: first, cycles_a_round: slope as u64 })
}

/// Twelve events shared the registers; each estimate is within 1 % of the truth.
fn shared(lines: &[[f64; 3]]) -> Result<()> {
    const TRUTH: f64 = 80e6;
    ensure!(lines.len() == 12, "{} of 12 events were counted", lines.len());
    let mut worst: f64 = 0.0;
    for &[number, share, estimate] in lines {
        ensure!((0.2..0.9).contains(&share), "event {number} had a register {share} of the time");
        worst = worst.max((estimate / TRUTH - 1.0).abs());
    }
    ensure!(worst < 0.01, "an estimate is off by {:.2} %", worst * 100.0);
    println!("ok: 12 events on 6 registers, scaled: at most {:.2} % off", worst * 100.0);
    Ok(())
}

fn overflows(lines: &[[f64; 3]], expected: u32) -> Result<()> {
    let [[count, lost, inside]] = lines else { bail!("samples {lines:?}") };
    let expected = f64::from(expected);
    ensure!(*count == expected, "{count} overflows instead of {expected}");
    ensure!(*lost == 0.0 && inside == count, "{lost} lost, {inside} inside the loop");
    println!("ok: exactly {expected} overflows, all inside the loop");
    Ok(())
}

/// Without instruction counting the emulator has a cycle counter only.
fn cycles_only(seen: &Seen) -> Result<()> {
    seen.is_counted("cycles")?;
    seen.is_counted("page-faults")?;
    seen.is_absent("instructions")?;
    let lines = seen.numbers::<4>("loop")?;
    ensure!(lines.iter().all(|line| line[2] == 0.0 && line[3] > 0.0), "loops {lines:?}");
    println!("ok: cycles only, instructions said to be absent");
    Ok(())
}

/// A processor without counters: software events only.
fn none(seen: &Seen) -> Result<()> {
    for name in ["cycles", "instructions"].iter().chain(&ABSENT) {
        seen.is_absent(name)?;
    }
    seen.is_counted("page-faults")?;
    seen.is_counted("task-clock")?;
    let refused = seen.all("samples");
    ensure!(refused.first().is_some_and(|words| words[0] == "refused"), "samples {refused:?}");
    println!("ok: no counters, and said so; the kernel's own events count");
    Ok(())
}
