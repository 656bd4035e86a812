//! What is this computer?
//!
//! Everything that touches the processor or the operating system directly lives here, behind safe
//! doors, so that the engines and the measuring core can forbid unsafe code or confine it to their
//! kernels:
//!
//! * [`level`]: which instruction sets exist here and which one is used;
//! * [`simd`]: the registers kernels are written over, one implementation per level;
//! * [`clock`]: wall, CPU-time and cycle clocks, with what a read costs and how fine it is;
//! * [`counter`]: hardware and software event counters, with the reason where one is missing;
//! * [`valgrind`]: the same from a simulator, on request;
//! * [`describe`]: all of this computer in one serialisable value, printed beside every result;
//! * [`os`]: memory, threads and files as the operating system sees them.
//!
//! ```
//! use fathom_machine::level::Level;
//! let level = Level::best();
//! assert!(level.is_available());
//! println!("kernels run at level {level}");
//! ```
#![deny(unsafe_code)]

pub mod clock;
pub mod counter;
pub mod describe;
pub mod level;
#[doc(hidden)]
pub mod needs;
pub mod os;
#[allow(unsafe_code)] // a named room for intrinsics: each block says what makes it sound
pub mod simd;
pub mod valgrind;

#[allow(unsafe_code)] // another: each block says what makes it sound
mod arch;

pub use arch::prefetch::prefetch;
pub use arch::upper::clear_upper_halves;
