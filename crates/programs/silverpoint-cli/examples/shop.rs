//! As the tests' `lttng/shop.cpp`, in Rust. LTTng and the ring both record it: once to make it known, then N times behind a line of input.
//! The second argument is a shared object in C++, `lttng/part.cpp`, which records, too. With `fork` it forks instead.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};

use silverpoint::{
    Trace, async_span, context, counter, debug, enabled, event, flow_begin, info, instant, span, warn,
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Trace)]
enum Side {
    Buy = 1,
    Sell = 2,
}

#[derive(Trace)]
struct Point {
    x: i32,
    y: f64,
    name: String,
}

#[derive(Trace)]
enum Shape {
    Dot,
    Circle(f64),
    Named { name: String, corners: u8 },
}

/// Shared by its instantiations: an event each.
fn generic<T: Trace>(value: T) {
    event!("generic", value);
}

#[silverpoint::instrument(level = "info")]
fn instrumented(depth: i32) -> i32 {
    depth + 1
}

fn one(i: i32) {
    let text = format!("text \"{i}\" \u{fc}");
    let odd = i % 2 != 0;
    let side = if odd { Side::Buy } else { Side::Sell };
    let maybe = odd.then_some(f64::from(i) / 4.0);
    let word = odd.then_some(text.as_str());
    let counts = vec![-i; (i % 4).unsigned_abs() as usize];
    let samples = [1.5f32, i as f32 / 8.0];
    let long: Vec<f32> = (0..128).map(|n| n as f32 * 0.25).collect();
    let words = vec![String::new(), text.clone()];
    let map = BTreeMap::from([("a", i), ("b\"c", -i)]);
    let point = Point { x: i, y: f64::from(i) / 2.0, name: text.clone() };
    let shape = match i % 3 {
        0 => Shape::Dot,
        1 => Shape::Circle(f64::from(i)),
        _ => Shape::Named { name: text.clone(), corners: 3 },
    };
    info!("order {} at {:.2} of {}", i, f64::from(i) / 3.0, text);
    warn!(odd, "fields beside {}", text);
    debug!("formatted {:?} {}", format_args!("{i}"), side as i32);
    event!(
        "numbers",
        i,
        small = i as u8 as i8,
        unsigned = i as u16,
        large = i64::from(i) << 40,
        largest = u64::MAX - i as u64,
        wide = u128::MAX - i as u128
    );
    event!(
        "values",
        side,
        maybe,
        word,
        counts,
        samples,
        words,
        map,
        point,
        pair = (i, text.as_str()),
        c = '\u{fc}'
    );
    event!("items", shape, sides = BTreeMap::from([(side, i)]), unit = ());
    // More than a record on the stack has.
    event!("long", long, fixed = [i as f32; 160]);
    // A little less than what needs a record beside the stack, and a little more.
    event!("sized", i, sized = &*"\u{fc}".repeat(200 + i as usize % 100), negative = -i);
    event!("packed", [[i as f32; 160]; 2]);
    generic(i);
    generic(text.as_str());
    generic(odd);
    instant!("tick");
    counter!("depth", i);
    flow_begin!("flow", i as u64);
    let _span = span!("span", i);
    instrumented(i);
    drop(async_span!("fetch", i));
    {
        let _outer = context!(request = i, user = text, share = f64::from(i) / 8.0, parts = counts);
        let _inner = context!(user = "inner");
        event!("within", i);
    }
    assert!(enabled!(Info) || i == 0);
}

/// The function of the shared object.
fn loaded(path: &str) -> extern "C" fn(i32) {
    unsafe extern "C" {
        fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    const NOW: c_int = 2;
    let path = CString::new(path).unwrap();
    // SAFETY: texts that end with zero; the function has this type, and its object is never unloaded.
    unsafe {
        let library = dlopen(path.as_ptr(), NOW);
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        std::mem::transmute::<*mut c_void, extern "C" fn(i32)>(dlsym(library, c"one_more".as_ptr()))
    }
}

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
}

/// As the tests' `lttng/family.cpp`.
fn family() {
    let one = |who: &str| event!("parent or child", who);
    one("first");
    drop(span!("span"));
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    let span = span!("span");
    // SAFETY: the only thread of the program forks; that of LTTng's events is the library's matter.
    let child = unsafe { fork() };
    drop(span);
    // Until LTTng knows the events of both: the test then removes the file.
    for _ in (0..6000).take_while(|i| *i < 100 || std::path::Path::new("unseen").exists()) {
        one(if child == 0 { "child" } else { "parent" });
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert!(child == 0 || (unsafe { waitpid(child, &mut status, 0) } == child && status == 0));
}

/// One for each line of input. A question mark asks how often its argument was evaluated. A line `s` holds a span open
/// until the next line. From a line `g` on a child
/// obeys; the parent waits for its end. A line `o` makes another event.
fn ticks() {
    let evaluated = Cell::new(0);
    let count = || {
        evaluated.set(evaluated.get() + 1);
        evaluated.get()
    };
    let mut held = None;
    for line in std::io::stdin().lines() {
        drop(held.take());
        match &*line.unwrap() {
            "?" => println!("{}", evaluated.get()),
            "s" => held = Some(span!("sell")),
            // SAFETY: the only thread of the program forks, and waits.
            "g" => unsafe {
                let (child, mut status) = (fork(), 0);
                if child != 0 {
                    assert!(waitpid(child, &mut status, 0) == child && status == 0);
                    return;
                }
                println!("done");
                continue;
            },
            "o" => {
                instant!("other");
                println!("done");
                continue;
            }
            _ => {}
        }
        instant!("tick", evaluated = count());
        println!("done");
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("fork") => return family(),
        Some("ticks") => return ticks(),
        _ => {}
    }
    let more = std::env::args().nth(2).map(|path| loaded(&path));
    let one = |i| {
        one(i);
        if let Some(more) = more {
            more(i);
        }
    };
    let times = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(3);
    one(0);
    let mut line = String::new();
    assert!(std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0));
    for i in 1..=times {
        one(i);
    }
}
