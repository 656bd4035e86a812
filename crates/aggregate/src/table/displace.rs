//! Displacements: an offset for each bucket of keys, so that every key sits in its first slot at loads that
//! linear probing could not bear, a perfect hash in the manner of Belazzougui, Botelho and Dietzfelbinger's CHD.

/// Keys beyond which displacements do not pay: placing them costs more than their misses, since the table no
/// longer fits any cache and 16 bits of displacement are few among millions of slots.
pub(super) const DISPLACE_MOST_KEYS: usize = 200_000;

/// What laying a table out with seeds or displacements costs per key, in groups of rows that miss: both were near 100 to
/// 200 ns. Long keys go by the same number of rows, which was not measured for them.
pub(super) const CALM_COST: u64 = 2;

/// Where a hash looks first. The low bits choose the slot, the high half the bucket.
#[inline(always)]
pub(crate) fn slot_of(hash: u64, displacements: &[u16], mask: u64) -> usize {
    let displacement = displacements[bucket_of(hash, displacements.len())];
    ((hash ^ u64::from(displacement)) & mask) as usize
}

#[inline(always)]
fn bucket_of(hash: u64, buckets: usize) -> usize {
    (hash >> 32) as usize & (buckets - 1)
}

/// A displacement per bucket of keys, fullest bucket first, such that every key of the bucket
/// finds its slot free. A bucket that finds none keeps zero, and its keys are probed for.
pub(super) fn displace(hashes: Vec<u64>, mask: u64) -> Vec<u16> {
    let buckets = (hashes.len() / 4).next_power_of_two();
    // Hashes bucket by bucket: bucket b has those from starts[b] to starts[b + 1].
    let mut starts = vec![0_u32; buckets + 1];
    for &hash in &hashes {
        starts[bucket_of(hash, buckets) + 1] += 1;
    }
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    let mut next = starts.clone();
    let mut members = vec![0_u64; hashes.len()];
    for hash in hashes {
        let place = &mut next[bucket_of(hash, buckets)];
        members[*place as usize] = hash;
        *place += 1;
    }
    let size = |bucket: u32| starts[bucket as usize + 1] - starts[bucket as usize];
    let mut order: Vec<u32> = (0..buckets as u32).collect();
    order.sort_by_key(|&bucket| std::cmp::Reverse(size(bucket)));
    // A bit per slot: for 100,000 keys a first-level cache holds it.
    let mut taken = vec![0_u64; (mask as usize + 1).div_ceil(64)];
    let mut displacements = vec![0_u16; buckets];
    for bucket in order {
        let bucket = bucket as usize;
        let hashes = &mut members[starts[bucket] as usize..starts[bucket + 1] as usize];
        let slots = |d: u16, hash: &u64| ((hash ^ u64::from(d)) & mask) as usize;
        let is_free = |slot: usize, taken: &[u64]| taken[slot / 64] >> (slot % 64) & 1 == 0;
        let distinct = {
            hashes.sort_unstable_by_key(|hash| hash & mask);
            hashes.windows(2).all(|pair| (pair[0] ^ pair[1]) & mask != 0)
        };
        let most = mask.min(u64::from(u16::MAX)) as u16;
        let fits = |d: &u16| hashes.iter().all(|hash| is_free(slots(*d, hash), &taken));
        let found = if distinct { (0..=most).find(fits) } else { None };
        displacements[bucket] = found.unwrap_or(0);
        for hash in &*hashes {
            let slot = slots(displacements[bucket], hash);
            taken[slot / 64] |= 1 << (slot % 64);
        }
    }
    displacements
}
