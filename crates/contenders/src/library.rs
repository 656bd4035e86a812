//! Libraries that serve several families, once: their names, pages and licences, and what they say
//! about the instructions they take.

use fathom_measure::contender::{Keeps, Meta, Path};
use fathom_measure::family::{Absent, Reason};

/// The crates of a family of processor primitives.
pub(crate) const CRATES: Absent = Absent {
    name: "crates",
    reason: Reason::Feature {
        name: "cpu",
        brings: "pure Rust, on by default",
        on: cfg!(feature = "cpu"),
    },
};

pub(crate) const C_LIBRARY: &str = "a C or C++ library";

/// A library that comes with feature `native`.
pub(crate) const fn native(name: &'static str) -> Absent {
    let on = cfg!(feature = "native");
    Absent { name, reason: Reason::Feature { name: "native", brings: C_LIBRARY, on } }
}

/// An embedded store that comes with feature `store`.
#[cfg(feature = "kv")]
pub(crate) const fn store(name: &'static str) -> Absent {
    let (on, brings) = (cfg!(feature = "store"), "pure Rust, but a quarter more to build");
    Absent { name, reason: Reason::Feature { name: "store", brings, on } }
}

/// A contender in Rust that comes with feature `more`.
pub(crate) const fn more(name: &'static str) -> Absent {
    let (on, brings) = (cfg!(feature = "more"), "pure Rust, seldom the answer and long to build");
    Absent { name, reason: Reason::Feature { name: "more", brings, on } }
}

#[cfg(all(feature = "cpu", feature = "more"))]
pub(crate) const JITER: Meta = Meta { hardware: arm_alone, ..Meta::of_crate("jiter", "MIT", "") };

pub(crate) const SERDE_JSON: Meta = Meta {
    name: "serde-json",
    hardware: Path::portable,
    keeps: Keeps::Copied,
    feature: "float_roundtrip",
    ..Meta::of_crate("serde_json", "MIT OR Apache-2.0", "")
};

#[cfg(feature = "cpu")]
pub(crate) const SIMD_JSON: Meta = Meta {
    hardware: |_| Path::takes(format!("{:?}", simd_json::Deserializer::algorithm()).to_lowercase()),
    caveat: "copies the text, because it writes into its input",
    ..Meta::of_crate("simd-json", "Apache-2.0 OR MIT", "")
};

#[cfg(feature = "cpu")]
pub(crate) const SONIC: Meta = Meta {
    hardware: Path::compiled,
    caveat: "wider vectors need -C target-cpu",
    ..Meta::of_crate("sonic-rs", "Apache-2.0", "")
};

#[cfg(feature = "cpu")]
pub(crate) const ZLIB_RS: Meta = Meta::of_crate("zlib-rs", "Zlib", "");

#[cfg(feature = "native")]
pub(crate) const AWS_LC: Meta =
    Meta { name: "aws-lc", ..Meta::of_crate("aws-lc-rs", "ISC AND (Apache-2.0 OR ISC)", "") };

#[cfg(feature = "native")]
pub(crate) const RING: Meta = Meta {
    // Its SHA-1 is for old protocols only.
    hardware: |operation| match operation.ends_with("sha1") {
        true => Path::Portable,
        false => Path::NotKnown,
    },
    ..Meta::of_crate("ring", "Apache-2.0 AND ISC", "")
};

/// Of crates that have vectors for AArch64 alone, where they do not say whether they take them.
#[cfg(feature = "cpu")]
pub(crate) fn arm_alone(_: &str) -> Path {
    if cfg!(target_arch = "x86_64") { Path::Portable } else { Path::NotKnown }
}
