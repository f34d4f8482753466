//! What is found in the texts of records: values of an argument with their numbers, and records that contain a text.

use std::collections::HashMap;

use silverpoint_read::{Batch, Node, NodeKind, Row};

/// Different values of an argument, and bytes of each.
const VALUES_MAX: usize = 10_000;
const VALUE_MAX: usize = 200;
/// Records whose numbers are kept.
const MATCHES_MAX: usize = 1000;

/// How many records have each value of an argument.
pub struct Values {
    path: Vec<String>,
    counts: HashMap<Value, u64>,
    /// Records whose values had no room.
    left_out: u64,
}

/// A value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// Its text.
    pub text: String,
    /// A filter writes it without quotes.
    pub is_number: bool,
}

impl Values {
    /// Of an argument or a part of one: `order.id`, `sizes[0]`.
    pub fn new(path: &str) -> Self {
        let names = path.split(['.', '[', ']']).filter(|name| !name.is_empty());
        Self { path: names.map(str::to_owned).collect(), counts: HashMap::new(), left_out: 0 }
    }

    /// The most frequent first.
    pub fn most_frequent(&self) -> Vec<(&Value, u64)> {
        let mut list: Vec<(&Value, u64)> = self.counts.iter().map(|(value, count)| (value, *count)).collect();
        list.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        list
    }

    /// Records whose values had no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds a record, if it has the argument.
    pub fn add(&mut self, batch: &Batch, row: &Row) {
        let Some(node) = self.find(batch, row) else { return };
        let text = batch.text(node.text);
        let text = text[..text.floor_char_boundary(VALUE_MAX)].to_owned();
        let is_number = matches!(node.kind, NodeKind::Int | NodeKind::Uint | NodeKind::Float)
            && text.parse::<f64>().is_ok_and(f64::is_finite);
        let has_room = self.counts.len() < VALUES_MAX;
        let value = Value { text, is_number };
        match self.counts.get_mut(&value) {
            Some(count) => *count += 1,
            None if has_room => {
                self.counts.insert(value, 1);
            }
            None => self.left_out += 1,
        }
    }

    fn find<'b>(&self, batch: &'b Batch, row: &Row) -> Option<&'b Node> {
        let (mut first, mut count, mut found) = (row.nodes, row.arguments, None);
        for name in &self.path {
            let node = part(batch, first, count, name)?;
            found = batch.nodes().get(node);
            (first, count) = (node + 1, found.map_or(0, |node| node.children));
        }
        found.filter(|node| !node.kind.is_container())
    }
}

/// The place of a part by its name, or by its position where it has none.
fn part(batch: &Batch, first: usize, count: u32, name: &str) -> Option<usize> {
    let position: Option<u32> = name.strip_prefix("arg").unwrap_or(name).parse().ok();
    let mut at = first;
    for number in 0..count {
        let node = batch.nodes().get(at)?;
        let own = batch.text(node.name);
        if own == name || own.is_empty() && position == Some(number) {
            return Some(at);
        }
        at += (node.size as usize).max(1);
    }
    None
}

/// Records whose message contains a text.
pub struct Matches {
    needle: String,
    /// Their numbers, the first.
    pub numbers: Vec<u64>,
    /// How many there are.
    pub count: u64,
}

impl Matches {
    /// Upper and lower case are the same.
    pub fn new(text: &str) -> Self {
        Self { needle: text.to_lowercase(), numbers: Vec::new(), count: 0 }
    }

    /// Adds a record, if it has the text.
    pub fn add(&mut self, batch: &Batch, row: &Row) {
        if batch.text(row.message).to_lowercase().contains(&self.needle) {
            self.count += 1;
            if self.numbers.len() < MATCHES_MAX {
                self.numbers.push(row.number);
            }
        }
    }
}
