//! The processor's event-count registers, read without the kernel.
//!
//! Only [`counter::page`](crate::counter) calls these, and only with an index the kernel has just
//! published for this thread: that index is the permission.

/// The event-count register that the kernel published as `index` (1-based).
///
/// # Safety
/// The kernel has published `index` above 0, with the right to read it, in the page of an event of
/// the calling thread. Should it move the event meanwhile, the value is worthless but the read
/// harmless: the right stays for as long as the page is mapped.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn read(index: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: RDPMC faults only without the right, which the caller vouches for. Not `nomem`, though
    // it touches none: then it could be moved out of the reads of the page that frame it.
    unsafe {
        std::arch::asm!(
            "rdpmc",
            in("ecx") index - 1,
            out("eax") low,
            out("edx") high,
            options(nostack),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// The event-count register that the kernel published as `index`: 32 is the cycle counter, others
/// are event counters, 1-based.
///
/// # Safety
/// As on x86-64: a published index of a mapped event of this thread.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) unsafe fn read(index: u32) -> u64 {
    // By name rather than through the selector register: an interrupt between selecting and
    // reading could leave another counter selected.
    macro_rules! by_name {
        ($($number:literal)*) => {
            match index - 1 {
                $($number => {
                    let value: u64;
                    // SAFETY: the caller vouches for the right to read the register.
                    unsafe {
                        std::arch::asm!(
                            "isb",
                            concat!("mrs {}, pmevcntr", $number, "_el0"),
                            out(reg) value,
                            options(nostack),
                        );
                    }
                    value
                })*
                _ => {
                    let value: u64;
                    // SAFETY: as above.
                    unsafe {
                        std::arch::asm!(
                            "isb",
                            "mrs {}, pmccntr_el0",
                            out(reg) value,
                            options(nostack),
                        );
                    }
                    value
                }
            }
        };
    }
    by_name!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
}

/// Elsewhere nothing is read; the kernel's `read` answers instead.
///
/// # Safety
/// None is needed: kept alike with its siblings.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) unsafe fn read(_index: u32) -> u64 {
    0
}

/// Whether this architecture's registers can be read at all.
pub(crate) const READABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Whether the processor says that it runs inside a virtual machine; `false` where it cannot say.
pub(crate) fn is_virtual() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::x86_64::__cpuid(1).ecx & (1 << 31) != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}
