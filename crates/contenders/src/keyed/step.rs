//! What one thread does in the shared operation, step by step, what each step must meet, and how a
//! pass is undone; the steps of a trace, too. Draws nothing and knows no structure.

use fathom_keys::trace;

use super::keys::Key;

/// What a step does and what it must meet; in a trace, which has the first, third, fourth and last of
/// these, it may meet anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Finds a key that is there, with its value.
    Find = 0,
    /// Writes another value over the one that is there.
    Update = 1,
    /// Puts in a key that is not there.
    Insert = 2,
    /// Takes out a key that is there.
    Erase = 3,
    /// Finds nothing.
    Miss = 4,
    /// Finds a key that another thread changes meanwhile: nothing or its value, the old or the new.
    Race = 5,
    /// Visits values in key order, from the key on: only in a trace.
    Scan = 6,
}

impl Act {
    /// The act of this number.
    pub(super) fn of(number: u64) -> Option<Act> {
        const ALL: [Act; 7] =
            [Act::Find, Act::Update, Act::Insert, Act::Erase, Act::Miss, Act::Race, Act::Scan];
        usize::try_from(number).ok().and_then(|at| ALL.get(at)).copied()
    }

    /// Whether a step that met `met` did what it must, where the key's own value is `value`.
    #[inline]
    pub(super) fn is_right(self, value: u64, met: Option<u64>) -> bool {
        let own = met.map(|met| original(met) == value);
        match self {
            Act::Find | Act::Update | Act::Erase => own == Some(true),
            Act::Insert | Act::Miss => own.is_none(),
            Act::Race => own != Some(false),
            Act::Scan => true,
        }
    }
}

/// Values are places, far below 2^63, and an update writes the complement: both tell whose they are.
#[inline]
pub(super) fn original(value: u64) -> u64 {
    value.min(!value)
}

/// One step of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What is done.
    pub act: Act,
    /// The value that belongs to the key; of a scan, how many values it visits.
    pub value: u64,
}

impl Step {
    /// A step of a trace; what is put is `place`, which no other step has.
    pub(super) fn recorded(act: trace::Act, place: u64) -> Step {
        match act {
            trace::Act::Get => Step { act: Act::Find, value: place },
            trace::Act::Put => Step { act: Act::Insert, value: place },
            trace::Act::Del => Step { act: Act::Erase, value: place },
            trace::Act::Scan(span) => Step { act: Act::Scan, value: span.into() },
        }
    }
}

/// What one thread does, in order.
#[derive(Clone, Copy, Debug)]
pub struct Share<'w, K> {
    /// The keys.
    pub keys: &'w [K],
    /// What is done to them.
    pub steps: &'w [Step],
    /// Whether the answer is what each step met, and not how many were right.
    pub is_trace: bool,
}

/// `keys` and what is done to them, in equal shares for so many threads, the last one perhaps smaller.
pub(crate) fn shares<'w, K>(keys: &'w [K], steps: &'w [Step], threads: usize) -> Vec<Share<'w, K>> {
    let each = each(keys.len(), threads);
    let share = |(keys, steps)| Share { keys, steps, is_trace: false };
    keys.chunks(each).zip(steps.chunks(each)).map(share).collect()
}

/// How many steps each thread takes of `steps`, the last one perhaps fewer.
pub(super) fn each(steps: usize, threads: usize) -> usize {
    steps.div_ceil(threads).max(1)
}

/// What brings a structure back to what it was before a pass, but for updated values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo<K> {
    /// Keys that were inserted.
    pub(crate) out: Vec<K>,
    /// Keys that were erased, and their values.
    pub(crate) back: Vec<K>,
    pub(crate) values: Vec<u64>,
}

impl<K: Key> Undo<K> {
    pub(crate) fn of(keys: &[K], steps: &[Step]) -> Undo<K> {
        let (out, back, values) = (Vec::new(), Vec::new(), Vec::new());
        let mut undo = Undo { out, back, values };
        for (&key, step) in keys.iter().zip(steps) {
            match step.act {
                Act::Insert => undo.out.push(key),
                Act::Erase => {
                    undo.back.push(key);
                    undo.values.push(step.value);
                }
                _ => {}
            }
        }
        undo
    }
}
