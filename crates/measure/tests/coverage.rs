//! Whether intervals hold what they promise, on made-up machines whose truth is known: in at least
//! 98.5 of a hundred measurements no interval of a nominal 99 % misses its true ratio.
//!
//! The samples are made here and not by an executor: what is tested is the judging.

use fathom_measure::compare::{Judged, judge, leaves_open};
use fathom_measure::mix::{Part, mixed};
use fathom_measure::plan::{Measured, Plan, Roles, Round, Stop};
use fathom_measure::sample::Sample;
use fathom_measure::stats::Random;

/// What makes times differ that is not the code. Shares of a time, as standard deviations.
#[derive(Clone, Copy)]
struct World {
    /// Contenders without the twin.
    contenders: usize,
    sets: u32,
    rounds: u32,
    /// From round to round, by contender.
    noise: f64,
    /// Share of that which the next round inherits.
    correlated: f64,
    /// Of samples that take up to twice as long: share.
    tail: f64,
    /// From process to process.
    process: f64,
    /// The second contender's processes differ by so many times as much.
    unsteady: f64,
    /// A process is slower by this with probability one half.
    bimodal: f64,
    /// A contender is slower by this in one of two states, which last about 12 rounds.
    regime: f64,
    /// Everybody becomes slower by this during the measurement.
    drift: f64,
    /// Other measurements run between two sets, so that the machine's state is another one.
    apart: bool,
    /// Every sample is a process of its own.
    fresh: bool,
    /// The fastest becomes the baseline afterwards.
    chosen: bool,
    /// Contender i takes this to the power of i times what the first does, unless one is chosen.
    factor: f64,
    /// Ends after a quarter or half of the sets if no difference beyond this is left open then.
    said: Option<f64>,
}

const QUIET: World = World {
    contenders: 3,
    sets: 4,
    rounds: 40,
    noise: 0.01,
    correlated: 0.0,
    tail: 0.0,
    process: 0.0,
    unsteady: 1.0,
    bimodal: 0.0,
    regime: 0.0,
    drift: 0.0,
    apart: true,
    fresh: false,
    chosen: false,
    factor: 1.1,
    said: None,
};

/// A tenth of a second for each contender: sixteen sets of three rounds, one after the other.
const SHORT: World =
    World { contenders: 2, sets: 16, rounds: 48, apart: false, process: 0.01, ..QUIET };

fn bell(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.fraction()).cos()
}

/// A measurement of which no round is left to do.
fn done(rounds: Vec<Round>) -> Measured {
    let (failures, planned) = (vec![None; rounds[0].samples.len()], rounds.len() as u32);
    Measured { iterations: 1, rounds, failures, alpha_share: 1.0, planned, ..Measured::default() }
}

impl World {
    /// What contender i takes as a multiple of the first; all the same if one is chosen.
    fn truth(&self, contender: usize) -> f64 {
        let copy = contender == self.contenders;
        if copy || self.chosen { 1.0 } else { self.factor.powi(contender as i32) }
    }

    /// Log times of a contender without its own level.
    fn course(&self, contender: usize, random: &mut Random) -> Vec<f64> {
        let spread = self.process * if contender == 1 { self.unsteady } else { 1.0 };
        let mut slow = random.below(2) == 0;
        let mut wave = bell(random) * self.noise;
        let mut process = 0.0;
        let fresh_noise = (1.0 - self.correlated.powi(2)).sqrt();
        let mut set = u32::MAX;
        let value = |round: u32| {
            let here = round * self.sets / self.rounds;
            if here != set {
                set = here;
                let bimodal = if random.below(2) == 0 { self.bimodal } else { 0.0 };
                process = bell(random) * spread + bimodal;
                if self.apart {
                    slow = random.below(2) == 0;
                    wave = bell(random) * self.noise;
                }
            }
            slow ^= random.below(12) == 0;
            wave = wave * self.correlated + bell(random) * self.noise * fresh_noise;
            let tail = random.fraction() < self.tail;
            let tail = if tail { (1.0 + random.fraction()).ln() } else { 0.0 };
            wave + process + tail + if slow { self.regime } else { 0.0 }
        };
        (0..self.rounds).map(value).collect()
    }

    fn measured(&self, seed: u64) -> (Measured, Roles, Plan) {
        let mut random = Random::new(seed);
        let courses: Vec<Vec<f64>> =
            (0..=self.contenders).map(|c| self.course(c, &mut random)).collect();
        let sample = |contender: usize, round: u32| {
            let drift = self.drift * f64::from(round) / f64::from(self.rounds);
            let log = courses[contender][round as usize] + drift;
            let wall_ns = (1e9 * self.truth(contender) * log.exp()) as u64;
            Some(Sample { wall_ns, cpu_ns: Some(wall_ns), ..Sample::default() })
        };
        let rounds = (0..self.rounds).map(|round| Round {
            process: round * self.sets / self.rounds,
            samples: (0..=self.contenders).map(|c| sample(c, round)).collect(),
            ..Round::default()
        });
        let measured = done(rounds.collect());
        let twin = Some(self.contenders);
        let roles = Roles { twin, chosen: self.chosen, ..Roles::default() };
        let plan = Plan { stop: Stop::Budget, fresh: self.fresh, ..Plan::default() };
        (measured, roles, plan)
    }

    /// What a look leaves of a measurement: its rounds until then, and its share of the error budget.
    fn ended(&self, whole: Measured, roles: Roles, plan: &Plan) -> Measured {
        let Some(above) = self.said else { return whole };
        for (part, share) in [(4, 0.5), (2, 0.25), (1, 0.25)] {
            let rounds = whole.rounds.iter().filter(|round| round.process < self.sets / part);
            let rounds: Vec<Round> = rounds.cloned().collect();
            let seen = Measured { rounds, alpha_share: share, ..whole.clone() };
            if part == 1 || !leaves_open(&seen, roles, plan, above) {
                return seen;
            }
        }
        whole
    }

    fn judged(&self, seed: u64) -> (Judged, usize) {
        let (measured, mut roles, plan) = self.measured(seed);
        let measured = self.ended(measured, roles, &plan);
        let judged = judge(&measured, roles, &plan);
        if !self.chosen {
            return (judged, 0);
        }
        let time = |n: &usize| judged.summaries[*n].map_or(f64::INFINITY, |s| s.ns_median);
        let fastest = (0..self.contenders).min_by(|a, b| time(a).total_cmp(&time(b))).unwrap_or(0);
        roles.baseline = fastest;
        (judge(&measured, roles, &plan), fastest)
    }

    /// Whether an interval misses its true ratio; one that is not there misses nothing.
    fn misses(&self, seed: u64) -> bool {
        let (judged, baseline) = self.judged(seed);
        judged.comparisons.iter().any(|comparison| {
            let truth = self.truth(comparison.contender) / self.truth(baseline);
            comparison.interval.is_some_and(|interval| !interval.contains(truth))
        })
    }

    /// Share of measurements that say something wrong.
    fn missed(&self, trials: u64) -> f64 {
        (1..=trials).filter(|&seed| self.misses(seed)).count() as f64 / trials as f64
    }

    /// Share of measurements that call the second contender slower, which it is.
    fn power(&self, trials: u64) -> f64 {
        let called = |seed: &u64| {
            let (judged, _) = self.judged(*seed);
            judged.comparisons[0].verdict == fathom_measure::compare::Verdict::Slower
        };
        (1..=trials).filter(called).count() as f64 / trials as f64
    }
}

/// Machines of which every interval of sets of processes has to hold.
fn worlds() -> Vec<(&'static str, World)> {
    let layout = World { process: 0.01, ..QUIET };
    let spread = World { sets: 16, rounds: 48, ..layout };
    // One measurement after the other: eight sets with no time between them.
    let row = World { sets: 8, rounds: 200, apart: false, ..layout };
    // More sets only where the first ones leave a large difference open, as some do.
    let said =
        World { sets: 16, rounds: 160, process: 0.05, chosen: true, said: Some(0.1), ..QUIET };
    vec![
        ("noise alone", QUIET),
        ("heavy tails", World { tail: 0.15, ..layout }),
        ("rounds correlated by 0.5", World { correlated: 0.5, ..layout }),
        ("rounds correlated by 0.9", World { correlated: 0.9, ..layout }),
        ("rounds correlated by 0.9, sets in a row", World { correlated: 0.9, ..row }),
        ("drift", World { drift: 0.3, ..layout }),
        ("processes 0.3 %", World { process: 0.003, ..QUIET }),
        ("processes 1 %", layout),
        ("processes 3 %", World { process: 0.03, ..QUIET }),
        ("processes 3 %, eight sets", World { process: 0.03, sets: 8, rounds: 80, ..QUIET }),
        ("two states", World { regime: 0.05, ..layout }),
        ("two states, sets in a row", World { regime: 0.05, ..row }),
        ("short", SHORT),
        ("short, heavy tails", World { tail: 0.15, ..SHORT }),
        ("short, sets of one round", World { rounds: 16, tail: 0.15, ..SHORT }),
        ("short, drift", World { drift: 0.3, ..SHORT }),
        ("short, rounds correlated by 0.5", World { correlated: 0.5, ..SHORT }),
        ("short, two states", World { regime: 0.05, ..SHORT }),
        ("short, two states, six contenders", World { regime: 0.05, contenders: 6, ..SHORT }),
        ("two layouts", World { bimodal: 0.05, ..QUIET }),
        ("two layouts, eight sets", World { bimodal: 0.05, sets: 8, rounds: 80, ..QUIET }),
        ("two contenders", World { contenders: 2, ..layout }),
        ("six contenders", World { contenders: 6, ..layout }),
        ("twenty contenders", World { contenders: 20, ..layout }),
        ("one of two is unsteady", World { contenders: 2, unsteady: 5.0, ..spread }),
        ("one of six is unsteady", World { contenders: 6, unsteady: 5.0, ..spread }),
        ("one of twenty is unsteady", World { contenders: 20, unsteady: 5.0, ..spread }),
        ("one of six is unsteady, four sets", World { contenders: 6, unsteady: 5.0, ..layout }),
        ("one of twenty is unsteady, four sets", World { contenders: 20, unsteady: 3.0, ..layout }),
        ("winner of two", World { contenders: 2, chosen: true, ..layout }),
        ("winner of six", World { contenders: 6, chosen: true, ..layout }),
        (
            "winner of six, two states",
            World { contenders: 6, chosen: true, regime: 0.05, ..layout },
        ),
        ("winner of twenty", World { contenders: 20, chosen: true, ..layout }),
        ("winner of fifty", World { contenders: 50, chosen: true, ..layout }),
        ("winner of three, until it is said", World { chosen: true, process: 0.1, ..said }),
        ("winner of three, until it is said, two states", World { regime: 0.2, ..said }),
        ("winner of six, until it is said", World { contenders: 6, process: 0.05, ..said }),
        ("six that differ, until it is said", World { contenders: 6, chosen: false, ..said }),
    ]
}

fn check<N: std::fmt::Display>(worlds: &[(N, World)], trials: u64) {
    let mut wrong = String::new();
    for (name, world) in worlds {
        // Large measurements cost more and are as telling.
        let trials = (trials * 4 / world.contenders.max(4) as u64).max(200);
        let missed = world.missed(trials);
        println!("{name}: {:.2} % of {trials} measurements missed", missed * 100.0);
        if missed > 0.015 {
            wrong += &format!("{name}: {:.2} %\n", missed * 100.0);
        }
    }
    assert!(wrong.is_empty(), "intervals of 99 % missed the truth too often:\n{wrong}");
}

#[test]
fn intervals_over_sets_of_processes_hold_the_truth() {
    check(&worlds(), 700);
}

#[test]
#[ignore = "twenty times as many trials: cargo test -p fathom-measure --test coverage -- --ignored"]
fn intervals_over_sets_of_processes_hold_the_truth_in_many_trials() {
    check(&worlds(), 20_000);
}

/// Runs of commands, one after the other.
const COMMANDS: World =
    World { fresh: true, apart: false, sets: 1, contenders: 2, noise: 0.03, ..QUIET };

#[test]
fn intervals_over_runs_of_commands_hold_the_truth() {
    let mut worlds = Vec::new();
    for rounds in [8, 12, 16, 20, 23, 24, 32, 48, 96] {
        for correlated in [0.0, 0.5, 0.7, 0.9] {
            let name = format!("{rounds} rounds correlated by {correlated}");
            worlds.push((name, World { rounds, correlated, ..COMMANDS }));
        }
    }
    for rounds in [48, 96, 192] {
        let of = World { rounds, ..COMMANDS };
        // Each is in a state of its own for twelve rounds or so, some far above what else differs.
        let states = [0.02, 0.05, 0.1, 0.3].map(|regime| World { regime, ..of });
        let tails = [0.0, 0.5, 0.9].map(|correlated| World { tail: 0.15, correlated, ..of });
        let more = [
            World { regime: 0.05, noise: 0.005, ..of },
            World { regime: 0.05, contenders: 6, ..of },
            World { regime: 0.05, tail: 0.15, ..of },
            World { contenders: 6, ..of },
            World { drift: 0.3, ..of },
            World { bimodal: 0.05, sets: rounds, ..of },
        ];
        let all = states.into_iter().chain(tails).chain(more).enumerate();
        worlds.extend(all.map(|(at, world)| (format!("{rounds} rounds, kind {at}"), world)));
    }
    check(&worlds, 1500);
}

/// What docs/method.md says is not seen: a state as long as the measurement, of which no method that has only
/// the measurement can know; and, in part, what lasts longer than the sets that follow each other.
#[test]
fn a_short_measurement_misses_what_lasts_as_long() {
    for (rounds, most) in [(16, 0.06), (24, 0.04)] {
        let missed = World { regime: 0.3, rounds, ..COMMANDS }.missed(700);
        println!("{missed:.4} of {rounds} rounds with states of twelve");
        assert!((0.01..most).contains(&missed), "{rounds} rounds: {missed}");
    }
    let row = World { correlated: 0.9, ..SHORT };
    let (short, long) = (row.missed(700), World { rounds: 480, ..row }.missed(300));
    println!("correlated by 0.9: {short:.4} of 48 rounds in sixteen sets, {long:.4} of 480");
    assert!((0.01..0.04).contains(&short) && long <= 0.015, "{short} {long}");
}

/// Three times as slow is said after some dozens of runs that inherit of each other: how much
/// slower is another question than whether.
#[test]
fn a_clear_difference_is_called_in_runs_of_commands() {
    for (rounds, correlated) in [(16, 0.0), (32, 0.5), (64, 0.7)] {
        let world = World { noise: 0.08, factor: 3.0, rounds, correlated, ..COMMANDS };
        let power = world.power(300);
        println!("{rounds} rounds correlated by {correlated}: {power:.3}");
        assert!(power >= 0.35, "{rounds} rounds correlated by {correlated}: called in {power}");
    }
}

/// The start was taken off as if it were exactly known, and how well it is was asked beside all that a command
/// takes, not beside what is left of it.
#[test]
fn intervals_less_a_shell_s_start_hold_the_truth() {
    const START: f64 = 1e9;
    let judged = |noise: f64, seed: u64| {
        let mut random = Random::new(seed);
        let mut sample = |ns: f64, noise: f64| {
            let wall_ns = (ns + START * noise * bell(&mut random)) as u64;
            Some(Sample { wall_ns, cpu_ns: Some(wall_ns), ..Sample::default() })
        };
        let mut round = || {
            let own = [1.05, 1.1].map(|times| sample(START * times, 1e-5));
            let samples = own.into_iter().chain([sample(START, noise)]).collect();
            Round { samples, ..Round::default() }
        };
        let measured = done((0..96).map(|_| round()).collect());
        let plan = Plan { fresh: true, iterations: Some(1), ..Plan::default() };
        let judged = judge(&measured, Roles { empty: Some(2), ..Roles::default() }, &plan);
        (judged.overhead.unwrap().subtracted, judged.comparisons[0].interval.unwrap())
    };
    let all: Vec<_> = (1..=700).map(|seed| judged(5e-4, seed)).collect();
    let known = all.iter().filter(|(subtracted, _)| *subtracted);
    let missed = known.clone().filter(|(_, interval)| !interval.contains(2.0)).count();
    let (known, missed) = (known.count(), missed as f64 / 700.0);
    println!("{:.2} % of {known} missed", missed * 100.0);
    assert!(known > 650 && missed <= 0.015, "{known} {missed}");
    // To 0.3 % of a command, but to 7 % of what is left.
    assert!((1..=20).all(|seed| !judged(5e-3, seed).0));
}

/// Whoever goes on until it is said says more, and stops early where that is easy.
#[test]
fn a_difference_that_is_left_open_is_measured_on() {
    let once = World { contenders: 2, process: 0.09, noise: 0.02, factor: 1.25, ..QUIET };
    let until = World { sets: 16, rounds: 160, said: Some(0.1), ..once };
    let (once, until) = (once.power(300), until.power(300));
    println!("25 %, processes 9 %: once {once:.3}, until it is said {until:.3}");
    assert!(once < 0.8 && until >= 0.93, "{once} {until}");
    let easy = World { sets: 16, rounds: 160, said: Some(0.1), factor: 1.5, ..QUIET };
    let rounds = |seed: u64| {
        let (measured, roles, plan) = easy.measured(seed);
        easy.ended(measured, roles, &plan).rounds.len()
    };
    assert!((1..=50).all(|seed| rounds(seed) == 40));
}

#[test]
fn differences_are_seen() {
    let worlds = [
        ("10 %, processes 1 %", World { contenders: 2, process: 0.01, ..QUIET }, 0.97),
        ("10 %, processes 1 %, many", World { contenders: 6, process: 0.01, ..QUIET }, 0.97),
        (
            "10 %, eight sets, processes 3 %",
            World { sets: 8, rounds: 80, process: 0.03, ..QUIET },
            0.8,
        ),
    ];
    for (name, world, least) in worlds {
        let power = world.power(300);
        println!("{name}: {power:.3}");
        assert!(power >= least, "{name}: called in {power}");
    }
}

/// A mix of three operations in which contenders are good at different ones: their shares of the cost
/// are as uncertain as their times.
struct Mix {
    world: World,
    /// Processes of all operations, or of the others than the first.
    sets: [u32; 2],
}

/// By operation: its weight, and what contender i takes as a multiple of the first one to the power
/// of i.
const OPERATIONS: [(f64, f64); 3] = [(1.0, 0.7), (0.5, 1.5), (2.0, 1.1)];

impl Mix {
    fn cost(&self, contender: usize) -> f64 {
        let of = |(weight, factor): &(f64, f64)| weight * factor.powi(contender as i32);
        OPERATIONS.iter().map(of).sum()
    }

    /// Whether an interval misses, and the width of the first one.
    fn judged(&self, seed: u64) -> (bool, f64) {
        let measured = |(number, (weight, factor)): (usize, &(f64, f64))| {
            let sets = self.sets[number.min(1)];
            let rounds = self.world.rounds * sets / self.sets[0];
            let world = World { factor: *factor, sets, rounds, ..self.world };
            let (measured, roles, plan) = world.measured(seed * 3 + number as u64);
            let judged = judge(&measured, roles, &plan);
            (measured, judged, roles, *weight)
        };
        let all: Vec<_> = OPERATIONS.iter().enumerate().map(measured).collect();
        let part = |at: usize| Part { measured: &all[at].0, judged: &all[at].1, weight: all[at].3 };
        let parts: Vec<Part<'_>> = (0..all.len()).map(part).collect();
        let found = mixed(&parts, all[0].2, 0.01);
        assert_eq!(found.len(), self.world.contenders - 1);
        let misses =
            |c: usize, low: f64, high: f64| !(low..=high).contains(&(self.cost(c) / self.cost(0)));
        let any = found.iter().any(|m| misses(m.contender, m.interval.low, m.interval.high));
        (any, found[0].interval.width())
    }
}

#[test]
fn intervals_of_a_mix_hold_the_truth() {
    let layout = World { contenders: 4, process: 0.01, ..QUIET };
    let mix = |world: World| Mix { world, sets: [world.sets; 2] };
    let worlds = [
        ("noise alone", mix(World { process: 0.0, ..layout })),
        ("processes 1 %", mix(layout)),
        ("processes 3 %", mix(World { process: 0.03, ..layout })),
        ("two layouts", mix(World { process: 0.0, bimodal: 0.05, ..layout })),
        ("two states", mix(World { regime: 0.05, ..layout })),
        ("drift", mix(World { drift: 0.3, ..layout })),
        ("heavy tails", mix(World { tail: 0.15, ..layout })),
        ("rounds correlated by 0.9", mix(World { correlated: 0.9, ..layout })),
        ("two contenders", mix(World { contenders: 2, ..layout })),
        (
            "eight sets and four",
            Mix { world: World { sets: 8, rounds: 80, ..layout }, sets: [8, 4] },
        ),
        ("four sets and six", Mix { world: layout, sets: [4, 6] }),
    ];
    let mut wrong = String::new();
    for (name, mix) in &worlds {
        let trials = 700;
        let missed = (1..=trials).filter(|&seed| mix.judged(seed).0).count();
        let width = (1..=50).map(|seed| mix.judged(seed).1).sum::<f64>() / 50.0;
        let share = missed as f64 / trials as f64;
        println!(
            "{name}: {:.2} % of {trials} mixes missed, {:.1} % wide",
            share * 100.0,
            width * 100.0
        );
        if share > 0.015 {
            wrong += &format!("{name}: {:.2} %\n", share * 100.0);
        }
    }
    assert!(wrong.is_empty(), "intervals of 99 % missed the truth too often:\n{wrong}");
}
