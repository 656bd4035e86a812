//! Which instructions this processor has for which task, as the libraries themselves ask for it.
//!
//! A library that takes another path than the best one here is pointed out beside its figures.

/// The instructions that help with one task, best first.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    found: fn() -> Option<&'static str>,
}

impl Unit {
    /// The best instructions for the task on this processor.
    #[must_use]
    pub fn best(self) -> Option<&'static str> {
        (self.found)()
    }

    /// The path of a library that uses the best instructions and falls back to `otherwise`.
    pub(crate) fn path(self, otherwise: &str) -> String {
        self.best().unwrap_or(otherwise).to_owned()
    }
}

// The two architectures' feature macros take literals only, hence a function per unit.
macro_rules! units {
    ($($(#[$doc:meta])* $name:ident: x86 [$($x86:tt $shown_x86:literal),*], arm [$($arm:tt $shown_arm:literal),*];)*) => {
        $(
            $(#[$doc])*
            pub static $name: Unit = Unit {
                found: || {
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
                },
            };
        )*
    };
}
units! {
    /// CRC-32C.
    CRC32C: x86 ["sse4.2" "sse4.2"], arm ["crc" "crc"];
    /// CRC-32.
    CRC32: x86 ["pclmulqdq" "pclmulqdq"], arm ["crc" "crc"];
    /// Plain vectors.
    VECTOR: x86 ["avx2" "avx2", "sse2" "sse2"], arm ["neon" "neon"];
    /// AES rounds.
    AES: x86 ["aes" "aes-ni"], arm ["aes" "aes"];
    /// AES rounds on several blocks at once.
    WIDE_AES: x86 ["vaes" "vaes", "aes" "aes-ni"], arm ["aes" "aes"];
    /// SHA-1.
    SHA1: x86 ["sha" "sha-ni"], arm ["sha2" "sha1"];
    /// SHA-224 and SHA-256.
    SHA256: x86 ["sha" "sha-ni"], arm ["sha2" "sha2"];
    /// SHA-384 and SHA-512; x86-64 processors with an instruction for it are too new to be asked.
    SHA512: x86 [], arm ["sha3" "sha512"];
    /// SHA-3.
    SHA3: x86 [], arm ["sha3" "sha3"];
}

/// The unit that helps with an operation of the families here, by its name.
#[must_use]
pub fn of(operation: &str) -> Option<Unit> {
    let unit = match operation {
        "crc32c" => CRC32C,
        "crc32" => CRC32,
        "adler32" | "xxh3" | "hash32" | "blake3" | "chacha20-poly1305" => VECTOR,
        "aesnihash" => AES,
        "sha1" | "hmac-sha1" => SHA1,
        "sha256" | "hmac-sha256" => SHA256,
        "sha384" | "sha512" | "hmac-sha384" | "hmac-sha512" => SHA512,
        "sha3-256" | "sha3-512" | "shake128" | "shake256" => SHA3,
        _ if operation.starts_with("aes-") => AES,
        _ => return None,
    };
    Some(unit)
}

/// Whether a path taken by a library means that it uses no instruction made for the task.
#[must_use]
pub fn is_plain(path: &str) -> bool {
    ["scalar", "portable", "table", "soft"].contains(&path)
}
