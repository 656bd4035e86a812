//! The worker's side: serves one contender after the other until its input ends. Decides nothing,
//! compares nothing, writes nothing but replies.

use std::hash::{BuildHasher, RandomState};
use std::hint;
use std::io::{self, BufRead, Write};

use fathom_machine::counter::Event;
use fathom_machine::os::shared::Segment;
use fathom_machine::{clock, valgrind};

use crate::contender::{Metric, Prepared, timed};
use crate::digest::Digest;
use crate::family::{AnyFamily, OpenError, Opened};
use crate::meter::{Clocks, Meter};
use crate::protocol::{Offered, Reply, Request, SharedData, VERSION, receive, send};
use crate::sample::Sample;
use crate::simulated::sample_simulated;
use crate::workload::{Data, Spec, SpecError, Work};

/// What the kernel places the heap to, in bytes, and what an allocator places anything to, at least.
const PAGE: usize = 4096;
const ALIGNED: usize = 16;

/// Answers requests until `input` ends, and a line that is none with an error.
///
/// # Errors
/// What the streams answer.
pub fn serve(
    families: &[&dyn AnyFamily],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    serve_by(&Terms::default(), families, input, output)
}

/// What [`serve_by`] does otherwise than [`serve`].
#[derive(Debug, Default)]
pub struct Terms {
    /// By so many percent more iterations than it was asked for runs each sample, and says nothing of it: a difference of
    /// known size in any contender, for whoever wants to see it found.
    pub slower_percent: u64,
    /// What this build is called: its contenders are offered to another as those of an outside worker,
    /// [labelled] so.
    pub build: Option<String>,
    /// Those, by their own names.
    pub offered: Vec<Offered>,
}

/// A contender's name in its own build, and what that is called if it is another.
pub fn labelled(name: &str) -> (&str, Option<&str>) {
    let split = name.split_once(LABEL).filter(|(_, build)| is_build(build));
    split.map_or((name, None), |(own, build)| (own, Some(build)))
}

/// Whether a build may be called so: nothing that means more in the names of contenders.
pub fn is_build(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.chars().all(is_plain)
}

/// Between a contender and the build it is of.
const LABEL: char = ':';

/// Answers requests until `input` ends, and a line that is none with an error.
///
/// # Errors
/// As [`serve`].
pub fn serve_by(
    terms: &Terms,
    families: &[&dyn AnyFamily],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    clock::start();
    while let Some(request) = next(input, output)? {
        match request {
            Request::Hello { protocol: VERSION } => {
                let program = concat!("fathom ", env!("CARGO_PKG_VERSION")).to_owned();
                let contenders = terms.offered();
                send(output, &Reply::Hello { protocol: VERSION, program, contenders })?;
            }
            Request::Hello { protocol } => {
                let message = format!("this worker speaks protocol {VERSION}, not {protocol}");
                send(output, &Reply::Error { message })?;
            }
            Request::Open { family, contender, workload, data, events } => {
                let (events, unknown) = known(&events);
                let percent = terms.slower_percent;
                let contender = contender.map(|name| terms.own(name));
                let opening =
                    Opening { families, family, contender, workload, data, unknown, percent };
                opening.serve(&events, input, output)?;
            }
            Request::Sample { .. } | Request::Metrics | Request::Close => {
                let message = "no contender is open".to_owned();
                send(output, &Reply::Error { message })?;
            }
        }
    }
    Ok(())
}

impl Terms {
    fn offered(&self) -> Vec<Offered> {
        let named = |(build, offered): (&String, &Offered)| Offered {
            name: format!("{}{LABEL}{build}", offered.name),
            ..offered.clone()
        };
        self.build
            .iter()
            .flat_map(|build| self.offered.iter().map(move |o| (build, o)))
            .map(named)
            .collect()
    }

    /// A contender by the name that it has in its own build.
    fn own(&self, name: String) -> String {
        match labelled(&name) {
            (own, build @ Some(_)) if build == self.build.as_deref() => own.to_owned(),
            _ => name,
        }
    }
}

/// The next request, after all lines that are none.
fn next(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<Request>> {
    loop {
        match receive(input) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                send(output, &Reply::Error { message: error.to_string() })?;
            }
            asked => return asked,
        }
    }
}

/// The events of these names, and a line for each name of none.
fn known(names: &[String]) -> (Vec<Event>, Vec<String>) {
    let (mut events, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        match Event::named(name) {
            Some(event) => events.push(event.clone()),
            None => unknown.push(format!("{name}: no such event")),
        }
    }
    (events, unknown)
}

struct Opening<'a> {
    families: &'a [&'a dyn AnyFamily],
    family: String,
    contender: Option<String>,
    workload: Spec,
    data: Option<SharedData>,
    unknown: Vec<String>,
    /// See [`Terms`].
    percent: u64,
}

impl Opening<'_> {
    /// Opens the contender and serves its samples until it is closed.
    fn serve(
        mut self,
        events: &[Event],
        input: &mut impl BufRead,
        output: &mut impl Write,
    ) -> io::Result<()> {
        if let Some(SharedData { descriptor, bytes, prepared }) = self.data {
            let segment = match Segment::open(descriptor, bytes) {
                Ok(segment) => segment,
                Err(error) => {
                    return send(output, &Reply::Error { message: format!("no data: {error}") });
                }
            };
            self.workload.shared = Some(match prepared {
                true => Data::prepared(segment),
                false => Data::shared(segment),
            });
        }
        let data = self.workload.shared.clone();
        let _room = if valgrind::is_running() { Vec::new() } else { room_before_the_heap() };
        let mut result = Ok(());
        let mut then = |opened: Opened<'_>| {
            let Opened { prepared, work, leaves_the_thread, backing } = opened;
            let mut slowed = Slowed { prepared, percent: self.percent, owed: 0 };
            let mut clocks = Clocks::new(leaves_the_thread, events);
            let opened = Reply::Opened {
                work,
                leaves_the_thread,
                events: clocks.events(),
                missing: [&self.unknown[..], &clocks.missing()[..]].concat(),
                data: backing.or_else(|| data.as_ref().map(Data::backing)).unwrap_or_default(),
            };
            result = send(output, &opened)
                .and_then(|()| samples(&mut slowed, &mut clocks, input, output));
        };
        let opened = match &self.contender {
            None => {
                let prepared = timed(&(), |()| (), |&()| Digest::default());
                let work = Work::default();
                then(Opened { prepared, work, leaves_the_thread: false, backing: None });
                Ok(())
            }
            Some(id) => match self.families.iter().find(|f| f.name() == self.family) {
                Some(family) => family.open(id, &self.workload, &mut then),
                None => Err(OpenError::Unknown(format!("{}/{id}", self.family))),
            },
        };
        match opened {
            Ok(()) => result,
            Err(why @ (OpenError::Unsupported(_) | OpenError::Spec(SpecError::Machine { .. }))) => {
                send(output, &Reply::Unsupported { reason: why.to_string() })
            }
            Err(error) => send(output, &Reply::Error { message: error.to_string() }),
        }
    }
}

/// Moves what is allocated while it is held by a random part of a page. The kernel places stack and heap at
/// random, the heap to a page: within that it would lie as the lengths of the command line and of the contender's
/// name have it, in every process alike, and no number of processes would show what that does. One is drawn
/// for what a contender keeps, and one for what each sample allocates.
fn room_before_the_heap() -> Vec<u8> {
    let random = RandomState::new().hash_one(()) as usize;
    hint::black_box(Vec::with_capacity(PAGE + random % PAGE / ALIGNED * ALIGNED))
}

/// A contender that does more than it is asked for; see [`Terms`].
struct Slowed<'a> {
    prepared: Box<dyn Prepared + 'a>,
    percent: u64,
    /// What is left of earlier samples, in hundredths of an iteration.
    owed: u64,
}

impl Prepared for Slowed<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        self.owed += iterations * self.percent;
        let surplus = self.owed / 100;
        self.owed %= 100;
        self.prepared.sample(iterations + surplus, meter)
    }

    fn metrics(&mut self) -> Vec<Metric> {
        self.prepared.metrics()
    }
}

fn samples(
    prepared: &mut dyn Prepared,
    clocks: &mut Clocks,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    while let Some(request) = next(input, output)? {
        match request {
            Request::Sample { iterations, warm } => {
                let sample = sample(prepared, clocks, iterations, warm);
                send(output, &Reply::Sample(sample))?;
            }
            Request::Metrics => send(output, &Reply::Metrics { metrics: prepared.metrics() })?,
            Request::Close => return send(output, &Reply::Closed),
            Request::Hello { .. } | Request::Open { .. } => {
                let message = "a contender is open; close it first".to_owned();
                send(output, &Reply::Error { message })?;
            }
        }
    }
    Ok(())
}

fn sample(prepared: &mut dyn Prepared, clocks: &mut Clocks, iterations: u64, warm: u64) -> Sample {
    if valgrind::is_running() {
        // Counted by the simulator around us; time means nothing there.
        let check = sample_simulated(prepared, warm.max(1), iterations);
        return Sample { check: Some(check), ..Sample::default() };
    }
    let _room = room_before_the_heap();
    if warm > 0 {
        prepared.sample(warm, clocks);
        clocks.take();
    }
    let check = prepared.sample(iterations, clocks);
    Sample { check: Some(check), ..clocks.take() }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::rc::Rc;
    use std::time::Duration;

    use super::*;
    use crate::meter::Untimed;

    /// Notes how often it ran in each sample, and takes its time for each iteration.
    #[derive(Default)]
    struct Noted {
        ran: Rc<RefCell<Vec<u64>>>,
        each: Duration,
    }

    impl Prepared for Noted {
        fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
            self.ran.borrow_mut().push(iterations);
            meter.start();
            std::thread::sleep(self.each * iterations as u32);
            meter.stop();
            Digest::of_u64(iterations)
        }
    }

    #[test]
    fn a_slowed_contender_runs_so_many_percent_more_and_keeps_the_fractions() {
        let total = |percent, samples: &[u64]| {
            let noted = Noted::default();
            let ran = Rc::clone(&noted.ran);
            let mut slowed = Slowed { prepared: Box::new(noted), percent, owed: 0 };
            for &iterations in samples {
                slowed.sample(iterations, &mut Untimed);
            }
            ran.take()
        };
        assert_eq!(total(0, &[1, 50, 1_000]), [1, 50, 1_000]);
        assert_eq!(total(3, &[100, 1_000]), [103, 1_030]);
        assert_eq!(total(3, &[50, 50, 50, 50]), [51, 52, 51, 52]);
        assert_eq!(total(3, &[1; 100]).iter().sum::<u64>(), 103);
    }

    #[test]
    fn what_is_no_request_is_answered_and_the_next_one_too() {
        let lines = b"{\"ask\":\"dance\"}\n\xff\n{\"ask\":\"hello\",\"protocol\":1}\n";
        let mut said = Vec::new();
        serve(&[], &mut &lines[..], &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        let replies: Vec<Reply> =
            said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = replies.iter().map(Reply::name).collect();
        assert_eq!(names, ["error", "error", "hello"], "{said}");
    }

    /// The one was left out without a word, and the other ended the worker.
    #[test]
    fn data_and_events_that_are_none_are_told_and_the_next_request_is_answered() {
        let opened = |rest: &str| {
            let request = "{\"ask\":\"open\",\"family\":\"x\",\"contender\":null,\"workload\":{\"operation\":\"\"}";
            format!("{request},{rest}}}\n")
        };
        let data = opened("\"data\":{\"descriptor\":987654,\"bytes\":9}");
        let lines = data + &opened("\"events\":[\"no-such\"]");
        let mut said = Vec::new();
        serve(&[], &mut lines.as_bytes(), &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        let (first, second) = said.split_once('\n').unwrap();
        assert!(first.contains("\"answer\":\"error\",\"message\":\"no data: "), "{said}");
        assert!(second.contains("\"missing\":[\"no-such: no such event\"]"), "{said}");
    }

    #[test]
    fn the_heap_goes_on_at_any_place_within_a_page() {
        let rooms: BTreeSet<usize> =
            (0..64).map(|_| room_before_the_heap().capacity() - PAGE).collect();
        assert!(rooms.len() > 32, "{rooms:?}");
        assert!(rooms.iter().all(|room| *room < PAGE && room % ALIGNED == 0), "{rooms:?}");
    }

    #[test]
    fn warm_up_is_run_before_the_sample_and_is_no_part_of_it() {
        clock::start();
        let (mut noted, mut clocks) =
            (Noted { each: Duration::from_millis(5), ..Noted::default() }, Clocks::new(true, &[]));
        let found = sample(&mut noted, &mut clocks, 1, 200);
        assert_eq!(*noted.ran.borrow(), [200, 1]);
        assert_eq!(found.check, Some(Digest::of_u64(1)));
        assert!((5_000_000..1_000_000_000).contains(&found.wall_ns), "{} ns", found.wall_ns);
        sample(&mut noted, &mut clocks, 2, 0);
        assert_eq!(*noted.ran.borrow(), [200, 1, 2]);
    }
}
