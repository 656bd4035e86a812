//! The seams to the operating system, one file per kind of resource.
//!
//! Linux is the platform fathom is built and tested on.

pub mod affinity;
