//! Structured values of the crate `valuable`: `RUSTFLAGS="--cfg tracing_unstable" cargo test -p silverpoint-tracing --features valuable --test it valuables`.

use std::collections::BTreeMap;

use tracing::info;
use valuable::{
    EnumDef, Enumerable, Fields, NamedField, NamedValues, StructDef, Structable, Tuplable, TupleDef,
    Valuable, Value, Variant, VariantDef, Visit,
};

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

enum Side {
    Buy,
    Limit(i64, bool),
    Iceberg { shown: u8 },
}

static SHOWN: &[NamedField<'static>] = &[NamedField::new("shown")];
static SIDES: &[VariantDef<'static>] = &[
    VariantDef::new("Buy", Fields::Unnamed(0)),
    VariantDef::new("Limit", Fields::Unnamed(2)),
    VariantDef::new("Iceberg", Fields::Named(SHOWN)),
];

impl Valuable for Side {
    fn as_value(&self) -> Value<'_> {
        Value::Enumerable(self)
    }

    fn visit(&self, visit: &mut dyn Visit) {
        match self {
            Self::Buy => {}
            Self::Limit(price, is_firm) => {
                visit.visit_unnamed_fields(&[price.as_value(), is_firm.as_value()]);
            }
            Self::Iceberg { shown } => {
                visit.visit_named_fields(&NamedValues::new(SHOWN, &[shown.as_value()]))
            }
        }
    }
}

impl Enumerable for Side {
    fn definition(&self) -> EnumDef<'_> {
        EnumDef::new_static("Side", SIDES)
    }

    fn variant(&self) -> Variant<'_> {
        Variant::Static(match self {
            Self::Buy => &SIDES[0],
            Self::Limit(..) => &SIDES[1],
            Self::Iceberg { .. } => &SIDES[2],
        })
    }
}

struct Pair(f32, char);

impl Valuable for Pair {
    fn as_value(&self) -> Value<'_> {
        Value::Tuplable(self)
    }

    fn visit(&self, visit: &mut dyn Visit) {
        visit.visit_unnamed_fields(&[self.0.as_value(), self.1.as_value()]);
    }
}

impl Tuplable for Pair {
    fn definition(&self) -> TupleDef {
        TupleDef::new_static(2)
    }
}

#[test]
fn alternatives_tuples_errors_and_paths() {
    let name = "valuables::alternatives_tuples_errors_and_paths";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for side in [Side::Buy, Side::Limit(-7, true), Side::Iceberg { shown: 5 }] {
                info!(side = side.as_value());
            }
            let gone = std::io::Error::other("gone");
            // (Within the macros `Value` is another.)
            let (error, path) = (Value::Error(&gone), Value::Path("a/b".as_ref()));
            info!(pair = Pair(0.5, 'x').as_value(), error, path);
        });
    };
    let expected = [
        "\"Buy\"",
        "{\"Limit\": [-7, true]}",
        "{\"Iceberg\": {\"shown\": 5}}",
        "[0.5_f32, \"x\"], \"gone\", \"a/b\"",
    ];
    let all: Vec<String> = session.records().into_iter().map(|record| record.args).collect();
    assert_eq!(all, [expected, expected].concat());
}
