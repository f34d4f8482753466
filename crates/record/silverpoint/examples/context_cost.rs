//! What a context costs, in nanoseconds: `SILVERPOINT_FILTER=info cargo run --release --example context_cost`. The medians of many bursts.

use std::time::Instant;

use silverpoint::{context, info};

const BURST: u64 = 20;
const BURSTS: usize = 20_000;

fn measure(what: &str, mut call: impl FnMut(u64)) {
    let mut all: Vec<f64> = (0..BURSTS)
        .map(|_| {
            let begin = Instant::now();
            (0..BURST).for_each(&mut call);
            begin.elapsed().as_nanos() as f64 / BURST as f64
        })
        .collect();
    all.sort_unstable_by(f64::total_cmp);
    println!("{what:40} {:6.1}", all[BURSTS / 2]);
}

fn main() {
    silverpoint::prepare_thread();
    for _ in 0..2 {
        measure("a tracepoint outside", |n| info!("number {}", n));
        {
            let _scope = context!(request = 7, user = "ada");
            measure("a tracepoint inside", |n| info!("number {}", n));
        }
        measure("entering and leaving", |n| drop(context!(request = n, user = "ada")));
        measure("entering, one tracepoint, leaving", |n| {
            let _scope = context!(request = n, user = "ada");
            info!("number {}", n);
        });
    }
}
