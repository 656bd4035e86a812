//! SQLite of this machine through the crate `rusqlite`: in memory, or on a temporary file with `synchronous`
//! off, exclusive locking and a memory map of 256 MiB. Statements are cached; REGEXP is
//! the crate `regex`, and the log is read through the virtual table `csv`.

use std::fs;

use fathom_measure::contender::{Contender, Keeps, Meta, Preparation, Unsupported};
use fathom_measure::scratch::{self, Folder};
use regex::Regex;
use rusqlite::functions::FunctionFlags;
use rusqlite::vtab::csvtab;
use rusqlite::{Connection, Row, ToSql, params};

use super::store::{Column, Function, Store, soundex};
use super::workload::Database;
use crate::people::Person;
use crate::system::sqlite;

pub(super) struct Sqlite;

const VARIANTS: &[&str] = &["memory", "file"];

impl Contender<Database> for Sqlite {
    fn meta(&self) -> Meta {
        Meta { keeps: Keeps::Copied, source: include_str!("rusqlite.rs"), ..sqlite::META }
    }

    fn absence(&self) -> Option<&'static str> {
        sqlite::LIBRARY.get().err()
    }

    fn variants(&self) -> &'static [&'static str] {
        VARIANTS
    }

    fn prepare<'w>(&self, workload: &'w Database) -> Preparation<'w> {
        self.prepare_variant(VARIANTS[0], workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Database) -> Preparation<'w> {
        sqlite::LIBRARY.get().map_err(|why| Unsupported(why.to_owned()))?;
        scratch::folder("sql").map_err(|error| Unsupported(error.to_string()))?;
        match variant {
            "memory" => workload.timed(|| Box::new(Base::open(false))),
            "file" => workload.timed(|| Box::new(Base::open(true))),
            _ => Err(Unsupported(format!("is not built with {variant:?}"))),
        }
    }
}

/// A connection and the folder of its files.
struct Base {
    connection: Connection,
    folder: Folder,
}

const DONE: &str = "SQLite does this fixed work";
const FIELDS: &str = "ID, FirstName, LastName, Data, YearOfBirth, YearOfDeath";

impl Base {
    fn open(is_file: bool) -> Base {
        let folder = scratch::folder("sql").expect("a temporary folder can be made");
        let connection = match is_file {
            true => Connection::open(folder.path().join("people.db")),
            false => Connection::open_in_memory(),
        };
        let connection = connection.expect("SQLite opens a new database");
        if is_file {
            let settings = "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; \
                            PRAGMA mmap_size=268435456;";
            connection.execute_batch(settings).expect(DONE);
        }
        let schema = "CREATE TABLE People(ID INTEGER PRIMARY KEY, \
                      FirstName TEXT COLLATE NOCASE, LastName TEXT, Data BLOB, \
                      YearOfBirth INTEGER, YearOfDeath INTEGER, Version INTEGER); \
                      CREATE TABLE Versions(Last INTEGER); INSERT INTO Versions VALUES(0);";
        connection.execute_batch(schema).expect(DONE);
        connection.set_prepared_statement_cache_capacity(128);
        csvtab::load_module(&connection).expect(DONE);
        lend_functions(&connection).expect(DONE);
        Base { connection, folder }
    }

    fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> usize {
        self.connection.prepare_cached(sql).and_then(|mut s| s.execute(values)).expect(DONE)
    }

    fn one<T: rusqlite::types::FromSql>(&self, sql: &str, values: &[&dyn ToSql]) -> T {
        let statement = self.connection.prepare_cached(sql);
        statement.and_then(|mut s| s.query_row(values, |row| row.get(0))).expect(DONE)
    }

    fn count(&self, sql: &str, values: &[&dyn ToSql]) -> u64 {
        self.one::<i64>(sql, values).unsigned_abs()
    }

    fn many<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let mut statement = self.connection.prepare_cached(sql).expect(DONE);
        let rows = statement.query_map(values, |row| read(row)).expect(DONE);
        rows.collect::<rusqlite::Result<_>>().expect(DONE)
    }

    /// The next version of a row.
    fn version(&self) -> i64 {
        self.one("UPDATE Versions SET Last = Last + 1 RETURNING Last", &[])
    }
}

fn lend_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("remainder", 2, flags, |context| {
        Ok(context.get::<i64>(0)? % context.get::<i64>(1)?)
    })?;
    connection.create_scalar_function("soundex", 1, flags, |context| {
        Ok(soundex(context.get_raw(0).as_str()?))
    })?;
    connection.create_scalar_function("upper_all", 1, flags, |context| {
        Ok(context.get_raw(0).as_str()?.to_uppercase())
    })?;
    connection.create_scalar_function("regexp", 2, flags, |context| {
        // The pattern is constant in a statement, so it is compiled once.
        let pattern = context.get_or_create_aux(
            0,
            |value| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
                Ok(Regex::new(value.as_str()?)?)
            },
        )?;
        Ok(pattern.is_match(context.get_raw(1).as_str()?))
    })
}

fn person(row: &Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person {
        id: row.get(0)?,
        first_name: row.get(1)?,
        last_name: row.get(2)?,
        data: row.get(3)?,
        year_of_birth: row.get(4)?,
        year_of_death: row.get(5)?,
    })
}

/// `text` as a literal of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Store for Base {
    fn begin(&mut self) {
        self.execute("BEGIN", &[]);
    }

    fn commit(&mut self) {
        self.execute("COMMIT", &[]);
    }

    fn add(&mut self, person: &Person, is_literal: bool) -> i64 {
        let version = self.version();
        let row = format!("SELECT {FIELDS} FROM People WHERE ID = ?");
        let is_free =
            person.id != 0 && self.many(&row, params![person.id], self::person).is_empty();
        let id = is_free.then_some(person.id);
        let Person { first_name, last_name, data, year_of_birth, year_of_death, .. } = person;
        if is_literal {
            let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
            let id = id.map_or_else(|| "NULL".to_owned(), |id| id.to_string());
            let sql = format!(
                "INSERT INTO People VALUES({id},{},{},x'{hex}',{year_of_birth},{year_of_death},\
                 {version})",
                quoted(first_name),
                quoted(last_name)
            );
            self.connection.execute(&sql, []).expect(DONE);
        } else {
            self.execute(
                "INSERT INTO People VALUES(?,?,?,?,?,?,?)",
                params![id, first_name, last_name, data, year_of_birth, year_of_death, version],
            );
        }
        self.connection.last_insert_rowid()
    }

    fn update(&mut self, person: &Person) -> bool {
        let version = self.version();
        let Person { id, first_name, last_name, data, year_of_birth, year_of_death } = person;
        let changed = self.execute(
            "UPDATE People SET FirstName=?, LastName=?, Data=?, YearOfBirth=?, YearOfDeath=?, \
             Version=? WHERE ID=?",
            params![first_name, last_name, data, year_of_birth, year_of_death, version, id],
        );
        changed == 1
    }

    fn named(&mut self, last_name: &str) -> Vec<Person> {
        let sql = format!(
            "SELECT {FIELDS} FROM People WHERE LastName = ? ORDER BY FirstName COLLATE BINARY, ID"
        );
        self.many(&sql, params![last_name], person)
    }

    fn all(&mut self) -> Vec<Person> {
        self.many(&format!("SELECT {FIELDS} FROM People ORDER BY ID"), &[], person)
    }

    fn cursor(&mut self) -> (u64, i64) {
        let sql = format!("SELECT {FIELDS} FROM People ORDER BY ID");
        let mut statement = self.connection.prepare_cached(&sql).expect(DONE);
        let mut rows = statement.query([]).expect(DONE);
        let (mut count, mut years) = (0, 0);
        while let Some(row) = rows.next().expect(DONE) {
            count += 1;
            years += row.get::<_, i64>(4).expect(DONE) + row.get::<_, i64>(5).expect(DONE);
        }
        (count, years)
    }

    fn vacuum(&mut self) {
        self.connection.execute_batch("VACUUM").expect(DONE);
    }

    fn sorted(&mut self, by: &[(Column, bool)]) -> Vec<i64> {
        let term = |(column, is_down): &(Column, bool)| {
            let name = match column {
                Column::Id => "ID",
                Column::FirstName => "FirstName",
                Column::LastName => "LastName",
                Column::Data => "Data",
                Column::YearOfBirth => "YearOfBirth",
                Column::YearOfDeath => "YearOfDeath",
            };
            format!("{name}{}, ", if *is_down { " DESC" } else { "" })
        };
        let terms: String = by.iter().map(term).collect();
        self.many(&format!("SELECT ID FROM People ORDER BY {terms}ID"), &[], |row| row.get(0))
    }

    fn like(&mut self, part: &str) -> u64 {
        let pattern = format!("%{part}%");
        self.count("SELECT count(*) FROM People WHERE FirstName LIKE ?", params![pattern])
    }

    fn regexp(&mut self, pattern: &str) -> u64 {
        self.count("SELECT count(*) FROM People WHERE FirstName REGEXP ?", params![pattern])
    }

    fn joined(&mut self, last_name: &str) -> String {
        let sql = "SELECT coalesce(group_concat(FirstName), '') FROM \
                   (SELECT FirstName FROM People WHERE LastName = ? ORDER BY ID)";
        self.one(sql, params![last_name])
    }

    fn remainder(&mut self, a: i64, b: i64) -> i64 {
        self.one("SELECT remainder(?,?)", params![a, b])
    }

    fn call(&mut self, function: Function, text: &str) -> String {
        match function {
            Function::Soundex => self.one("SELECT soundex(?)", params![text]),
            Function::Upper => self.one("SELECT upper_all(?)", params![text]),
            Function::CharIndex => self.one("SELECT CAST(instr(?,'a') AS TEXT)", params![text]),
        }
    }

    fn attach_log(&mut self, lines: &[String]) {
        let path = self.folder.path().join("log.csv");
        fs::write(&path, lines.join("\n")).expect("the temporary folder can be written");
        let name = quoted(&path.to_string_lossy());
        let schema = "'CREATE TABLE x(Time TEXT, Level TEXT, Text TEXT)'";
        let sql = format!("CREATE VIRTUAL TABLE Log USING csv(filename={name}, schema={schema})");
        self.connection.execute_batch(&sql).expect(DONE);
    }

    fn log(&mut self, level: Option<&str>, word: Option<&str>) -> u64 {
        let sql = "SELECT count(*) FROM Log WHERE (?1 IS NULL OR Level = ?1) \
                   AND (?2 IS NULL OR instr(Text, ?2) > 0)";
        self.count(sql, params![level, word])
    }

    fn changes(&mut self, version: i64) -> Vec<(Person, i64)> {
        let sql =
            format!("SELECT {FIELDS}, Version FROM People WHERE Version > ? ORDER BY Version");
        self.many(&sql, params![version], |row| Ok((person(row)?, row.get(6)?)))
    }

    fn apply(&mut self, rows: &[(Person, i64)]) {
        for (person, version) in rows {
            let Person { id, first_name, last_name, data, year_of_birth, year_of_death } = person;
            self.execute(
                "INSERT OR REPLACE INTO People VALUES(?,?,?,?,?,?,?)",
                params![id, first_name, last_name, data, year_of_birth, year_of_death, version],
            );
        }
    }
}
