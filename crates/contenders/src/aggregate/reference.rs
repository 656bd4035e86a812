//! The plain program as the reference. As a variant it stands for any outside command, which the command line adds
//! with `--with`.

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;

use super::workload::Text;
use super::{outside, plain};

pub(super) struct Plain;

impl Contender<Text> for Plain {
    fn meta(&self) -> Meta {
        Meta { name: "plain", ..Meta::of(include_str!("plain.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        let first = plain::run(&workload.path, &workload.layout);
        let mut known = Some(first.map_err(|error| Unsupported(error.to_string()))?);
        Ok(timed(
            workload,
            // The first answer is there already: on large files nobody wants to wait twice.
            move |workload| match known.take() {
                Some(text) => text,
                None => {
                    plain::run(&workload.path, &workload.layout).expect("it could the first time")
                }
            },
            |text| Digest::of_bytes(text),
        ))
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        outside::prepared(variant, workload)
    }
}
