//! Which instructions this processor has for which task. Says nothing of who uses them.

// The two architectures' feature macros take literals only, hence a function per unit.
macro_rules! units {
    ($($(#[$doc:meta])* $name:ident: x86 [$($x86:tt $shown_x86:literal),*], arm [$($arm:tt $shown_arm:literal),*];)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name() -> Option<&'static str> {
                #[cfg(target_arch = "x86_64")]
                {
                    $(if std::arch::is_x86_feature_detected!($x86) {
                        return Some($shown_x86);
                    })*
                }
                #[cfg(target_arch = "aarch64")]
                {
                    $(if std::arch::is_aarch64_feature_detected!($arm) {
                        return Some($shown_arm);
                    })*
                }
                None
            }
        )*
    };
}
units! {
    /// CRC-32C.
    crc32c: x86 ["vpclmulqdq" "vpclmulqdq", "sse4.2" "sse4.2"], arm ["crc" "crc"];
    /// CRC-32.
    crc32: x86 ["vpclmulqdq" "vpclmulqdq", "pclmulqdq" "pclmulqdq"], arm ["crc" "crc"];
    /// Plain vectors.
    vector: x86 ["avx512bw" "avx512", "avx2" "avx2", "sse2" "sse2"], arm ["neon" "neon"];
    /// AES rounds, on several blocks at once where that is possible.
    aes: x86 ["vaes" "vaes", "aes" "aes"], arm ["aes" "aes"];
    /// AES rounds, one block after the other.
    aes_in_turn: x86 ["aes" "aes"], arm ["aes" "aes"];
    /// SHA-1.
    sha1: x86 ["sha" "sha-ni"], arm ["sha2" "sha1"];
    /// SHA-224 and SHA-256.
    sha256: x86 ["sha" "sha-ni"], arm ["sha2" "sha2"];
    /// SHA-384 and SHA-512; x86-64 processors with an instruction for it are too new to be asked.
    sha512: x86 [], arm ["sha3" "sha512"];
    /// SHA-3.
    sha3: x86 [], arm ["sha3" "sha3"];
}
