//! Contexts: the fields that a program has attached to all records of a scope (`spec/wire.md`, section 6).
//!
//! A context is parsed once, when its record is reached; every event up to the next one refers to it. Its
//! text and its JSON are made on the first request.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::OnceLock;

use minicbor::Decoder;
use minicbor::data::Type;
use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::record::CONTEXT_MAX;

use crate::format::Spec;
use crate::render::{Quoting, Stack, TextVisitor};
use crate::{cbor, escape, json};

/// Fields that are read; later ones are left out.
const FIELDS_MAX: usize = 256;

/// Fields of all records of a scope, the outermost first.
#[derive(Debug, Default)]
pub struct Context {
    item: Vec<u8>,
    fields: Vec<Field>,
    text: OnceLock<String>,
    json: OnceLock<String>,
}

#[derive(Debug)]
struct Field {
    name: String,
    value: Range<usize>,
}

impl Context {
    /// Reads the arguments of a *context* record; `None` when they are no context, or one without fields.
    pub(crate) fn read(args: &[u8]) -> Option<Self> {
        let len = u32_at(args, 0)? as usize;
        Self::from_item(args.get(4..4usize.checked_add(len)?)?)
    }

    /// Reads an item of CBOR, a map of texts to values; `None` when it is none, or one without fields, or longer than 64 KiB.
    pub fn from_item(item: &[u8]) -> Option<Self> {
        let fields = fields(Some(item).filter(|item| item.len() <= CONTEXT_MAX)?)?;
        let context = Self { item: item.to_vec(), fields, ..Self::default() };
        (!context.fields.is_empty()).then_some(context)
    }

    /// The item of CBOR that it was read from.
    pub fn item(&self) -> &[u8] {
        &self.item
    }

    /// Names and values, the latter as items of CBOR (see [`cbor::visit`]), each name once.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|field| (field.name.as_str(), &self.item[field.value.clone()]))
    }

    /// Bytes of memory that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &OnceLock<String>| text.get().map_or(0, String::len);
        size_of::<Self>()
            + 2 * self.item.len()
            + self.fields.len() * size_of::<Field>()
            + text(&self.text)
            + text(&self.json)
    }

    /// The value of a field, as an item of CBOR.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.fields().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The text of a field, when it is one.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        Decoder::new(self.get(name)?).str().ok()
    }

    /// As lines of text show them: `request=7 user="ada b"`. One line, control characters escaped.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let (mut out, mut stack) = (String::new(), Stack::default());
            for (name, value) in self.fields() {
                if !out.is_empty() {
                    out.push(' ');
                }
                escape::push_escaped(&mut out, name);
                out.push('=');
                push_value(&mut out, &mut stack, value);
            }
            out
        })
    }

    /// The value of a field as text; `None` when there is no such field.
    pub fn text_of_field(&self, name: &str) -> Option<String> {
        let (mut out, mut stack) = (String::new(), Stack::default());
        push_value(&mut out, &mut stack, self.get(name)?);
        Some(out)
    }

    /// As a JSON object: `{"request":7,"user":"ada b"}`.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| {
            let (mut out, mut stack) = (String::from("{"), json::Stack::default());
            for (at, (name, value)) in self.fields().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json::push_string(&mut out, name);
                out.push(':');
                let mut visitor = json::JsonVisitor::new(&mut out, &mut stack);
                // It was read before: it is well-formed.
                let _: Result<(), cbor::Error<Infallible>> = cbor::visit(value, &mut visitor);
            }
            out.push('}');
            out
        })
    }
}

fn push_value(out: &mut String, stack: &mut Stack, value: &[u8]) {
    let mut visitor = TextVisitor::new(out, stack, Spec::default(), Quoting::WhenAmbiguous);
    // It was read before: it is well-formed.
    let _: Result<(), cbor::Error<Infallible>> = cbor::visit(value, &mut visitor);
}

/// Where the names and values of a map lie; `None` when it is none, or is broken.
fn fields(item: &[u8]) -> Option<Vec<Field>> {
    let mut decoder = Decoder::new(item);
    let mut left = decoder.map().ok()?;
    let mut fields: Vec<Field> = Vec::new();
    loop {
        match &mut left {
            Some(0) => break,
            Some(left) => *left -= 1,
            None if decoder.datatype().ok()? == Type::Break => {
                decoder.set_position(decoder.position() + 1);
                break;
            }
            None => {}
        }
        let name = decoder.str().ok()?.to_owned();
        let begin = decoder.position();
        let end = cbor::end_of_item(item, begin).ok()?;
        decoder.set_position(end);
        // An inner scope overrides an outer one.
        match fields.iter().position(|field| field.name == name) {
            Some(known) => fields[known].value = begin..end,
            None if fields.len() < FIELDS_MAX => fields.push(Field { name, value: begin..end }),
            None => {}
        }
    }
    (decoder.position() == item.len()).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(item: &[u8]) -> Vec<u8> {
        [&(item.len() as u32).to_le_bytes()[..], item, &[0; 5]].concat()
    }

    #[test]
    fn fields_are_shown_as_text_and_json_and_inner_ones_count() {
        // {_ "a": 1, "user": "ada b", "a": [2]}
        let item = b"\xBF\x61a\x01\x64user\x65ada b\x61a\x81\x02\xFF";
        let context = Context::read(&args(item)).unwrap();
        assert_eq!(context.text(), "a=[2] user=\"ada b\"");
        assert_eq!(context.json(), r#"{"a":[2],"user":"ada b"}"#);
        assert_eq!(context.get("a"), Some(&b"\x81\x02"[..]));
        assert_eq!(context.text_of("user"), Some("ada b"));
        assert_eq!((context.text_of("a"), context.get("b")), (None, None));
        // With its length in front it is the same.
        let context = Context::read(&args(b"\xA1\x61a\x01")).unwrap();
        assert_eq!(context.json(), r#"{"a":1}"#);
    }

    #[test]
    fn what_is_no_context_is_none() {
        let whole = args(b"\xBF\x61a\x01\x64user\x65ada b\x61a\x81\x02\xFF");
        let len = whole.len() - 5;
        for cut in 0..len {
            assert!(Context::read(&whole[..cut]).is_none(), "{cut}");
        }
        for (at, bit) in (0..len).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            // No panic; and what is read is whole.
            if let Some(context) = Context::read(&flipped) {
                assert!(!context.text().is_empty() && context.json().ends_with('}'));
            }
        }
        for bad in
            [&b"\xBF\xFF"[..], b"\xA0", b"\x01", b"\xBF\x01\x02\xFF", b"\xA1\x61a\x01\x00", b"\xBF\x61a"]
        {
            assert!(Context::read(&args(bad)).is_none(), "{bad:x?}");
        }
        let deep = [&b"\xA1\x61a"[..], &[0x81; 200], &[1]].concat();
        assert!(Context::read(&args(&deep)).is_none());
    }

    #[test]
    fn the_number_of_fields_is_bounded() {
        let mut item = vec![0xBF];
        for number in 0..1000u32 {
            item.extend_from_slice(&[0x64]);
            item.extend_from_slice(format!("{number:04}").as_bytes());
            item.push(0xF6);
        }
        item.push(0xFF);
        assert_eq!(Context::read(&args(&item)).unwrap().fields().count(), FIELDS_MAX);
    }
}
