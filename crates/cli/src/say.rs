//! What is said beside the result: lines on standard error.

/// Writes a line to standard error. Where that is closed or full the line is lost, and the run goes on: `eprintln!`
/// would panic, and the result be lost with it.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
