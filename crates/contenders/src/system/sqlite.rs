//! SQLite, for the crate `rusqlite`, which calls it through the table of functions that SQLite gives its
//! extensions.

use std::ffi::{c_char, c_int, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::Mutex;

use rusqlite::ffi::{
    SQLITE_VERSION_NUMBER, rusqlite_extension_init2, sqlite3_api_routines as Table,
};

use super::loading::told;
use super::{System, functions, meta};

pub(crate) static LIBRARY: System<Sqlite> =
    System::new("sqlite", &["libsqlite3.so.0"], "libsqlite3-0", |sqlite| {
        sqlite.connected()?;
        // SAFETY: returns a constant text.
        unsafe { told((sqlite.version)()) }
    });

meta! { "sqlite", "SQLite", "https://sqlite.org", "sqlite3", "blessing" }

type Entry = unsafe extern "C" fn(*mut c_void, *mut *mut c_char, *const Table) -> c_int;

functions! {
    /// Of `sqlite3.h`: what it takes to be called as an extension once.
    Sqlite {
        version = "sqlite3_libversion" () -> *const c_char;
        number = "sqlite3_libversion_number" () -> c_int;
        auto_extension = "sqlite3_auto_extension" (Entry) -> c_int;
        cancel_auto_extension = "sqlite3_cancel_auto_extension" (Entry) -> c_int;
        open = "sqlite3_open" (*const c_char, *mut *mut c_void) -> c_int;
        close = "sqlite3_close" (*mut c_void) -> c_int;
    }
}

/// The oldest version whose table holds all that `rusqlite` calls for the rows of SQL.
const OLDEST: c_int = 3_039_000;

/// The table, as an address, while [`Sqlite::connected`] asks for it.
static GIVEN: Mutex<usize> = Mutex::new(0);

impl Sqlite {
    /// Gives `rusqlite` this library's table of functions.
    fn connected(&self) -> Result<(), String> {
        // SAFETY: returns a constant.
        let number = unsafe { (self.number)() };
        if number < OLDEST {
            return Err(format!("is {number}, older than {OLDEST}"));
        }
        let mut connection = ptr::null_mut();
        // SAFETY: the entry has the signature it wants, and the database lives in memory until it is
        // closed, which null may be as well.
        unsafe {
            (self.auto_extension)(entry);
            (self.open)(c":memory:".as_ptr(), &mut connection);
            (self.cancel_auto_extension)(entry);
            (self.close)(connection);
        }
        let given = *GIVEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) as *const Table;
        if given.is_null() {
            return Err("takes no extensions".to_owned());
        }
        let bytes = known_bytes(number);
        // Tables only grow: an older library has the beginning of what `rusqlite` knows, and of the
        // rest, which is null here, it calls nothing for these rows.
        let mut table = MaybeUninit::<Table>::zeroed();
        // SAFETY: the library's table has at least these bytes and lives as long as the library, which
        // stays. Zeros are a table without functions, and `rusqlite` copies what it needs of it.
        let done = unsafe {
            ptr::copy_nonoverlapping(given.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), bytes);
            // It wants a library as new as its headers; what makes that unnecessary is said above.
            (*table.as_mut_ptr()).libversion_number = Some(newest);
            rusqlite_extension_init2(table.as_mut_ptr())
        };
        done.map_err(|error| format!("and rusqlite do not go together: {error}"))
    }
}

/// How much of the table a library of this version has, by the comments in `sqlite3ext.h`.
fn known_bytes(number: c_int) -> usize {
    match number {
        ..3_041_000 => offset_of!(Table, value_encoding),
        3_041_000..3_043_000 => offset_of!(Table, stmt_explain),
        3_043_000..3_044_000 => offset_of!(Table, get_clientdata),
        _ => size_of::<Table>(),
    }
}

unsafe extern "C" fn newest() -> c_int {
    SQLITE_VERSION_NUMBER
}

/// Called by SQLite for a new connection.
unsafe extern "C" fn entry(_: *mut c_void, _: *mut *mut c_char, table: *const Table) -> c_int {
    *GIVEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = table as usize;
    0
}
