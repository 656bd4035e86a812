//! The first program of an emulated machine: runs the commands that `/commands` lists, or counts
//! where there is no such file, and powers the machine off.
//!
//! Judges nothing; `cargo xtask` reads what is printed. Started as an ordinary program, it counts on
//! the machine it is on. The last line is `done`: whoever does not see it saw a machine that died.

mod commands;
mod counts;
mod kernel;

use std::fs;

fn main() {
    let is_first_program = std::process::id() == 1;
    if is_first_program {
        kernel::mount_all();
    }
    match fs::read_to_string("/commands") {
        Ok(list) if is_first_program => commands::run_all(&list),
        _ => counts::print_all(),
    }
    println!("done");
    if is_first_program {
        kernel::power_off();
    }
}
