//! The driver of `bench/run --part tracing`: the same lines of `tracing` in front of each backend, which `BENCH_BACKEND` names; fastrace, slog, ticklog and ATrace by their own.
//! What a rival has received is counted, and the ids in it are added up, and reported on standard error: `seen=N sum=N`.

mod atracing;
mod bare;
#[path = "../../rust/src/harness.rs"]
mod harness;
mod loggers;
mod rivals;

use std::process::ExitCode;

use tracing::{info, info_span, trace, trace_span};

/// Makes the two loops of a case, with and without the counter read around each call, and the `Case` that names them.
#[macro_export]
macro_rules! case {
    ($name:literal, |$index:ident, $fraction:ident, $id:ident| $tracepoint:expr) => {{
        #[inline(never)]
        extern "C" fn burst(n: u64, first_id: u64) {
            let (mut $index, mut $fraction) = (0_i64, 0.125_f64);
            for $id in first_id..first_id + n {
                $tracepoint;
                let _ = ($index, $fraction, $id);
                $index += 1;
                $fraction += 1.0;
            }
        }
        extern "C" fn singles(n: u64, first_id: u64, elapsed_ticks: *mut u32) {
            // SAFETY: the harness gives a buffer of n entries that nobody else uses meanwhile.
            let elapsed_ticks = unsafe { std::slice::from_raw_parts_mut(elapsed_ticks, n as usize) };
            let (mut $index, mut $fraction) = (0_i64, 0.125_f64);
            for ($id, elapsed) in (first_id..).zip(elapsed_ticks) {
                let before = $crate::harness::ticks();
                $tracepoint;
                *elapsed = ($crate::harness::ticks() - before) as u32;
                let _ = ($index, $fraction, $id);
                $index += 1;
                $fraction += 1.0;
            }
        }
        $crate::harness::Case { name: $name, burst, singles }
    }};
}

/// The same loop with nothing in it and with an event that is off. The empty assembly keeps the compiler from dropping the loop.
#[macro_export]
macro_rules! bare_loop {
    ($name:ident, |$id:ident| $tracepoint:expr) => {
        #[inline(never)]
        pub extern "C" fn $name(n: u64, first_id: u64) {
            for $id in first_id..first_id + n {
                // SAFETY: no instruction at all; the compiler must only think that memory may change.
                unsafe { core::arch::asm!("/* {} */", in(reg) $id, options(nostack, preserves_flags)) };
                $tracepoint;
            }
        }
    };
}
bare_loop!(empty, |id| {});
bare_loop!(disabled, |id| trace!(target: "bench", id, "bench disabled"));

// The lines of the cases, at a level that is off.
bare_loop!(disabled_event, |id| trace!(target: "bench", "bench event"));
bare_loop!(disabled_event3, |id| trace!(target: "bench", index = 7_i64, fraction = 0.125, id));
bare_loop!(disabled_span, |id| {
    let _span = trace_span!(target: "bench", "bench.span").entered();
});
bare_loop!(disabled_span2, |id| {
    let _span = trace_span!(target: "bench", "bench.span2", fraction = 0.125, id).entered();
});

/// The line of mode `disabled`: that of a case, if `BENCH_LOOP` names one.
fn disabled_line() -> harness::Burst {
    match std::env::var("BENCH_LOOP").as_deref() {
        Ok("event") => disabled_event,
        Ok("event3") => disabled_event3,
        Ok("span") => disabled_span,
        Ok("span2") => disabled_span2,
        Ok(other) => panic!("no line {other}"),
        Err(_) => disabled,
    }
}

pub extern "C" fn prepare_thread() {}

fn main() -> ExitCode {
    let backend = std::env::var("BENCH_BACKEND").expect("BENCH_BACKEND names the backend");
    if backend == "atrace" {
        return ExitCode::from(u8::try_from(atracing::run()).unwrap_or(1));
    }
    let finish = rivals::begin(&backend);
    let cases = match backend.as_str() {
        "fastrace" => vec![
            case!("event3", |index, fraction, id| rivals::fastrace_event(index, fraction, id)),
            case!("span", |index, fraction, id| rivals::fastrace_span()),
        ],
        "slog" => vec![
            case!("event", |index, fraction, id| loggers::slog_event()),
            case!("event3", |index, fraction, id| loggers::slog_event3(index, fraction, id)),
        ],
        "ticklog" => vec![
            case!("event", |index, fraction, id| ticklog::info!("bench event")),
            case!("event3", |index, fraction, id| ticklog::info!("bench {} {} {}", index, fraction, id)),
        ],
        _ => vec![
            case!("event", |index, fraction, id| info!(target: "bench", "bench event")),
            case!("event3", |index, fraction, id| info!(target: "bench", index, fraction, id)),
            case!("span", |index, fraction, id| {
                let _span = info_span!(target: "bench", "bench.span").entered();
            }),
            case!("span2", |index, fraction, id| {
                let _span = info_span!(target: "bench", "bench.span2", fraction, id).entered();
            }),
        ],
    };
    let flush = rivals::flush_of(&backend);
    let status = harness::run(
        &format!("tracing-{backend}"),
        &cases,
        empty,
        disabled_line(),
        Some(prepare_thread),
        None,
        flush,
    );
    finish();
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
