//! The command `fathom`; its library says why it is one.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_cli::main()
}
