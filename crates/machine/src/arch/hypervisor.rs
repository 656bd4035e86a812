//! The name a hypervisor gives itself to its guests, where the processor passes it on.

/// The signature of the hypervisor, twelve characters; `None` on bare metal and where there is no
/// way to ask.
///
/// CPUID leaf 1 reserves a bit for hypervisors to set; leaf 0x40000000 is theirs to answer.
pub(crate) fn signature() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        if __cpuid(1).ecx & (1 << 31) == 0 {
            return None;
        }
        let leaf = __cpuid(0x4000_0000);
        let bytes: Vec<u8> =
            [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}
