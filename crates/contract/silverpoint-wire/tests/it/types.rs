//! Types of any shape.

use proptest::collection::vec;
use proptest::prelude::*;
use silverpoint_wire::signature::{Enumeration, Record, Tuple, Type};

fn scalar() -> impl Strategy<Value = Type> {
    let int = (prop::sample::select(vec![8_u8, 16, 32, 64, 128]), any::<bool>());
    prop_oneof![
        int.prop_map(|(bits, signed)| Type::Int { bits, signed }),
        prop::sample::select(vec![
            Type::Null,
            Type::Bool,
            Type::Float32,
            Type::Float64,
            Type::Char8,
            Type::Char16,
            Type::Char32,
            Type::Pointer,
            Type::Text8,
            Type::Text16,
            Type::Text32,
            Type::Bytes,
            Type::Uuid,
            Type::Time,
            Type::Duration,
            Type::Any,
        ]),
        enumeration(),
    ]
}

fn enumeration() -> impl Strategy<Value = Type> {
    let under = prop::sample::select(vec![
        Type::Bool,
        Type::Char8,
        Type::Char16,
        Type::Char32,
        Type::Int { bits: 8, signed: false },
        Type::Int { bits: 64, signed: true },
    ]);
    (name(), under, vec((any::<i64>(), name()), 0..4))
        .prop_map(|(name, under, labels)| Type::Enumeration(Box::new(Enumeration::new(name, under, labels))))
}

fn name() -> impl Strategy<Value = String> {
    "[a-c%|:,;=<>\u{fc}\u{1F600}\n ]{0,4}"
}

/// A type, nested up to five deep.
pub fn any_type() -> impl Strategy<Value = Type> {
    scalar().prop_recursive(5, 24, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(Type::Optional),
            boxed.clone().prop_map(Type::Sequence),
            boxed.clone().prop_map(Type::Set),
            (0_u32..5, boxed.clone()).prop_map(|(count, element)| Type::Array(count, element)),
            (boxed.clone(), boxed.clone()).prop_map(|(key, value)| Type::Map(key, value)),
            vec(inner.clone(), 0..4).prop_map(|types| Type::Tuple(Box::new(Tuple::new(types)))),
            (name(), vec((name(), inner.clone()), 0..4))
                .prop_map(|(name, fields)| Type::Record(Box::new(Record::new(name, fields)))),
            vec(inner, 0..4).prop_map(Type::Variant),
            (name(), name(), boxed).prop_map(|(key, text, inner)| Type::Meta(key, text, inner)),
        ]
    })
}

/// The types of a few arguments.
pub fn any_types() -> impl Strategy<Value = Vec<Type>> {
    vec(any_type(), 0..4)
}
