//! Every answer of the engine against the oracle: one program, because each would compile the oracle and proptest anew.

mod differential;
mod holes;
mod oracle;
mod properties;
mod spill;
mod states;
