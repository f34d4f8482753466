//! How fast own types are read and written, beside serde: `speed RECORDS`. Each line is one JSON object; `bench/run --part convert` makes a table of them.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use silverpoint_bind::{Bind, CborSink, CborSource, JsonSink, JsonSource, copy};

#[derive(Bind, Serialize, Deserialize, Clone, Debug, PartialEq)]
enum Side {
    Buy,
    Sell,
}

#[derive(Bind, Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Bind, Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Order {
    id: u64,
    side: Side,
    price: f64,
    quantity: u32,
    symbol: String,
    note: Option<String>,
    tags: Vec<String>,
    at: Option<Point>,
}

fn orders(count: u64) -> Vec<Order> {
    let order = |id: u64| Order {
        id: id.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        side: if id % 3 == 0 { Side::Sell } else { Side::Buy },
        price: (id % 100_000) as f64 * 0.37,
        quantity: (id % 1000) as u32,
        symbol: format!("SYM{}", id % 500),
        note: (id % 4 == 0).then(|| "executed at \"market\" price".to_owned()),
        tags: vec!["retail".to_owned(), "limit".to_owned()],
        at: (id % 2 == 0).then_some(Point { x: id as i32 % 1920, y: -(id as i32 % 1080) }),
    };
    (0..count).map(order).collect()
}

/// CPU seconds of this process, as the kernel counts them.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) as f64 / 1e9
}

/// Prints the best of three, of a function that gives how many bytes it wrote or read.
fn measure(what: &str, who: &str, records: usize, mut work: impl FnMut() -> usize) {
    let (mut best, mut bytes) = (f64::MAX, 0);
    for _ in 0..3 {
        let before = cpu_seconds();
        bytes = black_box(work());
        best = best.min(cpu_seconds() - before);
    }
    println!(
        "{{\"what\":\"{what}\",\"who\":\"{who}\",\"records\":{records},\"bytes\":{bytes},\"cpu_seconds\":{best:.5}}}"
    );
}

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let orders = orders(count);
    let (ours, serde, ciborium) = ("silverpoint-bind", "serde_json", "ciborium");
    measure("write JSON", ours, orders.len(), || silverpoint_bind::to_json(&orders).len());
    measure("write JSON", serde, orders.len(), || serde_json::to_string(&orders).unwrap().len());
    let json = silverpoint_bind::to_json(&orders);
    let theirs = serde_json::to_string(&orders).unwrap();
    // The same values: each library reads what the other writes.
    assert_eq!(serde_json::from_str::<Vec<Order>>(&json).unwrap().len(), orders.len());
    assert_eq!(silverpoint_bind::from_json::<Vec<Order>>(theirs.as_bytes()).unwrap(), orders);
    measure("read JSON", ours, orders.len(), || {
        let read = silverpoint_bind::from_json::<Vec<Order>>(json.as_bytes()).unwrap();
        assert_eq!(black_box(read).len(), orders.len());
        json.len()
    });
    measure("read JSON", serde, orders.len(), || {
        let read = serde_json::from_slice::<Vec<Order>>(json.as_bytes()).unwrap();
        assert_eq!(black_box(read).len(), orders.len());
        json.len()
    });
    measure("write CBOR", ours, orders.len(), || silverpoint_bind::to_cbor(&orders).len());
    measure("write CBOR", ciborium, orders.len(), || {
        let mut out = Vec::new();
        ciborium::into_writer(&orders, &mut out).unwrap();
        out.len()
    });
    let cbor = silverpoint_bind::to_cbor(&orders);
    assert_eq!(ciborium::from_reader::<Vec<Order>, _>(&cbor[..]).unwrap(), orders);
    measure("read CBOR", ours, orders.len(), || {
        let read = silverpoint_bind::from_cbor::<Vec<Order>>(&cbor).unwrap();
        assert_eq!(black_box(read).len(), orders.len());
        cbor.len()
    });
    measure("read CBOR", ciborium, orders.len(), || {
        let read = ciborium::from_reader::<Vec<Order>, _>(&cbor[..]).unwrap();
        assert_eq!(black_box(read).len(), orders.len());
        cbor.len()
    });
    measure("JSON to CBOR without a type", ours, orders.len(), || {
        let mut sink = CborSink::new(Vec::new());
        copy(&mut JsonSource::new(json.as_bytes()), &mut sink).unwrap();
        assert_eq!(sink.into_bytes(), cbor);
        json.len()
    });
    measure("CBOR to JSON without a type", ours, orders.len(), || {
        let mut sink = JsonSink::new(String::new());
        copy(&mut CborSource::new(&cbor), &mut sink).unwrap();
        assert_eq!(sink.into_text(), json);
        cbor.len()
    });
}
