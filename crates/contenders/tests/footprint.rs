//! Bytes per entry and latency of key-value structures. The allocator counts a whole process, so
//! this file has one test only: another one beside it would be counted too.
#![cfg(feature = "kv")]

use fathom_measure::meter::Untimed;
use fathom_measure::workload::Spec;

#[global_allocator]
static ALLOCATOR: fathom_contenders::alloc::Allocator = fathom_contenders::alloc::Allocator;

#[test]
fn key_value_structures_tell_their_memory_and_latency() {
    let map = fathom_contenders::family("map").unwrap();
    let spec = Spec::new("insert", &[("count", "5000"), ("keys", "integers")]);
    let spec = map.completed(&spec).unwrap();
    for id in ["std+siphash13", "f14-value+xxh3-64", "f14-vector+foldhash", "cuckoo+foldhash"] {
        let mut metrics = Vec::new();
        map.open(id, &spec, &mut |mut opened| {
            opened.prepared.sample(1, &mut Untimed);
            metrics = opened.prepared.metrics();
        })
        .unwrap();
        let value = |name: &str| {
            let found = metrics.iter().find(|metric| metric.name == name);
            found.unwrap_or_else(|| panic!("{id}: no {name}")).value
        };
        // Sixteen bytes of entry and at most two of control; tables are between a third and nearly full,
        // and one that grows has two of them for a moment.
        let (live, peak) = (value("live_bytes_per_entry"), value("peak_bytes_per_entry"));
        let is_right = (16.0..64.0).contains(&live) && (live..1.6 * 64.0).contains(&peak);
        assert!(is_right, "{id}: {live} {peak}");
        // hashbrown's: a power of two of buckets, at most seven eighths full, each of an entry and a
        // control byte, and a group of control bytes more.
        if id.starts_with("std") {
            let expected = (8192 * (16 + 1) + 16) as f64 / 5000.0;
            assert!((live / expected - 1.0).abs() < 0.01, "{live}, not {expected}");
        }
        assert!(value("latency_ns_max") >= value("latency_ns_p50"), "{id}");
    }
}
