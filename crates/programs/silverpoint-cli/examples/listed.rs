//! A program with sites of all sorts, each of which it executes once: their list must be the same without running it.

use std::fmt::Debug;
use std::task::{Context, Waker};
use std::time::Duration;

use silverpoint::{
    Trace, async_begin, async_end, async_instant, async_span, counter, debug, enabled, error, event, fatal,
    flow_begin, flow_end, flow_step, info, instant, instrument, link, new_id, scope, span, trace, warn,
};

#[derive(Trace)]
struct Order {
    id: u64,
    price: f64,
    note: Option<&'static str>,
}

#[derive(Trace)]
enum Side {
    Buy,
    #[trace(rename = "a b|c,ä")]
    Sell,
}

struct Pump<T>(T);

impl<T: Trace> Pump<T> {
    fn start(&self) {
        info!("start {}", self.0);
        let later = || warn!(target: "pump", "in a closure {}", self.0);
        later();
    }
}

struct Held<'a, const N: usize, T>(&'a [T; N]);

impl<'a, const N: usize, T: Trace> Held<'a, N, T> {
    fn hold(&self) {
        info!("hold {}", self.0.len());
    }
}

trait Run {
    fn run(&self);
    fn run_by_default(&self) {
        debug!("by default");
    }
}

impl Run for Pump<u8> {
    fn run(&self) {
        let _scope = scope!();
        debug!("run");
    }
}

impl<T: Trace> Run for Vec<Pump<T>> {
    fn run(&self) {
        debug!("run {} {}", self.len(), self[0].0);
    }
}

impl<const N: usize> Run for &Pump<[u8; N]> {
    fn run(&self) {
        debug!("by reference {:?}", self.0);
    }
}

fn generic<T: Trace + Debug>(value: T) {
    info!(value = value, ?value, "generic {{}}");
}

fn texts() {
    let (name, number) = ("ada", 7);
    trace!("plain");
    debug!("{name} {0:>5} {number:#x} {0}", 3u8);
    info!("{:.2} {:.3e} {:08.3}", 1.5f32, 2.5f64, 3.5);
    warn!("{1} {0}", -1i128, u128::MAX);
    error!(target: "net::tcp", %name, number, "fields");
    fatal!("tabs\tand \"quotes\" and ünïcödé {}", 'c');
    info!(every: 2, "limited {}", number);
    info!(per: Duration::from_secs(1), "limited too");
    let order = Order { id: 1, price: 2.5, note: None };
    info!("{} {}", order, [Side::Buy, Side::Sell]);
    info!("{}", vec![(1u8, "a", Some(2.5))]);
}

fn kinds() {
    event!("order.filled", 7, venue = "XETR");
    counter!("queue", 17);
    instant!("frame");
    let _span = span!("load", path = "/tmp");
    let (from, to) = (new_id(), new_id());
    async_begin!("fetch", from, url = "x");
    async_instant!("fetch", from, status = 200);
    async_end!("fetch", from);
    // Polled, so that there is a stretch of it: that is a site of its own.
    let polled = std::pin::pin!(async_span!(target: "net", "held", size = 3).with(async {}));
    assert!(polled.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    flow_begin!("order", to);
    flow_step!("order", to);
    flow_end!("order", to);
    link!(from, to);
    assert!(enabled!(target: "asked", Debug));
}

#[instrument(ret)]
fn instrumented(number: u8) -> u8 {
    number + 1
}

impl<T: Trace> Pump<T> {
    #[instrument(level = "info", name = "pump.all", skip_all)]
    fn all(&self) {}
}

/// Two sites at one place.
macro_rules! both {
    ($first:literal, $second:literal) => {{
        info!($first);
        info!($second, 1u8);
    }};
}

fn main() {
    texts();
    kinds();
    both!("one", "other {}");
    Pump(3u16).start();
    Pump("text").start();
    Pump(3u8).run();
    Pump(3u8).run_by_default();
    vec![Pump(2.5)].run();
    Held(&[1u8, 2]).hold();
    Run::run(&&Pump([1u8; 2]));
    instrumented(1);
    Pump(1u8).all();
    generic(1u8);
    generic("x");
    generic(Some(2i64));
    // Longer than what an entry of the list holds whole.
    info!(
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    );
}
