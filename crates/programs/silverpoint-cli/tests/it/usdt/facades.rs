//! What programs write with `tracing` and `log`, while nothing is on: N rounds. The second argument `layer` records by
//! the layer instead of the subscriber. Prints how many arguments were evaluated.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use tracing_subscriber::layer::SubscriberExt as _;

static EVALUATED: AtomicU32 = AtomicU32::new(0);

fn count() -> u32 {
    EVALUATED.fetch_add(1, Ordering::Relaxed) + 1
}

/// Counts how often it is formatted.
struct Shown(u32);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        count();
        write!(f, "shown {}", self.0)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds: u32 = arguments.next().unwrap().parse().unwrap();
    if arguments.next().is_some() {
        let registry = tracing_subscriber::registry().with(silverpoint_tracing::layer());
        tracing::subscriber::set_global_default(registry).unwrap();
    } else {
        silverpoint_tracing::init();
    }
    silverpoint_log::init();
    for i in 0..rounds {
        let _span = tracing::error_span!("within", i).entered();
        tracing::debug!(target: "shop", i, of = "a \"b\"", "order {}", Shown(i));
        tracing::event!(name: "named", target: "shop::named", tracing::Level::ERROR, number = { count(); i });
        log::trace!(target: "net", user = i, peer = "10.0.0.1"; "slow {}", Shown(i));
        log::warn!(target: "long", "{}", "\u{fc}".repeat(600));
    }
    println!("{} evaluated", EVALUATED.load(Ordering::Relaxed));
}
