//! This project's own: strict validity by the JSON engine, member counts by bit masks over 64 bytes at a
//! time, and the two rewritten forms in one pass each.

use fathom_machine::level::Level;
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::workload::{Operation, Scan, up_to};
use super::{kernel, rewrite};

pub(super) struct Fathom;

impl Contender<Scan> for Fathom {
    fn meta(&self) -> Meta {
        Meta {
            name: "fathom",
            hardware: || level().name().into(),
            ..Meta::of(include_str!("fathom.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            "json-unquoted" | "json-human" => "portable".into(),
            _ => level().name().into(),
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        let level = level();
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
            Operation::JsonProperties => {
                workload.counted(move |text| kernel::count(level, text, b'{'))
            }
            Operation::JsonUnquoted => {
                workload.written(|text| rewrite::unquoted(text).unwrap_or_default())
            }
            Operation::JsonHuman => {
                workload.written(|text| rewrite::human(text).unwrap_or_default())
            }
            Operation::Utf8 | Operation::Utf8UpToZero => workload.unsupported(),
        }
    }
}

fn level() -> Level {
    Level::chosen().unwrap_or(Level::Scalar)
}
