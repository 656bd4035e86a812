//! What measures, from the outside. One program, because most of these tests wait for others' time: beside each other
//! they fill the processors.

use std::process::{Command, Output};

mod bench_read;
mod cpu;
mod demo;
#[cfg(feature = "kv")]
mod kv;
mod measuring;
mod processes;
mod run;
#[path = "../common/signals.rs"]
mod signals;
#[path = "../common/told.rs"]
mod told;

fn fathom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom")).args(arguments).output().unwrap()
}
