//! Plain loops over registers of one level, and the string instructions of x86-64: what the C library
//! is measured against. No tuning for the processor, no stores around the cache.

use fathom_measure::contender::{Contender, Meta, Path, Preparation, Unsupported};

use super::kernel::{self, Kind};
#[cfg(target_arch = "x86_64")]
use super::workload::Operation;
use super::workload::{Area, Mover};

/// Loops of one kind.
pub(super) struct Loops {
    kind: Kind,
    name: &'static str,
}

pub(super) const SCALAR: Loops = Loops { kind: Kind::Scalar, name: "scalar" };
#[cfg(target_arch = "x86_64")]
pub(super) const SSE2: Loops = Loops { kind: Kind::Sse2, name: "sse2" };
#[cfg(target_arch = "x86_64")]
pub(super) const AVX2: Loops = Loops { kind: Kind::Avx2, name: "avx2" };
#[cfg(target_arch = "x86_64")]
pub(super) const ERMS: Loops = Loops { kind: Kind::Strings, name: "erms" };
#[cfg(target_arch = "aarch64")]
pub(super) const NEON: Loops = Loops { kind: Kind::Neon, name: "neon" };

impl Contender<Area> for Loops {
    fn meta(&self) -> Meta {
        let hardware: fn(&str) -> Path = match self.kind {
            Kind::Scalar => |_| Path::Portable,
            #[cfg(target_arch = "x86_64")]
            Kind::Sse2 => |_| Path::takes("sse2"),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => |_| Path::takes("avx2"),
            #[cfg(target_arch = "x86_64")]
            Kind::Strings => |_| Path::takes("rep movsb, rep stosb"),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => |_| Path::takes("neon"),
        };
        Meta { name: self.name, hardware, ..Meta::of(include_str!("contender.rs")) }
    }

    fn absence(&self) -> Option<&'static str> {
        (!self.kind.is_available()).then_some("this processor lacks its instructions")
    }

    fn prepare<'w>(&self, workload: &'w Area) -> Preparation<'w> {
        if let Some(why) = self.absence() {
            return Err(Unsupported(why.to_owned()));
        }
        match (self.kind, workload.operation) {
            #[cfg(target_arch = "x86_64")]
            (Kind::Strings, Operation::Move | Operation::SmallMove | Operation::Read) => {
                Err(Unsupported("string instructions are for long fills and copies".into()))
            }
            (kind, _) => workload.moved(kind),
        }
    }
}

impl Mover for Kind {
    #[inline]
    fn fill(&self, bytes: &mut [u8], byte: u8) {
        kernel::fill(*self, bytes, byte);
    }

    #[inline]
    fn move_within(&self, bytes: &mut [u8], from: usize, to: usize, length: usize) {
        kernel::move_within(*self, bytes, from, to, length);
    }

    #[inline]
    fn copy(&self, from: &[u8], to: &mut [u8]) {
        kernel::copy(*self, from, to);
    }

    #[inline]
    fn sum(&self, bytes: &[u8]) -> u64 {
        kernel::sum(*self, bytes)
    }
}
