//! Structured values of the crate `valuable`: `RUSTFLAGS="--cfg tracing_unstable" cargo test -p silverpoint-tracing --features valuable --test it valuables`.

use std::collections::BTreeMap;

use tracing::info;
use valuable::{Fields, NamedField, NamedValues, StructDef, Structable, Valuable, Value, Visit};

use crate::{both_ways, recorded};

struct Order {
    id: u64,
    lines: Vec<(&'static str, i8)>,
    note: Option<String>,
}

static FIELDS: &[NamedField<'static>] =
    &[NamedField::new("id"), NamedField::new("lines"), NamedField::new("note")];

impl Valuable for Order {
    fn as_value(&self) -> Value<'_> {
        Value::Structable(self)
    }

    fn visit(&self, visit: &mut dyn Visit) {
        let lines: Vec<Vec<Value<'_>>> =
            self.lines.iter().map(|(name, count)| vec![name.as_value(), count.as_value()]).collect();
        let values = [self.id.as_value(), lines.as_value(), self.note.as_value()];
        visit.visit_named_fields(&NamedValues::new(FIELDS, &values));
    }
}

impl Structable for Order {
    fn definition(&self) -> StructDef<'_> {
        StructDef::new_static("Order", Fields::Named(FIELDS))
    }
}

#[test]
fn values_carry_their_types() {
    let name = "valuables::values_carry_their_types";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let order = Order { id: u64::MAX, lines: vec![("tea", -3), ("a \"cup\"", 0)], note: None };
            info!(order = order.as_value(), before = 1, "placed");
            let map: BTreeMap<&str, f64> = [("low", -0.5), ("high", 2.25)].into();
            let nothing = ();
            info!(map = map.as_value(), nothing = nothing.as_value(), letter = 'x'.as_value());
        });
    };
    let placed = "\"placed\", {\"id\": 18446744073709551615, \"lines\": [[\"tea\", -3], [\"a \\\"cup\\\"\", 0]], \"note\": null}, 1";
    let map = "{\"high\": 2.25, \"low\": -0.5}, [], \"x\"";
    let all: Vec<String> = session.records().into_iter().map(|record| record.args).collect();
    assert_eq!(all, [placed, map, placed, map]);
}
