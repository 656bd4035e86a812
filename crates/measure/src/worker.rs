//! The worker's side: serves one contender after the other until its input ends. Decides nothing,
//! compares nothing, writes nothing but replies.

use std::io::{self, BufRead, Write};

use fathom_machine::counter::Event;
use fathom_machine::os::shared::Segment;
use fathom_machine::{clock, valgrind};

use crate::contender::{Prepared, timed};
use crate::digest::Digest;
use crate::family::{AnyFamily, OpenError, Opened};
use crate::meter::Clocks;
use crate::protocol::{Reply, Request, SharedData, VERSION, receive, send};
use crate::sample::Sample;
use crate::simulated::sample_simulated;
use crate::workload::{Data, Spec, Work};

/// Answers requests until `input` ends.
///
/// # Errors
/// What the streams answer, and `InvalidData` for a line that is no request.
pub fn serve(
    families: &[&dyn AnyFamily],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    clock::start();
    while let Some(request) = receive(input)? {
        match request {
            Request::Hello { protocol: VERSION } => {
                let program = concat!("fathom ", env!("CARGO_PKG_VERSION")).to_owned();
                let hello = Reply::Hello { protocol: VERSION, program, contenders: Vec::new() };
                send(output, &hello)?;
            }
            Request::Hello { protocol } => {
                let message = format!("this worker speaks protocol {VERSION}, not {protocol}");
                send(output, &Reply::Error { message })?;
            }
            Request::Open { family, contender, workload, data, events } => {
                let events = known(&events);
                let opening = Opening { families, family, contender, workload, data };
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

fn known(events: &[String]) -> Vec<Event> {
    events.iter().filter_map(|name| Event::named(name).cloned()).collect()
}

struct Opening<'a> {
    families: &'a [&'a dyn AnyFamily],
    family: String,
    contender: Option<String>,
    workload: Spec,
    data: Option<SharedData>,
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
            let segment = Segment::open(descriptor, bytes)?;
            self.workload.shared = Some(match prepared {
                true => Data::prepared(segment),
                false => Data::shared(segment),
            });
        }
        let data = self.workload.shared.clone();
        let mut result = Ok(());
        let mut then = |opened: Opened<'_>| {
            let Opened { mut prepared, work, leaves_the_thread, backing } = opened;
            let mut clocks = Clocks::new(leaves_the_thread, events);
            let opened = Reply::Opened {
                work,
                leaves_the_thread,
                events: clocks.events(),
                missing: clocks.missing(),
                data: backing.or_else(|| data.as_ref().map(Data::backing)).unwrap_or_default(),
            };
            result = send(output, &opened)
                .and_then(|()| samples(&mut *prepared, &mut clocks, input, output));
        };
        let opened = match &self.contender {
            None => {
                let prepared = timed(&(), |()| (), |()| Digest::default());
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
            Err(OpenError::Unsupported(why)) => {
                send(output, &Reply::Unsupported { reason: why.to_string() })
            }
            Err(error) => send(output, &Reply::Error { message: error.to_string() }),
        }
    }
}

fn samples(
    prepared: &mut dyn Prepared,
    clocks: &mut Clocks,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    while let Some(request) = receive(input)? {
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
    if warm > 0 {
        prepared.sample(warm, clocks);
        clocks.take();
    }
    let check = prepared.sample(iterations, clocks);
    Sample { check: Some(check), ..clocks.take() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Metric;
    use crate::meter::Meter;

    /// Notes how often it ran in each sample.
    #[derive(Default)]
    struct Noted(Vec<u64>);

    impl Prepared for Noted {
        fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
            self.0.push(iterations);
            meter.start();
            std::thread::sleep(std::time::Duration::from_millis(5 * iterations));
            meter.stop();
            Digest::of_u64(iterations)
        }

        fn metrics(&mut self) -> Vec<Metric> {
            Vec::new()
        }
    }

    #[test]
    fn warm_up_is_run_before_the_sample_and_is_no_part_of_it() {
        clock::start();
        let (mut noted, mut clocks) = (Noted::default(), Clocks::new(true, &[]));
        let found = sample(&mut noted, &mut clocks, 1, 200);
        assert_eq!(noted.0, [200, 1]);
        assert_eq!(found.check, Some(Digest::of_u64(1)));
        assert!((5_000_000..1_000_000_000).contains(&found.wall_ns), "{} ns", found.wall_ns);
        sample(&mut noted, &mut clocks, 2, 0);
        assert_eq!(noted.0, [200, 1, 2]);
    }
}
