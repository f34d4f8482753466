//! As `shop.cpp`, in Rust. Prints how many arguments were evaluated.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use silverpoint::{
    Hex, Secret, Trace, async_span, counter, enabled, event, flow_begin, flow_end, flow_step, info, instant,
    scope, span, warn,
};

#[derive(Trace)]
struct Order {
    id: i32,
    price: f64,
    symbol: String,
}

#[derive(Clone, Copy, Trace)]
#[repr(i16)]
enum Side {
    Buy = -3,
    #[allow(dead_code)]
    Sell,
}

#[derive(Trace)]
enum Shape {
    Dot,
    Named { name: String, corners: Vec<u8> },
}

static EVALUATED: AtomicU32 = AtomicU32::new(0);

fn count() -> u32 {
    EVALUATED.fetch_add(1, Ordering::Relaxed) + 1
}

/// Counts how often it is formatted.
struct Shown(i32);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        count();
        write!(f, "shown {}", self.0)
    }
}

fn instance<T: Trace>(value: T) {
    event!("instance", value);
}

fn in_scope() {
    let _scope = scope!();
}

#[silverpoint::instrument(level = "info")]
fn instrumented(depth: i32) -> i32 {
    depth + 1
}

fn run(i: i32) {
    let text = format!("text {i}");
    let order = Order { id: i, price: f64::from(i) / 4.0, symbol: text.clone() };
    let floats = vec![0.5f32; i as usize];
    let name = (i % 2 == 0).then_some("even");

    info!(target: "net::shop", "evaluated {}", count());
    info!(target: "net::shop", "order {} at {:.2}", i, f64::from(i) / 8.0);
    info!(target: "net::shop", name, "{} of {{it}}, {text}", i);
    event!(target: "net::shop", "numbers.small", -i as i8, (200 + i) as u8, (-300 - i) as i16, (60000 + i) as u16, i % 2 == 0, 'x');
    event!(target: "net::shop", "numbers.large", -i, 4_000_000_000 + i as u32, i64::MIN + i64::from(i), u64::MAX, i as f32, std::ptr::from_ref(&EVALUATED));
    event!(target: "net::shop", "order.filled", order, Side::Buy);
    event!(target: "net::shop", "optional", (i % 2 == 0).then_some(i), (i, 7u8), Duration::from_micros(i as u64));
    event!(target: "net::shop", "lists", floats, Hex(i), Secret(i), [i as u16; 3]);
    event!(target: "net::shop", "wide", i128::from(-i));
    // What has no form as numbers: where it is.
    event!(target: "net::shop", "others", BTreeMap::from([(text.as_str(), i)]), vec![text.as_str(); 2], last = i);
    let shape = if i % 2 == 0 {
        Shape::Dot
    } else {
        Shape::Named { name: text.clone(), corners: vec![1; i as usize] }
    };
    let words = (i % 2 == 0).then(|| vec![text.as_str(); i as usize]);
    event!(target: "net::shop", "passed.over", shape, words, pairs = [(i, text.as_str()); 2], last = i);
    event!(target: "net::shop", "a name that is longer than that of a probe may be: it is cut", i);
    event!(target: "net::shop", "shown", %Shown(i));
    warn!(target: "Other Category", "slow: {} ms", i);
    counter!(target: "net::shop", "queue.depth", i);
    drop(async_span!(target: "net::shop", "fetch", text));
    flow_begin!(target: "net::shop", "flow", i);
    flow_step!(target: "net::shop", "flow", i);
    flow_end!(target: "net::shop", "flow", i);
    event!(target: "net::shop", every: 2, "9.limited", i);
    event!(target: "net::shop", "many", i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    instance(i as u8);
    instance(text.as_str());
    {
        let _load = span!(target: "net::shop", "load", i);
        if enabled!(target: "net::shop", Debug) {
            instant!(target: "net::shop", "within");
        }
    }
    in_scope();
    instrumented(i);
}

fn main() {
    let times = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(0);
    (0..times).for_each(run);
    println!("{} evaluated", EVALUATED.load(Ordering::Relaxed));
}
