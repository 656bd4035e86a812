//! The upper halves of vector registers, which foreign code may leave in use.

/// Marks the upper halves of the vector registers as unused, where there are any. While they are in use some
/// processors make every instruction of the old encoding wait, and a compiler's own moves are such
/// ones: code of a library that returns without `vzeroupper` slows whatever comes after it.
#[inline]
pub fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has the instruction; it changes nothing but the upper halves of the registers
        // that are named here as overwritten.
        unsafe {
            std::arch::asm!(
                "vzeroupper",
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nomem, nostack, preserves_flags)
            );
        }
    }
}
