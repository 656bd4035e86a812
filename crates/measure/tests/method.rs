//! The method as a whole, on a machine that exists only here: its clock, its noise and its failures
//! are made up, so what the method should find is known.

use fathom_measure::compare::{Broken, Clock, Judged, Unresolved, Verdict, judge};
use fathom_measure::rounds::{Course, End, Executor, Measured, Plan, Roles, Stop, measure};
use fathom_measure::sample::{Failure, Sample};
use fathom_measure::stats::Random;

/// Contenders with known costs on a noisy machine.
struct Fake {
    /// Nanoseconds per iteration.
    costs_ns: Vec<f64>,
    /// Nanoseconds per sample besides.
    fixed_ns: f64,
    /// A contender each of whose samples takes so many nanoseconds.
    constant: Option<(usize, f64)>,
    /// What each iteration needs before it is timed.
    untimed_ns: u64,
    /// Spread of the processor time, as a share.
    cpu_noise: f64,
    /// Share of samples that wait for a processor, for a multiple of their own time.
    waiting_share: f64,
    /// Slow drift of everything, as a share per sample.
    wander: f64,
    /// Contender and sample number at which it fails.
    failure: Option<(usize, usize)>,
    /// So many first samples take so many times as long.
    slow_start: Option<(usize, f64)>,
    /// By so many nanoseconds, less one, the samples of a set take less than those of another.
    grains: usize,
    random: Random,
    now_ns: u64,
    drift: f64,
    calls: Vec<(usize, u64)>,
    /// Who was given a fresh process after whom.
    refreshes: Vec<Vec<usize>>,
}

impl Fake {
    fn quiet(costs_ns: &[f64]) -> Fake {
        Fake {
            costs_ns: costs_ns.to_vec(),
            fixed_ns: 0.0,
            constant: None,
            untimed_ns: 0,
            cpu_noise: 0.0,
            waiting_share: 0.0,
            wander: 0.0,
            failure: None,
            slow_start: None,
            grains: 1,
            random: Random::new(1),
            now_ns: 0,
            drift: 0.0,
            calls: Vec::new(),
            refreshes: Vec::new(),
        }
    }

    /// Processes that differ by nanoseconds: of those that do not nothing is called.
    fn steady(costs_ns: &[f64]) -> Fake {
        Fake { grains: 3, ..Fake::quiet(costs_ns) }
    }

    /// As a shared machine behaves: processor time within a percent or so with a tail, most
    /// samples interrupted, everything wandering.
    fn busy(costs_ns: &[f64], seed: u64) -> Fake {
        Fake {
            cpu_noise: 0.01,
            waiting_share: 0.6,
            wander: 0.002,
            random: Random::new(seed),
            ..Fake::quiet(costs_ns)
        }
    }

    fn bell(&mut self) -> f64 {
        (0..6).map(|_| self.random.fraction()).sum::<f64>() / 3.0 - 1.0
    }
}

impl Executor for Fake {
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure> {
        let number = self.calls.iter().filter(|call| call.0 == contender).count();
        self.calls.push((contender, iterations));
        if self.failure == Some((contender, number)) {
            return Err(Failure::Hung { limit_ms: 1 });
        }
        self.drift = self.drift * 0.99 + self.wander * self.bell();
        let tail = if self.random.below(20) == 0 { self.random.fraction() * 0.1 } else { 0.0 };
        let noise = 1.0 + self.cpu_noise * self.bell() + self.drift + tail * self.cpu_noise * 50.0;
        let cost_ns = match self.constant {
            Some((constant, cost_ns)) if constant == contender => cost_ns,
            _ => self.costs_ns[contender] * iterations as f64 + self.fixed_ns,
        };
        let cpu_ns = cost_ns * noise;
        let cpu_ns = match self.slow_start {
            Some((samples, times)) if self.calls.len() <= samples => cpu_ns * times,
            _ => cpu_ns,
        };
        let cpu_ns = cpu_ns - ((self.refreshes.len() + contender) % self.grains) as f64;
        let waits = self.random.fraction() < self.waiting_share;
        let waited = if waits { 1.0 + 4.0 * self.random.fraction() } else { 1.0 };
        let (wall_ns, cpu_ns) = ((cpu_ns * waited) as u64, cpu_ns as u64);
        self.now_ns += wall_ns + 1000 + self.untimed_ns * iterations;
        Ok(Sample { wall_ns, cpu_ns: Some(cpu_ns), ..Sample::default() })
    }

    fn refresh(&mut self, contenders: &[usize]) -> Vec<(usize, Failure)> {
        self.refreshes.push(contenders.to_vec());
        Vec::new()
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }
}

/// Contender 0 is the baseline, the last one its twin.
fn roles(costs: &[f64]) -> Roles {
    Roles { twin: Some(costs.len() - 1), ..Roles::default() }
}

fn rounds_of(fake: &mut Fake, plan: &Plan) -> (Measured, Roles) {
    let (roles, failures) = (roles(&fake.costs_ns), vec![None; fake.costs_ns.len()]);
    (measure(fake, failures, roles, plan), roles)
}

fn run(fake: &mut Fake, plan: &Plan) -> (Measured, Judged) {
    let (measured, roles) = rounds_of(fake, plan);
    let judged = judge(&measured, roles, plan);
    (measured, judged)
}

/// Other times of a contender on both clocks, by the number of the round, its process and the time before.
fn retime(measured: &mut Measured, contender: usize, ns: impl Fn(usize, u32, u64) -> u64) {
    for (number, round) in measured.rounds.iter_mut().enumerate() {
        let sample = round.samples[contender].as_mut().unwrap();
        sample.wall_ns = ns(number, round.process, sample.wall_ns);
        sample.cpu_ns = Some(sample.wall_ns);
    }
}

fn quick() -> Plan {
    // 48 samples of a millisecond: the method is the same, the simulation shorter.
    Plan { sample_ns: 1_000_000, budget_ns: 48_000_000, processes: 4, ..Plan::default() }
}

#[test]
fn a_true_factor_of_two_reads_as_two() {
    let (_, judged) = run(&mut Fake::busy(&[100.0, 200.0, 100.0], 3), &quick());
    let comparison = &judged.comparisons[0];
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert!((comparison.ratio.unwrap() - 2.0).abs() < 0.02, "{comparison:?}");
    let (_, judged) = run(&mut Fake::busy(&[200.0, 100.0, 200.0], 3), &quick());
    assert_eq!(judged.comparisons[0].verdict, Verdict::Faster);
    assert!((judged.comparisons[0].ratio.unwrap() - 0.5).abs() < 0.01);
}

#[test]
fn identical_contenders_are_hardly_ever_called_different() {
    let trials = 1000;
    let (mut alarms, mut vetoes) = (0, 0);
    for seed in 0..trials {
        let plan = Plan { seed, ..quick() };
        let (_, judged) = run(&mut Fake::busy(&[100.0, 100.0, 100.0], seed), &plan);
        match judged.comparisons[0].verdict {
            Verdict::Faster | Verdict::Slower => alarms += 1,
            Verdict::Withheld { .. } => vetoes += 1,
            Verdict::NotResolved { .. } => {}
        }
    }
    assert!(alarms * 100 <= trials, "{alarms} false verdicts in {trials}");
    assert!(vetoes * 100 <= 2 * trials, "{vetoes} measurements withheld in {trials}");
}

#[test]
fn many_identical_contenders_stay_within_the_same_error_budget() {
    let trials = 150;
    let mut with_alarm = 0;
    for seed in 0..trials {
        let plan = Plan { seed, ..quick() };
        let (_, judged) = run(&mut Fake::busy(&[100.0; 12], seed), &plan);
        assert_eq!(judged.comparisons.len(), 10);
        let is_call = |v: &Verdict| matches!(v, Verdict::Faster | Verdict::Slower);
        with_alarm += u64::from(judged.comparisons.iter().any(|c| is_call(&c.verdict)));
    }
    assert!(with_alarm <= 5, "{with_alarm} of {trials} measurements hold a false verdict");
}

#[test]
fn two_percent_is_seen_on_processor_time_although_wall_time_is_hopeless() {
    let trials = 60;
    let mut seen = 0;
    for seed in 0..trials {
        let plan = Plan { seed, budget_ns: 200_000_000, ..quick() };
        let (_, judged) = run(&mut Fake::busy(&[100.0, 102.0, 100.0], seed), &plan);
        assert_eq!(judged.clock, Clock::Cpu, "{}", judged.clock_reason);
        seen += usize::from(judged.comparisons[0].verdict == Verdict::Slower);
        assert_ne!(judged.comparisons[0].verdict, Verdict::Faster);
    }
    assert!(seen * 10 >= 9 * trials as usize, "{seen} of {trials}");
}

#[test]
fn a_quiet_wall_clock_is_preferred_and_threads_leave_no_choice() {
    let mut fake = Fake::quiet(&[100.0, 100.0]);
    assert_eq!(run(&mut fake, &quick()).1.clock, Clock::Wall);
    let mut fake = Fake::busy(&[100.0, 100.0], 1);
    let roles = Roles { wall_only: true, ..roles(&fake.costs_ns) };
    let measured = measure(&mut fake, vec![None; 2], roles, &quick());
    assert_eq!(judge(&measured, roles, &quick()).clock, Clock::Wall);
}

/// All of its readings were zero.
#[test]
fn processor_time_that_one_does_not_tell_is_no_clock_even_if_asked_for() {
    let plan = Plan { clock: Some(Clock::Cpu), ..quick() };
    let (mut measured, roles) = rounds_of(&mut Fake::steady(&[100.0, 150.0, 100.0]), &plan);
    assert_eq!(judge(&measured, roles, &plan).clock, Clock::Cpu);
    for round in &mut measured.rounds {
        round.samples[1].as_mut().unwrap().cpu_ns = None;
    }
    let judged = judge(&measured, roles, &plan);
    assert_eq!((judged.clock, judged.comparisons[0].verdict), (Clock::Wall, Verdict::Slower));
    assert_eq!(judged.clock_reason, "no processor time is known for some samples");
    for round in &mut measured.rounds {
        round.samples[1].as_mut().unwrap().cpu_ns = Some(0);
    }
    assert_eq!(
        judge(&measured, roles, &quick()).clock_reason,
        "the processor time of some samples is zero"
    );
}

#[test]
fn all_get_the_same_iterations_set_by_the_slowest() {
    let mut fake = Fake::quiet(&[100.0, 500.0, 100.0]);
    let (measured, _) = run(&mut fake, &quick());
    assert_eq!(measured.iterations, 2000, "1 ms at 500 ns");
    let rounds = measured.rounds.len() * 3;
    assert!(fake.calls.iter().rev().take(rounds).all(|call| call.1 == 2000));
}

#[test]
fn iterations_are_raised_until_the_fastest_is_above_the_clock_s_grain() {
    let mut fake = Fake::quiet(&[1.0, 1_000_000.0, 1.0]);
    let (measured, _) = run(&mut fake, &quick());
    assert_eq!(measured.iterations, 200_000, "200 us at 1 ns");
}

#[test]
fn the_budget_sets_the_rounds_and_the_limit_ends_them() {
    let plan = Plan { stop: Stop::Budget, ..quick() };
    let (measured, _) = run(&mut Fake::quiet(&[100.0, 100.0]), &plan);
    assert_eq!((measured.rounds.len(), measured.end), (48, End::Rounds));
    let plan = Plan { limit_ns: 20_000_000, ..plan };
    let (measured, _) = run(&mut Fake::quiet(&[100.0, 100.0]), &plan);
    assert_eq!(measured.end, End::Limit);
    assert!(measured.rounds.len() < 14, "{}", measured.rounds.len());
}

/// Half of the error budget was for looks that nobody took.
#[test]
fn a_rule_without_looks_spends_the_whole_error_budget_at_its_end() {
    for stop in [Stop::Budget, Stop::Repetition { quiet_ns: u64::MAX }] {
        for plan in [Plan { processes: 8, ..quick() }, commands()] {
            let plan = Plan { stop, ..plan };
            let (measured, _) = run(&mut Fake::steady(&[100.0, 130.0, 100.0]), &plan);
            assert_eq!((measured.end, measured.alpha_share), (End::Rounds, 1.0), "{stop:?}");
        }
    }
}

/// They went on beyond the limit, and then it was said to have ended them.
#[test]
fn the_last_of_so_many_rounds_ends_them_and_not_the_limit() {
    let plan = Plan { rounds: Some(40), least_rounds: Some(40), limit_ns: 1, ..commands() };
    let (measured, _) = run(&mut Fake::quiet(&[100.0, 100.0]), &plan);
    assert_eq!((measured.rounds.len(), measured.end), (40, End::Rounds));
}

/// Of 200 that were asked for there were 25.
#[test]
fn who_asks_for_so_many_rounds_gets_them_whatever_the_rule() {
    let (target, quiet_ns) = (10.0, 1_000_000);
    for stop in [Stop::Width { target }, Stop::Repetition { quiet_ns }, SAID] {
        for plan in [quick(), commands()] {
            let plan = Plan { rounds: Some(200), processes: 8, stop, ..plan };
            let (measured, _) = run(&mut Fake::steady(&[100.0, 130.0, 100.0]), &plan);
            let found = (measured.rounds.len(), measured.end, measured.alpha_share);
            assert_eq!(found, (200, End::Rounds, 1.0), "{stop:?}");
        }
    }
    let plan = Plan { rounds: Some(200), limit_ns: 20_000_000, ..quick() };
    assert_eq!(run(&mut Fake::quiet(&[100.0, 100.0]), &plan).0.end, End::Limit);
}

const SAID: Stop = Stop::Said { above: 0.1 };

#[test]
fn measuring_ends_early_once_every_interval_is_narrow() {
    let plan = Plan { budget_ns: 400_000_000, processes: 8, ..quick() };
    let (measured, _) = run(&mut Fake::steady(&[100.0, 130.0, 100.0]), &plan);
    assert_eq!((measured.end, measured.planned), (End::Target, 400));
    assert_eq!(measured.rounds.len(), 200);
}

#[test]
fn repetition_ends_when_no_minimum_was_found_for_long_enough() {
    let stop = Stop::Repetition { quiet_ns: 30_000_000 };
    let plan = Plan { stop, budget_ns: 10_000_000_000, ..quick() };
    let (measured, _) = run(&mut Fake::busy(&[100.0, 100.0], 5), &plan);
    assert_eq!(measured.end, End::Target);
    let samples: Vec<u64> = measured
        .rounds
        .iter()
        .map(|round| round.samples[0].as_ref().unwrap().cpu_ns.unwrap())
        .collect();
    let least = samples.iter().min().unwrap();
    let found_at = samples.iter().position(|ns| ns == least).unwrap();
    let quiet: u64 = samples[found_at + 1..].iter().sum();
    assert!(quiet >= 30_000_000);
    assert!(samples.iter().filter(|&&ns| ns <= least + least / 100).count() >= 3);
}

#[test]
fn a_failure_costs_the_contender_its_row_and_nothing_else() {
    let mut fake = Fake::steady(&[100.0, 150.0, 200.0, 100.0]);
    fake.failure = Some((1, 20));
    let (measured, judged) = run(&mut fake, &Plan { stop: Stop::Budget, ..quick() });
    assert_eq!(measured.failures[1], Some(Failure::Hung { limit_ms: 1 }));
    let calls = fake.calls.iter().filter(|call| call.0 == 1).count();
    assert_eq!(calls, 21, "it is not asked again");
    assert!(judged.summaries[1].is_none());
    assert_eq!(judged.comparisons.len(), 1);
    assert_eq!(judged.comparisons[0].contender, 2);
    assert_eq!(judged.comparisons[0].verdict, Verdict::Slower);
    assert!(judged.comparisons[0].pairs >= 48);
}

/// Its copy went on alone.
#[test]
fn nothing_is_measured_once_all_but_the_copy_have_failed() {
    for plan in [quick(), commands()] {
        let mut fake = Fake { failure: Some((0, 30)), ..Fake::steady(&[100.0, 100.0]) };
        let (measured, _) = run(&mut fake, &Plan { stop: Stop::Budget, ..plan });
        assert_eq!(measured.end, End::Alone);
        let last = fake.calls.iter().rposition(|call| call.0 == 0).unwrap();
        assert!(fake.calls.len() - last <= 2, "{last} of {}", fake.calls.len());
    }
}

/// The user ends it after so many fresh sets, and so many samples of the last.
struct Interrupted {
    fake: Fake,
    sets: usize,
    samples: usize,
}

impl Executor for Interrupted {
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure> {
        if self.interrupted() {
            return Err(Failure::Interrupted);
        }
        self.samples -= usize::from(self.fake.refreshes.len() >= self.sets);
        self.fake.sample(contender, iterations)
    }

    fn refresh(&mut self, contenders: &[usize]) -> Vec<(usize, Failure)> {
        self.fake.refresh(contenders);
        let interrupted = contenders.iter().filter(|_| self.interrupted());
        interrupted.map(|&contender| (contender, Failure::Interrupted)).collect()
    }

    fn now_ns(&mut self) -> u64 {
        self.fake.now_ns()
    }

    fn interrupted(&mut self) -> bool {
        self.fake.refreshes.len() >= self.sets && self.samples == 0
    }
}

/// Two operations on a table of thousands of keys, made anew for each iteration, took minutes of a budget of a
/// second: only what was timed counted.
#[test]
fn what_iterations_need_beforehand_is_counted_when_they_are_chosen() {
    for costs in [[100.0, 150.0, 100.0], [100.0, 300_000.0, 100.0]] {
        let mut fake = Fake { untimed_ns: 100_000, ..Fake::quiet(&costs) };
        let (measured, _) = run(&mut fake, &quick());
        assert!(measured.iterations <= 200, "{costs:?}: {}", measured.iterations);
        let rounds = measured.rounds.len() as u64;
        let each = fake.now_ns / (rounds * 3);
        assert!(each <= 8 * quick().sample_ns, "{costs:?}: {each}");
    }
}

#[test]
fn an_interrupt_between_two_sets_is_nobody_s_failure() {
    let costs = [100.0, 102.0, 100.0];
    let mut executor = Interrupted { fake: Fake::quiet(&costs), sets: 1, samples: 0 };
    let measured = measure(&mut executor, vec![None; 3], roles(&costs), &quick());
    assert_eq!((measured.end, measured.failures), (End::Interrupted, vec![None; 3]));
}

/// Everybody was told to have failed, and the measurement to be over.
#[test]
fn an_interrupt_while_all_get_ready_is_one() {
    let costs = [100.0, 102.0, 100.0];
    let mut executor = Interrupted { fake: Fake::quiet(&costs), sets: 0, samples: 0 };
    let failures = vec![Some(Failure::Interrupted); 3];
    let measured = measure(&mut executor, failures, roles(&costs), &quick());
    assert_eq!((measured.end, measured.rounds.len()), (End::Interrupted, 0));
}

/// In the processes' start, in the warm-up, in the first round and behind it.
#[test]
fn an_interrupt_costs_no_verdict_of_the_sets_before() {
    let plan = Plan { stop: Stop::Budget, ..quick() };
    for (samples, sets) in [(0, 2), (3, 2), (6, 2), (8, 2), (9, 3), (10, 3)] {
        let fake = Fake::busy(&[100.0, 150.0, 100.0], 1);
        let roles = roles(&fake.costs_ns);
        let mut executor = Interrupted { fake, sets: 2, samples };
        let measured = measure(&mut executor, vec![None; 3], roles, &plan);
        let comparison = &judge(&measured, roles, &plan).comparisons[0];
        let found = (measured.end, comparison.sets, comparison.verdict);
        assert_eq!(found, (End::Interrupted, sets, Verdict::Slower), "{samples}");
    }
}

/// The user ends it in the midst of a sample, after so many.
struct Late(Fake, usize, bool);

impl Executor for Late {
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure> {
        self.2 |= self.1 == 0;
        self.1 = self.1.saturating_sub(1);
        if self.2 { Err(Failure::Interrupted) } else { self.0.sample(contender, iterations) }
    }

    fn refresh(&mut self, contenders: &[usize]) -> Vec<(usize, Failure)> {
        self.0.refresh(contenders)
    }

    fn now_ns(&mut self) -> u64 {
        self.0.now_ns()
    }

    fn interrupted(&mut self) -> bool {
        self.2
    }
}

/// It was counted.
#[test]
fn a_round_that_ended_before_anybody_was_measured_is_none() {
    let costs = [100.0, 150.0, 100.0];
    for samples in 0..100 {
        let mut executor = Late(Fake::quiet(&costs), samples, false);
        let measured = measure(&mut executor, vec![None; 3], roles(&costs), &quick());
        let is_empty =
            |round: &fathom_measure::plan::Round| round.samples.iter().all(Option::is_none);
        assert!(!measured.rounds.iter().any(is_empty), "{samples}");
    }
}

/// Shares of looks that an end did not come from were what it had to spend.
#[test]
fn an_interrupt_has_what_no_look_has_spent_of_the_error_budget() {
    let plan = Plan { processes: 8, stop: Stop::Width { target: 1e-9 }, ..quick() };
    let fake = Fake::busy(&[100.0, 150.0, 100.0], 1);
    let roles = roles(&fake.costs_ns);
    let mut executor = Interrupted { fake, sets: 5, samples: 0 };
    let measured = measure(&mut executor, vec![None; 3], roles, &plan);
    assert_eq!((measured.end, measured.alpha_share), (End::Interrupted, 0.75));
}

#[test]
fn an_order_names_nobody_who_has_failed() {
    for number in 15..25 {
        let mut fake = Fake::quiet(&[100.0, 150.0, 200.0, 50.0, 1.0]);
        fake.failure = Some((1, number));
        let roles = Roles { empty: Some(4), ..Roles::default() };
        let measured = measure(&mut fake, vec![None; 5], roles, &quick());
        let named = measured.rounds.iter().filter(|round| round.order.contains(&1)).count();
        let sampled = measured.rounds.iter().filter(|round| round.samples[1].is_some()).count();
        assert!(named <= sampled + 1, "{number}: {named} {sampled}");
    }
}

#[test]
fn without_its_baseline_a_measurement_has_no_verdicts() {
    let mut fake = Fake::quiet(&[100.0, 150.0, 100.0]);
    fake.failure = Some((0, 20));
    let (_, judged) = run(&mut fake, &quick());
    assert!(matches!(judged.comparisons[0].verdict, Verdict::Withheld { .. }));
}

/// Without the baseline that it copies, a copy that lives was said to have failed.
#[test]
fn a_failed_copy_withholds_verdicts_against_whom_it_copies_alone() {
    let (baseline_failed, copy_failed) = (Some(Broken::Baseline), Some(Broken::Copy));
    for (failed, baseline, why) in
        [(0, 0, baseline_failed), (0, 1, None), (3, 0, copy_failed), (3, 1, None)]
    {
        let failure = Some((failed, 20));
        let mut fake = Fake { failure, ..Fake::steady(&[100.0, 150.0, 200.0, 100.0]) };
        let plan = Plan { stop: Stop::Budget, ..quick() };
        let (measured, before) = rounds_of(&mut fake, &plan);
        let judged = judge(&measured, Roles { baseline, ..before }, &plan);
        let last = judged.comparisons.last().unwrap();
        let expected = why.map_or(Verdict::Slower, |why| Verdict::Withheld { why });
        assert_eq!((last.contender, last.verdict), (2, expected), "{failed} {baseline}");
    }
}

#[test]
fn a_twin_that_differs_widens_intervals_and_vetoes_nothing() {
    // 3 % between identical copies in every set: 30 % is called all the same, what lies between the copies or
    // beside them is not.
    let costs = [100.0, 130.0, 100.5, 99.5, 103.0];
    let mut fake = Fake { cpu_noise: 0.01, ..Fake::quiet(&costs) };
    let plan = Plan { stop: Stop::Budget, ..quick() };
    let (_, judged) = run(&mut fake, &plan);
    assert_eq!(judged.comparisons[0].verdict, Verdict::Slower, "{judged:?}");
    for near in &judged.comparisons[1..] {
        assert!(!near.verdict.is_called(), "{judged:?}");
    }
}

/// As a loop that was optimised away: everybody did a million million iterations, until they hung.
#[test]
fn a_time_that_does_not_grow_with_the_iterations_costs_that_contender_its_row() {
    let mut fake = Fake { fixed_ns: 50.0, ..Fake::steady(&[100.0, 0.0, 150.0, 100.0]) };
    let (measured, judged) = run(&mut fake, &quick());
    let Some(Failure::Broken { what }) = &measured.failures[1] else { panic!("{measured:?}") };
    assert!(what.contains("does not grow"), "{what}");
    assert_eq!(judged.comparisons.last().unwrap().verdict, Verdict::Slower, "{judged:?}");
    let most = fake.calls.iter().filter(|call| call.0 != 1).map(|call| call.1).max();
    assert!(most.unwrap() < 1 << 20, "{most:?}");
}

/// A worker that says five milliseconds of everything was the fastest of all.
#[test]
fn a_long_time_that_does_not_grow_with_the_iterations_costs_the_row_too() {
    let costs = [100.0, 0.0, 150.0, 100.0];
    for (constant_ns, seed) in [(300_000.0, 1), (5e6, 2), (5e9, 3)] {
        let mut fake = Fake { constant: Some((1, constant_ns)), ..Fake::busy(&costs, seed) };
        let (measured, judged) = run(&mut fake, &quick());
        let Some(Failure::Broken { what }) = &measured.failures[1] else { panic!("{measured:?}") };
        assert!(what.contains("does not grow"), "{what}");
        assert_eq!(judged.comparisons.last().unwrap().verdict, Verdict::Slower, "{judged:?}");
    }
}

/// Whose first call loads a library, say, takes as long for one iteration as for thousands behind it.
#[test]
fn a_slow_first_sample_costs_nobody_its_row() {
    for (samples, times) in [(1, 1e4), (1, 1e7), (4, 3e3), (9, 5e3)] {
        let costs = [100.0, 150.0, 100.0];
        let mut fake = Fake { slow_start: Some((samples, times)), ..Fake::busy(&costs, 1) };
        let (measured, _) = run(&mut fake, &quick());
        assert!(measured.failures.iter().all(Option::is_none), "{:?}", measured.failures);
    }
}

/// Commands: every run is a process of its own.
fn commands() -> Plan {
    Plan { fresh: true, ..quick() }
}

/// A command that takes 1.5 % more and one that takes half more than the first, whose copy takes `by(round)`
/// hundredths of its time.
fn with_a_copy_of(by: impl Fn(usize) -> u64) -> Judged {
    let mut fake = Fake::quiet(&[100.0, 101.5, 150.0, 100.0]);
    let (mut measured, roles) = rounds_of(&mut fake, &commands());
    retime(&mut measured, 3, |number, _, ns| ns * by(number) / 100);
    judge(&measured, roles, &commands())
}

#[test]
fn a_disturbed_copy_of_a_command_vetoes_nothing() {
    let judged = with_a_copy_of(|number| if number.is_multiple_of(2) { 97 } else { 103 });
    assert!(judged.floor.reach.unwrap() > 0.025, "{judged:?}");
    assert_eq!(judged.comparisons[0].verdict, Verdict::Slower, "{judged:?}");
}

#[test]
fn where_identical_commands_differ_no_smaller_difference_is_called() {
    for by in [97, 103] {
        let judged = with_a_copy_of(|_| by);
        let Verdict::NotResolved { why: Unresolved::Floor { least }, longer: None } =
            judged.comparisons[0].verdict
        else {
            panic!("{judged:?}");
        };
        assert!((0.029..0.04).contains(&least), "{least}");
        assert_eq!(judged.comparisons[1].verdict, Verdict::Slower, "{judged:?}");
    }
}

/// How far it reached was a share, less than half of what the factor was.
#[test]
fn a_faster_copy_of_a_command_is_as_much_of_a_veto_as_a_slower_one() {
    let judged = with_a_copy_of(|_| 52);
    let verdict = judged.comparisons[1].verdict;
    let is_floor = matches!(verdict, Verdict::NotResolved { why: Unresolved::Floor { .. }, .. });
    assert!(is_floor, "{judged:?}");
}

/// They were said to differ by hardly anything.
#[test]
fn where_identical_commands_differ_none_are_closer_than_that() {
    let (_, judged) = run(&mut Fake::quiet(&[100.0, 100.0, 105.0]), &commands());
    let Verdict::NotResolved { why: Unresolved::Floor { least }, longer: None } =
        judged.comparisons[0].verdict
    else {
        panic!("{judged:?}");
    };
    assert!((0.049..0.06).contains(&least), "{least}");
}

#[test]
fn less_than_a_percent_can_be_called_for_commands() {
    let mut fake = Fake::quiet(&[100_000.0, 100_500.0, 100_000.0]);
    let (_, judged) = run(&mut fake, &commands());
    assert_eq!(judged.comparisons[0].verdict, Verdict::Slower, "{judged:?}");
    assert_eq!((fake.refreshes.len(), judged.comparisons[0].sets), (0, 0));
}

/// What was rounded off means decided, with certainty.
#[test]
fn a_clock_that_reads_the_same_in_all_sets_calls_nothing() {
    for costs in [[100.0, 100.0, 100.0], [100.0, 125.0, 100.0]] {
        let (_, judged) = run(&mut Fake::quiet(&costs), &quick());
        let comparison = &judged.comparisons[0];
        let verdict = Verdict::NotResolved { why: Unresolved::Resolution, longer: None };
        assert_eq!((comparison.verdict, comparison.interval), (verdict, None));
        assert_eq!((comparison.sets, comparison.p_adjusted, judged.floor.reach), (4, 1.0, None));
        assert!((comparison.ratio.unwrap() - costs[1] / 100.0).abs() < 1e-3, "{comparison:?}");
    }
}

/// It went from 0 to infinity, so that "infx longer" was needed and JSON had a null in it.
#[test]
fn an_interval_whose_ends_are_beyond_all_numbers_is_none() {
    let plan = Plan { processes: 2, alpha: 1e-12, stop: Stop::Budget, ..quick() };
    let mut fake = Fake { cpu_noise: 0.3, ..Fake::quiet(&[100.0, 200.0, 100.0]) };
    let (_, judged) = run(&mut fake, &plan);
    let comparison = &judged.comparisons[0];
    let verdict = Verdict::NotResolved { why: Unresolved::Unbounded, longer: None };
    assert_eq!((comparison.verdict, comparison.interval), (verdict, None), "{comparison:?}");
    assert_eq!((comparison.sets, comparison.p_adjusted, judged.floor.interval), (2, 1.0, None));
}

/// As `fathom run --reference` has it: there is no copy of what failed.
#[test]
fn a_command_beside_a_reference_that_failed_has_its_time() {
    let failures = vec![Some(Failure::Hung { limit_ms: 1 }), None];
    let measured =
        measure(&mut Fake::quiet(&[100.0, 150.0]), failures, Roles::default(), &commands());
    assert_eq!(measured.end, End::Rounds);
    let judged = judge(&measured, Roles::default(), &commands());
    assert!(judged.summaries[1].is_some());
    assert!(matches!(judged.comparisons[0].verdict, Verdict::Withheld { .. }));
}

#[test]
fn one_set_of_processes_shows_what_was_seen_and_calls_nothing() {
    let (_, judged) =
        run(&mut Fake::quiet(&[100.0, 150.0, 100.0]), &Plan { processes: 1, ..quick() });
    let comparison = &judged.comparisons[0];
    let why = Unresolved::OneProcess;
    assert_eq!(comparison.verdict, Verdict::NotResolved { why, longer: None });
    assert!((comparison.ratio.unwrap() - 1.5).abs() < 1e-3);
    assert_eq!((comparison.seen.slower, comparison.seen.faster), (comparison.pairs, 0));
}

#[test]
fn few_rounds_say_what_they_saw() {
    let plan = Plan { rounds: Some(5), ..commands() };
    let (_, judged) = run(&mut Fake::quiet(&[100.0, 1200.0, 100.0]), &plan);
    let comparison = &judged.comparisons[0];
    assert!(
        matches!(
            comparison.verdict,
            Verdict::NotResolved { why: Unresolved::TooFew { rounds: 5, needed: 16 }, .. }
        ),
        "{comparison:?}"
    );
    assert_eq!(comparison.seen.slower, 5);
    assert!((comparison.seen.level() - (1.0 - 2.0 / 32.0)).abs() < 1e-12);
}

/// Who starts first gets the pages of who ended last: if that were always the same, so were its pages.
#[test]
fn fresh_processes_start_in_another_order_in_each_set() {
    let mut fake = Fake::quiet(&[100.0, 102.0, 100.0]);
    run(&mut fake, &Plan { processes: 32, rounds: Some(64), stop: Stop::Budget, ..quick() });
    assert_eq!(fake.refreshes.len(), 31);
    for place in 0..3 {
        for contender in 0..3 {
            let there = fake.refreshes.iter().filter(|order| order[place] == contender).count();
            // Ten on average; fewer than two in one of a thousand such runs.
            assert!(there >= 2, "{contender} was {place} {there} times");
        }
    }
}

/// Noisy rounds of three contenders, one of them a little slower than the first, and a copy.
fn noisy(seed: u64, plan: &Plan) -> (Measured, Roles) {
    rounds_of(&mut Fake::busy(&[100.0, 100.3, 100.0, 100.0], seed), plan)
}

#[test]
fn what_earlier_looks_spent_of_the_error_budget_is_gone() {
    for plan in [quick(), commands()] {
        let (mut measured, roles) = noisy(7, &plan);
        let intervals = |measured: &Measured, plan: &Plan| {
            let judged = judge(measured, roles, plan).comparisons;
            judged.iter().map(|comparison| comparison.interval.unwrap()).collect::<Vec<_>>()
        };
        let all = intervals(&measured, &plan);
        let strict = intervals(&measured, &Plan { alpha: plan.alpha * 0.25, ..plan.clone() });
        measured.alpha_share = 0.25;
        let late = intervals(&measured, &plan);
        assert_eq!(late, strict);
        let are_wider = all.iter().zip(&late).all(|(all, late)| late.width() > all.width());
        assert!(are_wider, "{all:?} {late:?}");
    }
}

#[test]
fn an_adjusted_p_value_says_what_the_interval_says() {
    // Those that would be below alpha without the adjustment.
    let mut adjusted = 0;
    for (seed, plan) in (0..30).flat_map(|seed| [(seed, quick()), (seed, commands())]) {
        let (mut measured, roles) = noisy(seed, &plan);
        for share in [1.0, 0.1] {
            measured.alpha_share = share;
            for comparison in judge(&measured, roles, &plan).comparisons {
                let (p, interval) = (comparison.p_adjusted, comparison.interval.unwrap());
                assert_eq!(p <= plan.alpha, !interval.contains(1.0), "{seed} {comparison:?}");
                adjusted += usize::from(p > plan.alpha && p * share / 2.0 <= plan.alpha);
            }
        }
    }
    assert!(adjusted > 10, "{adjusted}");
}

#[test]
fn rounds_are_spread_over_sets_of_fresh_processes() {
    let mut fake = Fake::quiet(&[100.0, 102.0, 100.0]);
    let plan = Plan { processes: 12, rounds: Some(48), stop: Stop::Budget, ..quick() };
    let (measured, judged) = run(&mut fake, &plan);
    assert_eq!((fake.refreshes.len(), judged.comparisons[0].sets), (11, 12));
    for set in 0..12 {
        assert_eq!(measured.rounds.iter().filter(|round| round.process == set).count(), 4);
    }
    // A rule that is met at once still sees every set.
    let stop = Stop::Repetition { quiet_ns: 1_000_000 };
    let plan = Plan { stop, rounds: None, ..plan };
    let (measured, _) = run(&mut Fake::quiet(&[100.0, 102.0, 100.0]), &plan);
    assert_eq!(measured.end, End::Target);
    assert_eq!(measured.rounds.last().unwrap().process, 11);
}

#[test]
fn who_leaves_no_large_difference_open_ends_after_a_quarter_of_the_sets() {
    let (budget_ns, most_rounds) = (10_000_000_000, Some(160));
    let plan = Plan { processes: 16, budget_ns, most_rounds, stop: SAID, ..quick() };
    let sets = |measured: &Measured| measured.rounds.last().map(|round| round.process + 1);
    for cost in [100.0, 104.0, 250.0] {
        let (measured, _) = run(&mut Fake::steady(&[100.0, cost, 100.0]), &plan);
        assert_eq!((sets(&measured), measured.end), (Some(4), End::Target), "{cost}");
        assert_eq!((measured.rounds.len(), measured.alpha_share), (40, 0.5));
    }
    // A fifth slower where samples differ by as much takes longer.
    let mut fake = Fake { cpu_noise: 1.0, ..Fake::quiet(&[100.0, 120.0, 100.0]) };
    let (measured, judged) = run(&mut fake, &Plan { clock: Some(Clock::Cpu), ..plan.clone() });
    assert_eq!(measured.alpha_share, 0.25, "{:?} {:?}", sets(&measured), judged.comparisons);
    // And for want of time it ends with what is left of the error budget.
    let mut fake = Fake { cpu_noise: 1.0, ..Fake::quiet(&[100.0, 120.0, 100.0]) };
    let roles = roles(&fake.costs_ns);
    let mut course = Course::begin(&mut fake, vec![None; 3], roles, &plan);
    for done in 0..5 {
        assert!(course.set(&mut fake), "{done}");
    }
    course.end();
    let measured = course.finish();
    assert_eq!((sets(&measured), measured.end), (Some(5), End::Limit));
    assert_eq!(measured.alpha_share, 0.5);
}

#[test]
fn how_much_longer_is_until_a_difference_is_denied_or_the_seeming_one_is_called() {
    let plan = Plan { clock: Some(Clock::Cpu), stop: Stop::Budget, processes: 4, ..quick() };
    let longer = |cost: f64, noise: f64| {
        let mut fake = Fake { cpu_noise: noise, ..Fake::quiet(&[100.0, cost, 100.0]) };
        let (_, judged) = run(&mut fake, &plan);
        let found = &judged.comparisons[0];
        let (ratio, interval) = (found.ratio.unwrap(), found.interval.unwrap());
        let Verdict::NotResolved { why: Unresolved::ContainsOne, longer } = found.verdict else {
            panic!("{found:?}");
        };
        (longer.unwrap(), ratio, interval)
    };
    // What seems to be a tenth is called long before the interval is as narrow as a percent.
    let (factor, ratio, interval) = longer(111.0, 1.0);
    let end = ratio / (ratio / interval.low).powf(1.0 / factor.sqrt());
    assert!((end - 1.0).abs() < 1e-9 && factor < 50.0, "{factor} {ratio} {interval:?}");
    // And what seems to be hardly anything is denied first.
    let (factor, ratio, interval) = longer(100.0, 0.05);
    let narrow = interval.width() / factor.sqrt();
    assert!((narrow - 0.01).abs() < 1e-9, "{factor} {ratio} {interval:?}");
}

#[test]
fn the_first_rounds_correct_what_the_warm_up_said_of_their_number() {
    // The only warm-up sample takes five times as long as all later ones.
    let mut fake = Fake::quiet(&[1000.0, 1000.0, 1000.0]);
    fake.slow_start = Some((3, 5.0));
    let plan = Plan {
        iterations: Some(1000),
        warm_ups: 1,
        stop: Stop::Budget,
        budget_ns: 60_000_000,
        ..commands()
    };
    let (measured, _) = run(&mut fake, &plan);
    assert_eq!(measured.rounds.len(), 60);
}

#[test]
fn a_baseline_chosen_after_looking_shares_the_error_among_all_pairs() {
    let plan = Plan { stop: Stop::Budget, ..quick() };
    let (measured, before) = rounds_of(&mut Fake::busy(&[100.0; 6], 4), &plan);
    let alpha = |roles| judge(&measured, roles, &plan).alpha_each;
    assert!((alpha(before) - 0.01 / 4.0).abs() < 1e-12);
    assert!((alpha(Roles { chosen: true, ..before }) - 0.01 / 10.0).abs() < 1e-12);
}

#[test]
fn the_spread_between_processes_widens_the_interval() {
    let plan = Plan { processes: 12, stop: Stop::Budget, ..quick() };
    let (mut measured, roles) = rounds_of(&mut Fake::quiet(&[100.0, 102.0, 100.0]), &plan);
    // Every other process has an unlucky layout.
    let share = |process: u32| if process.is_multiple_of(2) { 95 } else { 100 };
    retime(&mut measured, 1, |_, process, ns| ns * share(process) / 100);
    let comparison = &judge(&measured, roles, &plan).comparisons[0];
    assert!(matches!(comparison.verdict, Verdict::NotResolved { .. }), "{comparison:?}");
}

#[test]
fn what_the_harness_costs_is_an_interval_and_subtracted_only_when_small() {
    for (cost, subtracted) in [(10_000.0, true), (100.0, false)] {
        let mut fake = Fake::quiet(&[cost, cost * 2.0, cost, 20.0]);
        let roles = Roles { twin: Some(2), empty: Some(3), ..Roles::default() };
        let measured = measure(&mut fake, vec![None; 4], roles, &quick());
        let judged = judge(&measured, roles, &quick());
        let overhead = judged.overhead.unwrap();
        assert_eq!(overhead.subtracted, subtracted, "{overhead:?}");
        assert!(overhead.ns_low <= 20.0 && 20.0 <= overhead.ns_high);
        let least = judged.summaries[0].unwrap().ns_median;
        let expected = if subtracted { cost - 20.0 } else { cost };
        assert!((least - expected).abs() < 0.01, "{least} {expected}");
    }
}

/// It was "at most 0.00 % of the fastest time".
#[test]
fn what_the_harness_costs_is_no_share_of_times_that_nobody_has() {
    let mut fake = Fake { failure: Some((0, 20)), ..Fake::quiet(&[1000.0, 1000.0, 20.0]) };
    let roles = Roles { twin: Some(1), empty: Some(2), ..Roles::default() };
    let mut measured = measure(&mut fake, vec![None; 3], roles, &commands());
    measured.failures[1] = Some(Failure::Hung { limit_ms: 1 });
    assert_eq!(judge(&measured, roles, &commands()).overhead, None);
}

/// Those below it became zero and were left out: a third read as 0.70.
#[test]
fn the_start_of_a_shell_that_hides_what_a_command_takes_is_not_subtracted() {
    for (cost, subtracted) in [(1002.0, false), (2000.0, true)] {
        let costs = [cost * 1.004, cost, cost * 1.004, 1000.0];
        let mut fake = Fake { cpu_noise: 0.01, ..Fake::quiet(&costs) };
        let roles = Roles { twin: Some(2), empty: Some(3), ..Roles::default() };
        let plan = Plan { iterations: Some(1000), rounds: Some(400), ..commands() };
        let measured = measure(&mut fake, vec![None; 4], roles, &plan);
        let judged = judge(&measured, roles, &plan);
        let (overhead, comparison) = (judged.overhead.unwrap(), &judged.comparisons[0]);
        assert_eq!((overhead.overlaps, overhead.subtracted), (!subtracted, subtracted), "{cost}");
        assert_eq!(comparison.zero_readings, 0, "{cost}");
    }
    // Well known beside what most take, but some take less than it.
    let costs = [2008.0, 2000.0, 2008.0, 1000.0];
    let roles = Roles { twin: Some(2), empty: Some(3), ..Roles::default() };
    let plan = Plan { iterations: Some(1000), rounds: Some(400), ..commands() };
    for (every, subtracted) in [(20, false), (200, true)] {
        let mut measured = measure(&mut Fake::quiet(&costs), vec![None; 4], roles, &plan);
        retime(&mut measured, 0, |number, _, ns| if number % every == 1 { ns / 4 } else { ns });
        let overhead = judge(&measured, roles, &plan).overhead.unwrap();
        assert_eq!((overhead.overlaps, overhead.subtracted), (!subtracted, subtracted), "{every}");
    }
}

#[test]
fn readings_of_zero_are_dropped_and_counted() {
    let (mut measured, roles) = rounds_of(&mut Fake::quiet(&[100.0, 150.0, 100.0]), &quick());
    retime(&mut measured, 1, |number, _, ns| if number < 5 { 0 } else { ns });
    let judged = judge(&measured, roles, &quick());
    let comparison = &judged.comparisons[0];
    assert_eq!(comparison.zero_readings, 5);
    assert_eq!(comparison.pairs, measured.rounds.len() - 5);
    retime(&mut measured, 1, |_, process, ns| if process == 0 { 0 } else { ns });
    let comparison = &judge(&measured, roles, &quick()).comparisons[0];
    let why = Unresolved::SetWithout;
    assert_eq!(comparison.verdict, Verdict::NotResolved { why, longer: None });
}

#[test]
fn waves_of_noise_join_rounds_into_blocks() {
    let plan = Plan { rounds: Some(192), stop: Stop::Budget, ..commands() };
    let (mut measured, roles) = rounds_of(&mut Fake::quiet(&[100.0; 3]), &plan);
    let wave = |number: usize| 1.0 + 0.05 * (number as f64 / 3.0).sin();
    retime(&mut measured, 1, |number, _, ns| (ns as f64 * wave(number)) as u64);
    let comparison = &judge(&measured, roles, &plan).comparisons[0];
    assert!(comparison.lag1 > 0.8 && comparison.block_rounds > 1, "{comparison:?}");
    assert!(matches!(comparison.verdict, Verdict::NotResolved { .. }));
}

#[test]
fn a_judged_measurement_survives_json() {
    let (measured, judged) = run(&mut Fake::busy(&[100.0, 102.0, 100.0], 9), &quick());
    let text = serde_json::to_string(&measured).unwrap();
    assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
    let text = serde_json::to_string(&judged).unwrap();
    assert!(text.contains("\"verdict\":{\"word\":\""), "{text}");
}
