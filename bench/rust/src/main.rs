//! The driver of the Rust frontend: the tracepoints of the suite, each in a loop of its own, as in bench/cpp/driver.cpp.

mod adapters;
mod arguments;
mod harness;

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::process::ExitCode;
use std::sync::LazyLock;

use harness::{Switching, case};
use silverpoint::{enabled, info, trace};

/// What the tracepoints take as arguments.
struct Inputs {
    samples: [f32; 128],
    counts: BTreeMap<String, i32>,
    path: String,
}

static INPUTS: LazyLock<Inputs> = LazyLock::new(|| Inputs {
    samples: std::array::from_fn(|i| 0.25 * i as f32),
    counts: [("alpha", 1), ("beta", 20), ("gamma", 300)].map(|(name, count)| (name.to_owned(), count)).into(),
    path: "/var/lib/silverpoint/data/frame.000".to_owned(), // 35 bytes
});

/// The same loop with nothing in it and with a tracepoint that is off (the runner's filter leaves trace out). The empty assembly keeps
/// the compiler from dropping the loop, and stands in both.
macro_rules! bare_loop {
    ($name:ident, |$inputs:ident, $id:ident| $tracepoint:expr) => {
        #[inline(never)]
        extern "C" fn $name(n: u64, first_id: u64) {
            let $inputs = &*INPUTS;
            for $id in first_id..first_id + n {
                // SAFETY: no instruction at all; the compiler must only think that memory may change.
                unsafe { core::arch::asm!("/* {} */", in(reg) $id, options(nostack, preserves_flags)) };
                $tracepoint;
                let _ = $inputs;
            }
        }
    };
}
bare_loop!(empty, |inputs, id| {});
bare_loop!(disabled, |inputs, id| trace!(target: "bench", "bench disabled {} {}", id, inputs.path));

#[inline(never)]
extern "C" fn is_on() -> c_int {
    enabled!(target: "bench", Trace).into()
}

#[inline(never)]
extern "C" fn switched(id: u64) -> c_int {
    let mut evaluated = 0;
    trace!(target: "bench", "bench switched {}", {
        evaluated = 1;
        id
    });
    evaluated
}

extern "C" fn prepare_thread() {
    silverpoint::prepare_thread();
}

fn main() -> ExitCode {
    let mut cases = vec![
        case!("literal", |inputs, index, fraction, id| info!(target: "bench", "bench literal")),
        case!(
            "three",
            |inputs, index, fraction, id| info!(target: "bench", "bench three {} {} {}", index, fraction, id)
        ),
        case!(
            "text",
            |inputs, index, fraction, id| info!(target: "bench", "bench text {} {} {}", id, fraction, inputs.path)
        ),
        case!("map", |inputs, index, fraction, id| info!(
            target: "bench",
            "bench map {} {} {} {}",
            id,
            index,
            fraction,
            inputs.counts
        )),
        case!(
            "floats",
            |inputs, index, fraction, id| info!(target: "bench", "bench floats {}", inputs.samples)
        ),
    ];
    cases.extend(arguments::cases());
    cases.extend(adapters::cases());
    adapters::begin();
    let status = harness::run(
        "silverpoint-rust",
        &cases,
        empty,
        disabled,
        Some(prepare_thread),
        Some(Switching { is_on, switched }),
        None,
    );
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
