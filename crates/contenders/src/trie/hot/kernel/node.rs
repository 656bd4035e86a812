//! A node packed into one block of memory, and the search in it.
//!
//! ```text
//! 0   count u8, columns u8, bytes per partial key u8, groups u8, height u32
//! 8   groups = 0: offset u32, unused u32, mask u64                (one window of 8 bytes)
//!     groups > 0: groups x mask u64, then groups x 8 x place u32  (gathered bytes)
//!     partial keys, readable up to a multiple of 32 bytes
//!     children, 8 bytes each
//! ```

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use super::bits::{byte, is_real, pack, window};
use super::plan::{self, WIDTH};

/// What a node's entry leads to: an entry of the tree, or another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child(u64);

/// A node spelled out.
pub(super) type Plan = plan::Plan<Child>;

impl Child {
    /// The entry at `place`.
    pub(super) fn of_leaf(place: usize) -> Child {
        Child((place as u64) << 1 | 1)
    }

    /// A node; its address is even.
    pub(super) fn of_node(node: Node) -> Child {
        Child(node.0.as_ptr() as u64)
    }

    #[inline(always)]
    pub(super) fn leaf(self) -> Option<usize> {
        (self.0 & 1 != 0).then_some((self.0 >> 1) as usize)
    }

    /// The node it leads to, if it is no leaf.
    #[inline(always)]
    pub(super) fn node(self) -> Option<Node> {
        if self.0 & 1 == 0 { NonNull::new(self.0 as *mut u8).map(Node) } else { None }
    }
}

/// A packed node. A plain address: whoever holds one answers for its being alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(NonNull<u8>);

/// Where the parts of a node begin.
#[derive(Clone, Copy)]
struct Parts {
    partials: usize,
    children: usize,
    end: usize,
}

const COUNT: usize = 0;
const COLUMNS: usize = 1;
const PARTIAL_BYTES: usize = 2;
const GROUPS: usize = 3;
const HEIGHT: usize = 4;
const EXTRACT: usize = 8;
const ALIGN: usize = 8;
/// A vector of partial keys.
const VECTOR: usize = 32;

#[inline(always)]
fn parts(count: usize, partial_bytes: usize, groups: usize) -> Parts {
    let partials = EXTRACT + if groups == 0 { 16 } else { groups * (8 + 8 * 4) };
    let children = partials + (count * partial_bytes).next_multiple_of(8);
    let readable = partials + (count * partial_bytes).next_multiple_of(VECTOR);
    Parts { partials, children, end: (children + 8 * count).max(readable) }
}

impl Node {
    /// Packs `plan`, which has 2 to 32 children.
    pub(super) fn pack(plan: &Plan) -> Node {
        let (count, columns) = (plan.children.len(), plan.positions.len());
        assert!((2..=WIDTH).contains(&count) && (1..WIDTH).contains(&columns));
        let partial_bytes = match columns {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        };
        let mut places: Vec<u32> = plan.positions.iter().map(|p| (p / 8) as u32).collect();
        places.dedup();
        let (first, last) = (places[0], places[places.len() - 1]);
        let in_window = is_real(plan.positions[columns - 1]) && last - first < 8;
        let groups = if in_window { 0 } else { places.len().div_ceil(8) };
        let parts = parts(count, partial_bytes, groups);
        let layout =
            Layout::from_size_align(parts.end, ALIGN).expect("a node of a few hundred bytes");
        // SAFETY: a node has a header, so the size is not 0.
        let Some(memory) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        let node = Node(memory);
        // SAFETY: all writes stay within the parts just laid out, at addresses that are multiples
        // of their size: the block is aligned to 8 and so are the parts.
        unsafe {
            memory.write_bytes(0, parts.end);
            memory.add(COUNT).write(count as u8);
            memory.add(COLUMNS).write(columns as u8);
            memory.add(PARTIAL_BYTES).write(partial_bytes as u8);
            memory.add(GROUPS).write(groups as u8);
            memory.add(HEIGHT).cast::<u32>().write(plan.height);
            let words = memory.add(EXTRACT).cast::<u64>();
            if groups == 0 {
                memory.add(EXTRACT).cast::<u32>().write(first);
                words.add(1).write(mask(&plan.positions, |place| place - first));
            } else {
                let gathered = words.add(groups).cast::<u32>();
                for (group, chunk) in places.chunks(8).enumerate() {
                    let inside = |position: &&u64| chunk.contains(&((**position / 8) as u32));
                    let positions: Vec<u64> =
                        plan.positions.iter().filter(inside).copied().collect();
                    let index = |place| chunk.partition_point(|&known| known < place) as u32;
                    words.add(group).write(mask(&positions, index));
                    for at in 0..8 {
                        // Unused places repeat the last one, under no bit of the mask.
                        let place = chunk[at.min(chunk.len() - 1)];
                        gathered.add(8 * group + at).write(place);
                    }
                }
            }
            for (at, (&partial, &child)) in plan.partials.iter().zip(&plan.children).enumerate() {
                let partials = memory.add(parts.partials);
                match partial_bytes {
                    1 => partials.add(at).write(partial as u8),
                    2 => partials.cast::<u16>().add(at).write(partial as u16),
                    _ => partials.cast::<u32>().add(at).write(partial),
                }
                memory.add(parts.children).cast::<u64>().add(at).write(child.0);
            }
        }
        node
    }

    /// Spells the node out.
    ///
    /// # Safety
    /// The node is alive.
    pub(super) unsafe fn unpack(self) -> Plan {
        // SAFETY: reads what `pack` wrote, where it wrote it.
        unsafe {
            let (count, bytes, groups) = self.shape();
            let words = self.0.add(EXTRACT).cast::<u64>();
            let mut positions = Vec::with_capacity(WIDTH);
            let mut spell = |mask: u64, place: &dyn Fn(u32) -> u32| {
                let mut mask = mask;
                while mask != 0 {
                    let bit = mask.leading_zeros();
                    positions.push(u64::from(place(bit / 8)) * 8 + u64::from(bit % 8));
                    mask &= !(1 << (63 - bit));
                }
            };
            if groups == 0 {
                let first = self.0.add(EXTRACT).cast::<u32>().read();
                spell(words.add(1).read(), &|at| first + at);
            } else {
                let gathered = words.add(groups).cast::<u32>();
                for group in 0..groups {
                    spell(words.add(group).read(), &|at| {
                        gathered.add(8 * group + at as usize).read()
                    });
                }
            }
            let partials = self.0.add(parts(count, bytes, groups).partials);
            let partial = |at| match bytes {
                1 => partials.add(at).read().into(),
                2 => partials.cast::<u16>().add(at).read().into(),
                _ => partials.cast::<u32>().add(at).read(),
            };
            Plan {
                positions,
                partials: (0..count).map(partial).collect(),
                children: (0..count).map(|at| self.child(at)).collect(),
                height: self.height(),
            }
        }
    }

    /// Frees the node's memory, not its children.
    ///
    /// # Safety
    /// The node is alive and is not used afterwards.
    pub(super) unsafe fn free(self) {
        // SAFETY: the layout is the one `pack` allocated with.
        unsafe {
            let (count, bytes, groups) = self.shape();
            let end = parts(count, bytes, groups).end;
            dealloc(self.0.as_ptr(), Layout::from_size_align_unchecked(end, ALIGN));
        }
    }

    /// Children, bytes per partial key, groups of gathered bytes.
    ///
    /// # Safety
    /// The node is alive.
    #[inline(always)]
    unsafe fn shape(self) -> (usize, usize, usize) {
        // SAFETY: the header of a live node.
        unsafe {
            let at = |offset: usize| usize::from(self.0.add(offset).read());
            (at(COUNT), at(PARTIAL_BYTES), at(GROUPS))
        }
    }

    /// # Safety
    /// The node is alive.
    #[inline(always)]
    pub(super) unsafe fn count(self) -> usize {
        // SAFETY: the header of a live node.
        unsafe { usize::from(self.0.add(COUNT).read()) }
    }

    /// # Safety
    /// The node is alive.
    #[inline(always)]
    pub(super) unsafe fn height(self) -> u32 {
        // SAFETY: the header of a live node.
        unsafe { self.0.add(HEIGHT).cast::<u32>().read() }
    }

    /// The position of its first bit.
    ///
    /// # Safety
    /// The node is alive.
    pub(super) unsafe fn first_position(self) -> u64 {
        // SAFETY: reads what `pack` wrote, where it wrote it.
        unsafe {
            let (_, _, groups) = self.shape();
            let words = self.0.add(EXTRACT).cast::<u64>();
            let (bit, places) = match groups {
                0 => (words.add(1).read().leading_zeros(), None),
                _ => (words.read().leading_zeros(), Some(words.add(groups).cast::<u32>())),
            };
            let place = match places {
                None => self.0.add(EXTRACT).cast::<u32>().read() + bit / 8,
                Some(places) => places.add(bit as usize / 8).read(),
            };
            u64::from(place) * 8 + u64::from(bit % 8)
        }
    }

    /// # Safety
    /// The node is alive and has a child `at`.
    #[inline(always)]
    pub(super) unsafe fn child(self, at: usize) -> Child {
        // SAFETY: within the children that `pack` wrote.
        unsafe {
            let (count, bytes, groups) = self.shape();
            Child(self.0.add(parts(count, bytes, groups).children).cast::<u64>().add(at).read())
        }
    }

    /// # Safety
    /// The node is alive, has a child `at`, and nobody else looks at it.
    pub(super) unsafe fn set_child(self, at: usize, child: Child) {
        // SAFETY: within the children that `pack` wrote.
        unsafe {
            let (count, bytes, groups) = self.shape();
            let children = self.0.add(parts(count, bytes, groups).children).cast::<u64>();
            children.add(at).write(child.0);
        }
    }

    /// The child that `key` leads to: the last whose sparse partial key is in the key's dense one.
    ///
    /// # Safety
    /// The node is alive.
    #[inline(always)]
    pub(super) unsafe fn search(self, key: &[u8]) -> usize {
        // SAFETY: reads what `pack` wrote, where it wrote it.
        unsafe {
            let (count, bytes, groups) = self.shape();
            let dense = self.dense(key, groups, pack);
            let partials = self.0.add(parts(count, bytes, groups).partials);
            let fits = |sparse: u32| dense & sparse == sparse;
            let last = match bytes {
                1 => (0..count).rev().find(|&at| fits(partials.add(at).read().into())),
                2 => {
                    (0..count).rev().find(|&at| fits(partials.cast::<u16>().add(at).read().into()))
                }
                _ => (0..count).rev().find(|&at| fits(partials.cast::<u32>().add(at).read())),
            };
            // The first child's partial key is 0 and always fits.
            last.unwrap_or(0)
        }
    }

    /// [`search`](Node::search) with PEXT and 32-byte vectors.
    ///
    /// # Safety
    /// The node is alive; the processor has AVX2 and BMI2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    pub(super) unsafe fn search_avx2(self, key: &[u8]) -> usize {
        use std::arch::x86_64::{
            __m256i, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16,
            _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_movemask_ps,
            _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_set1_epi16,
            _mm256_set1_epi32, _pext_u64,
        };
        // SAFETY: reads what `pack` wrote; vectors stay within the readable bytes of `parts`.
        unsafe {
            let (count, bytes, groups) = self.shape();
            let dense = self.dense(key, groups, |word, mask| _pext_u64(word, mask));
            let partials = self.0.add(parts(count, bytes, groups).partials).as_ptr();
            let load = |at: usize| _mm256_loadu_si256(partials.add(at).cast::<__m256i>());
            let fits: u32 = match bytes {
                1 => {
                    let (dense, sparse) = (_mm256_set1_epi8(dense as i8), load(0));
                    let equal = _mm256_cmpeq_epi8(_mm256_and_si256(dense, sparse), sparse);
                    _mm256_movemask_epi8(equal) as u32
                }
                2 => {
                    let dense = _mm256_set1_epi16(dense as i16);
                    let equal =
                        |sparse| _mm256_cmpeq_epi16(_mm256_and_si256(dense, sparse), sparse);
                    let low = equal(load(0));
                    // A second vector is readable only where there are more than 16 children.
                    let high = if count > 16 { equal(load(32)) } else { _mm256_set1_epi16(0) };
                    // Packing interleaves the halves of both; the permutation puts them in order.
                    let both =
                        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
                    _mm256_movemask_epi8(both) as u32
                }
                _ => {
                    let dense = _mm256_set1_epi32(dense as i32);
                    let mut fits = 0;
                    for vector in 0..count.div_ceil(8) {
                        let sparse = load(32 * vector);
                        let equal = _mm256_cmpeq_epi32(_mm256_and_si256(dense, sparse), sparse);
                        fits |=
                            (_mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u32) << (8 * vector);
                    }
                    fits
                }
            };
            // Behind the last child anything may match.
            let fits = fits & (u32::MAX >> (32 - count));
            31 - fits.leading_zeros() as usize
        }
    }

    /// The key's bits at the node's positions, packed.
    ///
    /// # Safety
    /// The node is alive and has so many groups.
    #[inline(always)]
    unsafe fn dense(self, key: &[u8], groups: usize, pack: impl Fn(u64, u64) -> u64) -> u32 {
        // SAFETY: reads what `pack` wrote, where it wrote it.
        unsafe {
            let words = self.0.add(EXTRACT).cast::<u64>();
            if groups == 0 {
                let offset = self.0.add(EXTRACT).cast::<u32>().read();
                return pack(window(key, offset), words.add(1).read()) as u32;
            }
            let gathered = words.add(groups).cast::<u32>();
            let mut dense = 0;
            for group in 0..groups {
                let mask = words.add(group).read();
                let mut word = 0;
                for at in 0..8 {
                    let place = gathered.add(8 * group + at).read();
                    word = word << 8 | u64::from(byte(key, place));
                }
                dense = dense << mask.count_ones() | pack(word, mask);
            }
            dense as u32
        }
    }
}

/// A mask of eight bytes, the first the most significant, with the bits of `positions`.
fn mask(positions: &[u64], index: impl Fn(u32) -> u32) -> u64 {
    positions.iter().fold(0, |mask, position| {
        let byte = index((position / 8) as u32);
        mask | 1 << (63 - (8 * u64::from(byte) + position % 8))
    })
}
