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

/// `keys` and what is done to them, in a share for each of so many threads, none larger than another by more than a
/// step.
pub(crate) fn shares<'w, K>(keys: &'w [K], steps: &'w [Step], threads: usize) -> Vec<Share<'w, K>> {
    let all = keys.len().min(steps.len());
    let share = |thread: usize| {
        let (from, to) = (thread * all / threads, (thread + 1) * all / threads);
        Share { keys: &keys[from..to], steps: &steps[from..to], is_trace: false }
    };
    (0..threads).map(share).collect()
}

/// Which of so many threads has step number `step` of all `steps` in its share.
pub(super) fn thread(step: usize, steps: usize, threads: usize) -> usize {
    ((step + 1) * threads - 1) / steps
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten steps were done by five of eight threads.
    #[test]
    fn every_thread_has_its_share_of_the_steps() {
        for (count, threads) in [(10, 8), (9, 3), (10, 3), (1, 4), (0, 4), (1000, 7), (5, 1)] {
            let keys: Vec<usize> = (0..count).collect();
            let steps = vec![Step { act: Act::Find, value: 0 }; count];
            let shares = shares(&keys, &steps, threads);
            assert_eq!(shares.len(), threads);
            for (number, share) in shares.iter().enumerate() {
                let even = count / threads..=count.div_ceil(threads);
                assert!(even.contains(&share.keys.len()), "{count} for {threads}");
                assert_eq!(share.keys.len(), share.steps.len());
                assert!(share.keys.iter().all(|&step| thread(step, count, threads) == number));
            }
            let all = shares.iter().flat_map(|share| share.keys.iter().copied());
            assert_eq!(all.collect::<Vec<_>>(), keys);
        }
    }
}
