//! The values of `../driver.cpp` by serde_json: `serde ROUNDS` prints one JSON object a figure, as the driver does.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Small {
    id: u64,
    price: f64,
    quantity: u32,
    active: bool,
    symbol: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Mapped {
    id: u64,
    level: i32,
    ratio: f64,
    counts: BTreeMap<String, i32>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Order {
    id: u64,
    price: f64,
    quantity: u32,
    symbol: String,
    note: String,
    tags: Vec<String>,
    more: Mapped,
}

fn median(rounds: usize, mut run: impl FnMut() -> usize) -> f64 {
    let once = |repeats: usize, run: &mut dyn FnMut() -> usize| {
        let begin = Instant::now();
        for _ in 0..repeats {
            black_box(run());
        }
        begin.elapsed().as_nanos() as f64 / repeats as f64
    };
    once(1, &mut run);
    let repeats = (200_000.0 / (once(1, &mut run) + 1.0)).clamp(1.0, 5000.0) as usize;
    let mut all: Vec<f64> = (0..rounds).map(|_| once(repeats, &mut run)).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn measure<T: Serialize + DeserializeOwned>(case: &str, rounds: usize, value: &T) {
    let text = serde_json::to_string(value).expect("it can be written");
    let tell = |operation: &str, ns: f64| {
        println!(
            r#"{{"case":"{case}","operation":"{operation}","library":"serde_json (Rust)","bytes":{},"ns":{ns:.1}}}"#,
            text.len()
        );
    };
    tell("write JSON", median(rounds, || serde_json::to_vec(black_box(value)).expect("written").len()));
    tell(
        "read JSON",
        median(rounds, || size_of_val(&serde_json::from_str::<T>(black_box(&text)).expect("read"))),
    );
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let small = Small { id: 7, price: 101.25, quantity: 500, active: true, symbol: "ACME".into() };
    let counts =
        [("first", 1), ("second", 22), ("third", 333)].map(|(name, count)| (name.to_owned(), count)).into();
    let mapped = Mapped { id: 7, level: -3, ratio: 0.618_033_988_749_894_9, counts };
    let floats: Vec<f32> = (0..128).map(|i| i as f32 * 0.37 + 0.1).collect();
    let orders: Vec<Order> = (0..1000_u64)
        .map(|i| Order {
            id: 1_000_000 + i,
            price: 100.0 + (i * 7919 % 10000) as f64 / 100.0,
            quantity: (i * 31 % 1000) as u32,
            symbol: if i % 2 == 0 { "ACME" } else { "EURUSD" }.into(),
            note: "a note of some length, without anything special, as most texts are".into(),
            tags: ["fast", "limit", "day"].map(str::to_owned).into(),
            more: mapped.clone(),
        })
        .collect();
    measure("a literal", rounds, &["bench literal".to_owned()]);
    measure("small struct", rounds, &small);
    measure("map and atoms", rounds, &mapped);
    measure("128 floats", rounds, &floats);
    measure("1000 orders", rounds, &orders);
}
