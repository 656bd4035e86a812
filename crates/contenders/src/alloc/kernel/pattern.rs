//! Patterns of allocation, played on an allocator called directly. Every block is written at both
//! ends and read again before it goes, so that no allocation is optimised away and a block that
//! two owners share is found.

use std::alloc::{GlobalAlloc, Layout, handle_alloc_error};

/// What is allocated, in order, and freed, in order.
pub(in crate::alloc) struct Script {
    /// Bytes of each block; none is 0.
    pub(in crate::alloc) sizes: Vec<u32>,
    /// The order in which blocks are given back, or replaced.
    pub(in crate::alloc) order: Vec<u32>,
    /// How often the order is gone through with each block replaced by another first.
    pub(in crate::alloc) replaced: usize,
    /// How often every block doubles first.
    pub(in crate::alloc) doubled: u32,
}

struct Block {
    start: *mut u8,
    layout: Layout,
    mark: u8,
}

/// Plays the script; the sum of what was read is the same for every allocator that works.
#[inline(never)]
pub(in crate::alloc) fn run<A: GlobalAlloc>(allocator: &A, script: &Script) -> u64 {
    let mut blocks: Vec<Block> = Vec::with_capacity(script.sizes.len());
    let mut sum = 0_u64;
    for (at, &size) in script.sizes.iter().enumerate() {
        blocks.push(take(allocator, size as usize, at as u8));
    }
    for _ in 0..script.doubled {
        for block in &mut blocks {
            sum = sum.wrapping_add(double(allocator, block));
        }
    }
    for turn in 1..=script.replaced {
        for (at, &which) in script.order.iter().enumerate() {
            // Another size than the one that goes, so that holes do not always fit.
            let size = script.sizes[(at + turn) % script.sizes.len()];
            let fresh = take(allocator, size as usize, (at + turn) as u8);
            let old = std::mem::replace(&mut blocks[which as usize], fresh);
            sum = sum.wrapping_mul(31).wrapping_add(give_back(allocator, &old));
        }
    }
    for &which in &script.order {
        sum = sum.wrapping_mul(31).wrapping_add(give_back(allocator, &blocks[which as usize]));
    }
    sum
}

#[inline]
fn take(allocator: &impl GlobalAlloc, bytes: usize, mark: u8) -> Block {
    let layout = Layout::from_size_align(bytes, 8).expect("a size of 32 bits");
    // SAFETY: no block is empty.
    let start = unsafe { allocator.alloc(layout) };
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: both ends lie within the block.
    unsafe {
        start.add(bytes - 1).write(!mark);
        start.write(mark);
    }
    Block { start, layout, mark }
}

/// Makes the block twice as long; what its last byte was is told by where it went.
fn double(allocator: &impl GlobalAlloc, block: &mut Block) -> u64 {
    let old_last = block.layout.size() - 1;
    let bytes = 2 * block.layout.size();
    let layout = Layout::from_size_align(bytes, 8).expect("a size that fits");
    // SAFETY: the block is this allocator's and has this layout; the new size is not 0.
    let start = unsafe { allocator.realloc(block.start, block.layout, bytes) };
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: both lie within the block, and what was its last byte was written.
    let moved = unsafe {
        start.add(bytes - 1).write(!block.mark);
        start.add(old_last).read()
    };
    (block.start, block.layout) = (start, layout);
    moved.into()
}

#[inline]
fn give_back(allocator: &impl GlobalAlloc, block: &Block) -> u64 {
    let bytes = block.layout.size();
    // SAFETY: both ends lie within the block and were written; a block of one byte was written
    // with the mark last. It came from this allocator with this layout and is not used again.
    unsafe {
        let (first, last) = (block.start.read(), block.start.add(bytes - 1).read());
        allocator.dealloc(block.start, block.layout);
        u64::from(first) << 8 | u64::from(last)
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;

    use super::*;

    /// Moves all but the last byte of a block that grows.
    struct Forgetful;

    // SAFETY: blocks are the system's, with its sizes.
    unsafe impl GlobalAlloc for Forgetful {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: the caller's.
            unsafe { System.dealloc(block, layout) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            // SAFETY: the caller's; the new block is the longer one.
            unsafe {
                let larger = Layout::from_size_align_unchecked(bytes, layout.align());
                let new = System.alloc_zeroed(larger);
                new.copy_from(block, layout.size() - 1);
                System.dealloc(block, layout);
                new
            }
        }
    }

    #[test]
    fn a_byte_that_is_lost_while_a_block_grows_is_noticed() {
        let script = Script { sizes: vec![8, 24], order: vec![1, 0], replaced: 0, doubled: 1 };
        assert_ne!(run(&Forgetful, &script), run(&System, &script));
    }
}
