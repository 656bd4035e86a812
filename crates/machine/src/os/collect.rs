//! A vector that several threads fill at once, each its own part, in place.
//!
//! Parts that were gathered apart would have to be copied behind each other, which for millions of
//! groups takes longer than making them. Nothing here knows what is collected.

use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::memory::prefer_huge;

/// The part of a vector that one thread fills.
#[derive(Debug)]
pub struct Place<'a, T> {
    free: std::slice::IterMut<'a, MaybeUninit<T>>,
}

impl<T> Place<'_, T> {
    /// Puts a value behind those before it.
    ///
    /// # Panics
    /// When there are more than the part was said to have.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.free.next().expect("as many values as were counted").write(value);
    }
}

/// A vector of parts that have `lens` values; `fill` is called for each and puts them, on as many
/// threads as there are parts, or as can be started.
///
/// # Panics
/// When a part has fewer values than it was said to have. What was put is then leaked.
pub fn collect<T: Send>(lens: &[usize], fill: impl Fn(usize, &mut Place<'_, T>) + Sync) -> Vec<T> {
    let total = lens.iter().sum();
    let mut values: Vec<T> = Vec::with_capacity(total);
    let mut free = &mut values.spare_capacity_mut()[..total];
    prefer_huge(free);
    let mut places = Vec::with_capacity(lens.len());
    for &len in lens {
        let (part, rest) = free.split_at_mut(len);
        places.push(Place { free: part.iter_mut() });
        free = rest;
    }
    let fill = |part: usize, mut place: Place<'_, T>| {
        fill(part, &mut place);
        assert!(place.free.len() == 0, "part {part} has fewer values than it was said to have");
    };
    if let [_] = lens {
        places.into_iter().for_each(|place| fill(0, place));
    } else {
        let parts = Mutex::new(places.into_iter().enumerate());
        let next = || parts.lock().expect("nobody panics while it is held").next();
        let work = || {
            while let Some((part, place)) = next() {
                fill(part, place);
            }
        };
        std::thread::scope(|scope| {
            // Where a thread cannot be started there are fewer.
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let threads: Vec<_> = (1..lens.len()).map_while(start).collect();
            work();
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
    }
    // SAFETY: the parts are disjoint and cover the first `total` elements, within the capacity; each
    // was written from its start without gaps, and none has an element left.
    unsafe { values.set_len(total) };
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_behind_each_other_in_their_order() {
        for lens in [&[][..], &[0], &[3], &[2, 0, 5], &[1000, 1, 999]] {
            let values = collect(lens, |part, place| {
                (0..lens[part]).for_each(|i| place.push(format!("{part} {i}")));
            });
            let of = |(part, &len): (usize, &usize)| (0..len).map(move |i| format!("{part} {i}"));
            assert_eq!(values, lens.iter().enumerate().flat_map(of).collect::<Vec<String>>());
        }
    }

    #[test]
    #[should_panic(expected = "fewer values")]
    fn too_few_values_are_noticed() {
        collect(&[2], |_, place| place.push(1));
    }
}
