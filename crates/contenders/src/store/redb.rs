//! The crate `redb`: copy-on-write B+ trees in one file, in pure Rust; several readers and a writer.

use std::fs::File;
use std::io::Result;
use std::path::Path;

use ::redb::backends::{FileBackend, InMemoryBackend};
use ::redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable};
use ::redb::{StorageBackend, Table, TableDefinition};
use fathom_measure::contender::{Meta, Origin};

use super::adapter::{Kind, Reads, Store, Writes, occupied};

const TABLE: TableDefinition<'_, &[u8], u64> = TableDefinition::new("keys");

pub(super) struct Redb {
    database: Database,
    kind: Kind,
}

impl Store for Redb {
    const META: Meta = Meta {
        origin: Origin::Crate("redb"),
        link: "https://docs.rs/redb",
        caveat: "a pass is one transaction",
        ..Meta::of(include_str!("redb.rs"))
    };
    const NAMES: [&'static str; 3] = ["redb-memory", "redb-file", "redb-synced"];
    const LONGEST_KEY: usize = 1 << 20;

    fn open(kind: Kind, folder: &Path) -> Redb {
        let database = match kind {
            Kind::Memory => Database::builder().create_with_backend(InMemoryBackend::new()),
            Kind::File => {
                let file = File::create_new(folder.join("keys.redb")).expect("a new file");
                let file = FileBackend::new(file).expect("its backend");
                Database::builder().create_with_backend(Unsynced(file))
            }
            Kind::Synced => Database::create(folder.join("keys.redb")),
        };
        let mut new = Redb { database: database.expect("a new database"), kind };
        new.write(&mut |_| ());
        new
    }

    fn write(&mut self, work: &mut dyn FnMut(&mut dyn Writes)) {
        let mut transaction = self.database.begin_write().expect("a transaction");
        if self.kind == Kind::Memory {
            transaction.set_durability(Durability::None).expect("no savepoints");
        }
        work(&mut transaction.open_table(TABLE).expect("a table"));
        transaction.commit().expect("a commit");
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads)) {
        let transaction = self.database.begin_read().expect("a transaction");
        work(&transaction.open_table(TABLE).expect("the table"));
    }

    fn stored_bytes(&self, folder: &Path) -> Option<u64> {
        (self.kind != Kind::Memory).then(|| occupied(folder))
    }
}

/// A file that each commit is written to and none waits for. Without durability redb would keep what is
/// committed in memory of its own.
#[derive(Debug)]
struct Unsynced(FileBackend);

impl StorageBackend for Unsynced {
    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.0.write(offset, data)
    }
}

impl Reads for ReadOnlyTable<&'static [u8], u64> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        ReadableTable::get(self, key).expect("a read").map(|value| value.value())
    }

    fn range(&self, from: &[u8], span: usize, visit: &mut dyn FnMut(u64)) {
        let range = ReadableTable::range(self, from..).expect("a range");
        range.take(span).for_each(|entry| visit(entry.expect("an entry").1.value()));
    }
}

impl Writes for Table<'_, &'static [u8], u64> {
    fn put(&mut self, key: &[u8], value: u64) -> Option<u64> {
        self.insert(key, value).expect("a write").map(|old| old.value())
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.remove(key).expect("a write").map(|old| old.value())
    }
}
