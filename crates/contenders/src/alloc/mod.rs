//! Allocators: where blocks of memory come from, and where they go back to.
//!
//! Two ways to compare them. In this family each is called directly, on patterns of allocation: an
//! iteration takes all blocks and gives all back. And a whole process runs on one of them, which
//! puts any structure of any family on it (`fathom kv --allocator`, `NAME@mimalloc` in `fathom
//! bench`); that is chosen when the process starts, so it takes one process per allocator. `arena`
//! gives no block back, so that each iteration begins with memory that it has to fault in. As a process it stops at 4 GiB.
//!
//! Called directly, the C and C++ ones need `--features native` and a C++ compiler; a whole process takes those that the
//! machine has. mimalloc's secure form has the
//! same symbols as its plain one and needs a program of its own beside this one:
//! `cargo build --release --features mimalloc-secure --target-dir target/secure`, then
//! `cp target/secure/release/fathom target/release/fathom-mimalloc-secure`.

use fathom_measure::facts::{Facts, Others};
use fathom_measure::family::{Absent, AnyFamily, Family, Reason};

use crate::library::{C_LIBRARY, native};

mod arena;
#[cfg(feature = "native")]
mod jemalloc;
mod kernel;
#[cfg(feature = "native")]
mod mimalloc;
mod preload;
#[cfg(feature = "native")]
mod snmalloc;
mod system;
mod workload;

pub(crate) use kernel::counter;
pub use kernel::{Allocator, CHOICES, VARIABLE, chosen};
pub use preload::{PRELOADS, Preload, others_preloaded};
pub use workload::Blocks;

/// The family.
pub(crate) const FAMILY: Family<Blocks> = Family {
    name: "alloc",
    source: include_str!("mod.rs"),
    reference: "system",
    contenders: &[
        &system::SYSTEM,
        &arena::ARENA,
        #[cfg(feature = "native")]
        &mimalloc::MI_MALLOC,
        #[cfg(feature = "native")]
        &jemalloc::JEMALLOC,
        #[cfg(feature = "native")]
        &snmalloc::SNMALLOC,
    ],
    absent: ABSENT,
    facts: &Facts { others: Some(PROCESSES), ..Facts::NONE },
};

/// What a whole process can run on: besides those of this build, what this machine has to be preloaded.
const PROCESSES: Others = Others {
    what: "allocators of a whole process (fathom kv -a NAME, CONTENDER@NAME)",
    all: || {
        let built_in = CHOICES.iter().map(|&name| (name, "in this program".to_owned()));
        let preloads = PRELOADS.iter().filter(|preload| !CHOICES.contains(&preload.name));
        let preloads = preloads.map(|preload| match preload.file() {
            Some(file) => (preload.name, format!("preloaded: {}", file.display())),
            None => (preload.name, format!("absent: {}", preload.absence())),
        });
        built_in.chain(preloads).collect()
    },
};

/// Address space that a process on allocator `name` reserves at its start and does not use, in bytes:
/// snmalloc's map of all pages, 2^38.
#[must_use]
pub fn reserved_bytes(name: &str) -> u64 {
    if name == "snmalloc" { 1 << 38 } else { 0 }
}

/// The allocator of a process that was told nothing.
pub const SYSTEM: &str = "system";

/// What is known about allocator `name` of this build, if it is one that a Rust program can choose, by its
/// [code](fathom_measure::contender::Meta::code).
#[must_use]
pub fn meta(name: &str) -> Option<fathom_measure::contender::Meta> {
    let meta = FAMILY.contenders.iter().map(|one| one.meta()).find(|meta| meta.name == name)?;
    (!meta.code.is_empty()).then_some(meta)
}

/// Allocators that nobody would choose and that take part only when asked for: the arena never takes
/// anything back, the counting one is the system's with a count.
const UNASKED: [&str; 2] = ["arena", COUNTING];

/// Why no program would run on allocator `name`, which is for measuring only; nothing for all others.
#[must_use]
pub fn is_for_measuring(name: &str) -> Option<&'static str> {
    match name {
        "arena" => Some("it takes nothing back"),
        COUNTING => Some("it is the system's with a count"),
        _ => None,
    }
}

/// Whether an allocator takes part only when asked for: besides those, what would have to be preloaded, which
/// is advice for a machine and not for a program.
#[must_use]
pub fn is_unasked(name: &str) -> bool {
    UNASKED.contains(&name) || is_preloaded(name)
}

/// Whether an allocator is none of this build and would have to be preloaded.
#[must_use]
pub fn is_preloaded(name: &str) -> bool {
    Preload::named(name).is_some() && !CHOICES.contains(&name)
}

/// The system's allocator with a count.
pub const COUNTING: &str = "counting";

const ABSENT: &[Absent] = &[
    Absent {
        name: "mimalloc",
        reason: Reason::Feature {
            name: "native",
            brings: C_LIBRARY,
            on: cfg!(all(feature = "native", not(feature = "mimalloc-secure"))),
        },
    },
    #[cfg(not(feature = "mimalloc-secure"))]
    Absent {
        name: "mimalloc-secure",
        reason: Reason::Program(
            "cargo build --release --features mimalloc-secure --target-dir target/secure && cp \
             target/secure/release/fathom target/release/fathom-mimalloc-secure",
        ),
    },
    native("jemalloc"),
    native("snmalloc"),
];

/// The allocators that are known but not part of this build.
pub fn absent() -> Vec<Absent> {
    AnyFamily::absent(&FAMILY)
}

#[cfg(test)]
mod tests {
    /// The crate that is told to be brought is the one whose type is told to be used; not all are in every build,
    /// so their sources are asked.
    #[test]
    fn the_crate_of_an_allocator_is_the_one_of_its_type() {
        let sources =
            [include_str!("mimalloc.rs"), include_str!("jemalloc.rs"), include_str!("snmalloc.rs")];
        for source in sources {
            let between = |before: &str, after: &str| {
                let (_, rest) = source.split_once(before).unwrap();
                rest.split_once(after).unwrap().0
            };
            let named = between("origin: Origin::Crate(\"", "\")").replace('-', "_");
            assert_eq!(named, between("code: \"", "::"));
            assert_eq!(named, between(": Called<", "::"));
        }
    }
}
