//! As bench/lttng/ours.cpp, in Rust.

#[path = "../adapters.rs"]
mod adapters;
#[path = "../harness.rs"]
mod harness;

use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use harness::case;
use silverpoint::{async_begin, event, span};

/// What the tracepoints take as arguments.
struct Inputs {
    samples: [f32; 128],
    path: &'static str,
}

static INPUTS: LazyLock<Inputs> = LazyLock::new(|| Inputs {
    samples: std::array::from_fn(|i| 0.25 * i as f32),
    path: "/var/lib/silverpoint/data/frame.000", // 35 bytes
});

extern "C" fn nothing(_: u64, _: u64) {}

fn main() -> ExitCode {
    let mut cases = vec![
        case!("literal", |inputs, index, fraction, id| event!(target: "bench", "literal")),
        case!(
            "three.fields",
            |inputs, index, fraction, id| event!(target: "bench", "three", index, fraction, id)
        ),
        case!(
            "text.fields",
            |inputs, index, fraction, id| event!(target: "bench", "text", id, fraction, path = inputs.path)
        ),
        case!(
            "floats.fields",
            |inputs, index, fraction, id| event!(target: "bench", "floats", values = inputs.samples)
        ),
        case!("span", |inputs, index, fraction, id| drop(span!(target: "bench", "span", id))),
        case!("async.begin", |inputs, index, fraction, id| async_begin!(target: "bench", "async", id)),
    ];
    cases.extend(adapters::cases());
    adapters::begin();
    // As bench/lttng/gate.h.
    if let Some(gate) = std::env::var_os("BENCH_LTTNG_GATE") {
        let asked = std::env::args().nth(2);
        cases.iter().filter(|case| Some(case.name) == asked.as_deref()).for_each(|case| (case.burst)(1, 0));
        while !Path::new(&gate).exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let name = "silverpoint-rust and LTTng-UST";
    let status = harness::run(name, &cases, nothing, nothing, None, None, None);
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
