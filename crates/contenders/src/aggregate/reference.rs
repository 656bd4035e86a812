//! The plain program: a line at a time into a sorted map, on one thread; obviously right, and slow.
//!
//! As a variant it stands for any outside command, which the command line adds with `--with`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use fathom_aggregate::{Column, Decimal, Partial, Reason, Stats, format};
use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;

use super::outside;
use super::workload::Text;

pub(super) struct Plain;

impl Contender<Text> for Plain {
    fn meta(&self) -> Meta {
        Meta { name: "plain", ..Meta::of(include_str!("reference.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        let first = run(workload).map_err(Unsupported)?;
        let mut known = Some(first);
        Ok(timed(
            workload,
            // The first answer is there already: on large files nobody wants to wait twice.
            move |workload| match known.take() {
                Some(text) => text,
                None => run(workload).expect("it could the first time"),
            },
            |text| Digest::of_bytes(text),
        ))
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        outside::prepared(variant, workload)
    }
}

fn run(workload: &Text) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", workload.path.display());
    let mut reader = BufReader::with_capacity(1 << 20, File::open(&workload.path).map_err(failed)?);
    let mut groups: BTreeMap<Box<[u8]>, Stats> = BTreeMap::new();
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        number += 1;
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            continue;
        }
        let mut parts = text.splitn(2, |&byte| byte == b';');
        let (key, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let wrong = |what: String| format!("{}: line {number}: {what}", workload.path.display());
        if key.is_empty() {
            return Err(wrong(Reason::EmptyKey.to_string()));
        }
        let value = Decimal::parse(value).map_err(|error| wrong(error.to_string()))?;
        match groups.get_mut(key) {
            Some(stats) => stats.add(&value),
            None => {
                groups.insert(key.into(), Stats::of(&value, false));
            }
        }
    }
    let groups =
        groups.into_iter().map(|(key, stats)| Partial { key: key.into(), stats }).collect();
    Ok(format::brc(&Column::new("value", groups), &workload.layout))
}
