//! The seams to the operating system, one file per kind of resource.
//!
//! Linux is the platform fathom is built and tested on.

pub mod affinity;
#[allow(unsafe_code)] // mappings that are only looked at
pub mod cache;
#[allow(unsafe_code)] // says that what threads have filled is a vector
pub mod collect;
#[allow(unsafe_code)] // fcntl and signal, which rustix leaves out: by numbers that users name
pub mod file;
#[allow(unsafe_code)] // mappings of files that change, and the signal of pages that are gone
pub mod live;
#[allow(unsafe_code)] // mappings of files: the caller keeps others from changing them
pub mod map;
#[allow(unsafe_code)] // mappings: each block says what keeps the bytes alive and in bounds
pub mod memory;
pub mod process;
pub mod read_at;
#[allow(unsafe_code)] // as above; what crosses a process border is sealed against change first
pub mod shared;
pub(crate) mod source;
#[allow(unsafe_code)] // getrusage and wait4, which rustix leaves out
pub mod usage;
pub mod ward;
