//! Counts under the real Callgrind: ignored unless asked for, because it needs valgrind.

use std::hint::black_box;
use std::process::{Command, Stdio};

use fathom_measure::contender::timed;
use fathom_measure::digest::Digest;
use fathom_measure::simulated::{Scope, Simulated, Simulation, sample_simulated};

/// Tells the re-run test binary how many iterations its worker is to do.
const VARIABLE: &str = "FATHOM_TEST_SIMULATED_ITERATIONS";
const WORDS: u64 = 20_000;

/// What the tests below run under Valgrind; by itself one iteration.
#[test]
fn worker() {
    let iterations = std::env::var(VARIABLE).map_or(1, |text| text.parse().unwrap());
    let words: Vec<u64> = (0..WORDS).collect();
    let mut sum = timed(
        &words[..],
        |words| words.iter().fold(0, |sum, word| sum + *black_box(word)),
        |sum| Digest::of_u64(*sum),
    );
    let digest = sample_simulated(&mut *sum, 1, iterations);
    assert_eq!(digest, Digest::of_u64(WORDS * (WORDS - 1) / 2));
}

fn simulate(iterations: u64) -> Simulated {
    let simulation = Simulation::new(Scope::Regions).unwrap();
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker.args(["--exact", "worker", "--test-threads=1"]).env(VARIABLE, iterations.to_string());
    let output = simulation.wrap(&worker).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    simulation.counts().unwrap()
}

#[test]
#[ignore = "needs valgrind: cargo test -- --ignored valgrind"]
fn valgrind_counts_regions_exactly_and_alone() {
    let once = simulate(1);
    let loads = once.get("loads").unwrap();
    // One load per word; a build without optimisation adds a fixed number for each.
    assert!((WORDS..30 * WORDS).contains(&loads), "{loads} loads");
    assert_eq!(once, simulate(1), "two runs differ");
    // A third iteration adds exactly as much as the fourth: the harness's constants drop out.
    let [two, three, four] =
        [2, 3, 4].map(|iterations| simulate(iterations).get("instructions").unwrap());
    let step = three - two;
    assert_eq!(four - three, step);
    assert!(step > 2 * WORDS);
}

#[test]
#[ignore = "needs valgrind: cargo test -- --ignored valgrind"]
fn valgrind_counts_whole_commands_with_what_they_start() {
    let count = |script: &str| {
        let simulation = Simulation::new(Scope::Whole).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        assert!(simulation.wrap(&command).stdin(Stdio::null()).output().unwrap().status.success());
        simulation.counts().unwrap()
    };
    let [one, two] = ["/bin/true; :", "/bin/true; /bin/true; :"].map(count);
    let instructions = |counts: &Simulated| counts.get("instructions").unwrap();
    assert!(instructions(&one) > 100_000, "{one:?}");
    assert!(instructions(&two) > instructions(&one) + 50_000, "{two:?}");
}
