//! As the tests' `lttng/atrace.cpp`, in Rust: calls of ATrace that a system tracer and the ring both record. Once to
//! make them known, then N times behind a line of input. With `ticks` a few for each line of input, with `rounds`
//! all.

use std::env::args;
use std::io::{Read, stdin};

use silverpoint_atrace::{self as atrace, Tag};

fn one(i: i32) {
    let _draw = atrace::scope(Tag::APP, "draw");
    atrace::int64(Tag::APP, "frame", i64::from(i) << 33);
    atrace::async_begin(Tag::APP, "upload", i);
    atrace::track_begin(Tag::APP, "track", "part", i);
    atrace::begin(Tag::APP, "a name of more than sixteen bytes");
    atrace::instant(Tag::APP, "point");
    atrace::end(Tag::APP);
    atrace::track_instant(Tag::APP, "track", "on it");
    atrace::track_end(Tag::APP, "track", i);
    atrace::async_end(Tag::APP, "upload", i);
    drop(atrace::async_scope(Tag::APP, "stored"));
}

fn main() {
    let first = args().nth(1).unwrap_or_default();
    if first == "ticks" {
        for _ in stdin().lines() {
            let outer = atrace::scope(Tag::APP, "outer");
            atrace::instant(Tag::APP, "tick");
            drop(outer);
            println!("done");
        }
        return;
    }
    if first == "rounds" {
        for (round, _) in (0..).zip(stdin().lines()) {
            one(round);
            atrace::instant(Tag::APP, "last");
            println!("done");
        }
        return;
    }
    one(0);
    if stdin().read(&mut [0]).is_ok_and(|count| count == 0) {
        std::process::exit(1);
    }
    (1..=first.parse().unwrap_or(3)).for_each(one);
}
