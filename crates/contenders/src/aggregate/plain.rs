//! The plain program: a line at a time into a sorted map, on one thread; obviously right, and slow.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use fathom_aggregate::{Column, Decimal, Layout, Partial, Reason, Stats, format};
use fathom_measure::workload::SpecError;

use crate::own;

pub(super) fn run(path: &Path, layout: &Layout) -> Result<Vec<u8>, SpecError> {
    let failed = |error| own::unreadable(path, error);
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
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
        let wrong = |what: String| SpecError::File {
            path: path.to_owned(),
            reason: format!("line {number}: {what}"),
        };
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
    Ok(format::brc(&Column::new("value", groups), layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_key_is_refused_as_the_engine_refuses_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a;1.0\n;2.0\n").unwrap();
        let error = run(file.path(), &Layout::default()).unwrap_err().to_string();
        assert!(error.ends_with("line 2: the key is empty"), "{error}");
    }
}
