//! The page the kernel keeps beside each event, and how to read a count from it without a call.
//!
//! The page is guarded by a sequence word: read it, read the rest, read it again; a change means
//! that the kernel moved the event meanwhile and everything is read anew. The register reads are a
//! parameter, so that the arithmetic is tested with a fake on any machine; that the real registers
//! answer is proved in the emulated machine (`cargo xtask counters`).

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// The head of the kernel's `struct perf_event_mmap_page`, as far as reading needs it.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Page {
    version: AtomicU32,
    compatible: AtomicU32,
    /// The sequence word.
    lock: AtomicU32,
    /// Register number plus one; 0 when the event is not on the processor now.
    index: AtomicU32,
    /// To add to the register's value (signed, as bits).
    offset: AtomicU64,
    enabled_ns: AtomicU64,
    running_ns: AtomicU64,
    capabilities: AtomicU64,
    /// Bits of the register that count.
    width: AtomicU16,
    time_shift: AtomicU16,
    time_mult: AtomicU32,
    time_offset: AtomicU64,
    time_zero: AtomicU64,
    size: AtomicU32,
    reserved: AtomicU32,
    time_cycles: AtomicU64,
    time_mask: AtomicU64,
}

const CAN_READ_REGISTER: u64 = 1 << 2;
const CAN_READ_TIME: u64 = 1 << 3;
const TIME_IS_SHORT: u64 = 1 << 5;

/// Gives up, and leaves the answer to the kernel, after this many disturbed tries in a row.
const TRIES: usize = 64;

/// The registers a read needs.
pub(crate) trait Registers {
    /// The event-count register published as `index`.
    fn count(&self, index: u32) -> u64;
    /// The time register the kernel's time fields refer to.
    fn ticks(&self) -> u64;
}

/// A count and the times it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) value: u64,
    pub(crate) enabled_ns: u64,
    pub(crate) running_ns: u64,
}

impl Raw {
    /// In place of one that could not be read: nothing runs for so long.
    pub(crate) const UNREAD: Raw = Raw { value: 0, enabled_ns: u64::MAX, running_ns: u64::MAX };
}

impl Page {
    /// The count now, or `None` where only the kernel can say: the event is not on the processor,
    /// user-space reads are not allowed, or the page would not hold still.
    #[inline]
    pub(crate) fn read(&self, registers: &impl Registers) -> Option<Raw> {
        for _ in 0..TRIES {
            let sequence = self.lock.load(Ordering::Acquire);
            let answer = self.read_once(registers);
            fence(Ordering::Acquire);
            if sequence & 1 == 0 && self.lock.load(Ordering::Relaxed) == sequence {
                return answer;
            }
        }
        None
    }

    #[inline]
    fn read_once(&self, registers: &impl Registers) -> Option<Raw> {
        let capabilities = self.capabilities.load(Ordering::Relaxed);
        let index = self.index.load(Ordering::Relaxed);
        if capabilities & CAN_READ_REGISTER == 0 || index == 0 {
            return None;
        }
        let width = u32::from(self.width.load(Ordering::Relaxed));
        let count = sign_extended(registers.count(index), width);
        let value = self.offset.load(Ordering::Relaxed).wrapping_add(count);
        let since_ns =
            if capabilities & CAN_READ_TIME == 0 { 0 } else { self.since_ns(registers.ticks()) };
        Some(Raw {
            value,
            enabled_ns: self.enabled_ns.load(Ordering::Relaxed).wrapping_add(since_ns),
            running_ns: self.running_ns.load(Ordering::Relaxed).wrapping_add(since_ns),
        })
    }

    /// Nanoseconds since the kernel last updated the two times, by the formula of its header:
    /// `offset + ticks * mult / 2^shift`, in two halves so that nothing overflows.
    fn since_ns(&self, mut ticks: u64) -> u64 {
        let capabilities = self.capabilities.load(Ordering::Relaxed);
        if capabilities & TIME_IS_SHORT != 0 {
            let base = self.time_cycles.load(Ordering::Relaxed);
            let mask = self.time_mask.load(Ordering::Relaxed);
            ticks = base.wrapping_add(ticks.wrapping_sub(base) & mask);
        }
        let shift = u32::from(self.time_shift.load(Ordering::Relaxed)) & 63;
        let mult = u64::from(self.time_mult.load(Ordering::Relaxed));
        let whole = (ticks >> shift).wrapping_mul(mult);
        let part = ((ticks & ((1 << shift) - 1)).wrapping_mul(mult)) >> shift;
        self.time_offset.load(Ordering::Relaxed).wrapping_add(whole).wrapping_add(part)
    }

    /// Whether the kernel lets this process read the register, as of now.
    pub(crate) fn is_open(&self) -> bool {
        self.capabilities.load(Ordering::Relaxed) & CAN_READ_REGISTER != 0
    }

    /// Register number (1-based, 0 = not on the processor) and its width in bits, for display.
    pub(crate) fn register(&self) -> (u32, u16) {
        (self.index.load(Ordering::Relaxed), self.width.load(Ordering::Relaxed))
    }
}

/// The low `width` bits of `value` as a signed number.
fn sign_extended(value: u64, width: u32) -> u64 {
    let unused = 64 - width.clamp(1, 64);
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Registers that count their reads and disturb the page for the first `disturbed` of them.
    struct Fake<'a> {
        page: &'a Page,
        count: u64,
        ticks: u64,
        disturbed: Cell<usize>,
        reads: Cell<usize>,
    }

    impl Registers for Fake<'_> {
        fn count(&self, index: u32) -> u64 {
            assert!(index > 0, "no register was published");
            self.reads.set(self.reads.get() + 1);
            if self.disturbed.get() > 0 {
                self.disturbed.set(self.disturbed.get() - 1);
                self.page.lock.fetch_add(2, Ordering::Relaxed);
                self.page.offset.fetch_add(1000, Ordering::Relaxed);
            }
            self.count
        }

        fn ticks(&self) -> u64 {
            self.ticks
        }
    }

    fn page() -> Page {
        let page = Page::default();
        page.index.store(1, Ordering::Relaxed);
        page.width.store(48, Ordering::Relaxed);
        page.capabilities.store(CAN_READ_REGISTER, Ordering::Relaxed);
        page.offset.store(500, Ordering::Relaxed);
        page.enabled_ns.store(30, Ordering::Relaxed);
        page.running_ns.store(20, Ordering::Relaxed);
        page
    }

    fn fake(page: &Page, count: u64) -> Fake<'_> {
        Fake { page, count, ticks: 0, disturbed: Cell::new(0), reads: Cell::new(0) }
    }

    #[test]
    fn a_count_is_the_register_plus_the_offset() {
        let page = page();
        let raw = page.read(&fake(&page, 42)).unwrap();
        assert_eq!(raw, Raw { value: 542, enabled_ns: 30, running_ns: 20 });
    }

    #[test]
    fn the_register_is_signed_in_its_own_width() {
        // The kernel arms counters with minus the period: -42 in 48 bits.
        let page = page();
        let minus_42 = (1 << 48) - 42;
        assert_eq!(page.read(&fake(&page, minus_42)).unwrap().value, 458);
        page.width.store(64, Ordering::Relaxed);
        assert_eq!(page.read(&fake(&page, u64::MAX)).unwrap().value, 499);
        page.width.store(32, Ordering::Relaxed);
        let expected = 500u64.wrapping_sub(1 << 31);
        assert_eq!(page.read(&fake(&page, 0x8000_0000)).unwrap().value, expected);
    }

    #[test]
    fn a_moved_event_is_read_again() {
        let page = page();
        let fake = fake(&page, 1);
        fake.disturbed.set(3);
        assert_eq!(page.read(&fake).unwrap().value, 3501);
        assert_eq!(fake.reads.get(), 4);
    }

    #[test]
    fn a_page_that_never_holds_still_is_left_to_the_kernel() {
        let page = page();
        let fake = fake(&page, 1);
        fake.disturbed.set(usize::MAX);
        assert_eq!(page.read(&fake), None);
        assert_eq!(fake.reads.get(), TRIES);
    }

    #[test]
    fn no_register_is_read_without_the_right_or_off_the_processor() {
        let page = page();
        page.index.store(0, Ordering::Relaxed);
        assert_eq!(page.read(&fake(&page, 1)), None);
        page.index.store(1, Ordering::Relaxed);
        page.capabilities.store(CAN_READ_TIME, Ordering::Relaxed);
        let fake = fake(&page, 1);
        assert_eq!(page.read(&fake), None);
        assert_eq!(fake.reads.get(), 0);
    }

    #[test]
    fn times_advance_with_the_time_register() {
        let page = page();
        page.capabilities.store(CAN_READ_REGISTER | CAN_READ_TIME, Ordering::Relaxed);
        page.time_shift.store(10, Ordering::Relaxed);
        page.time_mult.store(512, Ordering::Relaxed); // half a nanosecond a tick
        page.time_offset.store(0u64.wrapping_sub(100), Ordering::Relaxed);
        let mut fake = fake(&page, 1);
        fake.ticks = 2_001;
        let raw = page.read(&fake).unwrap();
        assert_eq!((raw.enabled_ns, raw.running_ns), (30 + 900, 20 + 900));
        // A 32-bit time register that has wrapped since the kernel looked.
        page.capabilities.fetch_or(TIME_IS_SHORT, Ordering::Relaxed);
        page.time_mask.store(0xffff_ffff, Ordering::Relaxed);
        page.time_cycles.store(0x1_ffff_ff00, Ordering::Relaxed);
        fake.ticks = 0x100;
        let expected = 0x2_0000_0100u64 / 2 - 100;
        assert_eq!(page.read(&fake).unwrap().enabled_ns, 30 + expected);
    }
}
