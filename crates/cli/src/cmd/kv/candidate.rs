//! Who can be chosen: structure × hash × allocator. Whether a combination has the operations that
//! are wanted is found by asking it.

use anyhow::Context;
use fathom_contenders::alloc::{self, SYSTEM};
use fathom_contenders::kv;
use fathom_measure::bench::Entrant;
use fathom_measure::conductor::{Bounds, Launch, Worker};
use fathom_measure::contender::Keeps;
use fathom_measure::family::{AnyFamily, Entry};
use fathom_measure::protocol::Offered;
use fathom_measure::result::About;

use crate::measuring;

/// A combination.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) structure: String,
    /// `None` where the structure hashes nothing.
    pub(super) hash: Option<String>,
    pub(super) allocator: String,
    pub(super) about: About,
    /// The outside worker it lives in, if it is not built in.
    pub(super) runner: Option<Launch>,
}

impl Candidate {
    fn new(id: &str, allocator: &str, about: About, runner: Option<&Launch>) -> Candidate {
        let (structure, hash) = match id.split_once('+') {
            Some((structure, hash)) => (structure, Some(hash.to_owned())),
            None => (id, None),
        };
        Candidate {
            structure: structure.to_owned(),
            hash,
            allocator: allocator.to_owned(),
            about,
            runner: runner.cloned(),
        }
    }

    /// One that is built in.
    fn own(entry: &Entry, allocator: &str) -> Candidate {
        Candidate::new(&entry.id, allocator, measuring::about(&entry.meta), None)
    }

    /// What an outside worker offers.
    fn offered(offered: &Offered, runner: &Launch) -> Candidate {
        let keeps = kv::kept_outside(&offered.family);
        let about = About { keeps, ..measuring::about_offered(offered) };
        Candidate::new(&offered.name, SYSTEM, about, Some(runner))
    }

    /// The id its worker knows it by.
    pub(super) fn contender(&self) -> String {
        match &self.hash {
            Some(hash) => format!("{}+{hash}", self.structure),
            None => self.structure.clone(),
        }
    }

    /// The id it is shown under: `hashbrown+xxh3-64`, with `@mimalloc` unless the allocator is the
    /// system's.
    pub(super) fn id(&self) -> String {
        match self.allocator.as_str() {
            SYSTEM => self.contender(),
            other => format!("{}@{other}", self.contender()),
        }
    }

    /// In a sentence: `hashbrown with hash xxh3-64 and allocator mimalloc`.
    pub(super) fn words(&self) -> String {
        let hash = self.hash.as_ref().map(|hash| format!("hash {hash}"));
        let allocator = (self.allocator != SYSTEM).then(|| format!("allocator {}", self.allocator));
        let with: Vec<String> = hash.into_iter().chain(allocator).collect();
        match with.is_empty() {
            true => self.structure.clone(),
            false => format!("{} with {}", self.structure, with.join(" and ")),
        }
    }

    /// What it is a variant of, with the hash, the allocator and the library that it takes.
    pub(super) fn design(&self) -> &str {
        kv::design(&self.structure)
    }

    /// As one who takes part in a measurement.
    pub(super) fn entrant(&self) -> anyhow::Result<Entrant> {
        Ok(Entrant {
            id: self.id(),
            contender: self.contender(),
            launch: self.launch()?,
            about: self.about.clone(),
        })
    }

    /// How its worker is started.
    pub(super) fn launch(&self) -> anyhow::Result<Launch> {
        let allocator = Some(self.allocator.as_str()).filter(|name| *name != SYSTEM);
        match &self.runner {
            Some(runner) => Ok(runner.clone()),
            None => measuring::worker(allocator),
        }
    }

    /// Bytes of the key that the structure refers to instead of holding them.
    pub(super) fn borrows(&self) -> bool {
        self.about.keeps == Keeps::Borrowed
    }
}

/// The allocators that this build, or one beside it, can start workers on.
pub(super) fn allocators() -> Vec<&'static str> {
    let known = alloc::absent().into_iter().map(|absent| absent.name);
    let known = known.chain(alloc::PRELOADS.iter().map(|preload| preload.name));
    let mut all = alloc::CHOICES.to_vec();
    for name in known {
        if !all.contains(&name) && measuring::worker(Some(name)).is_ok() {
            all.push(name);
        }
    }
    all
}

/// What exists but is not in this build, in one line; nothing if `candidates` have it all.
pub(super) fn absent(candidates: &[Candidate]) -> Option<String> {
    let is_here = |name: &str| match name.strip_suffix('*') {
        Some(beginning) => candidates.iter().any(|one| one.structure.starts_with(beginning)),
        None => candidates.iter().any(|one| one.structure == name || one.allocator == name),
    };
    let mut names: Vec<&str> = kv::absent().map(|absent| absent.name).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !is_here(name));
    let count = names.len();
    (count > 0).then(|| format!("{count} more are not in this build; fathom list map, tree, trie, store or alloc says which"))
}

/// Every combination of this build; `unasked` says who of those that nobody
/// would choose is in. The scan is no structure.
pub(super) fn all(unasked: &dyn Fn(&str) -> bool, with_planted: bool) -> Vec<Candidate> {
    let mut entries = kv::family().entries();
    entries.retain(|entry| {
        entry.id != kv::SCAN && (!kv::is_unasked(&entry.id) || unasked(entry.meta.name))
    });
    let mut allocators = allocators();
    allocators.retain(|name| !alloc::is_unasked(name) || unasked(name));
    let each =
        |entry: Entry| allocators.iter().map(move |allocator| Candidate::own(&entry, allocator));
    let planted = if with_planted { kv::planted() } else { Vec::new() };
    let planted = planted.iter().map(|entry| Candidate::own(entry, SYSTEM));
    entries.into_iter().flat_map(each).chain(planted).chain(outside()).collect()
}

/// What the C++ runner offers, if it was built. One that does not answer is told of and left out.
fn outside() -> Vec<Candidate> {
    let Some(runner) = measuring::cpp_runner() else { return Vec::new() };
    let families = kv::members().map(AnyFamily::name);
    match Worker::start(&runner, &Bounds::default()) {
        Ok(worker) => {
            let ours = |offered: &&Offered| families.contains(&offered.family.as_str());
            let offered = worker.offered.iter().filter(ours);
            offered.map(|offered| Candidate::offered(offered, &runner)).collect()
        }
        Err(failure) => {
            say!("the C++ runner {}", fathom_report::escape::line(&failure.to_string()));
            Vec::new()
        }
    }
}

/// The combination with this id.
pub(super) fn named(id: &str) -> anyhow::Result<Candidate> {
    let (contender, allocator) = id.split_once('@').unwrap_or((id, SYSTEM));
    let entries = kv::family().entries().into_iter().chain(kv::planted());
    let entries: Vec<Entry> = entries.collect();
    let why = || match entries.iter().find(|entry| entry.meta.name == contender) {
        Some(one) => {
            format!("{contender:?} is no combination: name its hash, too, as in {}", one.id)
        }
        None => format!("no structure {contender:?} in this build; fathom list names them"),
    };
    let entry = entries.iter().find(|entry| entry.id == contender).with_context(why)?;
    Ok(Candidate::own(entry, allocator))
}
