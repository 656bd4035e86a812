//! LMDB, by the crate `heed`: a B+ tree in a memory-mapped file, copied on write; readers read the
//! map itself.

use std::path::Path;

use fathom_measure::contender::{Meta, Origin};
use heed::byteorder::LE;
use heed::types::{Bytes, U64};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, WithTls};

use super::adapter::{Kind, Reads, Store, Writes, occupied};

type Keys = Database<'static, Bytes, U64<LE>>;

pub(super) struct Lmdb {
    environment: Env,
    keys: Keys,
}

/// Address space, not memory: how large the file may grow.
const MAP_BYTES: usize = 64 << 30;

impl Store for Lmdb {
    const META: Meta = Meta {
        origin: Origin::Library("lmdb", || {
            let version = heed::lmdb_version();
            format!("{}.{}.{}", version.major, version.minor, version.patch)
        }),
        link: "https://www.symas.com/mdb",
        licence: "OLDAP-2.8",
        caveat: "a pass is one transaction; keys of at most 511 bytes; a change reads first to tell \
                 what was there",
        ..Meta::of(include_str!("lmdb.rs"))
    };
    const NAMES: [&'static str; 3] = ["lmdb-memory", "lmdb-file", "lmdb-synced"];
    const LONGEST_KEY: usize = 511;
    const MEMORY_IS_FILE: bool = true;

    fn open(kind: Kind, folder: &Path) -> Lmdb {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        if kind != Kind::Synced {
            // SAFETY: the file is thrown away with the process; nobody reads it after a crash.
            unsafe { options.flags(EnvFlags::NO_SYNC) };
        }
        // SAFETY: the folder was made for this environment, so that nobody else changes the file.
        let environment = unsafe { options.open(folder) }.expect("a new environment");
        let transaction = environment.write_txn().expect("a transaction");
        let keys = environment
            .create_databases_and_commit(transaction, |environment, transaction| {
                environment.create_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
            })
            .expect("a database")
            .unwrap_commit();
        Lmdb { environment, keys }
    }

    fn write(&mut self, work: &mut dyn FnMut(&mut dyn Writes)) {
        let transaction = self.environment.write_txn().expect("a transaction");
        let mut writing = Writing { transaction, keys: self.keys };
        work(&mut writing);
        writing.transaction.commit().expect("a commit");
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads)) {
        let transaction = self.environment.read_txn().expect("a transaction");
        work(&Reading { transaction, keys: self.keys });
    }

    fn stored_bytes(&self, folder: &Path) -> Option<u64> {
        Some(occupied(folder))
    }
}

struct Reading<'e> {
    transaction: RoTxn<'e, WithTls>,
    keys: Keys,
}

struct Writing<'e> {
    transaction: RwTxn<'e>,
    keys: Keys,
}

impl Reads for Reading<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.keys.get(&self.transaction, key).expect("a read")
    }

    fn range(&self, from: &[u8], span: usize, visit: &mut dyn FnMut(u64)) {
        let from = (std::ops::Bound::Included(from), std::ops::Bound::Unbounded);
        let range = match from {
            // No key is empty, and LMDB looks for none.
            (std::ops::Bound::Included([]), _) => {
                let all = self.keys.iter(&self.transaction).expect("all entries");
                return all.take(span).for_each(|entry| visit(entry.expect("an entry").1));
            }
            _ => self.keys.range(&self.transaction, &from).expect("a range"),
        };
        range.take(span).for_each(|entry| visit(entry.expect("an entry").1));
    }
}

impl Writes for Writing<'_> {
    fn put(&mut self, key: &[u8], value: u64) -> Option<u64> {
        let old = self.keys.get(&self.transaction, key).expect("a read");
        self.keys.put(&mut self.transaction, key, &value).expect("a write");
        old
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        let old = self.keys.get(&self.transaction, key).expect("a read");
        self.keys.delete(&mut self.transaction, key).expect("a write");
        old
    }
}
