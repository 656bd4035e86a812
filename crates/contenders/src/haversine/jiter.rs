//! The crate `jiter`, a pull parser, key by key into pairs.

use fathom_haversine::{Coordinate, Pair};
use fathom_measure::contender::{Meta, Simple};
use jiter::JiterResult;

use super::workload::Document;
use crate::library;

pub(super) const JITER: Simple<Document> = Simple {
    meta: Meta { source: include_str!("jiter.rs"), ..library::JITER },
    prepare: |workload| workload.timed_pairs(|json| read(json).expect("the document is valid")),
};

fn read(json: &[u8]) -> JiterResult<Vec<Pair>> {
    let mut jiter = ::jiter::Jiter::new(json);
    let mut pairs = Vec::new();
    let mut is_pairs = jiter.next_object()? == Some("pairs");
    loop {
        if is_pairs {
            let mut element = jiter.next_array()?;
            while element.is_some() {
                pairs.push(pair(&mut jiter)?);
                element = jiter.array_step()?;
            }
        } else {
            jiter.next_skip()?;
        }
        is_pairs = match jiter.next_key()? {
            None => break,
            key => key == Some("pairs"),
        };
    }
    jiter.finish()?;
    Ok(pairs)
}

fn pair(jiter: &mut ::jiter::Jiter<'_>) -> JiterResult<Pair> {
    let mut row = [0.0; 4];
    let number = |key: Option<&str>| {
        key.map(|key| Coordinate::ALL.iter().position(|coordinate| coordinate.name() == key))
    };
    let mut next = number(jiter.next_object()?);
    while let Some(coordinate) = next {
        match coordinate {
            Some(coordinate) => row[coordinate] = jiter.next_float()?,
            None => jiter.next_skip()?,
        }
        next = number(jiter.next_key()?);
    }
    Ok(Pair::new(row))
}
