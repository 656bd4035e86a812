//! Every number of a verdict, in every form it is shown in, against a computation of its own: from the
//! samples of a saved run to the ratio and its interval by the textbook, sharing no code with what
//! judges and shows.

use std::path::PathBuf;

use fathom_measure::plan::{Clock, End, Measured, Plan, Roles, Round};
use fathom_measure::result::{Case, Row, Run, SCHEMA, VERSION};
use fathom_measure::sample::{Failure, Sample};
use fathom_measure::workload::{Spec, Work};
use fathom_report::diff::{Change, diff};
use fathom_report::history::{courses, slower};
use fathom_report::hyperfine::{self, Markup};
use fathom_report::number::TimeUnit;
use fathom_report::table::Look;
use fathom_report::{csv, html, markdown, text};

/// Times in microseconds by round: A, B a quarter slower, and A's twin. Four sets of three rounds.
const TIMES: [[u64; 3]; 12] = [
    [1000, 1252, 1003],
    [1004, 1249, 1001],
    [1001, 1255, 1008],
    [1012, 1240, 998],
    [1010, 1246, 1001],
    [1013, 1243, 996],
    [995, 1262, 1004],
    [999, 1266, 1007],
    [993, 1260, 1003],
    [1006, 1248, 1011],
    [1002, 1251, 1014],
    [1007, 1253, 1009],
];

fn case(fresh: bool, swapped: bool) -> Case {
    let names = ["alpha", "beta", "(twin)"];
    let row = |id: &str| Row { id: id.to_owned(), ..Row::default() };
    let sample = |us: &u64| {
        let ns = us * 1000;
        let user_ns = Some(ns / 4 * 3);
        Some(Sample { wall_ns: ns, cpu_ns: Some(ns), user_ns, ..Sample::default() })
    };
    // Commands need more rounds: the same ones over and over, which correlate inversely if at all.
    let count = if fresh { 36 } else { 12 };
    let rounds = (0..count).map(|round: usize| {
        let at = if fresh { round * 5 % 12 } else { round };
        let process = if fresh { 0 } else { round as u32 / 3 };
        Round { process, samples: TIMES[at].iter().map(sample).collect(), ..Round::default() }
    });
    let measured = Measured {
        iterations: 1,
        rounds: rounds.collect(),
        failures: vec![None; 3],
        end: End::Rounds,
        alpha_share: 1.0,
        planned: count as u32,
    };
    let baseline = usize::from(swapped);
    let roles = Roles { baseline, twin: Some(2), twin_of: 0, ..Roles::default() };
    Case {
        family: if fresh { "commands" } else { "checksum" }.to_owned(),
        workload: Spec::new("sum", &[]),
        work: Work { bytes: 4_000_000, items: 0 },
        contenders: names.iter().map(|name| row(name)).collect(),
        roles,
        plan: Plan { fresh, ..Plan::default() },
        measured,
        ..Case::default()
    }
}

/// Other times on all clocks, by the number of the round, the place in it and the time before.
fn retime(case: &mut Case, ns: impl Fn(usize, usize, u64) -> u64) {
    for (number, round) in case.measured.rounds.iter_mut().enumerate() {
        for (place, sample) in round.samples.iter_mut().flatten().enumerate() {
            sample.wall_ns = ns(number, place, sample.wall_ns);
            sample.cpu_ns = Some(sample.wall_ns);
        }
    }
}

/// The run after it was written and read: what `fathom report` shows.
fn saved(case: Case) -> Run {
    let run = Run {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        command: vec!["fathom".to_owned(), "bench".to_owned()],
        started: "2026-01-01T00:00:00Z".to_owned(),
        program: "fathom".to_owned(),
        cases: vec![case],
        ..Run::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("run.json");
    std::fs::write(&path, run.to_json().unwrap()).unwrap();
    Run::read(&path).unwrap()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n % 2 == 1 { values[n / 2] } else { (values[n / 2 - 1] + values[n / 2]) / 2.0 }
}

/// B's time over A's and its interval, by the formulas of docs/method.md, for this one design: three
/// contenders in four sets of three rounds; `t` is the quantile of Student's distribution.
fn by_sets(t: f64) -> (f64, f64, f64) {
    let logs: Vec<Vec<f64>> =
        TIMES.iter().map(|round| round.iter().map(|us| (*us as f64).ln()).collect()).collect();
    let own = |c: usize| middle(logs.iter().map(|round| round[c]).collect());
    let medians = [own(0), own(1), own(2)];
    // What a round has in common, then medians by set.
    let mut y = [[0.0; 4]; 3];
    for (c, row) in y.iter_mut().enumerate() {
        for (set, value) in row.iter_mut().enumerate() {
            let rounds = &logs[set * 3..set * 3 + 3];
            let clean = rounds.iter().map(|round| {
                let common: f64 = (0..3).map(|c| round[c] - medians[c]).sum::<f64>() / 3.0;
                round[c] - common
            });
            *value = middle(clean.collect());
        }
    }
    // Two-way analysis of variance.
    let row_mean: Vec<f64> = y.iter().map(|row| row.iter().sum::<f64>() / 4.0).collect();
    let grand = row_mean.iter().sum::<f64>() / 3.0;
    let column: Vec<f64> = (0..4).map(|s| y.iter().map(|row| row[s]).sum::<f64>() / 3.0).collect();
    let e = |c: usize, s: usize| y[c][s] - row_mean[c] - column[s] + grand;
    let square = |c: usize| (0..4).map(|s| e(c, s).powi(2)).sum::<f64>();
    let total: f64 = (0..3).map(square).sum();
    let lagged: f64 = (0..3).map(|c| (0..3).map(|s| e(c, s) * e(c, s + 1)).sum::<f64>()).sum();
    let inherited = (lagged / total + 0.25).clamp(0.0, 0.9);
    let inflation = 1.0 + 2.0 * inherited * 0.75;
    let pooled = inflation * total / 6.0;
    // What is one's own of the differences of three from each other: Grubbs, 1948.
    let apart = |a: usize, b: usize| {
        let differences: Vec<f64> = (0..4).map(|s| y[a][s] - y[b][s]).collect();
        let mean = differences.iter().sum::<f64>() / 4.0;
        differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 3.0
    };
    let own_of = |a, b, c| inflation * (apart(a, b) + apart(a, c) - apart(b, c)) / 2.0;
    let (a, b) = (own_of(0, 1, 2), own_of(1, 0, 2));
    assert!(a > pooled && b > pooled, "{a} {b} {pooled}");
    // A is there twice.
    let log = row_mean[1] - (row_mean[0] + row_mean[2]) / 2.0;
    let (a, b) = (a / 8.0, b / 4.0);
    let freedom = (a + b).powi(2) / (a * a / 3.0 + b * b / 3.0);
    assert!((freedom - FREEDOM).abs() < 1e-6, "{freedom}");
    let reach = t * (a + b).sqrt();
    (log.exp(), (log - reach).exp(), (log + reach).exp())
}

/// The degrees of freedom of A's and B's own variances together, by Welch and Satterthwaite, and the two-sided 1 %
/// point of Student's distribution with so many, and that of half a percent.
const FREEDOM: f64 = 5.997_470;
const T: f64 = 3.708_070;
const T_HALF: f64 = 4.317_721;
/// With 4 - 1, a quarter of it.
const T_3_QUARTER: f64 = 9.464_900;

/// The same for commands: median of the paired ratios, and the order statistics of 36 values (the 10th
/// and the 27th: 2 P(Bin(36, 1/2) <= 9) = 0.0039, of 10 it is 0.0113).
fn by_rounds() -> (f64, f64, f64) {
    let ratio = |round: usize| TIMES[round * 5 % 12][1] as f64 / TIMES[round * 5 % 12][0] as f64;
    let mut ratios: Vec<f64> = (0..36).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    (middle(ratios.clone()), ratios[9], ratios[26])
}

/// A factor as it is written: two decimals, three close to 1.
fn factor(value: f64) -> String {
    if (0.9..1.1).contains(&value) { format!("{value:.3}") } else { format!("{value:.2}") }
}

#[test]
fn every_form_says_the_same_numbers_and_the_right_ones() {
    let (ratio, low, high) = by_sets(T);
    assert!((ratio - 1.247).abs() < 0.01 && low < ratio && ratio < high, "{ratio} {low} {high}");
    check(false, "slower", "beta", [ratio, low, high], [ratio, low, high]);
    // Against B, A is faster: the sentence turns the ratio and the interval round.
    let turned = [1.0 / ratio, 1.0 / high, 1.0 / low];
    check(true, "faster", "alpha", turned, [ratio, low, high]);
}

/// The forms that people read.
fn forms(run: &Run) -> [String; 3] {
    let look = Look::default();
    [text::run(run, &look), markdown::run(run, &look), html::run(run, &look)]
}

/// `raw` is the ratio as the data has it, `said` as the sentence does.
fn check(swapped: bool, word: &str, who: &str, raw: [f64; 3], said: [f64; 3]) {
    let run = saved(case(false, swapped));
    let whom = if swapped { "beta" } else { "alpha" };
    let [factor_said, low, high] = said.map(factor);
    let sentence = format!(
        "{who} is {factor_said}x {word} than {whom} (99 % interval {low}–{high}, noise floor"
    );
    for form in forms(&run) {
        assert!(form.contains(&sentence), "no {sentence:?} in\n{form}");
        // Once in the sentence, once in the table.
        assert_eq!(form.matches(&format!("{factor_said}x {word}")).count(), 2, "{form}");
    }
    let table = csv::run(&run);
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let fields: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| header.iter().position(|field| *field == name).unwrap();
    let own = fields.iter().find(|line| line[column("contender")] == who).unwrap();
    for (name, expected) in ["ratio", "ratio_low", "ratio_high"].into_iter().zip(raw) {
        let found: f64 = own[column(name)].parse().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{name}: {found}, by hand {expected}");
    }
    assert_eq!(own[column("verdict")], word);
    assert!(own[column("p_adjusted")].parse::<f64>().unwrap() < 0.001);
    let json: serde_json::Value = serde_json::from_str(&run.to_json().unwrap()).unwrap();
    let judged = &json["cases"][0]["judged"]["comparisons"][0];
    assert_eq!(judged["verdict"]["word"], word);
    let interval =
        [judged["ratio"].clone(), judged["interval"][0].clone(), judged["interval"][1].clone()];
    for (found, expected) in interval.iter().zip(raw) {
        assert!((found.as_f64().unwrap() / expected - 1.0).abs() < 1e-6, "{judged}");
    }
}

#[test]
fn every_column_of_csv_is_explained_in_its_order() {
    let page = include_str!("../../../docs/results.md");
    let section = page.split("## As CSV").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let explained: Vec<&str> =
        cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect();
    let table = csv::run(&saved(case(false, false)));
    assert_eq!(table.lines().next().unwrap().split(',').collect::<Vec<_>>(), explained);
}

#[test]
fn commands_say_the_median_and_the_order_statistics_of_their_rounds() {
    let (ratio, low, high) = by_rounds();
    let run = saved(case(true, false));
    let [ratio, low, high] = [ratio, low, high].map(factor);
    let sentence = format!("beta is {ratio}x slower than alpha (99 % interval {low}–{high}, ");
    let text = text::run(&run, &Look::default());
    assert!(text.contains(&sentence), "no {sentence:?} in\n{text}");
}

#[test]
fn times_and_spreads_are_those_of_the_samples() {
    let run = saved(case(false, false));
    let own = |c: usize| TIMES.iter().map(|round| round[c] as f64).collect::<Vec<f64>>();
    for (c, name) in [(0, "alpha"), (1, "beta")] {
        let time = middle(own(c));
        let spread = middle(own(c).iter().map(|us| (us - time).abs()).collect());
        let rate = 4e6 / (time / 1e6) / f64::from(1 << 30);
        let shown = [
            format!("{:.3} ms", time / 1e3),
            format!("±{:.2} %", spread / time * 100.0),
            format!("{rate:.3} GiB/s"),
        ];
        for form in forms(&run) {
            let is_row = |line: &&str| shown.iter().all(|cell| line.contains(cell));
            let row = form.lines().find(|line| line.contains(name) && is_row(line));
            assert!(row.is_some(), "no row of {name} with {shown:?} in\n{form}");
        }
        let table = csv::run(&run);
        let line = table.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(&format!(",{},{},", time * 1e3, spread * 1e3)), "{line}");
    }
}

#[test]
fn a_terminal_s_lines_end_at_its_width_and_long_names_get_letters() {
    let mut run = saved(case(true, false));
    for (row, name) in run.cases[0].contenders.iter_mut().zip(["one", "another"]) {
        row.id = format!("./{name} --with many options --and values");
        row.peak_bytes = 1 << 20;
    }
    run.notes = vec!["a sentence of more words than a narrow terminal has room for".to_owned()];
    let piped = text::run(&run, &Look::default());
    for (width, gone) in [(60, "no room for: peak"), (200, "")] {
        let shown = text::run(&run, &Look { width: Some(width), ..Look::default() });
        for line in shown.lines() {
            assert!(line.chars().count() <= width, "{width}: {line:?}");
        }
        assert!(shown.contains("  A: ./one --with many options --and values\n"), "{shown}");
        assert!(shown.contains("B is 1.25x slower than A (99 % interval"), "{shown}");
        assert_eq!(shown.contains("no room"), !gone.is_empty(), "{shown}");
        assert!(shown.contains(gone) && shown.contains("±"), "{shown}");
        // Wrapped or not, the words are the same.
        if gone.is_empty() {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&shown), words(&piped));
        }
    }
    assert_eq!(piped.matches("./another").count(), 1, "{piped}");
    run.cases.push(run.cases[0].clone());
    let twice = text::run(&run, &Look::default());
    assert_eq!(twice.matches("./another").count(), 1, "{twice}");
}

#[test]
fn few_rounds_of_commands_say_what_was_seen() {
    for (rounds, level) in [(5, "93 %"), (12, "99.951 %")] {
        let mut case = case(true, false);
        case.measured.rounds.truncate(rounds);
        retime(&mut case, |_, place, ns| if place == 1 { ns * 10 } else { ns });
        let text = text::run(&saved(case), &Look::default());
        let seen = format!(
            "x slower than alpha in {rounds} of {rounds} rounds ({level}): too few for a verdict at 99 %, which takes at least 16"
        );
        assert!(text.contains(&seen), "{text}");
    }
}

#[test]
fn one_sample_has_no_spread() {
    let mut case = case(true, false);
    case.measured.rounds.truncate(1);
    let one = saved(case.clone());
    for shown in [text::run(&one, &Look::default()), markdown::run(&one, &Look::default())] {
        assert!(shown.contains("time") && !shown.contains('±'), "{shown}");
    }
    case.measured.rounds.push(case.measured.rounds[0].clone());
    let two = text::run(&saved(case), &Look::default());
    assert!(two.contains("±0.00 %"), "{two}");
}

#[test]
fn what_limits_a_case_is_said_in_every_form() {
    let mut run = commands();
    run.cases[0].notes.push("it was late".to_owned());
    for row in &mut run.cases[0].contenders {
        row.counters_missing.push("none here".to_owned());
    }
    for shown in forms(&run) {
        for words in
            ["per iteration, subtracted, at most ", "counters: none here", "ote: it was late"]
        {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
}

/// They cost the exit code without a word.
#[test]
fn failures_of_who_is_hidden_are_told() {
    let mut run = commands();
    run.cases[0].measured.failures[2] = Some(Failure::Hung { limit_ms: 1 });
    run.cases[0].measured.failures[3] = Some(Failure::Hung { limit_ms: 2 });
    let text = text::run(&run, &Look::default());
    assert!(text.contains("the hidden copy of a {n} | x: hung: no answer within 1 ms"), "{text}");
    assert!(text.contains("what shows the overhead: hung: no answer within 2 ms"), "{text}");
}

/// The first one spoke for all.
#[test]
fn why_there_are_no_counters_is_said_of_whom_it_holds() {
    let mut run = commands();
    for (row, whys) in run.cases[0].contenders.iter_mut().zip([["all", "a's"], ["b's", "all"]]) {
        row.counters_missing = whys.map(str::to_owned).to_vec();
    }
    let text = text::run(&run, &Look::default());
    for said in ["counters: all", "counters of a {n} | x: a's", "counters of b {n}: b's"] {
        assert_eq!(text.matches(said).count(), 1, "{said}: {text}");
    }
}

#[test]
fn without_a_whole_round_nothing_was_seen() {
    let mut case = case(true, false);
    case.measured.rounds.truncate(1);
    case.measured.rounds[0].samples[1] = None;
    let text = text::run(&saved(case), &Look::default());
    let seen = "beta was measured beside alpha in no round: too few for a verdict at 99 %, which takes at least 16";
    assert!(text.contains(seen), "{text}");
}

/// It was "1.000x slower than alpha in 0 of 5 rounds (0 %)".
#[test]
fn a_tie_is_told_as_one() {
    let mut case = case(true, false);
    case.measured.rounds.truncate(5);
    case.measured.rounds.iter_mut().for_each(|round| round.samples[1] = round.samples[0].clone());
    let text = text::run(&saved(case), &Look::default());
    assert!(text.contains(" as fast over 5 rounds\n"), "{text}");
    assert!(text.contains("beta was as fast as alpha over 5 rounds: too few for a"), "{text}");
}

#[test]
fn processor_time_of_a_worker_with_threads_is_that_of_all() {
    for (wall_only, clock) in [(true, "CPU time of all threads"), (false, "thread CPU time")] {
        let mut case = case(false, false);
        case.roles.wall_only = wall_only;
        case.plan.clock = Some(Clock::Cpu);
        let text = text::run(&saved(case), &Look::default());
        assert!(text.contains(&format!("{clock} (as asked)")), "{text}");
    }
}

/// It had "0 rounds of 64 iterations each" and a clock.
#[test]
fn a_case_without_rounds_says_so() {
    let mut case = case(false, false);
    case.measured.rounds.clear();
    let text = text::run(&saved(case), &Look::default());
    assert!(text.contains("nothing was measured\n") && !text.contains("0 rounds"), "{text}");
}

#[test]
fn a_single_set_of_processes_gives_no_verdict_and_says_so() {
    let mut case = case(false, false);
    case.measured.rounds.iter_mut().for_each(|round| round.process = 0);
    let text = text::run(&saved(case), &Look::default());
    let seen = "beta was 1.25x slower than alpha in 12 of 12 rounds of one set of processes";
    assert!(text.contains(seen), "{text}");
}

#[test]
fn a_damaged_run_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let damages: [fn(&mut Case); 4] = [
        |case| case.roles.baseline = 7,
        |case| case.measured.rounds[3].samples.truncate(1),
        |case| case.measured.failures.clear(),
        |case| case.measured.iterations = 0,
    ];
    for damage in damages {
        let mut run = saved(case(false, false));
        damage(&mut run.cases[0]);
        std::fs::write(&path, run.to_json().unwrap()).unwrap();
        let error = Run::read(&path).unwrap_err().to_string();
        assert!(error.contains("case 1") && error.contains("run.json"), "{error}");
    }
}

/// A run of three commands, the last of them the shell's start, which is subtracted, with a
/// parameter and a pipe in their names.
fn commands() -> Run {
    let mut case = case(true, false);
    for (row, name) in case.contenders.iter_mut().zip(["a {n} | x", "b {n}"]) {
        row.id = name.to_owned();
    }
    case.workload.parameters = [("n".to_owned(), "7".to_owned())].into();
    case.contenders.push(Row::default());
    case.measured.failures.push(None);
    for round in &mut case.measured.rounds {
        let user_ns = Some(START_NS / 4 * 3);
        let start =
            Sample { wall_ns: START_NS, cpu_ns: Some(START_NS), user_ns, ..Sample::default() };
        round.samples.push(Some(start));
    }
    case.roles.empty = Some(3);
    case.plan.iterations = Some(1);
    saved(case)
}

const START_NS: u64 = 200_000;

#[test]
fn exports_in_the_forms_of_hyperfine_have_the_figures_of_the_samples() {
    let mut run = commands();
    run.cases[0].workload.operation.clear();
    let json: serde_json::Value = serde_json::from_str(&hyperfine::json(&run)).unwrap();
    let table = hyperfine::csv(&run);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "command,mean,stddev,median,user,system,min,max,parameter_n");
    let mut cells = Vec::new();
    for (c, command) in ["a 7 | x", "b 7"].into_iter().enumerate() {
        let seconds = |round: usize| (TIMES[round * 5 % 12][c] as f64 - 200.0) / 1e6;
        let times: Vec<f64> = (0..36).map(seconds).collect();
        let mean = times.iter().sum::<f64>() / 36.0;
        let stddev = (times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 35.0).sqrt();
        let (min, max) =
            (times.iter().copied().fold(1.0, f64::min), times.iter().copied().fold(0.0, f64::max));
        let figures = [mean, stddev, middle(times.clone()), mean * 0.75, mean * 0.25, min, max];
        let result = &json["results"][c];
        let named = (&result["command"], &result["parameters"]["n"]);
        assert_eq!(named, (&command.into(), &"7".into()));
        assert_eq!(result["times"].as_array().unwrap().len(), 36);
        let near = |found: f64, expected: f64, what: &str| {
            assert!((found / expected - 1.0).abs() < 1e-9, "{command} {what}: {found}, {expected}");
        };
        near(result["times"][1].as_f64().unwrap(), times[1], "times");
        let fields: Vec<&str> = lines[c + 1].split(',').collect();
        assert_eq!((fields[0], fields[8]), (command, "7"));
        let names = lines[0].split(',').skip(1);
        for ((name, field), expected) in names.zip(&fields[1..]).zip(figures) {
            near(result[name].as_f64().unwrap(), expected, name);
            near(field.parse().unwrap(), expected, name);
        }
        let own = csv::run(&run);
        let own: Vec<&str> = own.lines().nth(c + 1).unwrap().split(',').collect();
        // The last six columns are what was used.
        for (field, share) in own[own.len() - 6..].iter().zip([0.75, 0.25]) {
            near(field.parse::<f64>().unwrap() / 1e9, mean * share, "of our own CSV");
        }
        let ms = |seconds: f64| format!("{:.1}", seconds * 1e3);
        cells.push([format!("{} ± {}", ms(mean), ms(stddev)), ms(min), ms(max)]);
    }
    let ratio = |round: usize| {
        let [a, b, _] = TIMES[round * 5 % 12];
        (b as f64 - 200.0) / (a as f64 - 200.0)
    };
    let mut ratios: Vec<f64> = (0..36).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let [ratio, low, high] = [middle(ratios.clone()), ratios[9], ratios[26]].map(factor);
    let relative = format!("{ratio} ({low}–{high})");
    let row = |between: &str, c: usize, command: &str, relative: &str| {
        let [mean, min, max] = &cells[c];
        [command, mean, min, max, relative].join(between)
    };
    let (a, b) = (r"a 7 \| x", "b 7");
    let shown = hyperfine::table(&run, Markup::Markdown, Some(TimeUnit::Millisecond), false);
    let expected = [
        "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |".to_owned(),
        "|:---|---:|---:|---:|---:|".to_owned(),
        format!("| {} |", row(" | ", 0, &format!("`{a}`"), "1.00")),
        format!("| {} |", row(" | ", 1, &format!("`{b}`"), &relative)),
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    let expected_last = expected[3].clone();
    let shown = hyperfine::table(&run, Markup::Orgmode, Some(TimeUnit::Millisecond), false);
    let expected = [
        "| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |".to_owned(),
        "|--+--+--+--+--|".to_owned(),
        format!("| {} |", row("  |  ", 0, r"a 7 \vert{} x", "1.00")),
        format!("| {} |", row("  |  ", 1, &format!("={b}="), &relative)),
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    let shown = hyperfine::table(&run, Markup::Asciidoc, Some(TimeUnit::Millisecond), false);
    let rows = [
        ["Command", "Mean [ms]", "Min [ms]", "Max [ms]", "Relative"].join(" \n| "),
        row(" \n| ", 0, &format!("`{a}`"), "1.00"),
        row(" \n| ", 1, &format!("`{b}`"), &relative),
    ];
    let rows = rows.map(|row| format!("| {row} \n"));
    assert_eq!(shown, format!("[cols=\"<,>,>,>,>\"]\n|===\n{}|===\n", rows.join("\n")));
    // Means are of the wall clock, and so is what is relative to them, whichever clock the verdicts have.
    let mut by_cpu = commands();
    let case = &mut by_cpu.cases[0];
    case.workload.operation.clear();
    case.plan.clock = Some(Clock::Cpu);
    for round in &mut case.measured.rounds {
        let sample = round.samples[1].as_mut().unwrap();
        sample.cpu_ns = Some(sample.wall_ns / 4);
    }
    let by_cpu = saved(by_cpu.cases.remove(0));
    let shown = hyperfine::table(&by_cpu, Markup::Markdown, Some(TimeUnit::Millisecond), false);
    assert_eq!(shown.lines().last(), Some(&*expected_last));
    // The least mean first, if that is asked for.
    let mut swapped = commands();
    let case = &mut swapped.cases[0];
    case.contenders.swap(0, 1);
    case.measured.rounds.iter_mut().for_each(|round| round.samples.swap(0, 1));
    let swapped = saved(swapped.cases.remove(0));
    let firsts = [false, true].map(|by_mean| {
        let shown = hyperfine::table(&swapped, Markup::Markdown, None, by_mean);
        shown.lines().nth(2).unwrap().split(" | ").next().unwrap().to_owned()
    });
    assert!(firsts[0].contains(b) && firsts[1].contains(a), "{firsts:?}");
    // With --against the contenders are trees, which had no command.
    let trees = commands();
    let json: serde_json::Value = serde_json::from_str(&hyperfine::json(&trees)).unwrap();
    assert_eq!(json["results"][1]["command"], "sum, b 7");
    // The last one was asked for its parameters, and it may be a reference, which has fewer.
    let mut listed = commands();
    listed.cases[0].contenders[0].parameters = [("m".to_owned(), "3".to_owned())].into();
    let table = hyperfine::csv(&listed);
    for (line, end) in table.lines().zip([",parameter_m,parameter_n", ",3,7", ",,7"]) {
        assert!(line.ends_with(end), "{table}");
    }
    // What is not called says so.
    let mut few = commands();
    few.cases[0].measured.rounds.truncate(17);
    few.cases[0].measured.rounds.iter_mut().for_each(|round| round.samples.swap(1, 2));
    let few = saved(few.cases.remove(0));
    let shown = hyperfine::table(&few, Markup::Markdown, None, false);
    assert!(shown.lines().last().unwrap().ends_with(" not resolved |"), "{shown}");
}

/// What B takes becomes half as much again; its sets and rounds stay as they are.
fn slower_b(version: &str) -> Run {
    let mut case = case(false, false);
    case.contenders[0].about.version = version.to_owned();
    retime(&mut case, |_, place, ns| if place == 1 { ns * 3 / 2 } else { ns });
    saved(case)
}

#[test]
fn a_difference_of_runs_has_the_ends_of_both_intervals_at_half_the_error_each() {
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}, by hand {expected}");
    };
    let old = saved(case(false, false));
    let found = diff(&old, &slower_b(""));
    let [a, b] = &found.differences[..] else { panic!("{found:?}") };
    assert_eq!((&a.change, &b.change), (&Change::NotResolved, &Change::Slower));
    assert!(found.is_worse(), "{found:?}");
    let (_, low, high) = by_sets(T_HALF);
    let interval = b.interval.unwrap();
    near(b.ratio.unwrap(), 1.5);
    near(interval.low, 1.5 * low / high);
    near(interval.high, 1.5 * high / low);
    // Of another version the baseline is none: times alone, by the medians of the four sets.
    let found = diff(&old, &slower_b("2"));
    let b = &found.differences[1];
    assert!(!b.against_baseline);
    let sets: Vec<f64> = (0..4)
        .map(|s| middle((0..3).map(|r| (TIMES[s * 3 + r][1] as f64).ln()).collect()))
        .collect();
    let mean = sets.iter().sum::<f64>() / 4.0;
    let error = (sets.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 3.0 / 4.0).sqrt();
    let apart = (2.0 * T_3_QUARTER * error).exp();
    let interval = b.interval.unwrap();
    near(interval.low, 1.5 / apart);
    near(interval.high, 1.5 * apart);
    // Who has no row any more is no improvement.
    let without = |failure: Failure| {
        let mut without = case(false, false);
        without.measured.failures[1] = Some(failure);
        saved(without)
    };
    let gone = without(Failure::Crashed { how: "is lost".to_owned() });
    let found = diff(&old, &gone);
    assert!(found.is_worse(), "{found:?}");
    assert!(matches!(found.differences[1].change, Change::Gone(_)), "{found:?}");
    // What is repaired is nothing worse, and what fails still says so.
    let (repaired, still) = (diff(&gone, &old), diff(&gone, &gone));
    assert!(!repaired.is_worse() && !repaired.is_incomplete(), "{repaired:?}");
    let said = "  beta: failed before, not now: ";
    assert!(repaired.text().contains(said), "{}", repaired.text());
    let page = html::diff::page(&repaired, ["a", "b"]);
    assert!(page.contains(", 1 failed or took no part before only</h1>"), "{page}");
    assert!(still.is_worse() && still.text().contains("  beta: failed before and now: "));
    for (found, count) in [(still, "failed before and now"), (diff(&old, &gone), "failed now")] {
        let page = html::diff::page(&found, ["a", "b"]);
        assert!(page.contains(&format!(" not resolved, 1 {count}</h1>")), "{page}");
    }
    // Who takes part in neither has not failed.
    let out = without(Failure::Unsupported { reason: "has no scan".to_owned() });
    let (lost, still) = (diff(&old, &out), diff(&out, &out));
    assert!(lost.is_worse() && !still.is_worse() && !still.is_incomplete(), "{still:?}");
    let said = "  beta: does not take part: has no scan\n";
    assert!(still.text().contains(said), "{}", still.text());
    let said = "  beta: takes part now, not before: has no scan\n";
    assert!(diff(&out, &old).text().contains(said), "{}", diff(&out, &old).text());
}

#[test]
fn a_difference_that_is_not_beyond_identical_code_s_says_so() {
    // The same in all rounds but for a nanosecond, so that the interval is hardly more than a point.
    let of = |factor: f64, floor: f64| {
        let mut run = saved(case(false, false));
        retime(&mut run.cases[0], |number, place, _| {
            let factor = if place == 1 { factor } else { 1.0 };
            (1e6 * factor) as u64 + u64::from(number / 3 == place)
        });
        run.cases[0].judged.floor.reach = Some(floor);
        run
    };
    for (factor, floor, why) in [
        (1.5, 3.0, Some("not resolved: identical code differs here, by up to 300 %, ratio 1.50")),
        (1.6, 0.55, None),
        (1.009, 0.0, Some("not resolved: smaller than the 1.0 % that two runs may differ by")),
        (1.5, 0.0, None),
    ] {
        let found = diff(&of(1.25, floor), &of(1.25 * factor, floor));
        let text = found.text();
        match why {
            Some(why) => assert!(text.contains(why), "{text}"),
            None => assert_eq!(found.differences[1].change, Change::Slower, "{text}"),
        }
    }
}

/// A difference was called of what one of the runs would not call.
#[test]
fn what_a_run_withholds_is_no_difference() {
    type Spoil = (fn(&mut Case), &'static str);
    let spoils: [Spoil; 3] = [
        (
            |case| case.measured.rounds.iter_mut().for_each(|round| round.process = 0),
            "all rounds are of one set of processes",
        ),
        (
            |case| case.measured.failures[2] = Some(Failure::Interrupted),
            "the copy of the baseline failed",
        ),
        (
            |case| case.measured.rounds[..12].iter_mut().for_each(|round| round.samples[0] = None),
            "a set of processes has no reading of one of the two",
        ),
    ];
    let run = |mut run: Run, spoil: fn(&mut Case)| {
        let mut case = run.cases.remove(0);
        // As many as are judged one by one, too.
        case.measured.rounds = [case.measured.rounds.as_slice(); 4].concat();
        case.measured.rounds.sort_by_key(|round| round.process);
        spoil(&mut case);
        saved(case)
    };
    let (old, new) = (saved(case(false, false)), slower_b(""));
    let whole: fn(&mut Case) = |_| ();
    for (spoil, why) in spoils {
        for spoils in [[spoil, whole], [whole, spoil]] {
            let found = diff(&run(old.clone(), spoils[0]), &run(new.clone(), spoils[1]));
            let text = found.text();
            assert!(text.contains(&format!("beta: not resolved: {why}, ratio 1.")), "{text}");
            assert!(!found.is_worse(), "{text}");
        }
    }
}

/// That the old run had none was a failure of the new one.
#[test]
fn a_contender_without_readings_is_one_that_a_run_does_not_have() {
    let whole = saved(case(false, false));
    let mut without = case(false, false);
    without.measured.rounds.iter_mut().for_each(|round| round.samples[1] = None);
    let without = saved(without);
    let absent = Change::Absent("no readings".to_owned());
    for (old, new, change, is_incomplete, why) in [
        (&without, &whole, Change::NewOnly, false, "no readings in the first run"),
        (&whole, &without, Change::OldOnly, true, "no readings in the second run"),
        (&without, &without, absent, false, "no readings"),
    ] {
        let found = diff(old, new);
        assert_eq!(found.differences[1].change, change);
        assert_eq!((found.is_worse(), found.is_incomplete()), (false, is_incomplete));
        let (text, page) = (found.text(), html::diff::page(&found, ["a", "b"]));
        assert!(text.contains(&format!("  beta: {why}\n")) && page.contains(why), "{text}{page}");
        assert!(!page.contains("in one run only"), "{page}");
    }
    let mut empty = case(false, false);
    empty.measured.rounds.iter_mut().for_each(|round| round.samples.fill(None));
    let empty = saved(empty);
    let found = diff(&empty, &empty);
    assert!(!found.is_worse() && found.is_incomplete(), "{found:?}");
    assert!(found.text().ends_with(": nothing was compared.\n"), "{}", found.text());
}

/// Each case said it again.
#[test]
fn a_caution_that_holds_for_several_cases_is_said_once() {
    let of = |version: &str| {
        let mut run = saved(case(false, false));
        run.cases[0].contenders.iter_mut().for_each(|row| row.about.version = version.to_owned());
        let other = Case { workload: Spec::new("other", &[]), ..run.cases[0].clone() };
        run.cases.push(other);
        run
    };
    let expected = ["alpha", "beta"].map(|id| format!("{id}: version 1 before, 2 now"));
    assert_eq!(diff(&of("1"), &of("2")).cautions, expected);
}

/// Slower, with an interval that said faster: the one was of all rounds' median, the other of the sets'.
#[test]
fn a_difference_in_time_alone_is_the_one_its_interval_is_of() {
    let of = |version: &str, ns: &dyn Fn(u64) -> u64| {
        let mut case = case(false, false);
        case.contenders[0].about.version = version.to_owned();
        let sample = |place: u64, set: u64| {
            let wall_ns = if place == 1 { ns(set) } else { 1_000_000 + (set + place) % 3 };
            Some(Sample { wall_ns, cpu_ns: Some(wall_ns), ..Sample::default() })
        };
        let round = |set: u64| Round {
            process: set as u32,
            samples: (0..3).map(|place| sample(place, set)).collect(),
            ..Round::default()
        };
        case.measured.rounds = (0..64).map(round).collect();
        let mut run = saved(case);
        run.cases[0].judged.floor.reach = Some(0.0);
        run
    };
    // 33 sets at 1 ms and 31 at 1.3: their median is below 1.05, their mean above it.
    let old = of("1", &|set| if set * 31 % 64 < 31 { 1_300_000 } else { 1_000_000 });
    let found = diff(&old, &of("2", &|set| 1_050_000 + set % 2));
    let b = &found.differences[1];
    assert!(!b.against_baseline && b.interval.unwrap().contains(b.ratio.unwrap()), "{b:?}");
    assert!((b.ratio.unwrap() - 1.05 / 1.3_f64.powf(31.0 / 64.0)).abs() < 1e-4, "{b:?}");
    assert_eq!(b.change, Change::Faster, "{b:?}");
    let (was, is) = b.ns.unwrap();
    assert!((is / was - b.ratio.unwrap()).abs() < 1e-12, "{b:?}");
}

/// No reason was given, and the baseline was forgotten.
#[test]
fn runs_whose_sets_read_the_same_are_not_resolved_for_that() {
    let of = |version: &str, ns: u64| {
        let mut case = case(false, false);
        case.contenders[0].about.version = version.to_owned();
        retime(&mut case, |_, place, _| if place == 1 { ns } else { 1_000_000 });
        saved(case)
    };
    let why = "beta: not resolved: every set of processes reads the same: the clock's resolution";
    for (version, how) in [("1", " against the baseline ("), ("2", " in time alone (")] {
        let text = diff(&of("1", 1_000_000), &of(version, 1_200_000)).text();
        assert!(text.contains(why) && text.contains(how), "{text}");
    }
}

/// It was a success, as if nothing had become slower.
#[test]
fn runs_of_too_few_rounds_cannot_be_judged() {
    let of = |mut run: Run| {
        run.cases[0].measured.rounds.truncate(3);
        run
    };
    let found = diff(&of(saved(case(false, false))), &of(slower_b("")));
    let (text, page) = (found.text(), html::diff::page(&found, ["a", "b"]));
    assert!(!found.is_worse() && found.is_incomplete(), "{text}");
    assert!(
        text.ends_with("No difference could be judged, however large: each contender says why.\n")
    );
    assert!(page.contains("each contender says why.</h1>"), "{page}");
    // Next to a failure the page had counts of what was not judged.
    let mut broken = of(slower_b(""));
    broken.cases[0].measured.failures[1] = Some(Failure::Interrupted);
    let found = diff(&of(saved(case(false, false))), &saved(broken.cases.remove(0)));
    let (text, page) = (found.text(), html::diff::page(&found, ["a", "b"]));
    let nothing = "No difference could be judged, however large: each contender says why.";
    assert!(text.ends_with(&format!("{nothing}\n")), "{text}");
    assert!(page.contains(&format!("<h1>{nothing} 1 failed now</h1>")), "{page}");
}

/// Nothing was said of it.
#[test]
fn a_time_that_varies_without_bounds_is_not_resolved_for_that() {
    let mut case = case(false, false);
    for (number, round) in case.measured.rounds.iter_mut().enumerate() {
        round.process = number as u32 / 6;
    }
    retime(&mut case, |number, _, _| [1_000_000, 1_000_000_000][number / 6]);
    let run = saved(case);
    let text = diff(&run, &run).text();
    let why = "alpha: not resolved: so few sets of processes leave the interval without ends";
    assert!(text.contains(why), "{text}");
}

#[test]
fn another_level_of_instructions_is_a_caution() {
    let at = |level: &str| Run { level: level.to_owned(), ..saved(case(false, false)) };
    let said = |old: &str, new: &str| diff(&at(old), &at(new)).cautions;
    assert_eq!(said("scalar", "avx2"), ["another level: scalar before, avx2 now"]);
    assert!(said("avx2", "avx2").is_empty() && said("", "avx2").is_empty());
}

#[test]
fn a_contender_of_one_run_is_named_in_every_form() {
    let renamed = |id: &str| {
        let mut case = case(false, false);
        case.contenders[1].id = id.to_owned();
        saved(case)
    };
    let shown = |old: &Run, new: &Run| {
        let found = diff(old, new);
        (
            found.is_worse(),
            found.is_incomplete(),
            found.text(),
            html::diff::page(&found, ["a", "b"]),
        )
    };
    let (worse, incomplete, text, page) = shown(&renamed("was"), &renamed("is"));
    assert!(!worse && incomplete, "{text}");
    assert!(text.contains("  was: in the first run only\n"), "{text}");
    assert!(text.contains("  is: in the second run only\n"), "{text}");
    assert!(page.contains("in the first run only") && page.contains("in the second run only"));
    assert!(page.contains(", 2 in one run only"), "{page}");
    // One more than before is nothing that is missing.
    let mut fewer = case(false, false);
    fewer.contenders.remove(1);
    fewer.measured.failures.remove(1);
    fewer.measured.rounds.iter_mut().for_each(|round| drop(round.samples.remove(1)));
    fewer.roles.twin = Some(1);
    let (worse, incomplete, text, _) = shown(&saved(fewer), &saved(case(false, false)));
    assert!(!worse && !incomplete && text.contains("beta: in the second run only"), "{text}");
    // Of a workload that one run has alone, all are meant; and then nothing is left to compare.
    let mut other = case(false, false);
    other.workload = Spec::new("other", &[]);
    let (worse, incomplete, text, page) = shown(&saved(case(false, false)), &saved(other));
    assert!(!worse && incomplete, "{text}");
    assert!(text.contains("checksum sum\n  all contenders: in the first run only\n"), "{text}");
    for form in [text, page] {
        assert!(form.contains("nothing was compared"), "{form}");
    }
}

/// The same samples, but for the shell's start, of which too little is known to subtract it.
fn restless_commands(version: &str) -> Run {
    let mut run = commands();
    let case = &mut run.cases[0];
    case.contenders[0].about.version = version.to_owned();
    let start_ns = |number: usize| START_NS / 2 * (1 + number as u64 % 3);
    retime(case, |number, place, ns| if place == 3 { start_ns(number) } else { ns });
    saved(run.cases.remove(0))
}

#[test]
fn runs_of_which_one_has_its_start_subtracted_are_compared_as_measured() {
    let is_less = |run: &Run| run.cases[0].judged.overhead.unwrap().subtracted;
    let (calm, restless) = (commands(), restless_commands(""));
    assert!(is_less(&calm) && !is_less(&restless));
    let same = |old: &Run, new: &Run, against_baseline: bool, words: bool| {
        let found = diff(old, new);
        for d in &found.differences {
            assert_eq!((d.ratio, &d.change), (Some(1.0), &Change::NotResolved), "{d:?}");
            assert_eq!(d.against_baseline, against_baseline && d.id != "a {n} | x", "{d:?}");
            let interval = d.interval.unwrap();
            assert!((interval.low * interval.high - 1.0).abs() < 1e-9, "{d:?}");
        }
        let said =
            found.text().contains("as measured, because the overhead was not subtracted in all");
        assert_eq!(said, words, "{}", found.text());
        found.differences[0].ns.unwrap()
    };
    // Medians of a: with the start of 0.2 ms in it, and without.
    let own = middle((0..36).map(|round| TIMES[round * 5 % 12][0] as f64 * 1e3).collect());
    let less = own - START_NS as f64;
    for (old, new, against_baseline, words, expected) in [
        (&calm, &restless, true, true, own),
        (&calm, &restless_commands("2"), false, true, own),
        (&calm, &calm, true, false, less),
        (&restless, &restless, true, false, own),
    ] {
        // Between two rounds the middle is that of their logarithms.
        let (was, is) = same(old, new, against_baseline, words);
        assert!((was / expected - 1.0).abs() < 1e-6 && was == is, "{was} {is} {expected}");
    }
    // Over time likewise: runs with and without are one course.
    let dated = |run: &Run, at: usize| Run { started: format!("2026-01-{at:02}"), ..run.clone() };
    let of = |new: &Run| {
        let all = (1..=20).map(|at| dated(if at > 10 { new } else { &calm }, at));
        courses(&all.collect::<Vec<_>>())
    };
    let mixed = of(&restless);
    assert!(slower(&mixed, "").is_empty(), "{mixed:?}");
    assert!(mixed.iter().all(|course| course.points.iter().all(|p| p.1 == course.points[0].1)));
    let note = mixed[0].note.clone().unwrap();
    assert!(fathom_report::history::text(&mixed).contains(&note));
    assert!(html::history::page(&mixed, "runs").contains(&note));
    let calm_alone = of(&calm);
    assert!(calm_alone[0].points[0].1 == less && calm_alone[0].note.is_none(), "{calm_alone:?}");
}

/// Whether it was subtracted was decided anew at half the error: in one of the two runs it then was not.
#[test]
fn one_of_two_runs_of_the_same_times_was_compared_with_the_shell_s_start_in_it() {
    let of = |low: usize| {
        let mut case = commands().cases.remove(0);
        case.plan.alpha = 0.005;
        let is_less = |number: usize, place: usize| number < low && place == 3;
        retime(&mut case, |number, place, ns| if is_less(number, place) { ns / 2 } else { ns });
        saved(case)
    };
    // Of 36 the tenth ends the interval at this level, the ninth that at half the error.
    for found in [diff(&of(0), &of(9)), diff(&of(9), &of(0))] {
        assert!(found.cautions.is_empty(), "{found:?}");
        for d in found.differences {
            assert_eq!((d.ratio, d.change), (Some(1.0), Change::NotResolved));
        }
    }
}

/// No word on what a verdict takes.
#[test]
fn times_alone_of_too_few_samples_are_not_resolved_for_that() {
    for (fresh, why) in [
        (true, "5 rounds are too few, at least 18 needed"),
        (false, "all rounds are of one set of processes"),
    ] {
        let mut case = case(fresh, false);
        case.roles = Roles::default();
        case.contenders.truncate(1);
        case.measured.failures.truncate(1);
        case.measured.rounds.truncate(5);
        for round in &mut case.measured.rounds {
            (round.process, round.samples) = (0, vec![round.samples[0].clone()]);
        }
        let run = saved(case);
        let text = diff(&run, &run).text();
        assert!(text.contains(&format!("alpha: not resolved: {why}, ratio 1.000")), "{text}");
    }
}

/// It was that of the verdicts' clock which had to be known: some runs then took less than nothing.
#[test]
fn exports_subtract_a_start_that_is_known_on_the_wall_clock_alone() {
    let mut case = restless_commands("").cases.remove(0);
    case.plan.clock = Some(Clock::Cpu);
    for round in &mut case.measured.rounds {
        round.samples[3].as_mut().unwrap().cpu_ns = Some(START_NS);
    }
    let run = saved(case);
    assert!(run.cases[0].judged.overhead.unwrap().subtracted);
    let json: serde_json::Value = serde_json::from_str(&hyperfine::json(&run)).unwrap();
    let time = json["results"][0]["times"][1].as_f64().unwrap();
    assert!((time - TIMES[5][0] as f64 / 1e6).abs() < 1e-12, "{time}");
}

#[test]
fn a_command_that_is_shown_can_be_pasted_into_a_shell() {
    let mut run = saved(case(false, false));
    run.command = ["fathom", "run", "sort -u words", "true"].map(str::to_owned).into();
    let shown = "fathom run 'sort -u words' true";
    let forms = [markdown::run(&run, &Look::default()), html::run(&run, &Look::default())];
    for form in forms {
        assert!(form.contains(shown) && !form.contains("fathom run sort"), "{form}");
    }
}
