//! Calls of ATrace: N rounds. Prints how many names were formatted.

use std::cell::Cell;

use silverpoint_atrace::{self as atrace, Tag, traced};

#[traced(Tag::VIEW)]
fn draw(i: i32) {
    atrace::int(Tag::VIEW, "frame", -i);
}

fn main() {
    let rounds: i32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let formatted = Cell::new(0);
    let format = |i: i32| {
        formatted.set(formatted.get() + 1);
        i
    };
    for i in 0..rounds {
        atrace::begin(Tag::APP, "outer");
        atrace::async_begin(Tag::APP, "upload", i);
        atrace::track_begin(Tag::NETWORK, "track", "part", i);
        draw(i);
        {
            atrace::atrace!("frame {}", format(i));
            atrace::int64(Tag::APP, "large", i64::MIN + i64::from(i));
        }
        atrace::instant(Tag::APP, "point");
        atrace::track_instant(Tag::NETWORK, "track", "on it");
        atrace::track_end(Tag::NETWORK, "track", i);
        atrace::async_end(Tag::APP, "upload", i);
        drop(atrace::async_scope(Tag::APP, "stored"));
        atrace::end(Tag::APP);
    }
    println!("{} formatted", formatted.get());
}
