//! The workload of the ladder: a file of pairs, read by each step itself, and the exact answer.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use fathom_haversine::generate::{self, Method, Numbers, Pairs};
use fathom_haversine::{
    EARTH_RADIUS_KM, Options, Outcome, Pair, Source, Trigonometry, distance, read,
};
use fathom_measure::contender::{Metric, Preparation, Prepared};
use fathom_measure::digest::Digest;
use fathom_measure::meter::Meter;
use fathom_measure::scratch::{self, Unnamed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::own;
use crate::tasks::{offer, parameter};

/// The metric: pairs that were not read to the nearest doubles.
pub const PAIRS_WRONG: &str = "pairs_wrong";
/// The metric: distance of a step's mean from the exact one, in kilometres.
pub const MEAN_OFF_KM: &str = "mean_off_km";

/// A mean further off than this share of itself is no result.
const GROSS: f64 = 1e-4;

/// A file of pairs and what it comes to.
pub struct File {
    path: PathBuf,
    bytes: u64,
    exact: Answer,
    /// Keeps a made file until the workload goes.
    _made: Option<Unnamed>,
}

/// What a step finds out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) pairs: u64,
    pub(super) mean: f64,
}

/// A step of the ladder that reads pairs; what is done with them is shared.
pub(super) trait Step: Copy {
    /// Hands each pair of the text in `source` to `take`, in order.
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()>;
}

/// A step `$name`, which hands on pairs as `$each` says, and the contender made of it: `$contender`, called `$called` and
/// described in the source file `$source`.
macro_rules! step {
    (
        $contender:ident, $name:ident: $called:literal, $source:literal;
        |$from:ident, $take:ident| $each:expr
    ) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        pub(super) static $contender: fathom_measure::contender::Simple<super::File> =
            fathom_measure::contender::Simple {
                meta: fathom_measure::contender::Meta {
                    name: $called,
                    ..fathom_measure::contender::Meta::of(include_str!($source))
                },
                prepare: |workload| workload.timed_step($name),
            };

        impl super::workload::Step for $name {
            fn each_pair(
                self,
                $from: impl std::io::Read,
                $take: impl FnMut(fathom_haversine::Pair),
            ) -> std::io::Result<()> {
                $each
            }
        }
    };
}
pub(super) use step;

impl Workload for File {
    const OPERATIONS: &'static [Offer] = &[offer("mean", "file to mean distance")];
    const PARAMETERS: &'static [Offer] = &[
        parameter("count", "96K", "pairs to make when no file is given"),
        parameter("numbers", "course", "how they are printed: course, shortest"),
    ];
    const MADE: &'static [&'static str] = &["count", "numbers"];

    fn load(spec: &Spec) -> Result<File, SpecError> {
        let (path, made) = match &spec.file {
            Some(file) => (file.clone(), None),
            None => {
                let made = make(spec)?;
                let made = made.map_err(|error| own::unreadable(&std::env::temp_dir(), error))?;
                (made.path(), Some(made))
            }
        };
        let failed = |reason: String| SpecError::File { path: path.clone(), reason };
        let outcome = exact(&path, false).map_err(failed)?;
        let exact = Answer { pairs: outcome.pairs, mean: outcome.mean_exact };
        Ok(File { bytes: outcome.bytes, exact, path, _made: made })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, items: self.exact.pairs }
    }

    fn cases() -> Vec<Spec> {
        vec![Spec::new("mean", &[])]
    }

    fn small_cases() -> Vec<Spec> {
        let case = |count, numbers| Spec::new("mean", &[("count", count), ("numbers", numbers)]);
        vec![case("1", "course"), case("3K", "course"), case("3K", "shortest")]
    }

    /// Its last step uses all processors, and reading a file is the kernel's work as well.
    fn leaves_the_thread(&self) -> bool {
        true
    }
}

fn make(spec: &Spec) -> Result<io::Result<Unnamed>, SpecError> {
    let numbers = match spec.text("numbers") {
        "shortest" => Numbers::Shortest,
        "course" => Numbers::Course,
        _ => return Err(spec.bad("numbers", "shortest or course")),
    };
    let count = spec.number("count")?;
    if !(1..=100_000_000).contains(&count) {
        return Err(spec.bad("count", "1 to 100M"));
    }
    let write = || {
        let mut file = scratch::file()?;
        let mut out = BufWriter::with_capacity(1 << 18, file.as_file_mut());
        let pairs = Pairs::new(Method::Uniform, 1, count);
        generate::write(pairs, numbers, NonZeroUsize::MIN, &mut out, None)?;
        out.flush()?;
        drop(out);
        Ok(file)
    };
    Ok(write())
}

/// The strict engine's reading of a file, with the reference formula.
fn exact(path: &PathBuf, keep_distances: bool) -> Result<Outcome, String> {
    let trigonometry = Trigonometry::Libm;
    let options = Options { keep_distances, trigonometry, ..Options::default() };
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    read(Source::File(Box::new(file)), &options).map_err(|error| error.to_string())
}

impl File {
    /// A step that reads pairs, with the C library's functions and a plain sum, as the notes do.
    pub(super) fn timed_step(&self, step: impl Step + 'static) -> Preparation<'_> {
        let run = move |file: fs::File| {
            let (mut pairs, mut sum) = (0u64, 0.0);
            step.each_pair(file, |pair| {
                sum += distance(pair, EARTH_RADIUS_KM);
                pairs += 1;
            })?;
            Ok(Answer { pairs, mean: sum / pairs as f64 })
        };
        self.timed(run, move |file| distances(step, file))
    }

    /// A step by its whole run, and by how it finds all distances with the reference formula.
    pub(super) fn timed<'w>(
        &'w self,
        run: impl Fn(fs::File) -> io::Result<Answer> + 'w,
        distances: impl Fn(fs::File) -> io::Result<Vec<f64>> + 'w,
    ) -> Preparation<'w> {
        Ok(Box::new(Timed { file: self, run, distances, mean: f64::NAN }))
    }
}

/// The distances of a step's pairs by the reference formula: unequal where a double is.
pub(super) fn distances(step: impl Step, file: fs::File) -> io::Result<Vec<f64>> {
    let mut distances = Vec::new();
    step.each_pair(file, |pair| distances.push(distance(pair, EARTH_RADIUS_KM)))?;
    Ok(distances)
}

struct Timed<'w, R, D> {
    file: &'w File,
    run: R,
    distances: D,
    mean: f64,
}

impl<R, D> Prepared for Timed<'_, R, D>
where
    R: Fn(fs::File) -> io::Result<Answer>,
    D: Fn(fs::File) -> io::Result<Vec<f64>>,
{
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut answer = Err(io::ErrorKind::InvalidInput.into());
        meter.start();
        for _ in 0..iterations.max(1) {
            answer = fs::File::open(&self.file.path).and_then(&self.run);
        }
        meter.stop();
        let answer = answer.expect("the file is read as it was before");
        self.mean = answer.mean;
        let exact = self.file.exact;
        // A mean that is no number is near to none.
        let is_near = (answer.mean - exact.mean).abs() <= GROSS * exact.mean;
        // What is only inexact agrees: how inexact it is, the metrics say.
        Digest::of_u64(answer.pairs).with_u64((!is_near).into())
    }

    fn metrics(&mut self) -> Vec<Metric> {
        let metric = |name: &str, value: f64| Metric {
            name: name.to_owned(),
            value,
            less_is_better: Some(true),
        };
        let file = fs::File::open(&self.file.path);
        let found = file.and_then(&self.distances).unwrap_or_default();
        let right = exact(&self.file.path, true).map(|o| o.distances.concat()).unwrap_or_default();
        let differs = |(a, b): &(&f64, &f64)| a.to_bits() != b.to_bits();
        let wrong = found.iter().zip(&right).filter(differs).count();
        let wrong = wrong + found.len().abs_diff(right.len());
        vec![
            metric(PAIRS_WRONG, wrong as f64),
            metric(MEAN_OFF_KM, (self.mean - self.file.exact.mean).abs()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::meter::Untimed;

    use super::*;

    #[test]
    fn a_mean_that_is_no_number_is_a_wrong_answer() {
        let file =
            File::load(&Spec::new("mean", &[("count", "3"), ("numbers", "course")])).unwrap();
        let digest = |mean: f64| {
            let run = move |_| Ok(Answer { pairs: 3, mean });
            let mut step = file.timed(run, |_| Ok(Vec::new())).unwrap();
            step.sample(1, &mut Untimed)
        };
        let exact = file.exact.mean;
        assert_eq!(digest(exact), digest(exact * (1.0 + GROSS / 2.0)));
        for wrong in [f64::NAN, f64::INFINITY, exact * (1.0 - 2.0 * GROSS)] {
            assert_ne!(digest(exact), digest(wrong), "{wrong}");
        }
    }
}
