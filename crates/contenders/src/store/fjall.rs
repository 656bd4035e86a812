//! The crate `fjall`: a log-structured merge tree in pure Rust: a journal, a table in memory, sorted
//! files behind it.

use std::path::Path;

use ::fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use fathom_measure::contender::{Meta, Origin};

use super::adapter::{Kind, Reads, Store, Writes, occupied};

pub(super) struct Fjall {
    keys: Keyspace,
    database: Database,
    kind: Kind,
}

impl Store for Fjall {
    const META: Meta = Meta {
        origin: Origin::Crate("fjall"),
        link: "https://docs.rs/fjall",
        caveat: "not one transaction: a pass ends with one flush of the journal; a change reads \
                 first to tell what was there; files are merged in threads of its own, whose \
                 processor time is not counted",
        ..Meta::of(include_str!("fjall.rs"))
    };
    const NAMES: [&'static str; 3] = ["", "fjall-file", "fjall-synced"];
    const LONGEST_KEY: usize = u16::MAX as usize;

    fn open(kind: Kind, folder: &Path) -> Fjall {
        let database = Database::builder(folder).open().expect("a new database");
        let keys = database.keyspace("keys", KeyspaceCreateOptions::default).expect("a keyspace");
        Fjall { keys, database, kind }
    }

    fn write(&mut self, work: &mut dyn FnMut(&mut dyn Writes)) {
        work(&mut self.keys);
        let mode = match self.kind {
            Kind::Synced => PersistMode::SyncAll,
            _ => PersistMode::Buffer,
        };
        self.database.persist(mode).expect("a flush");
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads)) {
        work(&self.keys);
    }

    fn stored_bytes(&self, folder: &Path) -> Option<u64> {
        Some(occupied(folder))
    }
}

fn value(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

impl Reads for Keyspace {
    fn get(&self, key: &[u8]) -> Option<u64> {
        Keyspace::get(self, key).expect("a read").map(|bytes| value(&bytes))
    }

    fn range(&self, from: &[u8], span: usize, visit: &mut dyn FnMut(u64)) {
        let range = Keyspace::range::<&[u8], _>(self, from..);
        range.take(span).for_each(|entry| visit(value(&entry.value().expect("an entry"))));
    }
}

impl Writes for Keyspace {
    fn put(&mut self, key: &[u8], value: u64) -> Option<u64> {
        let old = Reads::get(self, key);
        self.insert(key, value.to_le_bytes()).expect("a write");
        old
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        let old = Reads::get(self, key);
        Keyspace::remove(self, key).expect("a write");
        old
    }
}
