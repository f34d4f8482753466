//! As bench/lttng/ours.cpp, in Rust.

#[path = "../harness.rs"]
mod harness;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use harness::Case;
use silverpoint::event;

/// What the tracepoints take as arguments.
struct Inputs {
    samples: [f32; 128],
    path: &'static str,
}

/// Makes the two loops of a case, with and without the counter read around each call, and the `Case` that names them.
macro_rules! case {
    ($name:literal, |$inputs:ident, $index:ident, $fraction:ident, $id:ident| $tracepoint:expr) => {{
        #[inline(never)]
        extern "C" fn burst(n: u64, first_id: u64) {
            let $inputs = inputs();
            let mut $fraction = 0.125_f64;
            let mut $index = 0_i32;
            for $id in first_id..first_id + n {
                $tracepoint;
                let _ = (&$inputs, $index, $fraction, $id);
                $fraction += 1.0;
                $index = $index.wrapping_add(1);
            }
        }
        #[inline(never)]
        extern "C" fn singles(n: u64, first_id: u64, elapsed_ticks: *mut u32) {
            // SAFETY: the harness gives a buffer of n entries that nobody else uses meanwhile.
            let elapsed_ticks = unsafe { std::slice::from_raw_parts_mut(elapsed_ticks, n as usize) };
            let $inputs = inputs();
            let mut $fraction = 0.125_f64;
            let mut $index = 0_i32;
            for ($id, elapsed) in (first_id..).zip(elapsed_ticks) {
                let before = harness::ticks();
                $tracepoint;
                *elapsed = (harness::ticks() - before) as u32;
                let _ = (&$inputs, $index, $fraction, $id);
                $fraction += 1.0;
                $index = $index.wrapping_add(1);
            }
        }
        Case { name: $name, burst, singles }
    }};
}

fn inputs() -> Inputs {
    let path = "/var/lib/silverpoint/data/frame.000"; // 35 bytes
    std::hint::black_box(Inputs { samples: std::array::from_fn(|i| 0.25 * i as f32), path })
}

extern "C" fn nothing(_: u64, _: u64) {}

fn main() -> ExitCode {
    let cases = [
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
    ];
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
