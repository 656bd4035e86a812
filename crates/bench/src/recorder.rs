//! Records what a program does to its keys, for `fathom kv --trace`. Measures nothing.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that wait in memory before they are written.
const WAITING: usize = 1 << 16;

/// Writes each operation on a map as a line of a trace, up to as many as were asked for.
///
/// It costs a lock and a copy of the key for each operation, a `write` for every 64 KiB, and once all are
/// recorded one atomic addition. It never fails in the midst of a program: what went wrong is said at
/// the end, by [`finish`](Recorder::finish). Threads may share it; their operations are recorded in the
/// order in which they come to it.
///
/// ```
/// use std::collections::HashMap;
///
/// use fathom_bench::Recorder;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("orders.trace");
/// let trace = Recorder::create(&path, 1_000_000)?;
/// let mut orders = HashMap::new();
/// for (order, customer) in [(17_u64, "ann"), (18, "bob"), (17, "cid")] {
///     trace.put(&order);
///     orders.insert(order, customer);
/// }
/// trace.get(&18_u64);
/// assert_eq!(orders.get(&18), Some(&"bob"));
/// assert_eq!(trace.finish()?.operations, 4);
/// assert_eq!(std::fs::read_to_string(&path)?, "put 17\nput 18\nput 17\nget 18\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// In a program that has its map in many places, one recorder for all of them:
/// `static TRACE: LazyLock<Recorder> = …`. It is not dropped when the program ends, so call `finish`.
#[derive(Debug)]
pub struct Recorder {
    /// How many may be recorded.
    most: u64,
    /// How many there were.
    seen: AtomicU64,
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: File,
    /// Whole lines, so that the file is a trace at any time.
    waiting: Vec<u8>,
    operations: u64,
    failure: Option<io::Error>,
}

/// What a recorder has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Operations in the file.
    pub operations: u64,
    /// Operations that are not: those beyond the number that was asked for, and such as a trace has no
    /// line for: keys of no byte, scans of no value.
    pub left_out: u64,
}

/// What can be a key in a trace: text, bytes, and whole numbers in decimal digits, signed ones counted from
/// their least.
pub trait TraceKey {
    /// Adds the key as bytes.
    fn append(&self, out: &mut Vec<u8>);
}

impl Recorder {
    /// Records into a new file, or over what is in it, at most so many operations.
    ///
    /// # Errors
    /// What the operating system answers.
    pub fn create(path: impl AsRef<Path>, operations: u64) -> io::Result<Recorder> {
        let file = File::create(path)?;
        let waiting = Vec::with_capacity(WAITING);
        let out = Out { file, waiting, operations: 0, failure: None };
        Ok(Recorder { most: operations, seen: AtomicU64::new(0), out: Mutex::new(out) })
    }

    /// The program looks for `key`.
    pub fn get<K: TraceKey + ?Sized>(&self, key: &K) {
        self.record(b"get ", key, None);
    }

    /// It inserts `key`, or gives it another value.
    pub fn put<K: TraceKey + ?Sized>(&self, key: &K) {
        self.record(b"put ", key, None);
    }

    /// It erases `key`.
    pub fn del<K: TraceKey + ?Sized>(&self, key: &K) {
        self.record(b"del ", key, None);
    }

    /// It visits so many entries in the order of their keys, from the first on that is not below `key`.
    pub fn scan<K: TraceKey + ?Sized>(&self, key: &K, entries: u32) {
        self.record(b"scan ", key, Some(entries));
    }

    /// Writes what waits, and says how much was recorded. Operations that come later count again.
    ///
    /// # Errors
    /// The first thing that went wrong, now or before; nothing was recorded since.
    pub fn finish(&self) -> io::Result<Recorded> {
        let mut out = self.out();
        out.write();
        match &out.failure {
            // It stays: there is a hole in the file, whoever asks, and how often.
            Some(failure) => Err(io::Error::new(failure.kind(), failure.to_string())),
            None => {
                let left_out = self.seen.load(Ordering::Relaxed).saturating_sub(out.operations);
                Ok(Recorded { operations: out.operations, left_out })
            }
        }
    }

    fn record<K: TraceKey + ?Sized>(&self, name: &[u8], key: &K, entries: Option<u32>) {
        if self.seen.fetch_add(1, Ordering::Relaxed) >= self.most || entries == Some(0) {
            return;
        }
        let mut out = self.out();
        if out.failure.is_some() {
            return;
        }
        let line = out.waiting.len();
        out.waiting.extend_from_slice(name);
        let start = out.waiting.len();
        key.append(&mut out.waiting);
        if out.waiting.len() == start {
            out.waiting.truncate(line);
            return;
        }
        escape(&mut out.waiting, start);
        if let Some(entries) = entries {
            out.waiting.push(b' ');
            entries.append(&mut out.waiting);
        }
        out.waiting.push(b'\n');
        out.operations += 1;
        if out.waiting.len() >= WAITING {
            out.write();
        }
    }

    /// A thread that panicked inside left whole lines, or one that has a part too many: never less.
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends of lines and backslashes in what was added from `start` on, as a trace has them.
fn escape(bytes: &mut Vec<u8>, start: usize) {
    let is_special = |byte: &u8| matches!(byte, b'\\' | b'\n' | b'\r');
    if !bytes[start..].iter().any(is_special) {
        return;
    }
    let key = bytes.split_off(start);
    for byte in key {
        match byte {
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\r' => bytes.extend_from_slice(b"\\r"),
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            byte => bytes.push(byte),
        }
    }
}

impl Out {
    fn write(&mut self) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(&self.waiting).err();
        }
        self.waiting.clear();
        self.waiting.shrink_to(WAITING);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.out().write();
    }
}

macro_rules! bytes {
    ($($bytes:ty)*) => {
        $(impl TraceKey for $bytes {
            fn append(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(AsRef::<[u8]>::as_ref(self));
            }
        })*
    };
}

bytes! { [u8] str String Vec<u8> }

impl<const N: usize> TraceKey for [u8; N] {
    fn append(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl<K: TraceKey + ?Sized> TraceKey for &K {
    fn append(&self, out: &mut Vec<u8>) {
        (**self).append(out);
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl TraceKey for $number {
            fn append(&self, out: &mut Vec<u8>) {
                write!(out, "{self}").expect("memory takes what is written");
            }
        })*
    };
}

numbers! { u8 u16 u32 u64 usize }

/// From zero up, as keys of a trace are: the least is 0, and their order stays.
macro_rules! signed {
    ($($number:ty)*) => {
        $(impl TraceKey for $number {
            fn append(&self, out: &mut Vec<u8>) {
                self.abs_diff(<$number>::MIN).append(out);
            }
        })*
    };
}

signed! { i8 i16 i32 i64 isize }

#[cfg(test)]
mod tests {
    use fathom_keys::trace::{Act, Kind, read};

    use super::*;

    #[test]
    fn signed_keys_are_integers_in_their_order() {
        let of = |key: &dyn TraceKey| {
            let mut out = Vec::new();
            key.append(&mut out);
            String::from_utf8(out).unwrap()
        };
        let found = [of(&i64::MIN), of(&-1_i32), of(&0_i32), of(&i64::MAX), of(&-128_i8)];
        assert_eq!(found, ["0", "2147483647", "2147483648", "18446744073709551615", "0"]);
    }

    #[test]
    fn what_is_recorded_is_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Recorder::create(&path, 100).unwrap();
        trace.put("a b");
        trace.get(&b"\\x\n\r\xff"[..]);
        trace.del(&String::from("é"));
        trace.scan(&vec![b' '], 7);
        trace.get(&u64::MAX);
        trace.put(&0_usize);
        assert_eq!(trace.finish().unwrap(), Recorded { operations: 6, left_out: 0 });
        let bytes = std::fs::read(&path).unwrap();
        let again = read(&bytes, Some(Kind::Bytes)).unwrap();
        let acts = [Act::Put, Act::Get, Act::Del, Act::Scan(7), Act::Get, Act::Put];
        assert_eq!(again.acts, acts);
        let keys: Vec<_> = (0..6).map(|at| again.keys.key(at).into_owned()).collect();
        let expected: [&[u8]; 6] =
            [b"a b", b"\\x\n\r\xff", "é".as_bytes(), b" ", b"18446744073709551615", b"0"];
        assert_eq!(keys, expected);
    }

    #[test]
    fn what_a_trace_cannot_have_is_left_out_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Recorder::create(&path, 4).unwrap();
        trace.get("");
        trace.scan("a", 0);
        (0..10_u32).for_each(|key| trace.put(&key));
        assert_eq!(trace.finish().unwrap(), Recorded { operations: 2, left_out: 10 });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "put 0\nput 1\n");
    }

    #[test]
    fn threads_share_it_and_the_file_has_whole_lines_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Recorder::create(&path, u64::MAX).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let trace = &trace;
                scope.spawn(move || (0..20_000).for_each(|at| trace.put(&(thread << 32 | at))));
            }
        });
        let early = std::fs::read(&path).unwrap();
        assert!(early.len() > WAITING && early.ends_with(b"\n"));
        drop(trace);
        let bytes = std::fs::read(&path).unwrap();
        let again = read(&bytes, Some(Kind::Integers)).unwrap();
        let fathom_keys::Keys::Integers(mut keys) = again.keys.keys else { panic!() };
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 80_000);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_at_the_end_and_stops_no_program() {
        let trace = Recorder::create("/dev/full", u64::MAX).unwrap();
        (0..100_000_u32).for_each(|key| trace.put(&key));
        assert_eq!(trace.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(trace.finish().unwrap_err().kind(), io::ErrorKind::StorageFull, "asked again");
    }
}
