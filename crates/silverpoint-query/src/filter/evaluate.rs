//! Evaluates the comparisons of an expression on packed arguments, without building values.

use std::cmp::Ordering;

use silverpoint_trace::cbor;
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{self, Sequence, Text, Visitor};

use super::expression::{Literal, Operator, Test, numbers};
use super::glob;

/// Whether the value in `args` at `at` (of type `ty`) passes `test`, whose path below the argument is `path`.
///
/// An argument that cannot be decoded does not pass.
pub(super) fn passes(test: &Test, path: &[String], ty: &Type, args: &[u8], at: usize) -> bool {
    let mut visitor = Finder { test, path, stack: Vec::new() };
    // A visitor that has found what it looks for stops the walk.
    matches!(value::walk(ty, args, at, &mut visitor), Err(value::WalkError::Visitor(Found)))
}

/// The same for a value that is an item of CBOR.
pub(super) fn item_passes(test: &Test, path: &[String], item: &[u8]) -> bool {
    let mut visitor = Finder { test, path, stack: Vec::new() };
    matches!(cbor::visit(item, &mut visitor), Err(cbor::Error::Visitor(Found)))
}

/// Whether a text passes `test`.
pub(super) fn text_passes(test: &Test, text: &str) -> bool {
    compare_text(test, text)
}

/// The walk's early end: a value has passed.
struct Found;

/// Follows a path into a value and compares what lies there.
struct Finder<'t> {
    test: &'t Test,
    path: &'t [String],
    stack: Vec<Frame>,
}

struct Frame {
    kind: Container,
    /// Steps of the path that led to this container; `None`: it is off the path.
    steps: Option<usize>,
    /// The same for the field or the map's value that comes next.
    element: Option<usize>,
    /// Elements so far (keys and values counted apart in a map).
    index: usize,
}

#[derive(PartialEq, Eq)]
enum Container {
    Sequence,
    Map,
    Record,
}

type Done = Result<(), Found>;

impl Finder<'_> {
    /// Whether the value that comes now is to be compared. Moves on in the container.
    fn wanted(&mut self) -> bool {
        let steps = self.arrive();
        steps == Some(self.path.len())
    }

    /// Steps that lead to the value that comes now.
    fn arrive(&mut self) -> Option<usize> {
        let Some(frame) = self.stack.last_mut() else { return Some(0) };
        let index = frame.index;
        frame.index += 1;
        match frame.kind {
            // `field` has decided.
            Container::Record => frame.element,
            Container::Sequence => match frame.steps {
                // A path that ends at the container stands for any of its elements.
                Some(steps) if steps == self.path.len() => Some(steps),
                Some(steps) => (self.path[steps].parse() == Ok(index)).then_some(steps + 1),
                None => None,
            },
            Container::Map if index % 2 == 1 => frame.element,
            // A key: `key` examines it, it is never compared.
            Container::Map => None,
        }
    }

    /// Takes a key of a map, as text; true when the value that comes was a key.
    fn key(&mut self, text: impl FnOnce(&str) -> bool) -> bool {
        let Some(frame) = self.stack.last_mut() else { return false };
        if frame.kind != Container::Map || frame.index % 2 == 1 {
            return false;
        }
        frame.element = match frame.steps {
            Some(steps) if steps == self.path.len() => Some(steps),
            Some(steps) => text(&self.path[steps]).then_some(steps + 1),
            None => None,
        };
        true
    }

    fn integer(&mut self, value: i128) -> Done {
        self.key(|step| step.parse() == Ok(value));
        if self.wanted() {
            let literal = &self.test.literal;
            let order = match (literal.integer, literal.number) {
                (Some(integer), _) => Some(value.cmp(&integer)),
                (None, Some(number)) => (value as f64).partial_cmp(&number),
                (None, None) => None,
            };
            return self.decide(order, || value.to_string());
        }
        Ok(())
    }

    fn float(&mut self, value: f64, shortest: impl FnOnce() -> String) -> Done {
        self.key(|step| step.parse() == Ok(value));
        if self.wanted() {
            let order = self.test.literal.number.and_then(|number| value.partial_cmp(&number));
            return self.decide(order, shortest);
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Done {
        self.key(|step| step == word);
        if self.wanted() && compare_text(self.test, word) { Err(Found) } else { Ok(()) }
    }

    /// Ends the walk when a number passes; `text` is for patterns.
    fn decide(&self, order: Option<Ordering>, text: impl FnOnce() -> String) -> Done {
        let pass = match self.test.operator {
            Operator::Exists => true,
            Operator::Like => glob::matches(&self.test.literal.text, &text()),
            Operator::NotLike => !glob::matches(&self.test.literal.text, &text()),
            operator => order_passes(operator, order),
        };
        if pass { Err(Found) } else { Ok(()) }
    }

    fn begin(&mut self, kind: Container) {
        // A container as a key is none that a path can name.
        self.key(|_| false);
        let steps = self.arrive();
        self.stack.push(Frame { kind, steps, element: None, index: 0 });
    }
}

fn order_passes(operator: Operator, order: Option<Ordering>) -> bool {
    match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        // What cannot be compared is different.
        Operator::NotEqual => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Operator::Exists | Operator::Like | Operator::NotLike => false,
    }
}

fn compare_text(test: &Test, text: &str) -> bool {
    match test.operator {
        Operator::Exists => true,
        Operator::Like => glob::matches(&test.literal.text, text),
        Operator::NotLike => !glob::matches(&test.literal.text, text),
        operator if test.literal.is_number() => order_passes(operator, order_of_numbers(text, &test.literal)),
        operator => order_passes(operator, Some(text.cmp(&test.literal.text))),
    }
}

/// A text that is a number as a whole, against one; `None`: it is none.
fn order_of_numbers(text: &str, literal: &Literal) -> Option<Ordering> {
    let text = text.trim();
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match (numbers(text), literal) {
        ((Some(value), _), Literal { integer: Some(integer), .. }) => Some(value.cmp(integer)),
        ((_, Some(value)), Literal { number: Some(number), .. }) => value.partial_cmp(number),
        _ => None,
    }
}

impl Visitor for Finder<'_> {
    type Error = Found;

    fn null(&mut self) -> Done {
        self.word("null")
    }

    fn bool(&mut self, value: bool) -> Done {
        self.word(if value { "true" } else { "false" })
    }

    fn i64(&mut self, value: i64) -> Done {
        self.integer(value.into())
    }

    fn u64(&mut self, value: u64) -> Done {
        self.integer(value.into())
    }

    fn i128(&mut self, value: i128) -> Done {
        self.integer(value)
    }

    fn u128(&mut self, value: u128) -> Done {
        match i128::try_from(value) {
            Ok(value) => self.integer(value),
            Err(_) => self.float(value as f64, || value.to_string()),
        }
    }

    fn f32(&mut self, value: f32) -> Done {
        // Compared as f32, so that `x=0.1` finds what was written as 0.1F.
        let near = self.test.literal.number.is_some_and(|number| number as f32 == value);
        let exact = if near { self.test.literal.number.unwrap_or_default() } else { f64::from(value) };
        self.float(exact, || value.to_string())
    }

    fn f64(&mut self, value: f64) -> Done {
        self.float(value, || value.to_string())
    }

    fn char(&mut self, value: char) -> Done {
        self.word(value.encode_utf8(&mut [0; 4]))
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.integer(value.into())
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Done {
        match text.as_str() {
            Some(text) => self.word(text),
            None => self.word(&text.chars().collect::<String>()),
        }
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Done {
        let mut hex = String::from("0x");
        silverpoint_render::json::push_hex(&mut hex, bytes);
        self.word(&hex)
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        let mut text = String::new();
        silverpoint_render::push_uuid(&mut text, &uuid);
        self.word(&text)
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.integer(unix_ns.into())
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.integer(ns.into())
    }

    fn any(&mut self, item: &[u8]) -> Done {
        match cbor::visit(item, self) {
            Err(cbor::Error::Visitor(found)) => Err(found),
            Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
        }
    }

    fn none(&mut self) -> Done {
        self.word("none")
    }

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Done {
        self.begin(Container::Sequence);
        Ok(())
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.begin(Container::Map);
        Ok(())
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        self.begin(Container::Record);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        frame.element = match frame.steps {
            Some(steps) if steps == self.path.len() => Some(steps),
            Some(steps) => (self.path[steps] == name).then_some(steps + 1),
            None => None,
        };
        Ok(())
    }

    fn end(&mut self) -> Done {
        self.stack.pop();
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, label: Option<&str>, value: i64) -> Done {
        match label {
            Some(label) if self.test.literal.integer.is_none() => self.word(label),
            _ => self.integer(value.into()),
        }
    }
}
