//! Counts under the real Callgrind; skipped, visibly, where there is no valgrind.

use std::hint::black_box;
use std::process::{Command, Stdio};

use fathom_measure::contender::timed;
use fathom_measure::digest::Digest;
use fathom_measure::simulated::{Scope, Simulated, Simulation, SimulationError, sample_simulated};

/// Tells the re-run test binary how many iterations its worker is to do.
const VARIABLE: &str = "FATHOM_TEST_SIMULATED_ITERATIONS";
const WORDS: u64 = 20_000;

/// Not a test of its own: what the test below runs under Valgrind.
#[test]
fn worker() {
    let Ok(iterations) = std::env::var(VARIABLE) else { return };
    let words: Vec<u64> = (0..WORDS).collect();
    let mut sum = timed(
        &words[..],
        |words| words.iter().fold(0, |sum, word| sum + *black_box(word)),
        Digest::of_u64,
    );
    let digest = sample_simulated(&mut *sum, 1, iterations.parse().unwrap());
    assert_eq!(digest, Digest::of_u64(WORDS * (WORDS - 1) / 2));
}

fn simulate(iterations: u64) -> Result<Simulated, SimulationError> {
    let simulation = Simulation::new(Scope::Regions)?;
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker.args(["--exact", "worker", "--test-threads=1"]).env(VARIABLE, iterations.to_string());
    let output = simulation.wrap(&worker).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    simulation.counts()
}

#[test]
fn regions_are_counted_exactly_and_alone() {
    let once = match simulate(1) {
        Err(SimulationError::NoValgrind) => {
            eprintln!("skipped: {}", SimulationError::NoValgrind);
            return;
        }
        other => other.unwrap(),
    };
    println!("{once:?}");
    let loads = once.get("loads").unwrap();
    // One load per word; a build without optimisation adds a fixed number for each.
    assert!((WORDS..30 * WORDS).contains(&loads), "{loads} loads");
    assert_eq!(once, simulate(1).unwrap(), "two runs differ");
    // A third iteration adds exactly as much as the fourth: the harness's constants drop out.
    let [two, three, four] =
        [2, 3, 4].map(|iterations| simulate(iterations).unwrap().get("instructions").unwrap());
    let step = three - two;
    assert_eq!(four - three, step);
    assert!(step > 2 * WORDS);
}

#[test]
fn whole_commands_are_counted_with_what_they_start() {
    let count = |script: &str| {
        let simulation = Simulation::new(Scope::Whole)?;
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        assert!(simulation.wrap(&command).stdin(Stdio::null()).output().unwrap().status.success());
        simulation.counts()
    };
    let one = match count("/bin/true; :") {
        Err(SimulationError::NoValgrind) => {
            return eprintln!("skipped: {}", SimulationError::NoValgrind);
        }
        other => other.unwrap(),
    };
    let two = count("/bin/true; /bin/true; :").unwrap();
    let instructions = |counts: &Simulated| counts.get("instructions").unwrap();
    assert!(instructions(&one) > 100_000, "{one:?}");
    assert!(instructions(&two) > instructions(&one) + 50_000, "{two:?}");
}
