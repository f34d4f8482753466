//! Contexts: the fields that a program has attached to all records of a scope (`spec/wire.md`, section 6).
//!
//! A context is parsed once, when its record is reached; every event up to the next one refers to it.

use std::ops::Range;

use minicbor::Decoder;
use minicbor::data::Type;
use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::record::CONTEXT_MAX;

use crate::Made;
use crate::cbor;

/// Fields that are read; later ones are left out.
const FIELDS_MAX: usize = 256;

/// Fields of all records of a scope, the outermost first.
#[derive(Debug, Default)]
pub struct Context {
    item: Vec<u8>,
    fields: Vec<Field>,
    made: Made,
}

#[derive(Debug)]
struct Field {
    name: String,
    value: Range<usize>,
}

impl Context {
    /// Reads the arguments of a *context* record; `None` when they are no context, or one without fields.
    pub fn read(args: &[u8]) -> Option<Self> {
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
        size_of::<Self>() + 2 * self.item.len() + self.fields.len() * size_of::<Field>() + self.made.bytes()
    }

    /// The value of a field, as an item of CBOR.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.fields().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The text of a field, when it is one.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        Decoder::new(self.get(name)?).str().ok()
    }

    /// What is made of it once, and kept as long as it is.
    pub fn made(&self) -> &Made {
        &self.made
    }
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
