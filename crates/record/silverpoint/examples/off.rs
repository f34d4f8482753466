//! Every macro on a system where nothing is recorded: none evaluates an argument. `scripts/windows` runs it.

use silverpoint::{Trace, TraceContext};

#[derive(Trace)]
struct Point {
    x: i32,
}

/// What no tracepoint may call.
fn evaluated<T>(_: T) -> T {
    panic!("an argument was evaluated")
}

#[silverpoint::instrument]
fn instrumented(value: u32) -> u32 {
    value + 1
}

fn main() {
    silverpoint::trace!("{}", evaluated(1));
    silverpoint::debug!(value = evaluated(1.5), "a text that is in no program");
    silverpoint::info!("{} {:?}", evaluated("text"), evaluated(Some(2)));
    silverpoint::warn!(target: "other", %evaluated("shown"), "shown");
    silverpoint::error!(every: 10, "{}", evaluated(Point { x: 1 }).x);
    silverpoint::fatal!("{}", evaluated(Point { x: 1 }));
    silverpoint::debug_output!(evaluated("text"));
    silverpoint::event!("named", evaluated(1));
    silverpoint::counter!("counter", evaluated(1));
    silverpoint::instant!("instant", evaluated(1));
    silverpoint::async_begin!("async", evaluated(1));
    silverpoint::async_instant!("async", evaluated(1));
    silverpoint::async_end!("async", evaluated(1));
    silverpoint::flow_begin!("flow", evaluated(1));
    silverpoint::flow_step!("flow", evaluated(1));
    silverpoint::flow_end!("flow", evaluated(1));
    silverpoint::link!(evaluated(1), evaluated(2));
    let span = silverpoint::span!("span", evaluated(1));
    let scope = silverpoint::scope!();
    let async_span = silverpoint::async_span!("async span", evaluated(1));
    let context = silverpoint::context!(field = evaluated(1), other = %evaluated("shown"));
    assert!(!span.is_recorded() && !scope.is_recorded() && !context.is_recorded() && async_span.id() == 0);
    assert!(!silverpoint::enabled!(Fatal) && instrumented(1) == 2);
    silverpoint::prepare_thread();
    assert_ne!(silverpoint::new_id(), silverpoint::new_id());
    assert!(TraceContext::current().is_none() && silverpoint::Context::current().is_empty());
    assert!(!silverpoint::crash::install(&silverpoint::crash::Options::default()));
    println!("off");
}
