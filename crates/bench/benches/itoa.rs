//! The benches of the crate itoa (its `benches/bench.rs`, written for criterion), ported: the same numbers
//! and functions, the second compared with the first. `cargo bench -p fathom-bench --bench itoa`.

use std::fmt::Display;
use std::io::Write;

use fathom_bench::{Bench, main};
use itoa::{Buffer, Integer};

fn decimal(bench: &mut Bench<'_>) {
    of(bench, "u64[0]", 0_u64);
    of(bench, "u64[half]", u64::from(u32::MAX));
    of(bench, "u64[max]", u64::MAX);
    of(bench, "i16[0]", 0_i16);
    of(bench, "i16[min]", i16::MIN);
    of(bench, "u128[0]", 0_u128);
    of(bench, "u128[max]", u128::MAX);
}

fn of(bench: &mut Bench<'_>, name: &str, number: impl Integer + Display) {
    bench.group(name, |group| {
        let mut buffer = Buffer::new();
        group.function("itoa", || buffer.format(number).len());
        let mut text = Vec::with_capacity(40);
        group.function("std::fmt", || {
            text.clear();
            write!(text, "{number}").unwrap();
            text.len()
        });
    });
}

main!(decimal);
