//! Valgrind's client requests: a rotation sequence that does nothing on a processor and speaks to
//! the simulator under one.
//!
//! The sequences are those of valgrind.h (3.19) for Linux on x86-64 and AArch64, emitted here so
//! that no C header or library is needed. On other architectures every request gets the default.

/// Sends `request` (code and five arguments); the simulator's answer, or `default` outside of one.
#[inline(never)]
pub(crate) fn request(default: u64, request: [u64; 6]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let answer;
        // SAFETY: outside of Valgrind the rotations add up to 128 bits and the exchange is of a
        // register with itself: nothing changes. Under it, the six words are read.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") request.as_ptr(),
                inout("rdx") default => answer,
            );
        }
        answer
    }
    #[cfg(target_arch = "aarch64")]
    {
        let answer;
        // SAFETY: as on x86-64: rotations by 128 bits in all, and a register or-ed with itself.
        unsafe {
            std::arch::asm!(
                "ror x12, x12, #3",
                "ror x12, x12, #13",
                "ror x12, x12, #51",
                "ror x12, x12, #61",
                "orr x10, x10, x10",
                inout("x3") default => answer,
                in("x4") request.as_ptr(),
            );
        }
        answer
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = request;
        default
    }
}
