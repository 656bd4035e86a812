//! This project's own: strict validity by the JSON engine, member counts by bit masks over 64 bytes at a
//! time, the two rewritten forms in one pass each; and of the aggregator the search for line ends, and
//! all of it on one thread.

use std::io::Cursor;
use std::sync::Arc;

use fathom_aggregate::{OnError, Options, Progress, Source, aggregate, kernel_level};
use fathom_json::validating_level;
use fathom_machine::level::Level;
use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Group, Operation, Scan, up_to};
use super::{kernel, rewrite};

pub(super) const FATHOM: Simple<Scan> = Simple {
    meta: Meta {
        name: "fathom",
        hardware: |operation| match operation {
            "json-unquoted" | "json-human" => Path::Portable,
            "measurements" => Path::takes(kernel_level(Level::current())),
            _ if operation.starts_with("json-valid") => {
                Path::takes(validating_level(Level::current()))
            }
            _ => Path::takes(kernel::level_of(Level::current())),
        },
        ..Meta::of(include_str!("fathom.rs"))
    },
    prepare: |workload| {
        let level = Level::current();
        let zero = move |text: &[u8]| kernel::zero(level, text);
        match workload.operation {
            Operation::StrLen => workload.counted(move |text| zero(text).map_or(0, |at| at as u64)),
            Operation::JsonValid => {
                workload.counted(|text| fathom_json::validate(text).is_ok().into())
            }
            Operation::JsonValidUpToZero => workload
                .counted(move |text| fathom_json::validate(up_to(text, zero)).is_ok().into()),
            Operation::JsonCount => workload.counted(move |text| kernel::count(level, text, b'[')),
            Operation::JsonCountUpToZero => {
                workload.counted(move |text| kernel::count(level, up_to(text, zero), b'['))
            }
            Operation::JsonCountSoFar => workload
                .counted(move |text| kernel::count_so_far(level, text, b'[').cast_unsigned()),
            Operation::JsonProperties => {
                workload.counted(move |text| kernel::count(level, text, b'{'))
            }
            Operation::JsonUnquoted => {
                workload.written(|text| rewrite::unquoted(text).unwrap_or_default())
            }
            Operation::JsonHuman => {
                workload.written(|text| rewrite::human(text).unwrap_or_default())
            }
            Operation::LineEnds => {
                workload.listed(move |text, ends| kernel::line_ends(level, text, ends))
            }
            Operation::Measurements => {
                let shared: Arc<[u8]> = workload.text().into();
                workload.grouped(move |_| groups(level, &shared))
            }
            Operation::Utf8 | Operation::Utf8UpToZero | Operation::Pattern => {
                workload.operation.unsupported()
            }
        }
    },
};

fn groups(level: Level, text: &Arc<[u8]>) -> Vec<Group> {
    let reader = Box::new(Cursor::new(Arc::clone(text)));
    let source = Source::Stream { path: "-".into(), reader };
    let options = Options { threads: 1, level, ..Options::default() };
    let summary = aggregate(vec![source], &options, OnError::Fail, &Progress::default());
    let column = summary.ok().and_then(|mut summary| summary.columns.pop()).unwrap_or_default();
    column.groups.into_iter().map(Group::from).collect()
}
