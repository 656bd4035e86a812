//! Builds the table that `lookup` reads: one slot for each key. The same keys in the same order and the same
//! seed make the same table.
//!
//! Buckets are placed one after another, large ones first. Each takes the first pilot that sends its keys to
//! free slots; where there is none, the pilot whose slots belong to the fewest and smallest buckets, which
//! have to be placed again (R. Groot Koerkamp, PtrHash, 2025). How often that may happen is bounded.

use std::collections::BinaryHeap;

use super::lookup::{Kind, OFFSET_BITS, Probe, Read, Shape, Slot, Table, high, mark, place};

/// A table with what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built<const W: usize> {
    /// How keys are read.
    pub shape: Shape,
    /// See [`Table`].
    pub pilots: Vec<u8>,
    /// See [`Table`].
    pub slots: Vec<Slot<W>>,
    /// See [`Table`].
    pub parts: [usize; 2],
    /// See [`Table`].
    pub long: Vec<u8>,
    /// The numbers of the empty slots, ascending.
    pub holes: Vec<u32>,
}

/// Keys for each bucket, on average; with four, building takes several times as long.
const BUCKET: usize = 3;
/// One slot in so many is empty: fewer make a smaller table and take longer to build.
const HOLES: usize = 32;
/// Keys for each part, or up to twice as many: what is written while it is built fits a second-level cache.
const PART: usize = 1 << 15;

impl<const W: usize> Built<W> {
    /// The table of `keys` with these values; of equal keys the last one counts. Nothing if a key
    /// has not this shape or is not told apart from another one by what `shape` hashes, or if too many buckets
    /// had to be placed again: then another seed may do.
    pub fn build<K: Read>(keys: &[K], values: &[u64], shape: Shape) -> Option<Built<W>> {
        let mut built = Built::empty(shape);
        let count = u32::try_from(keys.len().min(values.len())).ok()?;
        // By hash, which is by bucket; of equal keys the last one.
        let mut order = Vec::with_capacity(count as usize);
        for at in 0..count {
            let Probe { hash, kind, .. } = keys[at as usize].read::<W>(&shape);
            if kind == Kind::Absent || shape.least.is_some() && hash > 2 * u64::from(count) {
                return None;
            }
            order.push((hash, at));
        }
        order.sort_unstable();
        let is_same = |a: u32, b: u32| same::<K, W>(keys[a as usize], keys[b as usize], &shape);
        if order.windows(2).any(|two| two[0].0 == two[1].0 && !is_same(two[0].1, two[1].1)) {
            return None;
        }
        order.reverse();
        order.dedup_by_key(|(hash, _)| *hash);
        order.reverse();
        let Some(&(last, _)) = order.last() else { return Some(built) };
        match shape.least {
            Some(_) => built.parts = [1, usize::try_from(last).ok()?.checked_add(1)?],
            None => {
                let hashes: Vec<u64> = order.iter().map(|(hash, _)| *hash).collect();
                (built.pilots, built.parts) = all_pilots(&hashes)?;
            }
        }
        let slots = built.parts[0] * built.parts[1];
        built.slots = vec![Slot { key: [0; W], value: 0 }; slots];
        let mut taken = vec![false; slots];
        order.sort_unstable_by_key(|(_, at)| *at);
        for &(hash, at) in &order {
            let to = built.table().place(hash);
            built.slots[to] = built.slot(keys[at as usize], values[at as usize])?;
            taken[to] = true;
        }
        built.holes = (0..slots as u32).filter(|&at| !taken[at as usize]).collect();
        // A key is not found in the slot of another one.
        let (full, holes) = (taken.iter().position(|&is_taken| is_taken)?, &built.holes);
        holes.iter().for_each(|&at| built.slots[at as usize] = built.slots[full]);
        Some(built)
    }

    fn empty(shape: Shape) -> Built<W> {
        let (pilots, slots, long, holes) = (vec![], vec![], vec![], vec![]);
        Built { shape, pilots, slots, parts: [1, 0], long, holes }
    }

    /// To be looked up in.
    #[inline]
    pub fn table(&self) -> Table<'_, W> {
        let Built { shape, parts, pilots, slots, long, .. } = self;
        Table { shape: *shape, pilots, slots, parts: *parts, long }
    }

    /// Every value, in the order of the slots.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        let ends = self.holes.iter().map(|&at| at as usize).chain([self.slots.len()]);
        let mut from = 0;
        ends.flat_map(move |end| {
            let full = &self.slots[from..end];
            from = end + 1;
            full.iter().map(|slot| slot.value)
        })
    }

    /// A slot for this key, whose bytes go to `long` if they must.
    fn slot<K: Read>(&mut self, key: K, value: u64) -> Option<Slot<W>> {
        let Probe { key: mut words, hash, kind } = key.read::<W>(&self.shape);
        if kind == Kind::Long {
            let place = self.long.len() as u64;
            if place >> OFFSET_BITS > 0 {
                return None;
            }
            words[W - 1] = mark(hash) << OFFSET_BITS | place;
            self.long.extend_from_slice(&u32::try_from(key.bytes().len()).ok()?.to_le_bytes());
            self.long.extend_from_slice(key.bytes());
        }
        Some(Slot { key: words, value })
    }
}

/// Whether two keys of one hash are one.
fn same<K: Read, const W: usize>(a: K, b: K, shape: &Shape) -> bool {
    let of = |key: K| {
        let Probe { key, kind, .. } = key.read::<W>(shape);
        (key, kind)
    };
    of(a) == of(b) && a.bytes() == b.bytes()
}

/// A pilot for each bucket of these hashes, which ascend, and the parts.
fn all_pilots(hashes: &[u64]) -> Option<(Vec<u8>, [usize; 2])> {
    let parts = (hashes.len() / PART).max(1);
    let ends = (0..parts).map(|part| hashes.partition_point(|&hash| high(hash, parts) <= part));
    let ends: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let most = ends.windows(2).map(|two| two[1] - two[0]).max()?;
    let buckets = most.div_ceil(BUCKET);
    let slots = [parts, most + most / (HOLES - 1)];
    let mut pilots = Vec::with_capacity(parts * buckets);
    for part in 0..parts {
        let first = part * buckets;
        let hashes = &hashes[ends[part]..ends[part + 1]];
        let bucket = |hash| high(hash, parts * buckets) - first;
        pilots.extend(pilots_of(
            hashes,
            buckets,
            &bucket,
            &|hash, pilot| place(hash, pilot, slots) - part * slots[1],
            slots[1],
        )?);
    }
    Some((pilots, slots))
}

/// A pilot for each of `buckets` of one part, so that each hash has one of `slots` for itself: `bucket_of` is
/// a hash's bucket, `place` its slot with a pilot.
fn pilots_of(
    hashes: &[u64],
    buckets: usize,
    bucket_of: &dyn Fn(u64) -> usize,
    place: &dyn Fn(u64, u8) -> usize,
    slots: usize,
) -> Option<Vec<u8>> {
    // Where each bucket begins.
    let mut starts = vec![0_usize; buckets + 1];
    hashes.iter().for_each(|&hash| starts[bucket_of(hash) + 1] += 1);
    (0..buckets).for_each(|at| starts[at + 1] += starts[at]);
    let of = |bucket: usize| &hashes[starts[bucket]..starts[bucket + 1]];
    // The largest is taken first, from the end.
    let mut waiting: BinaryHeap<(usize, usize)> =
        (0..buckets).map(|bucket| (of(bucket).len(), bucket)).collect();
    let mut pilots = vec![0_u8; buckets];
    // Whose each slot is: 0 nobody's, else that of bucket n - 1.
    let mut owners = vec![0_u32; slots];
    let mut again = 64 + 4 * buckets;
    let mut places = Vec::new();
    // The buckets that put out others last.
    let mut recent = [0_u32; 16];
    while let Some((_, bucket)) = waiting.pop() {
        let mut best: Option<(usize, u8)> = None;
        for pilot in 0..=255 {
            places.clear();
            places.extend(of(bucket).iter().map(|&hash| place(hash, pilot)));
            let cost = |at: &usize| match owners[*at] {
                0 => 0,
                // Two buckets must not put each other out for ever.
                owner if recent.contains(&owner) => 1 << 20,
                owner => of(owner as usize - 1).len().pow(2),
            };
            let cost = places.iter().map(cost).sum();
            if best.is_none_or(|(least, _)| cost < least) && is_distinct(&places) {
                best = Some((cost, pilot));
                if cost == 0 {
                    break;
                }
            }
        }
        let (cost, pilot) = best?;
        pilots[bucket] = pilot;
        if cost > 0 {
            recent[again % recent.len()] = bucket as u32 + 1;
        }
        for &hash in of(bucket) {
            let to = place(hash, pilot);
            if let Some(owner) = (owners[to] as usize).checked_sub(1) {
                of(owner).iter().for_each(|&hash| owners[place(hash, pilots[owner])] = 0);
                waiting.push((of(owner).len(), owner));
                again = again.checked_sub(1)?;
            }
            owners[to] = bucket as u32 + 1;
        }
    }
    Some(pilots)
}

/// Whether no two are the same; there are few.
fn is_distinct(places: &[usize]) -> bool {
    places.iter().enumerate().all(|(number, place)| !places[..number].contains(place))
}
