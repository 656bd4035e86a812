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
            if kind == Kind::Absent {
                return None;
            }
            order.push((hash, at));
        }
        order.sort_unstable();
        let is_same = |a: u32, b: u32| same::<K, W>(keys[a as usize], keys[b as usize], &shape);
        for at in 1..order.len() {
            let (before, this) = (order[at - 1], order[at]);
            if before.0 == this.0 && !is_same(before.1, this.1) {
                return None;
            }
        }
        keep_last(&mut order);
        if order.is_empty() {
            return Some(built);
        }
        (built.pilots, built.parts) = pilots_and_parts(&order, &shape)?;
        let slots = built.parts[0] * built.parts[1];
        // Holes are numbered in 32 bits.
        u32::try_from(slots).ok()?;
        built.slots = vec![Slot { key: [0; W], value: 0 }; slots];
        let mut taken = vec![false; slots];
        sort_by_number(&mut order);
        for &(hash, at) in &order {
            let to = built.table().place(hash);
            built.slots[to] = built.slot(keys[at as usize], values[at as usize])?;
            taken[to] = true;
        }
        built.long.shrink_to_fit();
        let full;
        (full, built.holes) = first_and_holes(&taken)?;
        // A key is not found in the slot of another one.
        for &at in &built.holes {
            built.slots[at as usize] = built.slots[full];
        }
        Some(built)
    }

    fn empty(shape: Shape) -> Built<W> {
        let (pilots, slots, long, holes) = (vec![], vec![], vec![], vec![]);
        Built { shape, pilots, slots, parts: [1, 0], long, holes }
    }

    /// To be looked up in.
    #[inline(always)]
    pub fn table(&self) -> Table<'_, W> {
        let Built { shape, parts, pilots, slots, long, .. } = self;
        Table { shape: *shape, pilots, slots, parts: *parts, long }
    }

    /// Visits every value, in the order of the slots.
    pub fn each(&self, mut visit: impl FnMut(u64)) {
        let mut from = 0;
        for number in 0..=self.holes.len() {
            let end = self.holes.get(number).map_or(self.slots.len(), |&hole| hole as usize);
            for slot in &self.slots[from..end] {
                visit(slot.value);
            }
            from = end + 1;
        }
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

/// Of each hash, which ascend, what stands last.
fn keep_last(order: &mut Vec<(u64, u32)>) {
    order.reverse();
    order.dedup_by_key(|(hash, _)| *hash);
    order.reverse();
}

fn sort_by_number(order: &mut [(u64, u32)]) {
    order.sort_unstable_by_key(|(_, at)| *at);
}

/// The first slot that is taken, and all that are not.
fn first_and_holes(taken: &[bool]) -> Option<(usize, Vec<u32>)> {
    let mut holes: Vec<u32> = (0..taken.len() as u32).filter(|&at| !taken[at as usize]).collect();
    holes.shrink_to_fit();
    Some((taken.iter().position(|&is_taken| is_taken)?, holes))
}

/// The pilots of these hashes, which ascend, and the parts; of keys in order no pilots, and nothing if they lie far
/// apart.
fn pilots_and_parts(order: &[(u64, u32)], shape: &Shape) -> Option<(Vec<u8>, [usize; 2])> {
    let (last, _) = order.last()?;
    if shape.least.is_some() {
        let is_dense = *last <= 2 * order.len() as u64;
        return is_dense.then(|| (Vec::new(), [1, *last as usize + 1]));
    }
    let hashes: Vec<u64> = order.iter().map(|(hash, _)| *hash).collect();
    all_pilots(&hashes)
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

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::super::analysis::Planned;
    use super::*;

    /// Byte strings that are alike in every way a table could mistake.
    fn kinds() -> Vec<Vec<Vec<u8>>> {
        let numbered = |length: usize| -> Vec<Vec<u8>> {
            let key = |n: usize| format!("{n:0length$}").into_bytes();
            (0..10_usize.pow(length.min(3) as u32)).map(key).collect()
        };
        let zeros =
            (0..40).flat_map(|n| [vec![0; n], vec![1; n], [&vec![0; n][..], b"x"].concat()]);
        let long = (0..300).map(|n| [&vec![b'a'; n % 90][..], n.to_string().as_bytes()].concat());
        let mut kinds: Vec<Vec<Vec<u8>>> =
            [1, 2, 3, 4, 7, 8, 9, 11, 15, 16, 17, 24, 33, 48, 53, 64, 65].map(numbered).into();
        kinds.extend([vec![], vec![b"one".to_vec()], zeros.collect(), long.collect()]);
        // Each key again, twice: the last value counts.
        kinds.push([numbered(9), numbered(7), numbered(9), numbered(9)].concat());
        kinds
    }

    /// Compares with the standard library's map, one by one and in batches, for keys and what is almost one; not
    /// if there is no table.
    fn compare<const W: usize>(keys: &[Vec<u8>], shape: Shape) -> bool {
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let values: Vec<u64> = (0..keys.len() as u64).map(|n| n * n).collect();
        let Some(built) = Built::<W>::build(&keys, &values, shape) else { return false };
        let right: HashMap<&[u8], u64> = keys.iter().copied().zip(values).collect();
        let mut probes: Vec<Vec<u8>> = vec![vec![], vec![0; 8], vec![b'z'; 100]];
        for key in &keys {
            let changed = [0, key.len() / 2, key.len().saturating_sub(1)].map(|at| {
                let mut other = key.to_vec();
                other.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
                other
            });
            probes.extend(changed);
            probes.extend([key.to_vec(), [key, &b"\0"[..]].concat(), [key, &b"1"[..]].concat()]);
            probes.extend(key.split_last().map(|(_, start)| start.to_vec()));
        }
        let probes: Vec<&[u8]> = probes.iter().map(|probe| &probe[..]).collect();
        let table = built.table();
        let mut batch = Vec::new();
        table.find_batch(&probes, |value| batch.push(value));
        assert_eq!(batch.len(), probes.len());
        for (probe, batch) in probes.iter().zip(batch) {
            let expected = right.get(probe).copied();
            assert_eq!((table.find(*probe), batch), (expected, expected), "{probe:?}, {shape:?}");
        }
        let mut all = Vec::new();
        built.each(|value| all.push(value));
        let mut expected: Vec<u64> = right.into_values().collect();
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected);
        true
    }

    #[test]
    fn keys_have_their_last_value_and_nothing_else_is_found() {
        for keys in kinds() {
            let all: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
            let (mut cheap, mut sure) = (0, 0);
            for plan in <&[u8]>::plans(&all, 7) {
                let shape = plan.shape;
                let own = by_width!(&[u8], plan, W => compare::<W>(&keys, shape));
                // Also where slots suit the keys less well.
                let any = Shape { length: 0, ..shape };
                let others =
                    [compare::<1>(&keys, any), compare::<2>(&keys, any), compare::<5>(&keys, any)];
                let made = usize::from(own) + others.map(usize::from).iter().sum::<usize>();
                *(if shape.thorough { &mut sure } else { &mut cheap }) += made;
            }
            assert!(sure == 12, "{sure} of 12 tables of {} keys: {:?}", keys.len(), all.first());
            assert!(cheap > 0 || keys.len() > 100, "no table of {:?} …", all.first());
        }
    }

    #[test]
    fn tables_of_any_size_are_built_and_integers_found() {
        let mut random = fathom_random::Random::new(3);
        for count in (0..400).chain([1000, 5000, 70_000, 200_000]) {
            let keys: Vec<u64> = (0..count).map(|_| random.word()).collect();
            let values: Vec<u64> = (0..count).collect();
            let there: HashSet<u64> = keys.iter().copied().collect();
            let built = Built::<1>::build(&keys, &values, Shape { seed: 1, ..Shape::default() });
            let built = built.expect("random keys have a table");
            assert!(built.slots.len() as f64 <= count as f64 * 1.06 + 1.0, "{count}");
            let table = built.table();
            assert!(keys.iter().zip(values).all(|(&key, value)| table.find(key) == Some(value)));
            let mut others = (0..1000).map(|_| random.word());
            assert!(others.all(|key| there.contains(&key) || table.find(key).is_none()));
        }
        let sequential: Vec<u64> = (5..2000).filter(|n| n % 100 != 7).collect();
        for shape in [
            Shape { least: Some(5), ..Shape::default() },
            Shape { thorough: true, seed: 1, ..Shape::default() },
        ] {
            let built = Built::<1>::build(&sequential, &sequential, shape).expect("a table");
            let found: Vec<u64> = (0..3000).filter_map(|key| built.table().find(key)).collect();
            assert_eq!(found, sequential);
        }
    }

    #[test]
    fn keys_that_the_shape_mistakes_have_no_table() {
        let build = |keys: &[&[u8]], shape| Built::<3>::build(keys, &[1, 2], shape);
        let plain = Shape { seed: 1, ..Shape::default() };
        let alike: [&[u8]; 2] = [b"aaaaaaaaaaaa1bbbbbbbbbbb", b"aaaaaaaaaaaa2bbbbbbbbbbb"];
        assert_eq!(build(&alike, plain), None);
        assert!(build(&alike, Shape { front: 8, ..plain }).is_some());
        assert!(build(&alike, Shape { thorough: true, ..plain }).is_some());
        let short: [&[u8]; 2] = [b"one", b"three"];
        assert_eq!(build(&short, Shape { length: 3, ..plain }), None, "one is not of this length");
        let far = Shape { least: Some(1), ..plain };
        assert_eq!(Built::<1>::build(&[1, 1 << 40], &[1, 2], far), None);
        assert_eq!(Built::<1>::build(&[0, 2], &[1, 2], far), None);
        let repeated = [1_u64, 1, 1, 1, 1, 1, 1, 1, 9];
        assert_eq!(Built::<1>::build(&repeated, &[0; 9], far), None, "two keys in nine slots");
    }

    #[test]
    fn the_same_keys_and_seed_make_the_same_table() {
        let keys: Vec<u64> = (0..9000).map(|n| n * n).collect();
        let build = |seed| Built::<1>::build(&keys, &keys, Shape { seed, ..Shape::default() });
        let digest = |built: Option<Built<1>>| built.unwrap().table().digest();
        assert_eq!(build(1), build(1));
        assert_eq!(digest(build(1)), digest(build(1)));
        assert_ne!(digest(build(1)), digest(build(2)));
    }
}
