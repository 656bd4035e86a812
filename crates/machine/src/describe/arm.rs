//! Names of AArch64 and ARM cores from the numbers in `/proc/cpuinfo`.
//!
//! Implementer and part are fields of the register MIDR_EL1. The numbers are public: Arm's
//! Technical Reference Manuals, the kernel's `arch/arm64/include/asm/cputype.h`. A core that is not
//! in the table is shown by its numbers; no name is made up.

/// `ARM Neoverse-N1` for (0x41, 0xd0c); numbers where there is no name.
pub(super) fn core_name(implementer: u32, part: u32) -> String {
    let Some((_, vendor, cores)) = VENDORS.iter().find(|entry| entry.0 == implementer) else {
        return format!("implementer {implementer:#04x} part {part:#05x}");
    };
    let number = format!("{part:03x} ");
    match cores.split(", ").find_map(|core| core.strip_prefix(&number)) {
        Some(core) => format!("{vendor} {core}"),
        None => format!("{vendor} part {part:#05x}"),
    }
}

/// Implementers, and their cores as `part name`, the part in three hexadecimal digits.
const VENDORS: &[(u32, &str, &str)] = &[
    (
        0x41,
        "ARM",
        "926 ARM926EJ-S, b76 ARM1176JZF-S, c05 Cortex-A5, c07 Cortex-A7, c08 Cortex-A8, \
         c09 Cortex-A9, c0d Cortex-A12, c0e Cortex-A17, c0f Cortex-A15, d01 Cortex-A32, \
         d02 Cortex-A34, d03 Cortex-A53, d04 Cortex-A35, d05 Cortex-A55, d06 Cortex-A65, \
         d07 Cortex-A57, d08 Cortex-A72, d09 Cortex-A73, d0a Cortex-A75, d0b Cortex-A76, \
         d0c Neoverse-N1, d0d Cortex-A77, d0e Cortex-A76AE, d40 Neoverse-V1, \
         d41 Cortex-A78, d42 Cortex-A78AE, d43 Cortex-A65AE, d44 Cortex-X1, \
         d46 Cortex-A510, d47 Cortex-A710, d48 Cortex-X2, d49 Neoverse-N2, d4a Neoverse-E1, \
         d4b Cortex-A78C, d4c Cortex-X1C, d4d Cortex-A715, d4e Cortex-X3, d4f Neoverse-V2, \
         d80 Cortex-A520, d81 Cortex-A720, d82 Cortex-X4, d83 Neoverse-V3AE, \
         d84 Neoverse-V3, d85 Cortex-X925, d87 Cortex-A725, d8e Neoverse-N3",
    ),
    (0x42, "Broadcom", "00f Brahma-B15, 100 Brahma-B53, 516 ThunderX2"),
    (
        0x43,
        "Cavium",
        "0a0 ThunderX, 0a1 ThunderX-88XX, 0a2 ThunderX-81XX, 0a3 ThunderX-83XX, \
         0af ThunderX2-99xx, 0b8 ThunderX3-T110",
    ),
    (0x44, "DEC", ""),
    (0x46, "Fujitsu", "001 A64FX"),
    (0x48, "HiSilicon", "d01 TaiShan-v110"),
    (0x49, "Infineon", ""),
    (0x4d, "Freescale", ""),
    (0x4e, "NVIDIA", "000 Denver, 003 Denver 2, 004 Carmel"),
    (0x50, "APM", "000 X-Gene"),
    (
        0x51,
        "Qualcomm",
        "001 Oryon, 201 Kryo, 205 Kryo, 211 Kryo, 800 Falkor-V1/Kryo-2XX-Gold, \
         801 Kryo-2XX-Silver, 802 Kryo-3XX-Gold, 803 Kryo-3XX-Silver, 804 Kryo-4XX-Gold, \
         805 Kryo-4XX-Silver, c00 Falkor, c01 Saphira",
    ),
    (0x53, "Samsung", "001 Exynos-M1, 002 Exynos-M3, 003 Exynos-M4, 004 Exynos-M5"),
    (0x56, "Marvell", ""),
    (
        0x61,
        "Apple",
        "022 M1 Icestorm, 023 M1 Firestorm, 024 M1 Pro Icestorm, 025 M1 Pro Firestorm, \
         028 M1 Max Icestorm, 029 M1 Max Firestorm, 032 M2 Blizzard, 033 M2 Avalanche",
    ),
    (0x66, "Faraday", ""),
    (0x69, "Intel", ""),
    (0x6d, "Microsoft", "d49 Azure-Cobalt-100"),
    (0x70, "Phytium", "660 FTC660, 661 FTC661, 662 FTC662, 663 FTC663, 664 FTC664, 862 FTC862"),
    (0xc0, "Ampere", "ac3 Ampere-1, ac4 Ampere-1a"),
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
    fn implementers_and_the_numbers_of_their_cores_are_sorted_without_repetition() {
        assert!(VENDORS.is_sorted_by(|a, b| a.0 < b.0));
        for (_, vendor, cores) in VENDORS.iter().filter(|entry| !entry.2.is_empty()) {
            let cores: Vec<_> =
                cores.split(", ").map(|core| core.split_once(' ').unwrap()).collect();
            assert!(cores.is_sorted_by(|a, b| a.0 < b.0), "{vendor}");
            for (number, name) in cores {
                let part = u32::from_str_radix(number, 16).unwrap();
                assert_eq!((format!("{part:03x}"), name.trim()), (number.into(), name), "{vendor}");
            }
        }
    }
}
