//! Records every kind of value and of tracepoint from Rust. Then it makes as many plain records as its first
//! argument says, with as many milliseconds before each as the second says. For the trace files that are kept
//! (docs/format-versions.md).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use silverpoint::{
    Bytes, Trace, async_begin, async_end, async_instant, counter, debug, error, event, fatal, flow_begin,
    flow_end, flow_step, info, instant, link, scope, span, trace, warn,
};

#[derive(Trace)]
struct Point {
    x: i32,
    y: i16,
}

#[derive(Trace)]
struct Path {
    name: &'static str,
    points: Vec<Point>,
    end: Option<Point>,
    marks: BTreeMap<&'static str, Point>,
    length: [f64; 2],
}

#[derive(Trace)]
#[allow(dead_code)]
enum Side {
    Buy = 3,
    Sell,
}

#[derive(Trace)]
enum Shape {
    Empty,
    Circle { radius: f32 },
    Line((u8, u8), Side),
}

fn main() {
    scalars();
    texts();
    containers();
    kinds(42);
    let number = |at| std::env::args().nth(at).and_then(|word| word.parse().ok()).unwrap_or(0_u64);
    let (more, pause) = (number(1), Duration::from_millis(number(2)));
    for number in 0..more {
        std::thread::sleep(pause);
        info!("number {} of {}", number, more);
    }
}

fn scalars() {
    info!("{} {} {} {} {}", i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN);
    info!("{} {} {:#x} {} {}", u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX);
    info!("{} {:.3} {} {}", 0.1_f32, 0.1_f64, f64::INFINITY, f64::NAN);
    info!("{} {} {} {}", true, '\u{1F980}', (), 0x1000 as *const u8);
    info!("{} {}", Duration::from_micros(5), UNIX_EPOCH + Duration::from_secs(1_795_201_331));
}

fn texts() {
    info!("{} {} {}", "text", String::from("owned"), "with\n\"quotes\" and \0 zero");
    info!("{} {}", Bytes(b"\x00\xffbytes"), std::path::Path::new("/usr/include"));
    let address = std::net::Ipv4Addr::LOCALHOST;
    info!(%address, "displayed");
    info!(?address, "debugged");
    info!("{}", "x".repeat(300));
}

fn containers() {
    let marks = BTreeMap::from([("home", Point { x: 5, y: 6 })]);
    let points = vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    let path = Path { name: "route", points, end: None, marks, length: [0.5, 2.5] };
    info!("{} {} {}", vec![3, 1, 4], [1.5_f32, 2.5], &["a", "b"][..]);
    info!("{} {}", BTreeSet::from(["a", "b"]), BTreeMap::from([(1, vec!["one"]), (2, vec![])]));
    info!("{} {} {}", (1, "two", 3.0), Some(7), None::<i32>);
    info!("{} {}", Ok::<u8, String>(1), Err::<u8, String>("no".into()));
    info!("{} {} {}", Shape::Empty, Shape::Circle { radius: 1.5 }, Shape::Line((1, 2), Side::Sell));
    event!("path", path);
}

fn kinds(id: u64) {
    let _function = scope!();
    let _outer = span!("outer", id);
    fatal!("fatal {}", 1);
    error!("error {}", 2);
    warn!(user = 7, "warning {}", 3);
    debug!(target: "kept::other", "debug {}", 4);
    trace!("trace {}", 5);
    counter!("queue.length", 12_u32);
    instant!("market.closed");
    async_begin!("fetch", id, "url");
    async_instant!("fetch", id, 1);
    async_end!("fetch", id);
    flow_begin!("order", id);
    flow_step!("order", id);
    flow_end!("order", id);
    link!(id, id + 1);
}
