//! The tracepoints of `bench/run --part arguments`: one kind of argument each, by itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use silverpoint::{Trace, counter, event, info, span};

use crate::harness::{Case, case};

#[derive(Trace)]
enum Side {
    Buy,
    Sell,
}

#[derive(Trace)]
struct Order {
    id: i32,
    price: f64,
    is_open: bool,
}

struct Inputs {
    text8: String,
    text35: String,
    text256: String,
    floats: Vec<f32>,
    map: BTreeMap<String, i32>,
}

static INPUTS: LazyLock<Inputs> = LazyLock::new(|| Inputs {
    text8: "frame.01".to_owned(),
    text35: "/var/lib/silverpoint/data/frame.000".to_owned(),
    text256: "x".repeat(256),
    floats: vec![0.25; 128],
    map: [("alpha", 1), ("beta", 20), ("gamma", 300)].map(|(name, count)| (name.to_owned(), count)).into(),
});

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        case!("argument.none", |inputs, index, fraction, id| info!(target: "bench", "bench none")),
        case!("argument.u64", |inputs, index, fraction, id| info!(target: "bench", "bench u64 {}", id)),
        case!("argument.f64", |inputs, index, fraction, id| info!(target: "bench", "bench f64 {}", fraction)),
        case!(
            "argument.bool",
            |inputs, index, fraction, id| info!(target: "bench", "bench bool {}", index % 3 == 0)
        ),
        case!(
            "argument.enum",
            |inputs, index, fraction, id| info!(target: "bench", "bench enum {}", if index & 1 == 0 { Side::Buy } else { Side::Sell })
        ),
        case!(
            "argument.text8",
            |inputs, index, fraction, id| info!(target: "bench", "bench text8 {}", inputs.text8)
        ),
        case!(
            "argument.text35",
            |inputs, index, fraction, id| info!(target: "bench", "bench text35 {}", inputs.text35)
        ),
        case!(
            "argument.text256",
            |inputs, index, fraction, id| info!(target: "bench", "bench text256 {}", inputs.text256)
        ),
        case!(
            "argument.view35",
            |inputs, index, fraction, id| info!(target: "bench", "bench view35 {}", inputs.text35.as_str())
        ),
        case!(
            "argument.floats128",
            |inputs, index, fraction, id| info!(target: "bench", "bench floats128 {}", inputs.floats)
        ),
        case!(
            "argument.map3",
            |inputs, index, fraction, id| info!(target: "bench", "bench map3 {}", inputs.map)
        ),
        case!(
            "argument.optional",
            |inputs, index, fraction, id| info!(target: "bench", "bench optional {}", Some(fraction))
        ),
        case!(
            "argument.pair",
            |inputs, index, fraction, id| info!(target: "bench", "bench pair {}", (index, fraction))
        ),
        case!(
            "argument.struct3",
            |inputs, index, fraction, id| info!(target: "bench", "bench struct3 {}", Order { id: index, price: fraction, is_open: true })
        ),
        case!(
            "argument.event",
            |inputs, index, fraction, id| event!(target: "bench", "bench.event", fraction)
        ),
        case!(
            "argument.counter",
            |inputs, index, fraction, id| counter!(target: "bench", "bench.counter", fraction)
        ),
        case!("argument.span", |inputs, index, fraction, id| {
            let _span = span!(target: "bench", "bench.span");
        }),
        case!(
            "argument.display",
            |inputs, index, fraction, id| info!(target: "bench", %index, "bench display")
        ),
    ]
}
