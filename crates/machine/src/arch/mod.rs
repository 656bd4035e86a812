//! One file per level; each holds the register type that implements
//! [`Vector`](crate::vector::Vector) there. Beside them, [`cycle`] reads the time register, `pmc` the
//! event-count registers, `client` talks to a simulator the program may run under.

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod client;
pub(crate) mod cycle;
pub(crate) mod hypervisor;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod pmc;
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
