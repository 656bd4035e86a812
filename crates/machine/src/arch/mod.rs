//! The processor's registers beside the operating system's seams: [`upper`] leaves vectors as they should be, [`prefetch`] fetches lines, [`cycle`] reads the time register,
//! `pmc` the event-count registers, `client` talks to a simulator the program may run under.

pub(crate) mod client;
pub(crate) mod cycle;
pub(crate) mod hypervisor;
pub(crate) mod pmc;
pub(crate) mod prefetch;
pub(crate) mod upper;
