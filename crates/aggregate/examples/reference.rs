//! The plain aggregator as a program, to time the engine against: `reference FILE`.

use std::io::Write;

use fathom_aggregate::{Column, Layout, format, reference};

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).expect("usage: reference FILE");
    let plain = reference::aggregate(&std::fs::read(path)?, false);
    assert!(plain.rejects.is_empty(), "{} malformed records", plain.rejects.len());
    let column = Column { name: "value".to_owned(), groups: plain.groups };
    std::io::stdout().write_all(&format::brc(&column, &Layout::default()))
}
