//! Embedded stores: ordered maps that outlive the process, with transactions.
//!
//! Each is here in up to three kinds. *memory*: no file on a disk. *file*: a file in the folder for
//! temporary files, never synced: what is committed survives the process, not the machine. *synced*:
//! each commit waits for the disk. A pass over all keys is one transaction; a single operation, as
//! its latency is measured, is a transaction of its own. Keys are byte strings, integers eight bytes,
//! most significant first; values are eight bytes. What is read again right after it was written
//! comes from memory: this measures the stores, not the disk. Stores are not among the candidates
//! of `fathom kv` unless they are named or `--all` is given.

use fathom_measure::contender::Contender;
use fathom_measure::facts::Facts;
use fathom_measure::family::{Absent, Family};

use crate::library::{native, store};

use crate::keyed::Keyed;
use crate::keyed::reference::Reference;

#[cfg(any(feature = "store", feature = "native", feature = "cpu"))]
mod adapter;
#[cfg(feature = "store")]
mod fjall;
#[cfg(feature = "native")]
#[allow(unsafe_code)] // opening a mapped file; says what makes it sound
mod lmdb;
#[cfg(feature = "store")]
mod redb;
#[cfg(feature = "cpu")]
mod sqlite;

#[cfg(any(feature = "store", feature = "native", feature = "cpu"))]
use adapter::{Kind, Stored};

/// All of them, the reference first.
pub(crate) const CONTENDERS: &[&dyn Contender<Keyed>] = &[
    &Reference,
    #[cfg(feature = "store")]
    &Stored::<redb::Redb>::of(Kind::Memory),
    #[cfg(feature = "store")]
    &Stored::<redb::Redb>::of(Kind::File),
    #[cfg(feature = "store")]
    &Stored::<redb::Redb>::of(Kind::Synced),
    #[cfg(feature = "store")]
    &Stored::<fjall::Fjall>::of(Kind::File),
    #[cfg(feature = "store")]
    &Stored::<fjall::Fjall>::of(Kind::Synced),
    #[cfg(feature = "native")]
    &Stored::<lmdb::Lmdb>::of(Kind::Memory),
    #[cfg(feature = "native")]
    &Stored::<lmdb::Lmdb>::of(Kind::File),
    #[cfg(feature = "native")]
    &Stored::<lmdb::Lmdb>::of(Kind::Synced),
    #[cfg(feature = "cpu")]
    &Stored::<sqlite::Sqlite>::of(Kind::Memory),
    #[cfg(feature = "cpu")]
    &Stored::<sqlite::Sqlite>::of(Kind::File),
    #[cfg(feature = "cpu")]
    &Stored::<sqlite::Sqlite>::of(Kind::Synced),
];

/// The family.
pub(crate) const FAMILY: Family<Keyed> = Family {
    name: "store",
    source: include_str!("mod.rs"),
    reference: "btreemap",
    contenders: CONTENDERS,
    absent: &[
        store("redb"),
        store("fjall"),
        native("lmdb"),
        Absent::left_out("rocksdb", "ten minutes of C++ for one row: not worth a build option"),
    ],
    facts: &Facts::NONE,
};
