//! Conductor and real worker processes: what one of them does wrong stays with it.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_measure::compare::{Verdict, judge};
use fathom_measure::conductor::{Bounds, Conductor, Launch, Piece, Seat, Worker};
use fathom_measure::protocol::{Reply, Request};
use fathom_measure::provision::{Provision, share_file};
use fathom_measure::rounds::{Executor, Plan, Roles, Stop, measure};
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;

fn launch() -> Launch {
    let program = env!("CARGO_BIN_EXE_fathom").into();
    Launch { program, arguments: vec!["worker".to_owned()], ..Launch::default() }
}

fn seat(family: &str, contender: &str) -> Seat {
    Seat {
        launch: launch(),
        family: family.to_owned(),
        contender: (!contender.is_empty()).then(|| contender.to_owned()),
    }
}

fn small_steps() -> Spec {
    Spec::new("registers", &[("steps", "1000"), ("bytes", "8M")])
}

fn bounds() -> Bounds {
    // Generous for a loaded machine, short enough that the hanging one does not hold up the suite.
    let limit = Duration::from_secs(3);
    Bounds { memory_bytes: Some(256 << 20), open: limit, sample: limit, ..Bounds::default() }
}

fn piece(workload: Spec, bounds: Bounds, stop: &AtomicBool) -> Piece<'_> {
    Piece {
        workload,
        provision: Provision::new(None, None),
        events: Vec::new(),
        bounds,
        stop,
        progress: Box::new(|_, _| {}),
    }
}

fn conduct<T>(
    seats: &[Seat],
    workload: Spec,
    bounds: Bounds,
    then: impl FnOnce(Conductor<'_>) -> T,
) -> T {
    let stop = AtomicBool::new(false);
    then(Conductor::new(seats.to_vec(), piece(workload, bounds, &stop)))
}

#[test]
fn each_fault_costs_its_own_row() {
    let mut names =
        vec!["steady", "wrong", "crash", "hungry", "late-crash", "no-such-one", "slower-100"];
    names.extend(["late-wrong", "hang"]);
    let mut seats: Vec<Seat> = names.iter().map(|name| seat("planted", name)).collect();
    seats.push(seat("planted", "steady"));
    let seats = seats;
    conduct(&seats, small_steps(), bounds(), |mut conductor| {
        conductor.expect(&seats[0]).unwrap();
        let by_seat = conductor.open();
        assert!(matches!(by_seat[1], Some(Failure::WrongAnswer { .. })), "{by_seat:?}");
        assert!(matches!(by_seat[2], Some(Failure::Crashed { .. })), "{by_seat:?}");
        assert!(matches!(by_seat[3], Some(Failure::OutOfMemory { .. })), "{by_seat:?}");
        assert!(matches!(by_seat[5], Some(Failure::Broken { .. })), "{by_seat:?}");
        assert!(matches!(by_seat[8], Some(Failure::Hung { .. })), "{by_seat:?}");
        assert_eq!(by_seat.iter().flatten().count(), 5, "{by_seat:?}");
        let roles = Roles { twin: Some(9), ..Roles::default() };
        let plan = Plan {
            sample_ns: 500_000,
            shortest_ns: 100_000,
            rounds: Some(16),
            stop: Stop::Budget,
            ..Plan::default()
        };
        let measured = measure(&mut conductor, by_seat, roles, &plan);
        assert!(matches!(measured.failures[4], Some(Failure::Crashed { .. })));
        // Every sample's answer is checked, not only the first.
        assert!(matches!(measured.failures[7], Some(Failure::WrongAnswer { .. })));
        let judged = judge(&measured, roles, &plan);
        let slow = judged.comparisons.iter().find(|c| c.contender == 6).unwrap();
        assert_eq!(slow.pairs, 16);
        assert!(!matches!(slow.verdict, Verdict::Faster), "{slow:?}");
        assert!(slow.ratio.unwrap() > 1.5, "{slow:?}");
    });
}

#[test]
fn a_worker_that_hangs_is_ended_in_time() {
    let limit = Duration::from_millis(500);
    let bounds = Bounds { sample: limit, open: limit, ..bounds() };
    conduct(&[seat("planted", "hang")], small_steps(), bounds, |mut conductor| {
        let failures = conductor.open();
        // A machine too busy to start the process in time gives the same verdict.
        assert!(matches!(failures[..], [Some(Failure::Hung { limit_ms: 500 })]), "{failures:?}");
    });
}

#[test]
fn the_empty_contender_and_fresh_processes_are_served() {
    let seats = [seat("planted", "steady"), seat("planted", "")];
    conduct(&seats, small_steps(), bounds(), |mut conductor| {
        assert_eq!(conductor.open().iter().flatten().count(), 0);
        let sample = conductor.sample(1, 1000).unwrap();
        assert!(sample.wall_ns < conductor.sample(0, 1000).unwrap().wall_ns);
        assert!(conductor.refresh(&[0, 1]).is_empty());
        assert!(conductor.sample(0, 10).unwrap().check.is_some());
        assert!(conductor.metrics(0).unwrap().is_empty());
    });
}

#[test]
fn events_are_counted_in_the_worker_or_explained() {
    let stop = AtomicBool::new(false);
    let events = vec!["page-faults".to_owned(), "cycles".to_owned()];
    let piece = Piece { events, ..piece(small_steps(), bounds(), &stop) };
    let mut conductor = Conductor::new(vec![seat("planted", "steady")], piece);
    assert_eq!(conductor.open().iter().flatten().count(), 0);
    let ready = conductor.ready[0].clone();
    assert!(ready.events.len() == 2 || !ready.missing.is_empty(), "{ready:?}");
    assert_eq!(conductor.sample(0, 10).unwrap().counts.len(), ready.events.len());
}

#[test]
fn a_file_is_loaded_once_and_mapped_by_workers() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, vec![7_u8; 100_000]).unwrap();
    let segment = share_file(file.path()).unwrap();
    assert!(segment.len() == 100_000 && segment.iter().all(|&byte| byte == 7));
    let stop = AtomicBool::new(false);
    let provision = Provision::new(Some(segment), None);
    let piece = Piece { provision, ..piece(small_steps(), bounds(), &stop) };
    let mut conductor = Conductor::new(vec![seat("planted", "steady")], piece);
    assert_eq!(conductor.open().iter().flatten().count(), 0);
    assert!(conductor.ready[0].data.starts_with("shared, "), "{:?}", conductor.ready[0]);
}

#[test]
#[ignore = "needs python3: cargo test -- --ignored python3"]
fn a_worker_in_python3_is_a_contender() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/worker.py");
    let python = Launch {
        program: "python3".into(),
        arguments: vec![script.to_str().unwrap().to_owned()],
        ..Launch::default()
    };
    let worker = Worker::start(&python, &bounds()).unwrap();
    assert_eq!(worker.offered[0].name, "python-zlib");
    assert!(worker.program.starts_with("zlib of Python"), "{}", worker.program);
    drop(worker);
    let outside = Seat {
        launch: python,
        family: "checksum".to_owned(),
        contender: Some("python-zlib".to_owned()),
    };
    let seats = [seat("checksum", "plain"), outside.clone()];
    let crc32 = Spec::new("crc32", &[("size", "5K"), ("seed", "1")]);
    conduct(&seats, crc32, bounds(), |mut conductor| {
        conductor.expect(&seats[0]).unwrap();
        assert_eq!(conductor.open(), [None, None], "the answers agree");
        let sample = conductor.sample(1, 100).unwrap();
        assert!(sample.wall_ns > 0 && sample.cpu_ns.is_some());
        assert_eq!(conductor.ready[1].work.bytes, 5 << 10);
    });
    let crc32c = Spec::new("crc32c", &[("size", "5K"), ("seed", "1")]);
    conduct(&[outside], crc32c, bounds(), |mut conductor| {
        let failures = conductor.open();
        assert!(matches!(failures[..], [Some(Failure::Unsupported { .. })]), "{failures:?}");
    });
}

/// They were told in Rust's words for what was said.
#[test]
fn a_greeting_that_is_none_is_told_in_words() {
    let hello = |protocol, contenders| {
        format!(
            r#"{{"answer":"hello","protocol":{protocol},"program":"x","contenders":[{contenders}]}}"#
        )
    };
    let offered = |name| format!(r#"{{"family":"f","name":"{name}"}}"#);
    let twice = [offered("a"), offered("b"), offered("a")].join(",");
    let other = r#"{"answer":"error","message":"I speak 2"}"#.to_owned();
    for (greeting, why) in [
        (hello(2, String::new()), "speaks protocol 2, not 1"),
        (hello(1, twice), "offers f/a twice"),
        (hello(1, offered("")), "offers something without a name in \"f\""),
        (other, "asked for protocol 1, it said I speak 2"),
        (r#"{"answer":"closed"}"#.to_owned(), "replied \"closed\" to a greeting"),
    ] {
        let arguments = vec!["-c".to_owned(), format!("read -r line; echo '{greeting}'; cat")];
        let launch = Launch { program: "sh".into(), arguments, ..Launch::default() };
        let failure = Worker::start(&launch, &bounds()).err().expect(why);
        assert_eq!(failure, Failure::Broken { what: why.to_owned() });
    }
}

#[test]
fn a_worker_answers_nonsense_with_an_error() {
    let mut worker = Worker::start(&launch(), &bounds()).unwrap();
    let limit = Duration::from_secs(5);
    let reply = worker.ask(&Request::Sample { iterations: 1, warm: 0 }, limit).unwrap();
    assert!(matches!(reply, Reply::Error { .. }), "{reply:?}");
    let reply = worker.ask(&Request::Hello { protocol: 99 }, limit).unwrap();
    assert!(matches!(reply, Reply::Error { .. }), "{reply:?}");
    let open = |operation: &str| Request::Open {
        family: "planted".to_owned(),
        contender: Some("steady".to_owned()),
        workload: Spec::new(operation, &[]),
        data: None,
        events: Vec::new(),
    };
    let reply = worker.ask(&open("dance"), limit).unwrap();
    assert!(matches!(reply, Reply::Error { .. }), "{reply:?}");
    assert!(matches!(worker.ask(&open(""), limit).unwrap(), Reply::Opened { .. }));
    assert!(matches!(worker.ask(&Request::Close, limit).unwrap(), Reply::Closed));
}
