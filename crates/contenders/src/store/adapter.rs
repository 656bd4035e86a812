//! A store as a contender: passes over keys become transactions. Knows no store.

use std::io;
use std::marker::PhantomData;
use std::path::Path;

use fathom_measure::contender::{Contender, Keeps, Meta, Preparation, Unsupported};
use fathom_measure::scratch::{self, Folder, MEMORY};

use crate::keyed::bench::{Make, prepare};
use crate::keyed::step::{Act, Share, Step};
use crate::keyed::{Abilities, Batch, Key, Keyed, Keys, Tally};

/// Where the data is and when it is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// On no disk.
    Memory,
    /// In a file that is never synced.
    File,
    /// In a file that each commit waits for.
    Synced,
}

/// What one transaction may read.
pub(super) trait Reads {
    /// The value of `key`.
    fn get(&self, key: &[u8]) -> Option<u64>;
    /// Visits in key order the values of the first `span` keys that are not below `from`.
    fn range(&self, from: &[u8], span: usize, visit: &mut dyn FnMut(u64));
}

/// What one transaction may change.
pub(super) trait Writes {
    /// Inserts or replaces; the value that was there.
    fn put(&mut self, key: &[u8], value: u64) -> Option<u64>;
    /// Removes; the value that was there.
    fn remove(&mut self, key: &[u8]) -> Option<u64>;
}

/// A store. Whatever fails panics, which costs the contender its row.
pub(super) trait Store: Sized + 'static {
    /// What is known about it; the name is taken from `NAMES`.
    const META: Meta;
    /// The names of its kinds: memory, file, synced.
    const NAMES: [&'static str; 3];
    /// The longest key it takes, in bytes; the shortest has one.
    const LONGEST_KEY: usize;
    /// Whether [`Kind::Memory`] is a file, too.
    const MEMORY_IS_FILE: bool = false;
    /// Why it is not here, if it is a library of the machine.
    fn absence() -> Option<&'static str> {
        None
    }
    /// An empty one; `folder` is empty too, and on no disk for [`Kind::Memory`], or the empty path where that
    /// has no file.
    fn open(kind: Kind, folder: &Path) -> Self;
    /// One transaction that changes.
    fn write(&mut self, work: &mut dyn FnMut(&mut dyn Writes));
    /// One transaction that reads.
    fn read(&self, work: &mut dyn FnMut(&dyn Reads));
    /// Bytes it has taken where the allocator cannot count them; `None` where it can.
    fn stored_bytes(&self, folder: &Path) -> Option<u64>;
}

/// A [`Store`] of one kind as a contender.
pub(super) struct Stored<S> {
    kind: Kind,
    store: PhantomData<fn() -> S>,
}

impl<S> Stored<S> {
    pub(super) const fn of(kind: Kind) -> Stored<S> {
        Stored { kind, store: PhantomData }
    }
}

impl<S: Store> Contender<Keyed> for Stored<S> {
    fn meta(&self) -> Meta {
        Meta { name: S::NAMES[self.kind as usize], keeps: Keeps::Copied, ..S::META }
    }

    fn absence(&self) -> Option<&'static str> {
        S::absence()
    }

    /// It waits for the disk, and thread CPU time does not see that.
    fn leaves_the_thread(&self) -> bool {
        self.kind != Kind::Memory
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        if let Some(why) = S::absence() {
            return Err(Unsupported(why.to_owned()));
        }
        if self.kind == Kind::Memory && S::MEMORY_IS_FILE && !Path::new(MEMORY).is_dir() {
            return Err(Unsupported(format!("needs {MEMORY} for a file on no disk")));
        }
        folder::<S>(self.kind).map_err(|error| Unsupported(error.to_string()))?;
        if !workload.has_lengths(1..=S::LONGEST_KEY) {
            return Err(Unsupported(format!("takes keys of 1 to {} bytes", S::LONGEST_KEY)));
        }
        let (can, kind) = (Abilities::TREE, self.kind);
        match workload.has_integers() {
            true => prepare(workload, Keys::integers, can, SINGLE, loaded::<S, _>(kind)),
            false => prepare(workload, Keys::strings, can, SINGLE, loaded::<S, _>(kind)),
        }
    }
}

/// A folder for the files of a store, if it has any.
fn folder<S: Store>(kind: Kind) -> io::Result<Option<Folder>> {
    match kind {
        Kind::Memory if !S::MEMORY_IS_FILE => Ok(None),
        Kind::Memory => scratch::folder_in(Path::new(MEMORY), "store").map(Some),
        Kind::File | Kind::Synced => scratch::folder("store").map(Some),
    }
}

/// Single operations timed one by one: each is a transaction, and some wait for a disk.
const SINGLE: usize = 500;

/// In key order, which every one of them takes fastest.
fn loaded<'w, S: Store, K: Key + 'w>(kind: Kind) -> Make<'w, K> {
    Box::new(move |keys, values| {
        let mut all: Vec<(K, u64)> = keys.iter().copied().zip(values.iter().copied()).collect();
        all.sort_unstable();
        let (keys, values): (Vec<K>, Vec<u64>) = all.into_iter().unzip();
        let mut table = Table::<S>::empty(kind);
        table.insert_all(&keys, &values);
        Box::new(table)
    })
}

struct Table<S> {
    store: S,
    entries: u64,
    // Last, so that the store is closed before its folder goes.
    folder: Option<Folder>,
}

impl<S: Store> Table<S> {
    fn empty(kind: Kind) -> Table<S> {
        let folder = folder::<S>(kind).expect("a folder for temporary files");
        Table { store: S::open(kind, path(&folder)), entries: 0, folder }
    }

    fn reading(&self, mut work: impl FnMut(&dyn Reads, &mut Tally)) -> Tally {
        let mut tally = Tally::default();
        self.store.read(&mut |reads| work(reads, &mut tally));
        tally
    }
}

impl<K: Key, S: Store> Batch<K> for Table<S> {
    fn entries(&self) -> usize {
        self.entries as usize
    }

    fn insert_all(&mut self, keys: &[K], values: &[u64]) -> Tally {
        let mut tally = Tally::default();
        self.store.write(&mut |writes| {
            for (key, &value) in keys.iter().zip(values) {
                tally.inserted(writes.put(key.raw().as_ref(), value));
            }
        });
        self.entries += tally.count;
        tally
    }

    fn find_all(&self, probes: &[K]) -> Tally {
        self.reading(|reads, tally| {
            for probe in probes {
                tally.hit(reads.get(probe.raw().as_ref()));
            }
        })
    }

    fn erase_all(&mut self, probes: &[K]) -> Tally {
        let mut tally = Tally::default();
        self.store.write(&mut |writes| {
            for probe in probes {
                tally.hit(writes.remove(probe.raw().as_ref()));
            }
        });
        self.entries -= tally.count;
        tally
    }

    fn churn(&mut self, out: &[K], into: &[K], values: &[u64]) -> Tally {
        let (mut erased, mut inserted) = (Tally::default(), Tally::default());
        self.store.write(&mut |writes| {
            for ((old, new), &value) in out.iter().zip(into).zip(values) {
                erased.hit(writes.remove(old.raw().as_ref()));
                inserted.inserted(writes.put(new.raw().as_ref(), value));
            }
        });
        self.entries = self.entries + inserted.count - erased.count;
        erased.and(inserted)
    }

    fn iterate(&self) -> Tally {
        self.reading(|reads, tally| reads.range(&[], usize::MAX, &mut |value| tally.any(value)))
    }

    fn scan(&self) -> Tally {
        self.reading(|reads, tally| reads.range(&[], usize::MAX, &mut |value| tally.next(value)))
    }

    fn range_all(&self, starts: &[K], span: usize) -> Tally {
        self.reading(|reads, tally| {
            for start in starts {
                reads.range(start.raw().as_ref(), span, &mut |value| tally.next(value));
            }
        })
    }

    fn share(&mut self, _: &[Share<'_, K>], _: &mut dyn FnMut()) -> Tally {
        unreachable!("shared only where ABILITIES.concurrent")
    }

    /// Steps in succession that only read are one transaction, and so are steps that change.
    fn replay(&mut self, trace: &Share<'_, K>) -> Tally {
        let reads = |step: &Step| matches!(step.act, Act::Find | Act::Scan);
        let mut tally = Tally::default();
        let mut keys = trace.keys;
        for steps in trace.steps.chunk_by(|a, b| reads(a) == reads(b)) {
            let (now, later) = keys.split_at(steps.len());
            keys = later;
            let pairs = || now.iter().zip(steps);
            if reads(&steps[0]) {
                self.store.read(&mut |reads| {
                    for (key, step) in pairs() {
                        let (key, span) = (key.raw(), step.value as usize);
                        match step.act {
                            Act::Scan => {
                                reads.range(key.as_ref(), span, &mut |value| tally.next(value));
                            }
                            _ => tally.met(reads.get(key.as_ref())),
                        }
                    }
                });
                continue;
            }
            let entries = &mut self.entries;
            self.store.write(&mut |writes| {
                for (key, step) in pairs() {
                    let key = key.raw();
                    let met = match step.act {
                        Act::Erase => writes.remove(key.as_ref()),
                        _ => writes.put(key.as_ref(), step.value),
                    };
                    tally.met(met);
                    match (step.act, met) {
                        (Act::Erase, Some(_)) => *entries -= 1,
                        (Act::Insert, None) => *entries += 1,
                        _ => {}
                    }
                }
            });
        }
        tally
    }

    fn stored_bytes(&self) -> Option<u64> {
        self.store.stored_bytes(path(&self.folder))
    }
}

fn path(folder: &Option<Folder>) -> &Path {
    folder.as_ref().map_or(Path::new(""), Folder::path)
}

/// Bytes that the files in `folder` and below occupy.
pub(super) fn occupied(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => occupied(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}
