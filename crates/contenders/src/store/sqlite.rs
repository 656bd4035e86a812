//! SQLite of this machine, by the crate `rusqlite`: SQL over B-trees; here a table without row ids whose
//! primary key is the key.

use std::path::Path;

use fathom_measure::contender::Meta;
use rusqlite::{Connection, OptionalExtension, Row};

use super::adapter::{Kind, Reads, Store, Writes, occupied};
use crate::system::sqlite;

pub(super) struct Sqlite {
    connection: Connection,
    kind: Kind,
}

const FIND: &str = "SELECT value FROM keys WHERE key = ?1";
const PUT: &str = "INSERT INTO keys VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
const REMOVE: &str = "DELETE FROM keys WHERE key = ?1";
const RANGE: &str = "SELECT value FROM keys WHERE key >= ?1 ORDER BY key LIMIT ?2";

impl Store for Sqlite {
    const META: Meta = Meta {
        caveat: "a pass is one transaction of prepared statements; a change reads first to tell \
                 what was there; files with a write-ahead log",
        source: include_str!("sqlite.rs"),
        ..sqlite::META
    };
    const NAMES: [&'static str; 3] = ["sqlite-memory", "sqlite-file", "sqlite-synced"];
    const LONGEST_KEY: usize = 1 << 20;

    fn absence() -> Option<&'static str> {
        sqlite::LIBRARY.get().err()
    }

    fn open(kind: Kind, folder: &Path) -> Sqlite {
        let connection = match kind {
            Kind::Memory => Connection::open_in_memory(),
            _ => Connection::open(folder.join("keys.sqlite")),
        };
        let connection = connection.expect("a new database");
        let settings = match kind {
            Kind::Memory => "",
            Kind::File => "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;",
            Kind::Synced => "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
        };
        let table = "CREATE TABLE keys (key BLOB PRIMARY KEY, value INTEGER) WITHOUT ROWID;";
        connection.execute_batch(&format!("{settings}{table}")).expect("a new table");
        Sqlite { connection, kind }
    }

    fn write(&mut self, work: &mut dyn FnMut(&mut dyn Writes)) {
        self.connection.execute_batch("BEGIN").expect("a transaction");
        work(&mut self.connection);
        self.connection.execute_batch("COMMIT").expect("a commit");
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads)) {
        self.connection.execute_batch("BEGIN").expect("a transaction");
        work(&self.connection);
        self.connection.execute_batch("COMMIT").expect("its end");
    }

    fn stored_bytes(&self, folder: &Path) -> Option<u64> {
        let number = |sql| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        match self.kind {
            Kind::Memory => {
                Some((number("PRAGMA page_count").ok()? * number("PRAGMA page_size").ok()?) as u64)
            }
            _ => Some(occupied(folder)),
        }
    }
}

/// SQLite's integers are signed: the same 64 bits.
fn value(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(|value| value as u64)
}

impl Reads for Connection {
    fn get(&self, key: &[u8]) -> Option<u64> {
        let mut find = self.prepare_cached(FIND).expect("a statement");
        find.query_row([key], value).optional().expect("a read")
    }

    fn range(&self, from: &[u8], span: usize, visit: &mut dyn FnMut(u64)) {
        let mut range = self.prepare_cached(RANGE).expect("a statement");
        let span = i64::try_from(span).unwrap_or(-1);
        let values = range.query_map((from, span), value).expect("a range");
        values.for_each(|found| visit(found.expect("an entry")));
    }
}

impl Writes for Connection {
    fn put(&mut self, key: &[u8], value: u64) -> Option<u64> {
        let old = self.get(key);
        let mut put = self.prepare_cached(PUT).expect("a statement");
        put.execute((key, value as i64)).expect("a write");
        old
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        let old = self.get(key);
        self.prepare_cached(REMOVE).expect("a statement").execute([key]).expect("a write");
        old
    }
}
