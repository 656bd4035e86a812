//! Who can be chosen: structure × hash × allocator. Whether a combination has the operations that
//! are wanted is found by asking it.

use anyhow::Context;
use fathom_contenders::{alloc, kv};
use fathom_measure::bench::Entrant;
use fathom_measure::conductor::{Bounds, Launch, Worker};
use fathom_measure::family::{Absent, AnyFamily, Entry};
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

/// The allocator of a process that was told nothing.
pub(super) const SYSTEM: &str = "system";

impl Candidate {
    fn new(entry: &Entry, allocator: &str) -> Candidate {
        let (structure, hash) = match entry.id.split_once('+') {
            Some((structure, hash)) => (structure, Some(hash.to_owned())),
            None => (entry.id.as_str(), None),
        };
        Candidate {
            structure: structure.to_owned(),
            hash,
            allocator: allocator.to_owned(),
            about: measuring::about(&entry.meta),
            runner: None,
        }
    }

    /// What an outside worker offers. Its strings are keys by reference, its tries copy.
    fn offered(offered: &Offered, runner: &Launch) -> Candidate {
        let (structure, hash) = match offered.name.split_once('+') {
            Some((structure, hash)) => (structure, Some(hash.to_owned())),
            None => (offered.name.as_str(), None),
        };
        let keeps = if offered.family == "trie" { "copied" } else { "borrowed" };
        Candidate {
            structure: structure.to_owned(),
            hash,
            allocator: SYSTEM.to_owned(),
            about: About { keeps: keeps.to_owned(), ..measuring::about_offered(offered) },
            runner: Some(runner.clone()),
        }
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
        self.about.keeps == "borrowed"
    }
}

/// Allocators that nobody would choose and that take part only when asked for: the arena never takes
/// anything back, the counting one is the system's with a count.
const UNASKED: [&str; 2] = ["arena", "counting"];

/// The allocators that this build, or one beside it, can start workers on.
pub(super) fn allocators() -> Vec<&'static str> {
    let beside = alloc::ABSENT.iter().map(|absent| absent.name);
    let beside = beside.filter(|name| measuring::worker(Some(name)).is_ok());
    alloc::CHOICES.iter().copied().chain(beside).collect()
}

/// What exists but is not in this build, a sentence for each command that brings it.
pub(super) fn absent() -> Vec<String> {
    let here = allocators();
    let families = kv::FAMILY.families().iter().flat_map(|family| family.absent());
    let allocators = alloc::ABSENT.iter().filter(|absent| !here.contains(&absent.name));
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let runner = measuring::cpp_runner();
    let has_command = |absent: &&Absent| {
        absent.reason.contains("build") && (runner.is_none() || !absent.name.starts_with("cpp-"))
    };
    for absent in families.chain(allocators).filter(has_command) {
        match reasons.iter_mut().find(|(reason, _)| *reason == absent.reason) {
            Some((_, names)) if names.contains(&absent.name) => {}
            Some((_, names)) => names.push(absent.name),
            None => reasons.push((absent.reason, vec![absent.name])),
        }
    }
    let sentence = |(reason, names): (&str, Vec<&str>)| {
        format!("not in this build: {} ({reason})", names.join(", "))
    };
    reasons.into_iter().map(sentence).collect()
}

/// Every combination of this build; `unasked` says which of [`UNASKED`] and which stores are in.
/// `touch` is no structure.
pub(super) fn all(unasked: &dyn Fn(&str) -> bool, with_planted: bool) -> Vec<Candidate> {
    let mut entries = kv::FAMILY.entries();
    let is_asked = |id: &str| !kv::FAMILY.stores(id) || unasked(id);
    entries.retain(|entry| entry.id != TOUCH && is_asked(&entry.id));
    if with_planted {
        entries.extend(kv::FAMILY.planted());
    }
    let mut allocators = allocators();
    allocators.retain(|name| !UNASKED.contains(name) || unasked(name));
    let each = |entry: &Entry| {
        let entry = entry.clone();
        let planted = entry.id.starts_with("planted");
        let allocators = if planted { vec![SYSTEM] } else { allocators.clone() };
        allocators.into_iter().map(move |allocator| Candidate::new(&entry, allocator))
    };
    entries.iter().flat_map(each).chain(outside()).collect()
}

/// What the C++ runner offers, if it was built. One that does not answer is told of and left out.
fn outside() -> Vec<Candidate> {
    let Some(runner) = measuring::cpp_runner() else { return Vec::new() };
    let families: Vec<&str> = kv::FAMILY.families().iter().map(|family| family.name()).collect();
    match Worker::start(&runner, &Bounds::default()) {
        Ok(worker) => {
            let ours = |offered: &&Offered| families.contains(&offered.family.as_str());
            let offered = worker.offered.iter().filter(ours);
            offered.map(|offered| Candidate::offered(offered, &runner)).collect()
        }
        Err(failure) => {
            eprintln!("the C++ runner {failure}");
            Vec::new()
        }
    }
}

/// The scan that touches every key and holds none.
pub(super) const TOUCH: &str = "touch";

/// The combination with this id.
pub(super) fn named(id: &str) -> anyhow::Result<Candidate> {
    let (contender, allocator) = id.split_once('@').unwrap_or((id, SYSTEM));
    let entries = kv::FAMILY.entries().into_iter().chain(kv::FAMILY.planted());
    let found = entries.into_iter().find(|entry| entry.id == contender);
    let entry = found.with_context(|| format!("no structure {contender:?} in this build"))?;
    Ok(Candidate::new(&entry, allocator))
}
