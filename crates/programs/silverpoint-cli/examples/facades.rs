//! As `shop.rs`, with what programs write by `tracing` and `log`: LTTng and the ring both record it. A few rounds make
//! it known; N follow behind a line of input and an event `go`. The first argument is N, `fork`, or `ticks`, `log`,
//! `apart` or `rounds` with events for each line of input.

use std::cell::Cell;
use std::error::Error;
use std::io::{Error as IoError, ErrorKind};
use std::thread;

use tracing::field::Empty;
use tracing::{Span, debug, debug_span, info, info_span, trace, trace_span, warn};

/// Before the line of input. Spans that are entered again have ids from the second one on. LTTng knows an event
/// from shortly after its first execution.
const ROUNDS: i64 = 4;

fn one(i: i64) {
    let text = format!("text \"{i}\" \u{fc}");
    let odd = i % 2 != 0;
    info!(name: "numbers", target: "shop", i, large = i << 40, share = i as f64 / 4.0);
    info!(name: "values", target: "shop", text, odd, wide = u128::MAX - i as u128, low = i128::MIN + i128::from(i));
    trace!(name: "bytes", target: "shop", bytes = text.as_bytes());
    info!(target: "shop", i, "order {} of {text}", i);
    debug!(target: "shop", list = ?vec![i, -i], shown = %text, "beside");
    let maybe = odd.then_some(i);
    warn!(name: "maybe", target: "shop", maybe, last = 1);
    let failed = IoError::new(ErrorKind::NotFound, text.as_str());
    info!(name: "failed", target: "shop", error = &failed as &(dyn Error + 'static));
    drop(info_span!(target: "shop", "span", i, of = text).entered());
    let outer = info_span!(target: "shop", "outer", i).entered();
    trace_span!(target: "shop", "bare").in_scope(|| info!(name: "within", target: "shop", i));
    debug_span!(target: "shop", "words", i).in_scope(|| ());
    let later = info_span!(target: "shop", "later", i = Empty).entered();
    later.record("i", i);
    drop(later);
    let fetch = debug_span!(target: "shop", "fetch", text);
    fetch.in_scope(|| info!(name: "again", target: "shop", "first"));
    fetch.in_scope(|| ());
    info!(name: "of", target: "shop", parent: &fetch, i);
    let next = info_span!(target: "shop", parent: &fetch, "next", i);
    next.follows_from(&outer);
    thread::scope(|scope| _ = scope.spawn(move || next.in_scope(|| ())));
    drop(fetch);
    drop(outer);
    assert!(Span::current().is_none());
    log::info!(target: "shop", "a text");
    log::error!(target: "shop", "of {}", text);
    log::trace!(target: "shop", i, odd, text:% = text, maybe, share = i as f64 / 3.0; "pairs {i}");
    info!(name: "last", target: "shop", i);
}

/// As `shop.rs` does.
fn family() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    }
    let one = |who: &str| {
        info!(name: "parent or child", target: "shop", who);
        log::info!(target: "shop", who; "in log");
    };
    one("first");
    drop(info_span!(target: "shop", "span").entered());
    read_line();
    let span = info_span!(target: "shop", "span").entered();
    // SAFETY: the program's threads are asleep: those of LTTng's events, and the one that follows directives.
    let child = unsafe { fork() };
    drop(span);
    // Until LTTng knows the events of both: the test then removes the file.
    for _ in (0..6000).take_while(|i| *i < 100 || std::path::Path::new("unseen").exists()) {
        one(if child == 0 { "child" } else { "parent" });
        thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert!(child == 0 || (unsafe { waitpid(child, &mut status, 0) } == child && status == 0));
}

/// A span that the ring does not want, and an event in it that both want.
fn apart() {
    let parent = info_span!(target: "quiet", "parent");
    (0..2).for_each(|_| parent.in_scope(|| ()));
    info!(name: "child", target: "shop", parent: &parent, n = 1);
}

fn read_line() {
    let mut line = String::new();
    assert!(std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0));
}

fn for_each_line(tick: impl Fn()) {
    for _ in std::io::stdin().lines() {
        tick();
        println!("done");
    }
}

fn main() {
    silverpoint_tracing::init();
    silverpoint_log::init();
    let first = std::env::args().nth(1).unwrap_or_default();
    match first.as_str() {
        "fork" => return family(),
        "ticks" => return for_each_line(|| info!(name: "tick", target: "shop", odd = true)),
        "apart" => return for_each_line(apart),
        "rounds" => {
            let round = Cell::new(0);
            return for_each_line(|| one(round.replace(round.get() ^ 1)));
        }
        "log" => return for_each_line(|| log::info!(target: "shop", "tick")),
        _ => {}
    }
    let times = first.parse().unwrap_or(3);
    for round in 0..=ROUNDS {
        if round > 0 {
            // Both combinations of fields.
            one(round % 2);
        }
        if round == ROUNDS {
            info!(name: "ready", target: "shop", "the last to be made known");
            read_line();
        }
        if round == 0 || round == ROUNDS {
            info!(name: "go", target: "shop", times);
        }
    }
    (1..=times).for_each(one);
}
