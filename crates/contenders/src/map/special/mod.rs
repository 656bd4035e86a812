//! A table made for its very keys: which bytes tell them apart is found out first, then every key gets a slot of
//! its own, in which it lies if it is short. Our own; `fathom kv FILE --specialise` measures it and writes it as
//! code in Rust and C++.
//!
//! Built once, never changed. `specialised` finds one key at a time, `specialised-batch` many at once, which waits
//! for the memory of all of them together: for programs that have many keys to look for.

use std::io::{self, Write};
use std::marker::PhantomData;

use fathom_measure::contender::{Contender, Keeps, Meta, Preparation};

use self::analysis::{Plan, Planned};
use self::build::Built;
use self::lookup::{Probe, Read, Shape};
use crate::keyed::bench::{Make, Table, prepare};
use crate::keyed::structure::EachKey;
use crate::keyed::{Abilities, Bytes, Key, Keyed, Keys, Structure, Tally};

/// `$body` with `$width` for the words of `$plan`, for keys of type `$key`; or all widths of slots that there is
/// code for, in words of a key.
macro_rules! by_width {
    ([$($words:literal)*] all) => {
        [$($words),*]
    };
    ([$($words:literal)*] $key:ty, $plan:expr, $width:ident => $body:expr) => {
        match $plan.words {
            // A constant: no code is made for integers of two words.
            $($words if const { $words <= <$key>::WIDEST } => {
                const $width: usize = $words;
                $body
            })*
            words => unreachable!("no slots of {words} words"),
        }
    };
    ($($asked:tt)*) => {
        by_width!([1 2 3 4 5 6 8] $($asked)*)
    };
}

mod analysis;
#[expect(unreachable_pub, reason = "in the modules that are written it is public")]
mod build;
mod emit;
#[expect(unreachable_pub, reason = "the same")]
mod lookup;

pub use self::emit::{FILES, Module, module};

/// What both are called; a batch has something behind it.
pub const NAME: &str = "specialised";
/// The seed of the tables that are measured.
pub const SEED: u64 = 1;

/// One key at a time, or many.
pub(super) struct Specialised {
    pub(super) batch: bool,
}

impl Contender<Keyed> for Specialised {
    fn meta(&self) -> Meta {
        Meta {
            name: if self.batch { "specialised-batch" } else { NAME },
            keeps: Keeps::Copied,
            caveat: if self.batch {
                "built once, never changed; finds many keys at once"
            } else {
                "built once, never changed"
            },
            ..Meta::of(include_str!("mod.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.has_integers() {
            true => of::<u64>(workload, Keys::integers, self.batch),
            false => of::<Bytes<'w>>(workload, Keys::strings, self.batch),
        }
    }
}

fn of<'w, K: Key + Planned + 'w>(
    workload: &'w Keyed,
    typed: fn(&'w Keys) -> Vec<K>,
    batch: bool,
) -> Preparation<'w> {
    let can = Abilities { iterate: true, ..Abilities::STATIC };
    let make: Make<'w, K> = Box::new(move |keys, values| {
        let mut plans = K::plans(keys, SEED).into_iter();
        let found = plans.find_map(|plan| made(keys, values, plan, batch));
        found.unwrap_or_else(|| {
            // The worker ends, and its row says so; `fathom kv` has said it before in a sentence.
            let _ = writeln!(io::stderr(), "{NO_TABLE}");
            std::process::exit(1)
        })
    });
    prepare(workload, typed, can, usize::MAX, make)
}

/// Why there is none.
const NO_TABLE: &str =
    "no table could be made for these keys: none of the hashes that were tried tells them apart";

fn made<'w, K: Key + Planned + 'w>(
    keys: &[K],
    values: &[u64],
    plan: Plan,
    batch: bool,
) -> Option<Table<'w, K>> {
    by_width!(K, plan, W => {
        let built = Built::<W>::build(keys, values, plan.shape)?;
        Some(Box::new(EachKey(Own::<K, W> { built, batch, key: PhantomData })))
    })
}

/// A table as what is measured.
struct Own<K, const W: usize> {
    built: Built<W>,
    /// Finds many keys at once. Asked for each call, not for each key, so that one is compiled for both.
    batch: bool,
    key: PhantomData<K>,
}

impl<K: Key + Read, const W: usize> Structure<K> for Own<K, W> {
    const ABILITIES: Abilities = Abilities { iterate: true, ..Abilities::STATIC };

    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        unreachable!("made from its keys alone")
    }

    fn entries(&self) -> usize {
        self.built.slots.len() - self.built.holes.len()
    }

    #[inline(always)]
    fn find(&self, key: K) -> Option<u64> {
        self.built.table().find(key)
    }

    #[inline]
    fn find_all(&self, probes: &[K]) -> Tally {
        let mut tally = Tally::default();
        let table = self.built.table();
        match self.batch {
            true => table.find_batch(probes, |value| tally.hit(value)),
            false => probes.iter().for_each(|&probe| tally.hit(table.find(probe))),
        }
        tally
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.built.each(visit);
    }
}

impl Read for Bytes<'_> {
    #[inline(always)]
    fn read<const W: usize>(self, shape: &Shape) -> Probe<W> {
        self.0.read(shape)
    }

    fn bytes(&self) -> &[u8] {
        self.0
    }
}

impl Planned for Bytes<'_> {
    const WIDEST: usize = <&[u8]>::WIDEST;

    fn plans(keys: &[Self], seed: u64) -> Vec<Plan> {
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.0).collect();
        Planned::plans(&keys, seed)
    }
}
