//! Instruction-set levels: detect them, list them, force one, compile kernels for all of them.
//!
//! A [`Level`] is chosen at run time, once per run; nothing in this project is compiled
//! for the build machine's own processor. It does not describe every feature of a processor
//! (AES, CRC, SHA units are found where they are used): only the vector width kernels are written
//! for. Kernels are dispatched by [`compile!`](crate::compile) or a match over [`Here`], neither of which
//! has an arm for "everything else": a kernel without a form for a level says which one it falls to, and
//! what ran is what the kernel tells.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The environment variable that forces a level: `scalar`, `sse2`, `avx2`, `avx512` or `neon`.
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
    /// 64-byte vectors with masks, and all of [`Level::Avx2`]: F, BW, CD, DQ, VL, IFMA, VBMI, VBMI2, VNNI,
    /// BITALG, VPOPCNTDQ, GFNI, VAES and VPCLMULQDQ, as Intel has them since Ice Lake and AMD since Zen 4. The
    /// servers before them, with the first five only, are left at AVX2: wide registers slow their clock.
    Avx512,
    /// 16-byte vectors of every AArch64.
    Neon,
}

/// The available levels of this architecture, for a match without an arm for the other ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// [`Level::Scalar`]
    Scalar,
    /// [`Level::Sse2`]
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// [`Level::Avx2`]
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// [`Level::Avx512`]
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// [`Level::Neon`]
    #[cfg(target_arch = "aarch64")]
    Neon,
}

/// A kernel in the form for one level.
#[derive(Clone, Copy, Debug)]
pub struct Form<F> {
    /// The level it was compiled for: what runs.
    pub level: Level,
    /// The function; the level is available.
    pub run: F,
}

/// A level that does not exist, or does not exist on this processor.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LevelError {
    /// The word names no level.
    #[error("no such level: {0:?} (levels are scalar, sse2, avx2, avx512, neon)")]
    Unknown(String),
    /// The level exists, but not here.
    #[error("level {0} does not exist on this processor (it has {list})", list = found())]
    Absent(Level),
}

impl Level {
    /// Every level, plainest first, whether this processor has it or not.
    pub const ALL: [Level; 5] =
        [Level::Scalar, Level::Sse2, Level::Avx2, Level::Avx512, Level::Neon];

    /// The word users write for this level.
    pub fn name(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// Whether this processor, under this operating system, can run this level.
    pub fn is_available(self) -> bool {
        self.checked_here().is_some()
    }

    /// This level, or the scalar one where it is not available.
    #[inline]
    pub fn here(self) -> Here {
        self.checked_here().unwrap_or(Here::Scalar)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn checked_here(self) -> Option<Here> {
        match self {
            Level::Scalar => Some(Here::Scalar),
            Level::Sse2 => Some(Here::Sse2),
            Level::Avx2 => (best() >= Level::Avx2).then_some(Here::Avx2),
            Level::Avx512 => (best() == Level::Avx512).then_some(Here::Avx512),
            Level::Neon => None,
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn checked_here(self) -> Option<Here> {
        match self {
            Level::Scalar => Some(Here::Scalar),
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon").then_some(Here::Neon),
            Level::Sse2 | Level::Avx2 | Level::Avx512 => None,
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn checked_here(self) -> Option<Here> {
        (self == Level::Scalar).then_some(Here::Scalar)
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
        let forced = FORCED.get_or_init(|| {
            std::env::var_os(VARIABLE).map(|word| word.to_string_lossy().into_owned())
        });
        match forced.as_deref() {
            None | Some("") => Ok(Level::best()),
            Some(word) => word.parse::<Level>()?.checked(),
        }
    }

    /// [`Level::chosen`] for defaults.
    ///
    /// # Panics
    /// When [`VARIABLE`] names no level of this processor: never after the command line's check.
    pub fn current() -> Level {
        Level::chosen().unwrap_or_else(|error| panic!("{VARIABLE}: {error}"))
    }

    /// This level if it is available here.
    ///
    /// # Errors
    /// [`LevelError::Absent`] otherwise.
    pub fn checked(self) -> Result<Level, LevelError> {
        if self.is_available() { Ok(self) } else { Err(LevelError::Absent(self)) }
    }
}

/// The widest level of an x86-64 processor, asked for once.
#[cfg(target_arch = "x86_64")]
#[inline]
fn best() -> Level {
    static BEST: OnceLock<Level> = OnceLock::new();
    macro_rules! has {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
    }
    *BEST.get_or_init(|| {
        let has_avx2 = has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "aes" "pclmulqdq");
        let has_avx512 = has!(
            "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi"
            "avx512vbmi2" "avx512vnni" "avx512bitalg" "avx512vpopcntdq" "gfni" "vaes" "vpclmulqdq"
        );
        match (has_avx2, has_avx512) {
            (true, true) => Level::Avx512,
            (true, false) => Level::Avx2,
            (false, _) => Level::Sse2,
        }
    })
}

/// The names of the available levels.
fn found() -> String {
    Level::available().map(Level::name).collect::<Vec<_>>().join(", ")
}

/// The levels that the parts of a program ran at, each once, as one word: `avx512+avx2`.
pub fn told(levels: impl IntoIterator<Item = Level>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for level in levels {
        if !names.contains(&level.name()) {
            names.push(level.name());
        }
    }
    names.join("+")
}

/// Compiles a kernel that is generic over a register of [`simd`](crate::simd) once per level, with the
/// level's features, and defines the function that chooses among these forms.
///
/// ```
/// # mod kernel {
/// use fathom_machine::simd::{Vector, positions_64};
///
/// /// # Safety
/// /// The level of `V` is available.
/// #[inline(always)]
/// unsafe fn commas_over<V: Vector>(text: &[u8; 64]) -> u32 {
///     // SAFETY: there are 64 bytes; the caller vouches for the level.
///     unsafe { positions_64::<V>(text.as_ptr(), b',') }.count_ones()
/// }
///
/// fathom_machine::compile! {
///     /// How many commas there are.
///     pub fn commas(text: &[u8; 64]) -> u32 = commas_over<V>;
///     scalar, sse2, avx2, avx512 falls to avx2, neon
/// }
/// # }
/// use fathom_machine::level::Level;
/// let form = kernel::commas(Level::Scalar);
/// assert_eq!(form.level, Level::Scalar);
/// // SAFETY: a form's level is available.
/// assert_eq!(unsafe { (form.run)(&[b','; 64]) }, 64);
/// ```
///
/// Every level must be named, as a form of its own or as one that falls to a lower one. A kernel over
/// [`write_positions`](crate::simd::Vector::write_positions) asks for `avx512 with "avx512vbmi2"`: without, each is a call.
#[macro_export]
macro_rules! compile {
    (
        $(#[$attribute:meta])*
        $vis:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $answer:ty)?
            = $kernel:ident<V $(, $more:tt)*>;
        scalar, sse2, avx2, avx512 $(falls to $lower:ident)? $(with $features:literal)?, neon
    ) => {
        $(#[$attribute])*
        $vis fn $name(
            level: $crate::level::Level,
        ) -> $crate::level::Form<unsafe fn($($type),*) $(-> $answer)?> {
            use $crate::level::{Form, Here, Level};
            unsafe fn scalar($($argument: $type),*) $(-> $answer)? {
                // SAFETY: the scalar level is always available; the rest is the caller's.
                unsafe { $kernel::<$crate::simd::Scalar $(, $more)*>($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            unsafe fn sse2($($argument: $type),*) $(-> $answer)? {
                // SAFETY: the caller's; so in all that follow.
                unsafe { $kernel::<$crate::simd::Sse2 $(, $more)*>($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,aes,pclmulqdq")]
            unsafe fn avx2($($argument: $type),*) $(-> $answer)? {
                // SAFETY: as above.
                unsafe { $kernel::<$crate::simd::Avx2 $(, $more)*>($($argument),*) }
            }
            #[cfg(target_arch = "aarch64")]
            unsafe fn neon($($argument: $type),*) $(-> $answer)? {
                // SAFETY: as above.
                unsafe { $kernel::<$crate::simd::Neon $(, $more)*>($($argument),*) }
            }
            match level.here() {
                Here::Scalar => Form { level: Level::Scalar, run: scalar },
                #[cfg(target_arch = "x86_64")]
                Here::Sse2 => Form { level: Level::Sse2, run: sse2 },
                #[cfg(target_arch = "x86_64")]
                Here::Avx2 => Form { level: Level::Avx2, run: avx2 },
                #[cfg(target_arch = "x86_64")]
                Here::Avx512 => $crate::compile!(
                    @avx512 [$($lower)?] [$($features)?] ($($argument: $type),*) [$($answer)?] $kernel
                    [$(, $more)*]
                ),
                #[cfg(target_arch = "aarch64")]
                Here::Neon => Form { level: Level::Neon, run: neon },
            }
        }
    };
    (@avx512 [avx2] $($rest:tt)*) => { Form { level: Level::Avx2, run: avx2 } };
    (
        @avx512 [] [$($features:literal)?] ($($argument:ident: $type:ty),*) [$($answer:ty)?] $kernel:ident
        [$($more:tt)*]
    ) => {{
        // What most operations of a register need, not all the level has: with VBMI2 and the others the
        // compiler vectorises loops over masks otherwise, and JSON took 2 to 3 % longer (Zen 5).
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        $(#[target_feature(enable = $features)])?
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,aes,pclmulqdq")]
        unsafe fn avx512($($argument: $type),*) $(-> $answer)? {
            // SAFETY: as above.
            unsafe { $kernel::<$crate::simd::Avx512 $($more)*>($($argument),*) }
        }
        Form { level: Level::Avx512, run: avx512 }
    }};
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(word: &str) -> Result<Level, LevelError> {
        let found = Level::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(word));
        found.ok_or_else(|| LevelError::Unknown(word.to_owned()))
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
        assert_eq!(other.here(), Here::Scalar);
        let said = LevelError::Absent(other).to_string();
        let end = format!("(it has {})", found());
        assert!(said.ends_with(&end) && said.contains("scalar"), "{said}");
    }

    #[test]
    fn parts_at_one_level_tell_it_once() {
        assert_eq!(told([Level::Avx512, Level::Avx2, Level::Avx512]), "avx512+avx2");
        assert_eq!(told([Level::Neon; 3]), "neon");
    }
}
