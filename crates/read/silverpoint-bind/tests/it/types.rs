//! The types of the vectors.

use std::collections::BTreeMap;
use std::time::SystemTime;

use silverpoint_bind::{Bind, Bytes, Rest};

#[derive(Bind, Clone, Copy, Debug, PartialEq)]
pub enum Side {
    Buy,
    Sell,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub enum Shape {
    Circle(f64),
    Rect { from: Point, to: Point },
    Line(Point, Point),
    Empty,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub struct Order {
    pub id: u64,
    pub side: Side,
    pub price: f64,
    pub quantity: u32,
    pub symbol: String,
    pub note: Option<String>,
    pub tags: Vec<String>,
    pub at: Option<Point>,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub struct All {
    pub yes: bool,
    pub small: i8,
    pub big: u64,
    pub wide: i128,
    pub ratio: f64,
    pub single: f32,
    pub letter: char,
    pub words: String,
    pub blob: Bytes,
    pub list: Vec<i32>,
    pub grid: [[u8; 2]; 2],
    pub pair: (i32, String),
    pub names: BTreeMap<String, i32>,
    pub codes: BTreeMap<u32, String>,
    /// Nanoseconds: durations of the library are not below zero.
    pub wait: i64,
    pub when: SystemTime,
    pub maybe: Option<u32>,
    pub nested: Option<Order>,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub struct Defaults {
    pub must: i32,
    #[bind(default = 8080)]
    pub port: u16,
    #[bind(default = "none")]
    pub name: String,
    pub level: Option<u8>,
}

#[derive(Bind, Clone, Debug, PartialEq)]
#[bind(refuse_unknown)]
pub struct Strict {
    pub a: i32,
    pub b: Option<i32>,
}

#[derive(Bind, Clone, Debug, PartialEq)]
pub struct Keeping {
    pub a: i32,
    #[bind(rest)]
    pub rest: Rest,
}
