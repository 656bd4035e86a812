//! The crate `fst`, `Map`: a static finite-state transducer, beginnings and endings shared: the
//! smallest of all on natural words, with the keys inside.

use ::fst::map::Stream;
use ::fst::{IntoStreamer, Map, Streamer};

use crate::keyed::methods::{contender, structure};
use crate::keyed::structure::sorted;
use crate::keyed::{Abilities, Key};

const CAN: Abilities = Abilities { insert: false, erase: false, ..Abilities::TREE };

contender! {
    pub(super) Fst: PlainMap<K> = Map<Vec<u8>>,
    library!("fst", "fst", "Unlicense OR MIT", "fst.rs";
        keeps Copied, caveat "built once, never changed", code fst::Map<Vec<u8>>)
}

structure! {
    impl[K: Key] for Map<Vec<u8>>: keys K, hasher (), can CAN;
    sized(_, ()) => Map::default(),
    build(keys, values, ()) => {
        let all = sorted(keys, values).into_iter().map(|(key, value)| (key.raw(), value));
        Map::from_iter(all).expect("sorted keys")
    },
    entries(map) => map.len(),
    find(map, key) => map.get(key.raw()),
    each(map, visit) => visit_all(map.stream(), usize::MAX, visit),
    range(map, start, span, visit) => visit_all(map.range().ge(start.raw()).into_stream(), span, visit),
}

fn visit_all(mut stream: Stream<'_>, span: usize, visit: impl FnMut(u64)) {
    (0..span).map_while(|_| stream.next().map(|(_, value)| value)).for_each(visit);
}
