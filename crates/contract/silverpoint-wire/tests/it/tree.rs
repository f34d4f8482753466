//! The value that a walk gives, as the vectors write it.

use serde_json::{Value, json};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{DecodeError, Sequence, Text, Visitor, WalkError, walk};

use crate::generate::json::{Json, hex};

/// All arguments of a record, and the offset after them.
pub fn arguments(types: &[Type], bytes: &[u8]) -> Result<(Value, usize), DecodeError> {
    let mut values = Vec::new();
    let mut at = 0;
    for ty in types {
        let mut tree = Tree::default();
        at = match walk(ty, bytes, at, &mut tree) {
            Ok(end) => end,
            Err(WalkError::Decode(error)) => return Err(error),
            Err(WalkError::Visitor(fault)) => panic!("{fault} in {ty}"),
        };
        assert!(tree.open.is_empty(), "containers are still open: {ty}");
        values.push(tree.done.unwrap_or_else(|| panic!("no value of {ty}")));
    }
    Ok((Value::Array(values), at))
}

/// Builds a value; refuses a walk that brackets wrongly.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    done: Option<Value>,
}

/// What is not complete yet.
enum Open {
    /// Tag (none: a plain array), number of elements, missing, elements.
    Sequence(Option<&'static str>, usize, u32, Vec<Value>),
    /// Number of pairs, keys and values in turn.
    Map(usize, Vec<Value>),
    Record(String, usize, Vec<(String, Option<Value>)>),
    /// Waits for one value: Some, a variant, metadata.
    Around(fn(Value, Value) -> Value, Value),
}

type Done = Result<(), &'static str>;

impl Tree {
    fn value(&mut self, value: Value) -> Done {
        match self.open.last_mut() {
            None if self.done.is_some() => return Err("a second value"),
            None => self.done = Some(value),
            Some(Open::Sequence(.., items) | Open::Map(_, items)) => items.push(value),
            Some(Open::Record(_, _, fields)) => match fields.last_mut() {
                Some((_, slot @ None)) => *slot = Some(value),
                _ => return Err("a value without a field"),
            },
            Some(Open::Around(..)) => {
                let Some(Open::Around(wrap, with)) = self.open.pop() else { return Err("lost") };
                return self.value(wrap(with, value));
            }
        }
        Ok(())
    }

    fn json(&mut self, json: Json) -> Done {
        self.value(serde_json::from_str(&json.to_string()).map_err(|_| "no JSON")?)
    }

    fn around(&mut self, wrap: fn(Value, Value) -> Value, with: Value) -> Done {
        self.open.push(Open::Around(wrap, with));
        Ok(())
    }
}

/// Tagged, with what is missing; plain when nothing is and the tag is not needed.
fn cut(tag: &str, content: Value, missing: u32, always_tagged: bool) -> Value {
    match missing {
        0 if always_tagged => json!({ tag: content }),
        0 => content,
        _ => json!({ tag: content, "missing": missing }),
    }
}

impl Visitor for Tree {
    type Error = &'static str;

    fn null(&mut self) -> Done {
        self.value(Value::Null)
    }

    fn bool(&mut self, value: bool) -> Done {
        self.value(value.into())
    }

    fn i64(&mut self, value: i64) -> Done {
        self.json(Json::int(value))
    }

    fn u64(&mut self, value: u64) -> Done {
        self.json(Json::int(value))
    }

    fn i128(&mut self, value: i128) -> Done {
        self.json(Json::int(value))
    }

    fn u128(&mut self, value: u128) -> Done {
        self.json(Json::int(value))
    }

    fn f32(&mut self, value: f32) -> Done {
        self.json(Json::float(value.into()))
    }

    fn f64(&mut self, value: f64) -> Done {
        self.json(Json::float(value))
    }

    fn char(&mut self, value: char) -> Done {
        self.value(value.to_string().into())
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.json(Json::tagged("pointer", Json::int(value)))
    }

    fn text(&mut self, text: Text<'_>, missing: u32) -> Done {
        self.value(cut("text", text.chars().collect::<String>().into(), missing, false))
    }

    fn bytes(&mut self, bytes: &[u8], missing: u32) -> Done {
        self.value(cut("bytes", hex(bytes).into(), missing, true))
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.value(json!({ "uuid": hex(&uuid) }))
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.json(Json::tagged("time", Json::int(unix_ns)))
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.json(Json::tagged("duration", Json::int(ns)))
    }

    fn any(&mut self, cbor: &[u8]) -> Done {
        self.value(json!({ "cbor": hex(cbor) }))
    }

    fn none(&mut self) -> Done {
        self.value(json!({ "none": true }))
    }

    fn some(&mut self) -> Done {
        self.around(|_, value| json!({ "some": value }), Value::Null)
    }

    fn begin_sequence(&mut self, kind: Sequence, len: u32, missing: u32) -> Done {
        let tag = match kind {
            Sequence::List => None,
            Sequence::Set => Some("set"),
            Sequence::Tuple => Some("tuple"),
        };
        self.open.push(Open::Sequence(tag, len as usize, missing, Vec::new()));
        Ok(())
    }

    fn begin_map(&mut self, len: u32) -> Done {
        self.open.push(Open::Map(len as usize, Vec::new()));
        Ok(())
    }

    fn begin_record(&mut self, name: &str, fields: usize) -> Done {
        self.open.push(Open::Record(name.into(), fields, Vec::new()));
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        match self.open.last_mut() {
            Some(Open::Record(_, _, fields)) => fields.push((name.into(), None)),
            _ => return Err("a field outside of a record"),
        }
        Ok(())
    }

    fn end(&mut self) -> Done {
        let value = match self.open.pop() {
            Some(Open::Sequence(tag, len, missing, items)) if items.len() == len => {
                cut(tag.unwrap_or("list"), items.into(), missing, tag.is_some())
            }
            Some(Open::Map(len, items)) if items.len() == 2 * len => {
                json!({ "map": items.chunks(2).collect::<Vec<_>>() })
            }
            Some(Open::Record(name, len, fields)) if fields.len() == len => {
                json!({ "record": name, "fields": fields })
            }
            _ => return Err("an end that closes nothing, or too early"),
        };
        self.value(value)
    }

    fn enumeration(&mut self, name: &str, label: Option<&str>, value: i64) -> Done {
        let label = label.map_or(Json::Null, Json::text);
        self.json(Json::Object(vec![
            ("enum", Json::text(name)),
            ("label", label),
            ("value", Json::int(value)),
        ]))
    }

    fn variant(&mut self, index: u8) -> Done {
        self.around(|index, value| json!({ "alternative": index, "value": value }), index.into())
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        self.around(|meta, value| json!({ "meta": meta, "value": value }), json!([key, text]))
    }
}
