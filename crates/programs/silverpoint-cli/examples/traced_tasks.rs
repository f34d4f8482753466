//! A program whose spans and events come from `tracing`. Tasks of tokio move between threads, each with spans
//! within spans, and native events in them.
//!
//! Arguments: how many tasks; threads of the runtime. Without tasks it says the line of an event, and ends when that has been switched on.

use std::env;
use std::time::Duration;

use tracing::{Instrument as _, info, info_span, instrument};

#[instrument]
async fn fetch(number: u64) {
    tokio::task::yield_now().await;
    relay(number).await;
    silverpoint::event!("native inside", number);
}

/// A span of Silverpoint's own between two of `tracing`.
#[silverpoint::instrument]
async fn relay(number: u64) {
    step(number).await;
}

#[instrument(name = "step")]
async fn step(of: u64) {
    for _ in 0..of % 3 {
        tokio::task::yield_now().await;
    }
    info!(of, "in a step");
    info_span!("whole", of).in_scope(|| silverpoint::event!("native deep inside", of));
}

fn wait_for_a_line() {
    const LINE: u32 = line!() + 6;
    println!("{LINE}");
    let mut was_on = false;
    while !was_on {
        std::thread::sleep(Duration::from_millis(1));
        // Fields are evaluated when the line is on, and only then.
        tracing::trace!(is_on = std::mem::replace(&mut was_on, true), "wanted");
        tracing::trace!("other");
    }
}

fn main() {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let (tasks, threads) = (arguments.next().unwrap_or(100), arguments.next().unwrap_or(2));
    silverpoint_tracing::init();
    if tasks == 0 {
        return wait_for_a_line();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(usize::try_from(threads).expect("few"))
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        // Each a tree of its own, beside a span that is open here and is none of theirs.
        let starting = info_span!("starting");
        let tasks: Vec<_> = (0..tasks)
            .map(|number| tokio::spawn(fetch(number).instrument(info_span!(parent: None, "task", number))))
            .collect();
        let last = info_span!("last", number = 7);
        last.follows_from(&starting);
        for task in tasks {
            task.await.expect("it ends");
        }
        info!(parent: &starting, "names another");
    });
    println!("done");
}
