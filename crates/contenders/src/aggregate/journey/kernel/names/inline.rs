//! Names inside 64-byte entries, per thread. A longer name is refused.

use fathom_machine::simd::Vector;

use super::{MOST_NAMES, Refusal, SLOTS, Small, Table, checked, quoted, same};

/// Longest name, in bytes, of an inline entry.
const MOST_INLINE_BYTES: usize = 51;

/// The table of one thread.
#[derive(Debug)]
pub(in super::super) struct Inline {
    slots: Vec<u16>,
    entries: Vec<InlineEntry>,
    refusal: Option<Refusal>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct InlineEntry {
    len: u8,
    name: [u8; MOST_INLINE_BYTES],
    small: Small,
}

const _: () = assert!(size_of::<InlineEntry>() == 64 && size_of::<Small>() == 12);

impl Inline {
    pub(in super::super) fn new() -> Inline {
        Inline { slots: vec![0; SLOTS], entries: Vec::new(), refusal: None }
    }
}

// SAFETY: reads names within the contract, and entries through `same`, whose sixteen bytes from
// the name of an entry on are inside it. Indices in slots are those of entries.
unsafe impl Table for Inline {
    #[inline(always)]
    unsafe fn slot(&self, slot: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { *self.slots.get_unchecked(slot) }.into()
    }

    #[inline(always)]
    unsafe fn is_at<V: Vector>(&self, index: usize, name: *const u8, len: usize, _: u32) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let entry = self.entries.get_unchecked(index);
            usize::from(entry.len) == len && same::<V>(entry.name.as_ptr(), name, len)
        }
    }

    #[cold]
    #[inline(never)]
    fn insert<V: Vector>(&mut self, name: &[u8], _: u32, slot: usize) -> Result<usize, Refusal> {
        let name = checked(name)?;
        if name.len() > MOST_INLINE_BYTES {
            return Err(Refusal::NameBytes { key: quoted(name), most: MOST_INLINE_BYTES });
        }
        if self.entries.len() == MOST_NAMES {
            return Err(Refusal::Names);
        }
        let mut entry = InlineEntry { len: name.len() as u8, name: [0; _], small: Small::NONE };
        entry.name[..name.len()].copy_from_slice(name);
        self.entries.push(entry);
        self.slots[slot] = self.entries.len() as u16;
        Ok(self.entries.len() - 1)
    }

    #[inline(always)]
    unsafe fn small(&mut self, index: usize) -> &mut Small {
        // SAFETY: the caller's.
        &mut unsafe { self.entries.get_unchecked_mut(index) }.small
    }

    fn smalls(&self) -> impl Iterator<Item = Small> {
        self.entries.iter().map(|entry| entry.small)
    }

    fn with_name<T>(&self, index: usize, read: impl FnOnce(&[u8]) -> T) -> T {
        let entry = &self.entries[index];
        read(&entry.name[..usize::from(entry.len)])
    }

    fn refused(&mut self) -> &mut Option<Refusal> {
        &mut self.refusal
    }
}
