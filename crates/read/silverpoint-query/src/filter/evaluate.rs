//! Evaluates the comparisons of an expression on packed arguments, without building values.

use std::cmp::Ordering;

use silverpoint_trace::cbor;
use silverpoint_wire::glob;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value;

use super::expression::{Literal, Operator, Test, numbers};

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
    kind: Kind,
    /// Steps of the path that led to this container; `None`: it is off the path.
    steps: Option<usize>,
    /// The same for the field or the map's value that comes next.
    element: Option<usize>,
    /// Elements so far (keys and values counted apart in a map).
    index: usize,
}

#[derive(PartialEq, Eq)]
enum Kind {
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
            Kind::Record => frame.element,
            Kind::Sequence => match frame.steps {
                // A path that ends at the container stands for any of its elements.
                Some(steps) if steps == self.path.len() => Some(steps),
                Some(steps) => (self.path[steps].parse() == Ok(index)).then_some(steps + 1),
                None => None,
            },
            Kind::Map if index % 2 == 1 => frame.element,
            // A key: `key` examines it, it is never compared.
            Kind::Map => None,
        }
    }

    /// Takes a key of a map, as text; true when the value that comes was a key.
    fn key(&mut self, text: impl FnOnce(&str) -> bool) -> bool {
        let Some(frame) = self.stack.last_mut() else { return false };
        if frame.kind != Kind::Map || frame.index % 2 == 1 {
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
            Operator::Like => glob::matches(&*self.test.literal.text, &*text()),
            Operator::NotLike => !glob::matches(&*self.test.literal.text, &*text()),
            operator => order_passes(operator, order),
        };
        if pass { Err(Found) } else { Ok(()) }
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
        Operator::Like => glob::matches(&*test.literal.text, text),
        Operator::NotLike => !glob::matches(&*test.literal.text, text),
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

impl Pieces for Finder<'_> {
    type Error = Found;

    // In each function of the visitor only its own branch remains.
    #[inline(always)]
    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        match leaf {
            Leaf::Null => self.word("null"),
            Leaf::None => self.word("none"),
            Leaf::Bool(value) => self.word(if value { "true" } else { "false" }),
            Leaf::I64(value) | Leaf::Time(value) | Leaf::Duration(value) => self.integer(value.into()),
            Leaf::U64(value) | Leaf::Pointer(value) => self.integer(value.into()),
            Leaf::I128(value) => self.integer(value),
            Leaf::U128(value) => match i128::try_from(value) {
                Ok(value) => self.integer(value),
                Err(_) => self.float(value as f64, || value.to_string()),
            },
            Leaf::F32(value) => {
                // Compared as f32, so that `x=0.1` finds what was written as 0.1F.
                let near = self.test.literal.number.is_some_and(|number| number as f32 == value);
                let exact =
                    if near { self.test.literal.number.unwrap_or_default() } else { f64::from(value) };
                self.float(exact, || value.to_string())
            }
            Leaf::F64(value) => self.float(value, || value.to_string()),
            Leaf::Char(value) => self.word(value.encode_utf8(&mut [0; 4])),
            Leaf::Text(text, _) => self.word(&text.to_string_lossy()),
            Leaf::Bytes(bytes, _) => {
                let mut hex = String::from("0x");
                silverpoint_render::json::push_hex(&mut hex, bytes);
                self.word(&hex)
            }
            Leaf::Uuid(uuid) => {
                let mut text = String::new();
                silverpoint_render::push_uuid(&mut text, &uuid);
                self.word(&text)
            }
            Leaf::Any(item) => match cbor::visit(item, self) {
                Err(cbor::Error::Visitor(found)) => Err(found),
                Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
            },
            Leaf::Enumeration { label: Some(label), .. } if self.test.literal.integer.is_none() => {
                self.word(label)
            }
            Leaf::Enumeration { value, .. } => self.integer(value.into()),
        }
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        // A container as a key is none that a path can name.
        self.key(|_| false);
        let steps = self.arrive();
        let kind = match container {
            Container::Sequence { .. } => Kind::Sequence,
            Container::Map(_) => Kind::Map,
            Container::Record { .. } => Kind::Record,
        };
        self.stack.push(Frame { kind, steps, element: None, index: 0 });
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
}
