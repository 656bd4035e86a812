//! Names of AArch64 and ARM cores from the numbers in `/proc/cpuinfo`.
//!
//! Implementer and part are fields of the register MIDR_EL1. The numbers are public: Arm's
//! Technical Reference Manuals, the kernel's `arch/arm64/include/asm/cputype.h`. A core that is not
//! in the table is shown by its numbers; no name is made up.

/// `ARM Neoverse-N1` for (0x41, 0xd0c); numbers where there is no name.
pub(super) fn core_name(implementer: u32, part: u32) -> String {
    let vendor = IMPLEMENTERS.iter().find(|entry| entry.0 == implementer).map(|entry| entry.1);
    let core =
        PARTS.iter().find(|entry| (entry.0, entry.1) == (implementer, part)).map(|entry| entry.2);
    match (vendor, core) {
        (Some(vendor), Some(core)) => format!("{vendor} {core}"),
        (Some(vendor), None) => format!("{vendor} part {part:#05x}"),
        (None, _) => format!("implementer {implementer:#04x} part {part:#05x}"),
    }
}

const IMPLEMENTERS: &[(u32, &str)] = &[
    (0x41, "ARM"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x44, "DEC"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x49, "Infineon"),
    (0x4d, "Freescale"),
    (0x4e, "NVIDIA"),
    (0x50, "APM"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x56, "Marvell"),
    (0x61, "Apple"),
    (0x66, "Faraday"),
    (0x69, "Intel"),
    (0x6d, "Microsoft"),
    (0x70, "Phytium"),
    (0xc0, "Ampere"),
];

const PARTS: &[(u32, u32, &str)] = &[
    (0x41, 0x926, "ARM926EJ-S"),
    (0x41, 0xb76, "ARM1176JZF-S"),
    (0x41, 0xc05, "Cortex-A5"),
    (0x41, 0xc07, "Cortex-A7"),
    (0x41, 0xc08, "Cortex-A8"),
    (0x41, 0xc09, "Cortex-A9"),
    (0x41, 0xc0d, "Cortex-A12"),
    (0x41, 0xc0e, "Cortex-A17"),
    (0x41, 0xc0f, "Cortex-A15"),
    (0x41, 0xd01, "Cortex-A32"),
    (0x41, 0xd02, "Cortex-A34"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd06, "Cortex-A65"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd0e, "Cortex-A76AE"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd43, "Cortex-A65AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse-V3AE"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x42, 0x00f, "Brahma-B15"),
    (0x42, 0x100, "Brahma-B53"),
    (0x42, 0x516, "ThunderX2"),
    (0x43, 0x0a0, "ThunderX"),
    (0x43, 0x0a1, "ThunderX-88XX"),
    (0x43, 0x0a2, "ThunderX-81XX"),
    (0x43, 0x0a3, "ThunderX-83XX"),
    (0x43, 0x0af, "ThunderX2-99xx"),
    (0x43, 0x0b8, "ThunderX3-T110"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "TaiShan-v110"),
    (0x4e, 0x000, "Denver"),
    (0x4e, 0x003, "Denver 2"),
    (0x4e, 0x004, "Carmel"),
    (0x50, 0x000, "X-Gene"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0x201, "Kryo"),
    (0x51, 0x205, "Kryo"),
    (0x51, 0x211, "Kryo"),
    (0x51, 0x800, "Falkor-V1/Kryo-2XX-Gold"),
    (0x51, 0x801, "Kryo-2XX-Silver"),
    (0x51, 0x802, "Kryo-3XX-Gold"),
    (0x51, 0x803, "Kryo-3XX-Silver"),
    (0x51, 0x804, "Kryo-4XX-Gold"),
    (0x51, 0x805, "Kryo-4XX-Silver"),
    (0x51, 0xc00, "Falkor"),
    (0x51, 0xc01, "Saphira"),
    (0x53, 0x001, "Exynos-M1"),
    (0x53, 0x002, "Exynos-M3"),
    (0x53, 0x003, "Exynos-M4"),
    (0x53, 0x004, "Exynos-M5"),
    (0x61, 0x022, "M1 Icestorm"),
    (0x61, 0x023, "M1 Firestorm"),
    (0x61, 0x024, "M1 Pro Icestorm"),
    (0x61, 0x025, "M1 Pro Firestorm"),
    (0x61, 0x028, "M1 Max Icestorm"),
    (0x61, 0x029, "M1 Max Firestorm"),
    (0x61, 0x032, "M2 Blizzard"),
    (0x61, 0x033, "M2 Avalanche"),
    (0x6d, 0xd49, "Azure-Cobalt-100"),
    (0x70, 0x660, "FTC660"),
    (0x70, 0x661, "FTC661"),
    (0x70, 0x662, "FTC662"),
    (0x70, 0x663, "FTC663"),
    (0x70, 0x664, "FTC664"),
    (0x70, 0x862, "FTC862"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_cores_have_names_and_unknown_ones_numbers() {
        assert_eq!(core_name(0x41, 0xd0c), "ARM Neoverse-N1");
        assert_eq!(core_name(0x41, 0xfff), "ARM part 0xfff");
        assert_eq!(core_name(0x99, 0x1), "implementer 0x99 part 0x001");
    }

    #[test]
    fn the_tables_are_sorted_without_repetition_and_have_an_implementer_each() {
        assert!(IMPLEMENTERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(PARTS.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)));
        for (implementer, _, core) in PARTS {
            assert!(IMPLEMENTERS.iter().any(|entry| entry.0 == *implementer), "{core}");
        }
    }
}
