//! Objects of a store, read like files: `s3://bucket/key`, `gs://…`, `az://…`, `https://…`.
//!
//! ```text
//!   address ─▶ store ([store]) ─▶ object: size, ETag, first bytes
//!                                    │
//!   threads of an engine ◀─ read_at ─┴─ blocks in flight and there ([ahead]) ◀─ ranged GETs with If-Match
//! ```
//!
//! Whoever reads waits as for a slow disk; requests run on two threads of their own, which are never seen
//! outside. An object is known for the life of the process as it was when it was opened: what has
//! another ETag later is an error, whoever asks. Nothing is written.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fathom_machine::os::read_at::ReadAt;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

mod ahead;
mod store;

use ahead::{Ahead, Answer, Get, Limits};
use store::{Address, Object};

/// Threads that make requests, decrypt and put answers together.
const THREADS: usize = 2;

/// Requests in flight unless `FATHOM_REQUESTS` says otherwise.
const REQUESTS: usize = 16;

/// Bytes of a request: long enough that its start does not matter.
const BLOCK_BYTES: u64 = 8 << 20;

/// First bytes that are kept of an object, at most, and of all objects together.
const HEAD_BYTES: u64 = 64 << 10;
const HEADS_BYTES: u64 = 64 << 20;

/// All that is known of stores in this process.
struct Remote {
    runtime: Runtime,
    objects: Mutex<HashMap<String, Arc<Object>>>,
    ahead: Arc<Ahead<Requests>>,
    requests: usize,
}

/// Makes requests on the runtime.
struct Requests;

impl Get for Requests {
    type Object = Object;

    fn start(&self, object: &Arc<Object>, range: std::ops::Range<u64>, answer: Answer<Self>) {
        let object = Arc::clone(object);
        remote().runtime.spawn(async move {
            let got = object.get(range).await;
            answer.give(got);
        });
    }
}

fn remote() -> &'static Remote {
    static REMOTE: LazyLock<Remote> = LazyLock::new(|| {
        let said = store::number(store::REQUESTS).ok().flatten();
        let requests = said.unwrap_or(REQUESTS);
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let builder = builder.worker_threads(THREADS).thread_name("requests").enable_all();
        Remote {
            runtime: builder.build().expect("threads for requests can be started"),
            objects: Mutex::default(),
            ahead: Ahead::new(Requests, Limits { requests, block_bytes: BLOCK_BYTES }),
            requests,
        }
    });
    &REMOTE
}

/// The address in a path, if it is one.
fn address(path: &Path) -> io::Result<Address> {
    Address::parse(path.to_str().unwrap_or_default())
}

/// What is wrong with what the environment says of requests.
pub fn mistake() -> Option<String> {
    [store::REQUESTS, store::RETRIES].into_iter().find_map(|setting| store::number(setting).err())
}

/// An address as it is spelled by whoever names the object.
///
/// # Errors
/// What is wrong with the address.
pub fn canonical(path: &Path) -> io::Result<String> {
    address(path).map(|address| address.canonical())
}

/// Opens an object: how many bytes it has, and what reads them.
///
/// # Errors
/// What the store answers.
pub(crate) fn open(path: &Path) -> io::Result<(Box<dyn ReadAt>, u64)> {
    let object = known(path)?;
    let size = object.size();
    Ok((Box::new(Reader(object)), size))
}

/// As [`identity`](crate::identity), of an object.
///
/// # Errors
/// What the store answers.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, String)> {
    let object = known(path)?;
    Ok((object.size(), object.identity()))
}

/// Asks for all objects among these at once, so that opening them takes no time.
///
/// # Errors
/// What the store answers of the first that cannot be had, by its place among them.
pub fn prepare<P: AsRef<Path>>(paths: &[P]) -> Result<(), (usize, io::Error)> {
    let mut wanted = Vec::new();
    for (place, path) in
        paths.iter().enumerate().filter(|(_, path)| crate::is_remote(path.as_ref()))
    {
        let address = address(path.as_ref()).map_err(|error| (place, error))?;
        if !lock(&remote().objects).contains_key(&address.text) {
            wanted.push((place, address));
        }
    }
    let head = (HEADS_BYTES / wanted.len().max(1) as u64).clamp(64, HEAD_BYTES);
    let places = Arc::new(Semaphore::new(remote().requests));
    let ask = |(place, address): (usize, Address)| {
        let places = Arc::clone(&places);
        let asked = remote().runtime.spawn(async move {
            let _place = places.acquire().await;
            Object::open(&address, head).await
        });
        (place, asked)
    };
    let asked: Vec<(usize, JoinHandle<_>)> = wanted.into_iter().map(ask).collect();
    for (place, asked) in asked {
        let object = remote().runtime.block_on(asked).unwrap_or_else(|panic| Err(panic.into()));
        let object = object.map_err(|error| (place, error))?;
        lock(&remote().objects).insert(object.url.clone(), Arc::new(object));
    }
    Ok(())
}

/// The addresses of all objects in a folder (`s3://bucket/logs/`), not of those in folders in it, sorted.
///
/// # Errors
/// What the store answers; web servers have no folders.
pub fn folder(path: &Path) -> io::Result<Vec<String>> {
    let address = address(path)?;
    remote().runtime.block_on(address.list())
}

/// The object, which is asked for once.
fn known(path: &Path) -> io::Result<Arc<Object>> {
    let url = address(path)?.text;
    prepare(&[path]).map_err(|(_, error)| error)?;
    Ok(Arc::clone(&lock(&remote().objects)[&url]))
}

/// Reads an object as a file is read.
struct Reader(Arc<Object>);

impl ReadAt for Reader {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = self.0.size().saturating_sub(at);
        let room = into.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        if room == 0 {
            return Ok(0);
        }
        let head = usize::try_from(at).ok().and_then(|at| self.0.head.get(at..));
        if let Some(head) = head.filter(|head| !head.is_empty()) {
            let read = room.min(head.len());
            into[..read].copy_from_slice(&head[..read]);
            return Ok(read);
        }
        remote().ahead.read(&self.0, &mut into[..room], at)
    }

    fn expect(&self, range: std::ops::Range<u64>) {
        let (size, head) = (self.0.size(), self.0.head.len() as u64);
        // What is in the head is read there.
        let range = range.start.max(head)..range.end.min(size);
        if !range.is_empty() {
            remote().ahead.expect(&self.0, range, size);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
