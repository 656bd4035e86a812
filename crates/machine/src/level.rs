//! Instruction-set levels: detect them, list them, force one.
//!
//! A [`Level`] is chosen at run time, once per chunk of work; nothing in this project is compiled
//! for the build machine's own processor. It does not describe every feature of a processor
//! (AES, CRC, SHA units are found where they are used): only the vector width kernels are written
//! for.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The environment variable that forces a level: `scalar`, `sse2`, `avx2` or `neon`.
pub const VARIABLE: &str = "FATHOM_LEVEL";

/// A vector instruction set that kernels are written for, from plainest to widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Plain integer code; exists everywhere.
    Scalar,
    /// 16-byte vectors of every x86-64.
    Sse2,
    /// 32-byte vectors, with FMA, BMI1, BMI2, LZCNT, POPCNT and AES beside them, as every processor
    /// with AVX2 has shipped since 2013.
    Avx2,
    /// 16-byte vectors of every AArch64.
    Neon,
}

/// A level that does not exist, or does not exist on this processor.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LevelError {
    /// The word names no level.
    #[error("no such level: {0:?} (levels are scalar, sse2, avx2, neon)")]
    Unknown(String),
    /// The level exists, but not here.
    #[error("level {0} does not exist on this processor")]
    Absent(Level),
}

impl Level {
    /// Every level, plainest first, whether this processor has it or not.
    pub const ALL: [Level; 4] = [Level::Scalar, Level::Sse2, Level::Avx2, Level::Neon];

    /// The word users write for this level.
    pub fn name(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Neon => "neon",
        }
    }

    /// Whether this processor, under this operating system, can run this level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("aes")
                    && is_x86_feature_detected!("pclmulqdq")
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns)] // levels of the other architecture
            _ => false,
        }
    }

    /// The levels of this processor, plainest first.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// The widest level of this processor.
    pub fn best() -> Level {
        Level::available().last().unwrap_or(Level::Scalar)
    }

    /// The level kernels use: the one [`VARIABLE`] names, otherwise the best.
    ///
    /// # Errors
    /// When the variable names no level or one that is absent here. The command line checks this
    /// once at its start; the answer does not change afterwards.
    pub fn chosen() -> Result<Level, LevelError> {
        static FORCED: OnceLock<Option<String>> = OnceLock::new();
        let forced = FORCED.get_or_init(|| std::env::var(VARIABLE).ok());
        match forced.as_deref() {
            None | Some("") => Ok(Level::best()),
            Some(word) => word.parse::<Level>()?.checked(),
        }
    }

    /// This level if it is available here.
    ///
    /// # Errors
    /// [`LevelError::Absent`] otherwise.
    pub fn checked(self) -> Result<Level, LevelError> {
        if self.is_available() { Ok(self) } else { Err(LevelError::Absent(self)) }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(word: &str) -> Result<Level, LevelError> {
        Level::ALL
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(word))
            .ok_or_else(|| LevelError::Unknown(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_exists_everywhere_and_best_is_available() {
        assert!(Level::Scalar.is_available());
        assert!(Level::best().is_available());
        assert_eq!(Level::available().next(), Some(Level::Scalar));
    }

    #[test]
    fn names_parse_back_and_unknown_ones_do_not() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!("avx9".parse::<Level>(), Err(LevelError::Unknown("avx9".into())));
    }

    #[test]
    fn levels_of_another_architecture_are_absent() {
        let other = if cfg!(target_arch = "x86_64") { Level::Neon } else { Level::Avx2 };
        assert_eq!(other.checked(), Err(LevelError::Absent(other)));
    }
}
