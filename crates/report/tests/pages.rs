//! Every kind of page, from a seed: the same each time, self-contained, complete, and harmless whatever
//! the names in it are. They are left in the folder for temporary files of tests, where `cargo xtask
//! pages` finds them for a real browser.

#[path = "pages/seeded.rs"]
mod seeded;

use std::fs;
use std::path::Path;

use fathom_measure::compare::{Verdict, judge};
use fathom_measure::plan::Roles;
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;
use fathom_report::diff::diff;
use fathom_report::headline::{headline, standing};
use fathom_report::history::courses;
use fathom_report::html::index::{self, Entry};
use fathom_report::html::{self, flame, grid};
use fathom_report::number::{bytes, duration, per_second};
use fathom_report::scan;
use fathom_report::table::Look;
use serde_json::Value;

/// All kinds by name.
fn pages() -> Vec<(&'static str, String)> {
    let look = Look::default();
    let (before, after) = (
        seeded::commands(1.0, "2026-01-01T00:00:00Z"),
        seeded::commands(1.2, "2026-01-02T00:00:00Z"),
    );
    let runs = seeded::history();
    let entries = [("before", &before), ("after", &after)];
    let entries = entries.map(|(name, run)| Entry { name, link: Some("run.html"), run });
    vec![
        ("run", html::run(&after, &look)),
        ("bench", html::run(&seeded::family(), &look)),
        ("scan", html::run(&seeded::scan(), &look)),
        ("cpu", html::run(&seeded::tasks(), &look)),
        ("kv", html::run(&seeded::keys(), &look)),
        ("haversine", flame::page(&seeded::profile(), "fathom haversine pairs.json")),
        ("history", html::history::page(&courses(&runs), "runs")),
        ("diff", html::diff::page(&diff(&before, &after), ["before.json", "after.json"])),
        ("aggregate", grid::page(&seeded::table())),
        ("index", index::page("runs", &entries)),
    ]
}

fn page(name: &str) -> String {
    pages().into_iter().find(|(other, _)| *other == name).unwrap().1
}

#[test]
fn every_kind_is_the_same_each_time_and_fetches_nothing() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    for ((name, page), (_, again)) in pages().into_iter().zip(pages()) {
        assert!(page == again, "{name} is not the same each time");
        for fetched in [" src=", "url(", "@import", "http://", "https://", "fetch(", "import("] {
            assert!(!page.contains(fetched), "{name} has {fetched}");
        }
        assert!(page.contains("<meta name=\"viewport\"") && page.contains("<h1>"), "{name}");
        // Below the first level comes the second.
        assert!(!page.contains("<h3"), "{name}");
        assert!(page.len() < 500_000, "{name} has {} bytes", page.len());
        let drawn = page.split("<script>").next().unwrap();
        assert!(!drawn.contains("NaN"), "{name} shows what is no number");
        assert!(!drawn.contains("inf%"), "{name} shows what is no number");
        fs::write(folder.join(format!("{name}.html")), page).unwrap();
    }
}

#[test]
fn a_run_says_who_won_how_surely_and_how_to_repeat_it() {
    let page = page("run");
    for part in [
        "<h1>./old is fastest, 1.20x before ./new</h1>",
        "the band is the noise floor",
        "<rect class=\"b\"",
        "class=\"one\"",
        "Distribution: every sample",
        "round</text>",
        "<th scope=\"col\" class=\"n\">user</th><th scope=\"col\" class=\"n\">system</th>",
        "9.000 MiB",
        "fathom run ./old ./new",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let command = page.split("To repeat it").nth(1).unwrap();
    let command = command.split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
    let command = command.replace("&quot;", "\"").replace("&gt;", ">").replace("&amp;", "&");
    let words = shlex::split(&command).unwrap();
    let expected = seeded::commands(1.2, "").command;
    assert_eq!(words, expected, "a shell reads other words from {command}");
}

/// It was at the upper of the two in the middle.
#[test]
fn the_line_among_samples_is_at_their_median() {
    let times = [1_000, 2_000, 4_000, 5_000];
    let mut case = seeded::case("commands", Spec::default(), &[("a", 1e6)], 1);
    case.measured.rounds.truncate(4);
    for (round, ns) in case.measured.rounds.iter_mut().zip(times) {
        round.samples[0].as_mut().unwrap().wall_ns = ns;
    }
    let run = seeded::run(&["fathom", "run"], "2026-01-01T00:00:00Z", vec![case], Value::Null);
    let page = html::run(&run, &Look::default());
    let (_, strip) = page.split_once("a: 4 samples from 1.000 µs to 5.000 µs").unwrap();
    assert!(strip.starts_with(", half of them between 1.750 µs and 4.250 µs<"), "{strip}");
    assert!(strip.contains("<line x1=\"50.00%\" y1=\"1\""), "{strip}");
}

/// What was of a tebibyte was sorted as if of a byte.
#[test]
fn sorting_knows_every_unit_of_a_page() {
    let script = include_str!("../src/html/script.js").replace('"', "");
    let units = script.split("const units = {").nth(1).unwrap().split('}').next().unwrap();
    for power in 0..6 {
        let (binary, decimal) = (1024_f64.powi(power), 1000_f64.powi(power));
        for shown in [bytes(binary), duration(decimal), per_second(decimal)] {
            let unit = shown.split(' ').nth(1).unwrap().trim_end_matches("/s");
            assert!(unit.is_empty() || units.contains(&format!(" {unit}: ")), "{shown}");
        }
    }
    // Negative keys were sorted as texts.
    assert!(script.contains(r"/^-?\d+(\.\d+)?x?( |$)/"), "{script}");
}

#[test]
fn a_scan_has_lines_with_intervals_slopes_and_the_ideal() {
    let page = page("scan");
    assert!(page.contains("square: count^2.00, linear: count^1.00, flat: count^0.05"), "{page}");
    assert_eq!(page.matches(" l\" d=\"M").count(), 3, "a line for each contender");
    assert_eq!(page.matches(" l d\" d=\"M").count(), 3, "and its ideal");
    // Each point of each line: its interval, before its dot.
    let plot = page.split("</figure>").next().unwrap();
    assert_eq!(plot.matches("class=\"l\"/><circle").count(), 18, "{plot}");
}

/// They were rounded as rates are: to 0, and to 65.54 k twice.
#[test]
fn the_numbers_of_a_scan_are_shown_as_they_were_given() {
    let case = |(number, size): (usize, &&str)| {
        let workload = Spec::new("crc", &[("size", *size)]);
        seeded::case("checksum", workload, &[("plain", 1e6)], number as u64)
    };
    for given in [["0.0001", "0.0002"], ["65536", "65537"]] {
        let cases = given.iter().enumerate().map(case).collect();
        let run = seeded::run(&["fathom", "run"], "2026-01-01T00:00:00Z", cases, Value::Null);
        let (page, svg) = (html::run(&run, &Look::default()), scan::svg(&run).unwrap());
        for number in given {
            assert!(page.contains(&format!("class=\"n\">{number}<")), "{page}");
            assert!(svg.contains(&format!("<title>{number}: ")), "{svg}");
        }
    }
}

/// One curve went through the times of all operations.
#[test]
fn of_several_operations_over_one_number_each_has_a_curve() {
    let of = |all: &[(&str, u32)]| {
        let case = |&(operation, power): &(&str, u32)| {
            let size = 10_u64.pow(power);
            let workload = Spec::new(operation, &[("size", &size.to_string())]);
            seeded::case("checksum", workload, &[("plain", 1e3 * size as f64)], u64::from(power))
        };
        let cases = all.iter().map(case).collect();
        seeded::run(&["fathom", "bench"], "2026-01-01T00:00:00Z", cases, Value::Null)
    };
    let run = of(&[("crc", 1), ("crc", 2), ("adler", 1), ("adler", 3)]);
    let page = html::run(&run, &Look::default());
    assert!(page.contains("<h1>4 measurements</h1>") && !page.contains("Slopes"), "{page}");
    let svg = scan::svg(&run).unwrap();
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
    for name in [">plain of checksum crc<", ">plain of checksum adler<"] {
        assert!(svg.contains(name), "no {name} in {svg}");
    }
    // What is done at one value only is beside the scan.
    let page = html::run(&of(&[("touch", 1), ("crc", 1), ("crc", 2)]), &Look::default());
    assert!(page.contains("<h1>Time goes with size as plain of checksum crc: size^"), "{page}");
}

#[test]
fn many_tasks_have_their_winners_first_and_the_rest_folded() {
    let page = page("cpu");
    let [winners, heat, details] =
        ["Fastest here", "All implementations", "In detail"].map(|part| page.find(part).unwrap());
    assert!(winners < heat && heat < details);
    assert!(page[winners..heat].contains("library 1.30x slower"));
    let cells = |class: &str| page[heat..details].matches(class).count();
    assert_eq!(cells("<td class=\"n h0\">1</td>"), 90, "each task has one best");
    let near = |times: f64| -> usize {
        (-5..=5)
            .map(|percent| cells(&format!(">{:.2}</td>", times + f64::from(percent) / 100.0)))
            .sum()
    };
    // Three quarters of the tasks have a second contender, half a third, a quarter a fourth.
    assert_eq!(near(3.0) + near(1.3), 67 + 44);
    assert!(cells("\"n h5\">") == 22, "and the fourth takes nine times as long");
    assert_eq!(page[details..].matches("<details").count(), 90 + 1);
}

#[test]
fn of_many_tasks_those_win_of_whom_either_will_do() {
    let task = |task: u64| {
        let times = [("a", 1e6), ("b", 1.015e6), ("c", 2e6)];
        seeded::case("checksum", Spec::new(&format!("task-{task}"), &[]), &times, task)
    };
    let cases: Vec<_> = (0..8).map(task).collect();
    let run = seeded::run(&["fathom", "cpu"], "2026-01-01T00:00:00Z", cases, Value::Null);
    let is_proved = run.cases.iter().any(|case| standing(case).leaders.len() == 1);
    assert!(is_proved, "less than two percent can be proved");
    let page = html::run(&run, &Look::default());
    assert_eq!(page.matches(">a or b<").count(), 8, "{page}");
    assert_eq!(page.matches(">c 2.0").count() + page.matches(">c 1.9").count(), 8, "{page}");
}

/// Of a family of 21 codecs paper had the first twelve.
#[test]
fn a_heat_table_is_no_wider_than_paper_and_has_everybody() {
    let names: Vec<String> = (0..21).map(|at| format!("codec-{at}")).collect();
    let task = |task: u64| {
        // One of the tasks has few of them.
        let times = names.iter().take(if task == 3 { 5 } else { 21 }).zip(1..);
        let times: Vec<(&str, f64)> =
            times.map(|(name, at)| (name.as_str(), 1e6 * f64::from(at))).collect();
        seeded::case("codec", Spec::new(&format!("task-{task}"), &[]), &times, task)
    };
    let cases = (0..8).map(task).collect();
    let run = seeded::run(&["fathom", "cpu"], "2026-01-01T00:00:00Z", cases, Value::Null);
    let page = html::run(&run, &Look::default());
    let (_, heat) = page.split_once("class=\"heat\"").unwrap();
    let (heat, _) = heat.split_once("</table>").unwrap();
    let parts: Vec<&str> = heat.split("<tbody>").skip(1).collect();
    let columns = |part: &&str| part.matches("scope=\"col\"").count();
    assert_eq!(parts.iter().map(columns).collect::<Vec<_>>(), [12, 9]);
    let rows = |part: &&str| part.matches("scope=\"row\"").count();
    assert_eq!(parts.iter().map(rows).collect::<Vec<_>>(), [8, 7]);
    assert!(names.iter().all(|name| heat.contains(&format!("\"col\">{name}<"))), "{heat}");
    assert_eq!(heat.matches("<td class=\"n h").count(), 7 * 21 + 5);
}

/// Who has no such operation had "failed".
#[test]
fn a_heat_table_says_how_a_contender_failed() {
    let task = |task: u64| {
        let workload = Spec::new(&format!("task-{task}"), &[]);
        let mut case = seeded::case("checksum", workload, &[("a", 1e6), ("b", 1e6)], task);
        case.measured.failures[1] = Some(Failure::Unsupported { reason: "no scan".to_owned() });
        case
    };
    let cases = (0..8).map(task).collect();
    let run = seeded::run(&["fathom", "cpu"], "2026-01-01T00:00:00Z", cases, Value::Null);
    let page = html::run(&run, &Look::default());
    assert_eq!(page.matches("<td class=\"soft\">does not take part</td>").count(), 8, "{page}");
}

#[test]
fn keys_have_their_advice_code_front_and_tails() {
    let page = page("kv");
    for part in [
        "<h1>For these keys, use hashbrown with hash ahash", "hashbrown = &quot;0.17&quot;",
        "<td>★</td>", "0.45 (0.41–0.50)", "2.10 no interval", "3.10 no interval",
        "find-mixed: median time per item", "99.9 % within 300.0 ns, the longest 600.0 µs",
        "20,000 distinct",
    ] {
        assert!(page.contains(part), "no {part}");
    }
}

#[test]
fn a_profile_is_a_flame_graph_whose_children_lie_within_their_parents() {
    let page = page("haversine");
    let places: Vec<(f64, f64)> = page
        .split("<svg class=\"cut\" x=\"")
        .skip(1)
        .map(|svg| {
            let number = |text: &str| text.split('%').next().unwrap().parse::<f64>().unwrap();
            (number(svg), number(svg.split("width=\"").nth(1).unwrap()))
        })
        .collect();
    // By hand: a thread, its two zones one beside the other, the second of them below the first.
    let expected = [(0.0, 100.0), (0.0, 30.0), (0.0, 20.0), (30.0, 60.0)];
    assert_eq!(places, [expected, expected].concat());
    // The thread was one of them.
    assert!(page.contains("Flame graph of thread 0: 3 zones;"), "{page}");
    assert!(page.contains(">1.667 GiB/s<"), "1 GiB in 0.6 s");
}

#[test]
fn a_history_marks_its_steps_and_a_difference_its_words() {
    let history = page("history");
    assert!(history.contains("1 slower and 0 faster since their last step"), "{history}");
    assert!(history.contains("<td class=\"t\">last is 1.25 of the earlier median"), "{history}");
    assert!(history.contains("slower since 2026-01-20") && history.contains("▲ 1.2"));
    let diff = page("diff");
    assert!(diff.contains("<h1>1 slower, 0 faster, 2 not resolved</h1>"), "{diff}");
    assert!(diff.contains("not interleaved") && diff.contains("1.20x slower"));
    // Pointing at one brought out all of its word.
    for number in 0..3 {
        let mark = format!("data-s=\"{number}\"");
        assert_eq!(diff.matches(&mark).count(), 1, "{mark} in {diff}");
    }
}

#[test]
fn a_table_has_bars_on_one_axis_and_an_index_leads_to_its_runs() {
    let table = page("aggregate");
    assert!(table.contains("<h1>40 keys</h1>") && table.contains("/a&lt;b&gt;/7"));
    assert_eq!(table.matches("rx=\"2\"/><line").count(), 40, "a bar with its middle for each key");
    let index = page("index");
    let (after, before) = (index.find(">after<").unwrap(), index.find(">before<").unwrap());
    assert!(after < before, "the newest comes first");
    assert!(index.contains("<a href=\"run.html\">"));
}

/// Ten times as much was drawn as nearly as long.
#[test]
fn bars_before_and_after_are_on_one_axis() {
    let of = |pairs: bool| {
        let row = ["a", "/", "0", "1", "2", "0", "10", "20"].map(str::to_owned).to_vec();
        let ranges = vec![[2, 3, 4], [5, 6, 7]];
        let page = grid::page(&grid::Grid { rows: vec![row], ranges, pairs, ..seeded::table() });
        let bars = page.split("y=\"6\" width=\"").skip(1);
        let widths: Vec<f64> =
            bars.map(|bar| bar.split('%').next().unwrap().parse().unwrap()).collect();
        (widths[1] / widths[0], page.contains("of a value, before and after, are on one axis"))
    };
    assert_eq!(of(false), (1.0, false));
    let (factor, is_said) = of(true);
    assert!((factor - 10.0).abs() < 0.1 && is_said, "{factor}");
}

/// It was cut off with the keys beyond the most, and counted as one of them.
#[test]
fn a_total_is_no_key_and_is_always_there() {
    let row = |key: &str| [key, "/", "1", "2", "3", "web-2"].map(str::to_owned).to_vec();
    let keys = (0..grid::MOST_KEYS).map(|number| row(&format!("host-{number}")));
    let table = grid::Grid {
        of: 5001,
        texts: vec![false, false, false, true],
        rows: keys.chain([row("all")]).collect(),
        total: true,
        ..seeded::table()
    };
    let page = grid::page(&table);
    let foot = page.split("<tfoot>\n").nth(1).unwrap().split("</tfoot>").next().unwrap();
    assert!(foot.starts_with("<tr><th scope=\"row\" class=\"id\">all</th>"), "{foot}");
    // Texts sort as texts.
    assert!(foot.ends_with("<td>web-2</td></tr>\n") && foot.contains("<svg"), "{foot}");
    assert!(page.contains("<h1>5001 keys</h1>") && page.contains("The first 5000 of them"));
    assert!(page.contains(">host-4999<") && !page.contains(">host-5000<"));
}

#[test]
fn no_name_is_markup() {
    let hostile = "</title><script>alert(1)</script>\"' onload=";
    let contenders = [(hostile, 1e6), ("b", 2e6)];
    let case = seeded::case("commands", Spec::default(), &contenders, 1);
    let run =
        seeded::run(&["fathom", "run", hostile], "2026-01-01T00:00:00Z", vec![case], Value::Null);
    let page = html::run(&run, &Look::default());
    assert!(!page.contains("<script>alert") && !page.contains("\" onload"), "{page}");
    let broken = serde_json::json!({"schema": "fathom-kv", "rows": 3});
    let mut other = run.clone();
    other.answer = broken;
    assert_eq!(html::run(&other, &Look::default()), page, "an answer that is none is left out");
}

/// The last line of the page said so.
#[test]
fn a_run_that_was_interrupted_says_so_first() {
    let mut run = seeded::commands(1.2, "2026-01-01T00:00:00Z");
    run.notes = ["other", "interrupted: the rest was not measured"].map(str::to_owned).to_vec();
    let page = html::run(&run, &Look::default());
    let said = "<main>\n<p class=\"warn\">interrupted: the rest was not measured</p>\n<section>";
    assert!(page.contains(said) && page.matches("interrupted").count() == 1, "{page}");
    assert!(page.contains("<li>Note: other</li>"), "{page}");
    let index = index::page("runs", &[Entry { name: "a", link: None, run: &run }]);
    assert!(index.contains(">./old is fastest, 1.20x before ./new (interrupted)</td>"), "{index}");
}

#[test]
fn names_from_right_to_left_are_apart_from_numbers() {
    let of = |tasks: u64| {
        let times = [("שלום", 2e6), ("מהר", 1e6)];
        let task = |at| seeded::case("x", Spec::new(&format!("task-{at}"), &[]), &times, at);
        let cases = (0..tasks).map(task).collect();
        let run = seeded::run(&["fathom", "cpu"], "2026-01-01T00:00:00Z", cases, Value::Null);
        html::run(&run, &Look::default())
    };
    assert!(of(1).contains("<h1><bdi>מהר</bdi> is fastest, "), "{}", of(1));
    assert!(of(1).contains("<li><bdi>מהר</bdi> is 2.0"), "{}", of(1));
    assert!(of(8).contains("<td><bdi>שלום</bdi> 2.0"), "{}", of(8));
}

#[test]
fn a_headline_names_the_fastest_with_its_lead_or_with_whom_it_is_not_resolved() {
    let of = |times: &[(&str, f64)]| {
        let case = seeded::case("commands", Spec::default(), times, 1);
        let run = seeded::run(&["fathom", "run"], "2026-01-01T00:00:00Z", vec![case], Value::Null);
        run.cases[0].clone()
    };
    let clear = headline(&of(&[("a", 2e6), ("b", 1e6), ("c", 4e6)]));
    assert_eq!(clear, "b is fastest, 2.00x before a");
    let close = headline(&of(&[("a", 2e6), ("b", 1e6), ("c", 1e6)]));
    let ends = ["not resolved against b", "not resolved against c"];
    assert!(ends.iter().any(|end| close.ends_with(end)) && close.contains("x before a"), "{close}");
    let open = headline(&of(&[("a", 1e6), ("b", 1e6), ("c", 1e6), ("d", 1e6), ("e", 1e6)]));
    assert!(open.ends_with("had the least time; not resolved against 4 others"), "{open}");
    assert_eq!(headline(&of(&[("a", 2e6)])), "a alone");
    // Who failed leads nothing.
    let mut broken = of(&[("a", 1e6), ("b", 2e6)]);
    for (failed, said) in [(0, "b is the only one with a time"), (1, "Nobody could be measured")] {
        broken.measured.failures[failed] = Some(Failure::Hung { limit_ms: 1 });
        broken.judged = judge(&broken.measured, broken.roles, &broken.plan);
        assert_eq!(headline(&broken), said);
    }
    // It had "not resolved against b".
    let mut broken = of(&[("a", 1e6), ("b", 2e6)]);
    broken.measured.failures[2] = Some(Failure::Hung { limit_ms: 1 });
    broken.judged = judge(&broken.measured, broken.roles, &broken.plan);
    assert_eq!(headline(&broken), "a had the least time; no verdict on b");
}

#[test]
fn whose_verdict_is_faster_than_the_least_median_is_not_called_unresolved() {
    let mut case = seeded::case("commands", Spec::default(), &[("a", 2e6), ("b", 1e6)], 1);
    case.roles = Roles { baseline: 1, chosen: true, ..case.roles };
    case.judged = judge(&case.measured, case.roles, &case.plan);
    case.judged.comparisons[0].verdict = Verdict::Faster;
    assert_eq!(headline(&case), "b had the least time; faster within rounds: a");
}
