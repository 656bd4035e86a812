//! Our JSON reader against its plain form: `cargo bench -p fathom-bench`.

use fathom_bench::{Bench, main};
use fathom_json::reference::Machine;
use fathom_json::{Limits, Mode, validate};

fn validation(bench: &mut Bench<'_>) {
    bench.inputs("validate", "pairs", [100, 10_000], |group, &pairs| {
        let pair = |n: usize| format!("{{\"x0\":{n}.25,\"y0\":-{n}.5,\"name\":\"pair {n}\"}}");
        let text = format!("[{}]", (0..pairs).map(pair).collect::<Vec<_>>().join(","));
        group.bytes(text.len());
        group.function("plain", || {
            let mut machine = Machine::new(Mode::Document, Limits::default());
            let fed = machine.feed(text.as_bytes(), &mut |_| {});
            fed.and_then(|()| machine.finish(&mut |_| {})).is_ok()
        });
        group.function("fathom", || validate(text.as_bytes()).is_ok());
    });
}

main!(validation);
