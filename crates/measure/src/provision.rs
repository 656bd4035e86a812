//! The data of one workload for all its workers: loaded or prepared once, in memory that they share.
//! Starts workers, because a descriptor is inherited only by those who start after it; asks them
//! nothing.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use fathom_machine::os::memory::Pages;
use fathom_machine::os::shared::{Draft, Segment};

use crate::conductor::{Bounds, Launch, Worker};
use crate::family::AnyFamily;
use crate::protocol::{Offered, SharedData};
use crate::sample::Failure;
use crate::workload::Spec;

/// How the prepared form of a workload is made ([`Workload::prepared`]) and who wants it.
///
/// [`Workload::prepared`]: crate::workload::Workload::prepared
pub struct Prepare<'a> {
    make: Box<dyn Fn() -> Result<Vec<u8>, String> + 'a>,
    /// Whether built-in workers take it too, instead of the file.
    pub(crate) for_built_in: bool,
}

impl<'a> Prepare<'a> {
    /// The workload `spec` of `family`, for outside workers that want it and for built-in ones if
    /// the family reads it.
    #[must_use]
    pub fn new(family: &'a dyn AnyFamily, spec: &Spec) -> Prepare<'a> {
        let spec = spec.clone();
        let make = move || match family.prepared(&spec) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(format!("{} prepares none for outside workers", family.name())),
            Err(error) => Err(error.to_string()),
        };
        Prepare { make: Box::new(make), for_built_in: family.reads_prepared() }
    }
}

/// The data of one workload.
pub struct Provision<'a> {
    file: Option<Segment>,
    prepare: Option<Prepare<'a>>,
    prepared: OnceCell<Segment>,
}

impl<'a> Provision<'a> {
    /// The bytes of the workload's file, if they are to be shared, and the way to its prepared form.
    #[must_use]
    pub fn new(file: Option<Segment>, prepare: Option<Prepare<'a>>) -> Provision<'a> {
        Provision { file, prepare, prepared: OnceCell::new() }
    }

    /// Makes the prepared form now, so that every worker started from here on can have it.
    ///
    /// # Errors
    /// Data that cannot be used, memory that is not to be had.
    pub fn prepare(&self) -> Result<SharedData, Failure> {
        if self.prepared.get().is_none() {
            let none = "this family prepares none for outside workers";
            let prepare = self.prepare.as_ref().ok_or_else(|| cannot(none))?;
            let bytes = (prepare.make)().map_err(cannot)?;
            let segment = Segment::copy_of(&bytes, Pages::Transparent).map_err(cannot)?;
            let _ = self.prepared.set(segment);
        }
        self.prepared.get().map_or_else(|| Err(cannot("lost")), |segment| shared(segment, true))
    }

    /// A worker and the data it is to open `what` on, a contender of a family.
    ///
    /// # Errors
    /// A worker that does not start; see [`Provision::prepare`].
    pub fn start(
        &self,
        launch: &Launch,
        what: (&str, Option<&str>),
        bounds: &Bounds,
    ) -> Result<(Worker, Option<SharedData>), Failure> {
        if self.prepare.as_ref().is_some_and(|prepare| prepare.for_built_in) {
            self.prepare()?;
        } else if let Some(file) = &self.file {
            shared(file, false)?;
        }
        let worker = Worker::start(launch, bounds)?;
        if self.wants_prepared(&worker, what) && self.prepared.get().is_none() {
            self.prepare()?;
            // This worker started too early to have it.
            drop(worker);
            let worker = Worker::start(launch, bounds)?;
            return Ok((worker, Some(self.prepare()?)));
        }
        let data = self.of(&worker, what)?;
        Ok((worker, data))
    }

    /// The data that `what` is opened on in a worker that started after the data was made.
    ///
    /// # Errors
    /// What the operating system answers.
    pub fn of(
        &self,
        worker: &Worker,
        what: (&str, Option<&str>),
    ) -> Result<Option<SharedData>, Failure> {
        match self.wants_prepared(worker, what) {
            true => self.prepare().map(Some),
            false => self.file.as_ref().map(|file| shared(file, false)).transpose(),
        }
    }

    /// A worker that offers nothing is a built-in one. One that is asked for a contender in a family that it offers none of,
    /// as `kv` asks maps and trees, is asked by name.
    fn wants_prepared(&self, worker: &Worker, (family, name): (&str, Option<&str>)) -> bool {
        if worker.offered.is_empty() {
            return self.prepare.as_ref().is_some_and(|prepare| prepare.for_built_in);
        }
        let is_named = |offered: &&Offered| Some(&*offered.name) == name;
        let named = || worker.offered.iter().filter(is_named);
        let own = named().find(|offered| offered.family == family);
        own.or_else(|| named().next()).is_some_and(|offered| offered.prepared)
    }
}

/// Lets workers started from now on inherit the segment.
fn shared(segment: &Segment, prepared: bool) -> Result<SharedData, Failure> {
    let descriptor = segment.share().map_err(cannot)?;
    Ok(SharedData { descriptor, bytes: segment.len(), prepared })
}

fn cannot(error: impl std::fmt::Display) -> Failure {
    Failure::Broken { what: format!("no data: {error}") }
}

/// Loads a file into memory that workers can share, on large pages where there are any.
///
/// # Errors
/// What the operating system answers.
pub fn share_file(path: &Path) -> io::Result<Segment> {
    let mut file = File::open(path)?;
    let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut draft = Draft::new(bytes, Pages::Transparent)?;
    file.read_exact(&mut draft)?;
    draft.freeze()
}
