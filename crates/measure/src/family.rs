//! A family: contenders that do the same thing, in a fixed order, with the reference that is right.
//!
//! [`Family`] is typed by its workload; [`AnyFamily`] is the same seen from outside, where only
//! names and text are left: what the command line lists and a worker serves.

use std::fmt;

use crate::contender::{Contender, Meta, Prepared, Unsupported};
use crate::facts::Facts;
use crate::parallel;
use crate::workload::{Offer, Spec, SpecError, THREADS, Work, Workload};

/// Contenders that do the same thing.
pub struct Family<W: 'static> {
    /// Unique, kebab-case.
    pub name: &'static str,
    /// The source of the family's `mod.rs`; its `//!` comment is the page users read.
    pub source: &'static str,
    /// The contender that is plain and right; its digest is the expected one.
    pub reference: &'static str,
    /// All contenders in this build, in the order they are shown.
    pub contenders: &'static [&'static dyn Contender<W>],
    /// Contenders that exist but are not part of this build.
    pub absent: &'static [Absent],
    /// What the commands have to know about it besides.
    pub facts: &'static Facts,
}

/// A contender that exists but is not part of this build.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    /// Its name.
    pub name: &'static str,
    /// Why it is not here and what brings it.
    pub reason: Reason,
}

impl Absent {
    /// Left out of every build.
    #[must_use]
    pub const fn left_out(name: &'static str, why: &'static str) -> Absent {
        Absent { name, reason: Reason::LeftOut(why) }
    }

    /// On processors of `architecture` alone.
    #[must_use]
    pub const fn elsewhere(name: &'static str, architecture: &'static str) -> Absent {
        Absent { name, reason: Reason::Processor { architecture } }
    }

    fn is_absent(&self) -> bool {
        match self.reason {
            Reason::Feature { on, .. } => !on,
            Reason::Processor { architecture } => architecture != std::env::consts::ARCH,
            Reason::Program(_) | Reason::LeftOut(_) | Reason::Machine(_) => true,
        }
    }
}

/// Why a contender is not part of a build.
#[derive(Clone, Copy, Debug)]
pub enum Reason {
    /// It comes with a feature; one that is on brings it.
    Feature {
        /// The feature.
        name: &'static str,
        /// What it brings, in a few words.
        brings: &'static str,
        /// Whether this build has it.
        on: bool,
    },
    /// It exists on one architecture alone.
    Processor {
        /// As [`std::env::consts::ARCH`] says it.
        architecture: &'static str,
    },
    /// It is a program of its own: the commands that build it, and how it is found then.
    Program(&'static str),
    /// No build has it, for this reason.
    LeftOut(&'static str),
    /// It is not on this machine, for this reason.
    Machine(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Feature { name, brings, .. } => {
                write!(f, "{brings}: cargo build --release --features {name}")
            }
            Reason::Processor { architecture } => write!(f, "exists on {architecture} only"),
            Reason::Program(how) => write!(f, "a program of its own: {how}"),
            Reason::LeftOut(why) | Reason::Machine(why) => f.write_str(why),
        }
    }
}

/// A contender as listed: its name with the variant, if any, and what is known about it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `name` or `name+variant`.
    pub id: String,
    /// What is known about it.
    pub meta: Meta,
}

/// Why a contender could not be opened on a workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No contender of that name.
    #[error("no contender {0:?} in this family and build")]
    Unknown(String),
    /// The contender does not take part in this workload.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The workload makes no sense or its data cannot be used.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// A contender opened on a workload.
pub struct Opened<'a> {
    /// The contender, ready to be sampled.
    pub prepared: Box<dyn Prepared + 'a>,
    /// What one iteration works through.
    pub work: Work,
    /// See [`Workload::leaves_the_thread`].
    pub leaves_the_thread: bool,
    /// See [`Workload::backing`].
    pub backing: Option<String>,
}

/// A family seen from outside. What it need not say is what one has that is served and never listed.
pub trait AnyFamily: Sync {
    /// Unique, kebab-case.
    fn name(&self) -> &'static str;
    /// The source of the family's `mod.rs`.
    fn source(&self) -> &'static str {
        ""
    }
    /// The id of the contender whose digest is the expected one.
    fn reference(&self) -> &'static str {
        ""
    }
    /// All contenders in order, with their variants.
    fn entries(&self) -> Vec<Entry> {
        Vec::new()
    }
    /// What the commands have to know about it besides.
    fn facts(&self) -> &'static Facts {
        &Facts::NONE
    }
    /// Contenders that are not part of this build, or not on this machine.
    fn absent(&self) -> Vec<Absent> {
        Vec::new()
    }
    /// The operations of its workloads.
    fn operations(&self) -> &'static [Offer] {
        &[]
    }
    /// The parameters of its workloads.
    fn parameters(&self) -> &'static [Offer] {
        &[]
    }
    /// See [`Workload::MADE`].
    fn made(&self) -> &'static [&'static str] {
        &[]
    }
    /// Whether the operation of a spec takes a file: see [`Workload::OF_FILES`].
    fn takes_file(&self, spec: &Spec) -> bool {
        let _ = spec;
        !self.made().is_empty()
    }
    /// See [`Workload::cases`].
    fn cases(&self) -> Vec<Spec>;
    /// See [`Workload::small_cases`].
    fn small_cases(&self) -> Vec<Spec> {
        self.cases()
    }
    /// See [`Workload::wants_bytes`].
    fn wants_bytes(&self) -> bool {
        false
    }
    /// See [`Workload::prepared`].
    ///
    /// # Errors
    /// A spec that makes no sense, data that cannot be used.
    fn prepared(&self, spec: &Spec) -> Result<Option<Vec<u8>>, SpecError> {
        let _ = spec;
        Ok(None)
    }
    /// See [`Workload::reads_prepared`].
    fn reads_prepared(&self) -> bool {
        false
    }
    /// The spec with every default filled in that decides anything: see [`Workload::takes`].
    ///
    /// # Errors
    /// An operation or parameter the family does not have.
    fn completed(&self, spec: &Spec) -> Result<Spec, SpecError>;
    /// Loads the workload, gets contender `id` ready for it and hands it to `then`.
    ///
    /// # Errors
    /// An unknown contender, one that does not take part, a spec that makes no sense.
    fn open(
        &self,
        id: &str,
        spec: &Spec,
        then: &mut dyn FnMut(Opened<'_>),
    ) -> Result<(), OpenError>;
}

impl<W: Workload + Sync> AnyFamily for Family<W> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &'static str {
        self.source
    }

    fn reference(&self) -> &'static str {
        self.reference
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let is_here = |contender: &&&dyn Contender<W>| contender.absence().is_none();
        for contender in self.contenders.iter().filter(|c| c.is_listed()).filter(is_here) {
            let meta = contender.meta();
            if contender.variants().is_empty() {
                entries.push(Entry { id: meta.name.to_owned(), meta });
            }
            for variant in contender.variants() {
                entries.push(Entry { id: format!("{}+{variant}", meta.name), meta });
            }
        }
        entries
    }

    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn absent(&self) -> Vec<Absent> {
        let of_build = self.absent.iter().filter(|absent| absent.is_absent()).copied();
        let of_machine = self.contenders.iter().filter_map(|contender| {
            let reason = Reason::Machine(contender.absence()?);
            Some(Absent { name: contender.meta().name, reason })
        });
        of_build.chain(of_machine).collect()
    }

    fn operations(&self) -> &'static [Offer] {
        W::OPERATIONS
    }

    fn parameters(&self) -> &'static [Offer] {
        W::PARAMETERS
    }

    fn made(&self) -> &'static [&'static str] {
        W::MADE
    }

    fn takes_file(&self, spec: &Spec) -> bool {
        spec.takes_file::<W>()
    }

    fn cases(&self) -> Vec<Spec> {
        W::cases()
    }

    fn small_cases(&self) -> Vec<Spec> {
        W::small_cases()
    }

    fn wants_bytes(&self) -> bool {
        W::wants_bytes()
    }

    fn prepared(&self, spec: &Spec) -> Result<Option<Vec<u8>>, SpecError> {
        let workload = W::load(&spec.completed::<W>()?)?;
        workload.verify()?;
        Ok(workload.prepared())
    }

    fn reads_prepared(&self) -> bool {
        W::reads_prepared()
    }

    fn completed(&self, spec: &Spec) -> Result<Spec, SpecError> {
        let mut full = spec.completed::<W>()?;
        let idle: Vec<String> =
            full.parameters.keys().filter(|name| !W::takes(&full, name)).cloned().collect();
        idle.iter().for_each(|name| drop(full.parameters.remove(name)));
        Ok(full)
    }

    fn open(
        &self,
        id: &str,
        spec: &Spec,
        then: &mut dyn FnMut(Opened<'_>),
    ) -> Result<(), OpenError> {
        let named = id.split_once('+');
        let (name, variant) = named.map_or((id, None), |(name, variant)| (name, Some(variant)));
        let contender = self.contenders.iter().find(|contender| contender.meta().name == name);
        let contender = contender.ok_or_else(|| OpenError::Unknown(id.to_owned()))?;
        // A family with a parameter of that name means threads of its own by it.
        let has_own = W::PARAMETERS.iter().any(|offer| offer.name == THREADS);
        let threads = if has_own { 1 } else { spec.threads()? };
        let workload = W::load(&spec.completed::<W>()?)?;
        let prepare = || match variant {
            Some(variant) => contender.prepare_variant(variant, &workload),
            None => contender.prepare(&workload),
        };
        let work = workload.work();
        if threads == 1 {
            let leaves_the_thread = workload.leaves_the_thread() || contender.leaves_the_thread();
            let backing = workload.backing();
            let prepared = match prepare() {
                Err(why) if id == self.reference => {
                    // The data may be why.
                    workload.verify()?;
                    return Err(why.into());
                }
                prepared => prepared?,
            };
            then(Opened { prepared, work, leaves_the_thread, backing });
            return Ok(());
        }
        let times = threads as u64;
        let work = Work { bytes: work.bytes * times, items: work.items * times };
        parallel::prepared(threads, &prepare, &mut |prepared| {
            let backing = workload.backing();
            then(Opened { prepared, work, leaves_the_thread: true, backing });
        })?;
        Ok(())
    }
}
