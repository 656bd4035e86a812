//! One file per level; each holds the register type that implements
//! [`Vector`](crate::vector::Vector) there. Beside them, [`cycle`] reads the time register.

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod cycle;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use scalar::Scalar;
#[cfg(target_arch = "x86_64")]
pub use sse2::Sse2;
