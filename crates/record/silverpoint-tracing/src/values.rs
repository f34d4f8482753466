//! Structured values of the `valuable` crate, as items that carry their types themselves.

use silverpoint::{Item, Nest};
use valuable::{Enumerable, Fields, NamedValues, Value, Variant, Visit};

/// Puts a value into an item.
pub(crate) fn put(item: &mut Item<'_>, value: &Value<'_>) {
    match *value {
        Value::Bool(value) => item.bool(value),
        Value::Char(value) => item.text(value.encode_utf8(&mut [0; 4])),
        Value::F32(value) => item.f32(value),
        Value::F64(value) => item.f64(value),
        Value::I8(value) => item.integer(value.into()),
        Value::I16(value) => item.integer(value.into()),
        Value::I32(value) => item.integer(value.into()),
        Value::I64(value) => item.integer(value.into()),
        Value::I128(value) => item.integer(value),
        Value::Isize(value) => item.integer(value as i128),
        Value::String(value) => item.text(value),
        Value::U8(value) => item.integer(value.into()),
        Value::U16(value) => item.integer(value.into()),
        Value::U32(value) => item.integer(value.into()),
        Value::U64(value) => item.integer(value.into()),
        Value::U128(value) => item.unsigned(value),
        Value::Usize(value) => item.integer(value as i128),
        Value::Error(error) => item.formatted(format_args!("{error}")),
        Value::Path(path) => item.formatted(format_args!("{}", path.display())),
        Value::Listable(list) => nested(item, false, |elements| list.visit(elements)),
        Value::Tuplable(tuple) => nested(item, false, |elements| tuple.visit(elements)),
        Value::Mappable(map) => nested(item, true, |elements| map.visit(elements)),
        Value::Structable(record) => {
            let has_names = matches!(record.definition().fields(), Fields::Named(_));
            nested(item, has_names, |elements| record.visit(elements));
        }
        Value::Enumerable(choice) => put_choice(item, choice),
        Value::Unit => item.null(),
        _ => item.formatted(format_args!("{value:?}")),
    }
}

/// An alternative: its name, or a map of the name and what it holds.
fn put_choice(item: &mut Item<'_>, choice: &dyn Enumerable) {
    let variant = choice.variant();
    if is_bare(&variant) {
        return item.text(variant.name());
    }
    let mut nest = item.begin_map();
    if item.next(&mut nest) {
        item.text(variant.name());
        nested(item, variant.is_named_fields(), |elements| choice.visit(elements));
    }
    item.end(nest);
}

fn is_bare(variant: &Variant<'_>) -> bool {
    match variant {
        Variant::Static(known) => matches!(known.fields(), Fields::Unnamed(0)),
        Variant::Dynamic(known) => matches!(known.fields(), Fields::Unnamed(0)),
    }
}

/// A list or a map whose elements `visit` shows.
fn nested(item: &mut Item<'_>, is_map: bool, visit: impl FnOnce(&mut Elements<'_, '_>)) {
    let nest = if is_map { item.begin_map() } else { item.begin_list() };
    let mut elements = Elements { item, nest: Some(nest) };
    visit(&mut elements);
    let Elements { item, nest } = elements;
    if let Some(nest) = nest {
        item.end(nest);
    }
}

struct Elements<'i, 'a> {
    item: &'i mut Item<'a>,
    nest: Option<Nest>,
}

impl Elements<'_, '_> {
    fn next(&mut self) -> bool {
        let item = &mut *self.item;
        self.nest.as_mut().is_some_and(|nest| item.next(nest))
    }
}

impl Visit for Elements<'_, '_> {
    fn visit_value(&mut self, value: Value<'_>) {
        if self.next() {
            put(self.item, &value);
        }
    }

    fn visit_entry(&mut self, key: Value<'_>, value: Value<'_>) {
        if self.next() {
            put(self.item, &key);
            put(self.item, &value);
        }
    }

    fn visit_named_fields(&mut self, fields: &NamedValues<'_>) {
        for (field, value) in fields {
            if self.next() {
                self.item.text(field.name());
                put(self.item, value);
            }
        }
    }

    fn visit_unnamed_fields(&mut self, values: &[Value<'_>]) {
        values.iter().for_each(|value| self.visit_value(*value));
    }
}
