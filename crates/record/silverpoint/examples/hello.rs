//! The smallest use: `SILVERPOINT_FILTER=debug cargo run --example hello`, or under `silverpoint run --`.

use silverpoint::{Trace, counter, event, info, span, warn};

#[derive(Trace)]
struct Order {
    id: u64,
    price: f64,
    side: Side,
}

#[derive(Trace)]
enum Side {
    Buy,
    Sell,
}

fn main() {
    info!("hello from {}", std::process::id());
    let _run = span!("run", std::env::args().count());
    for (id, side) in [(1, Side::Buy), (2, Side::Sell)] {
        let order = Order { id, price: 9.5 * id as f64, side };
        info!(order, "order {} at {:.2}", order.id, order.price);
        event!("order.filled", order.id, venue = "XETR");
        counter!("orders", id);
    }
    let note = "that is all";
    warn!(target: "example", "{note}");
}
