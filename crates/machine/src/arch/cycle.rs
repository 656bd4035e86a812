//! The processor's own time register: the time-stamp counter of x86-64, CNTVCT of AArch64.
//!
//! Raw ticks only; what a tick is worth is [`clock`](crate::clock)'s business. On any other
//! architecture the register is the kernel's monotonic clock, so that callers need no second path.

/// What the register is called where this was compiled.
#[cfg(target_arch = "x86_64")]
pub(crate) const NAME: &str = "TSC";
/// What the register is called where this was compiled.
#[cfg(target_arch = "aarch64")]
pub(crate) const NAME: &str = "CNTVCT";
/// What the register is called where this was compiled.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const NAME: &str = "CLOCK_MONOTONIC";

/// The register now, in ticks; neighbouring instructions may be reordered around the read.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: RDTSC is in every x86-64; Linux never traps it for ordinary processes unless
        // asked to (PR_SET_TSC), which nobody here does.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Linux lets every AArch64 process read CNTVCT_EL0; the read touches no memory.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        crate::clock::wall_ns()
    }
}

/// The register after all earlier instructions have finished and before any later one starts.
///
/// LFENCE on both sides rather than RDTSCP: the same cost (25.7 against 27.0 ns where both were
/// measured), and RDTSCP is not part of the x86-64 baseline.
#[inline(always)]
pub(crate) fn ticks_fenced() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2's LFENCE and RDTSC are in every x86-64.
        unsafe {
            std::arch::x86_64::_mm_lfence();
            let ticks = std::arch::x86_64::_rdtsc();
            std::arch::x86_64::_mm_lfence();
            ticks
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: as in `ticks`; ISB is always permitted. Not `nomem`: the compiler shall not move
        // memory accesses across a fenced read.
        unsafe {
            std::arch::asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        crate::clock::wall_ns()
    }
}

/// Whether the register ticks at one rate whatever the processor's frequency and sleep state.
pub(crate) fn is_invariant() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        const ADVANCED_POWER: u32 = 0x8000_0007;
        __cpuid(0x8000_0000).eax >= ADVANCED_POWER && __cpuid(ADVANCED_POWER).edx & (1 << 8) != 0
    }
    // The architecture promises it for the system counter.
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}
