//! Reads events by a decoder that knows nothing of Silverpoint, and says what the JSON of the ring's record asks of them.
//!
//! A field is `[name, kind, value]`; a structure's value is a list of fields. Numbers are their texts, after `#`.

use serde_json::{Value, json};
use silverpoint_render::json::{Stack, push_args, push_f32, push_f64};
use silverpoint_trace::Site;
use silverpoint_wire::signature::{Record, Tuple, Type, parse};
use silverpoint_wire::site::SiteDescription;
use tracepoint_decode::{
    EventHeaderEnumerator, EventHeaderEnumeratorContext, EventHeaderEnumeratorError,
    EventHeaderEnumeratorState, PerfItemMetadata, PerfItemValue,
};

/// An event as it is decoded.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    pub provider: String,
    pub name: String,
    pub level: u8,
    pub keyword: u64,
    pub opcode: u8,
    pub tag: u16,
    pub activity: Option<[u8; 16]>,
    /// The parent's.
    pub related: Option<[u8; 16]>,
    pub fields: Vec<Value>,
}

/// `declaration`: of the tracepoint, as the kernel gets it.
pub fn decode(declaration: &str, event: &[u8]) -> Decoded {
    let name = declaration
        .strip_suffix(" u8 eventheader_flags;u8 version;u16 id;u16 tag;u8 opcode;u8 level")
        .unwrap_or_else(|| panic!("{declaration}"));
    assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
    assert!(event.len() <= 65_535, "{}", event.len());
    let mut context = EventHeaderEnumeratorContext::new();
    let mut items = context.enumerate_with_name_and_data(name, event, u32::MAX).expect("an event");
    let info = items.event_info();
    let header = info.header();
    let mut decoded = Decoded {
        provider: info.provider_name().to_owned(),
        name: String::from_utf8(info.name_bytes().to_vec()).expect("UTF-8"),
        level: header.level.as_int(),
        keyword: info.keyword(),
        opcode: header.opcode.as_int(),
        tag: header.tag,
        activity: info.activity_id().copied(),
        related: info.related_activity_id().copied(),
        fields: Vec::new(),
    };
    decoded.fields = fields(&mut items);
    assert_eq!(items.last_error(), EventHeaderEnumeratorError::Success, "{decoded:?}");
    assert_eq!(items.state(), EventHeaderEnumeratorState::AfterLastItem);
    assert!(items.raw_data_position().is_empty(), "bytes behind the last field: {decoded:?}");
    decoded
}

fn fields(items: &mut EventHeaderEnumerator<'_, '_, '_>) -> Vec<Value> {
    let mut found = Vec::new();
    while items.move_next() {
        let state = items.state();
        if matches!(state, EventHeaderEnumeratorState::StructEnd | EventHeaderEnumeratorState::ArrayEnd) {
            break;
        }
        let info = items.item_info();
        let name = String::from_utf8(info.name_bytes().to_vec()).expect("UTF-8");
        let kind = kind(&info.metadata());
        let field = match state {
            EventHeaderEnumeratorState::Value => json!([name, kind, value(&kind, info.value())]),
            EventHeaderEnumeratorState::StructBegin => json!([name, "struct", fields(items)]),
            EventHeaderEnumeratorState::ArrayBegin => {
                let count = match info.metadata().array_flag() {
                    0x20 => info.metadata().element_count().to_string(),
                    _ => String::new(),
                };
                let elements: Vec<Value> =
                    fields(items).into_iter().map(|mut element| element[2].take()).collect();
                json!([name, format!("{kind}[{count}]"), elements])
            }
            other => panic!("{other:?} at {name}"),
        };
        found.push(field);
    }
    found
}

/// Encoding and format, by the numbers of EventHeader.
fn kind(of: &PerfItemMetadata) -> String {
    let size = match of.encoding().as_int() {
        1 => return "struct".to_owned(),
        2 => "8",
        3 => "16",
        4 => "32",
        5 => "64",
        6 => "128",
        10 => "?",
        other => panic!("encoding {other}"),
    };
    let format = match of.format().as_int() {
        1 => "u",
        2 => "i",
        3 => "hex",
        7 => "bool",
        8 => "f",
        15 => "uuid",
        9 => "bytes",
        11 => "text",
        14 => "json",
        other => panic!("{other:?}"),
    };
    format!("{format}{size}")
}

pub fn number(text: impl ToString) -> Value {
    Value::String(format!("#{}", text.to_string()))
}

pub fn float(push: impl FnOnce(&mut String)) -> Value {
    let mut text = String::new();
    push(&mut text);
    // A float that JSON has no number for is a text.
    match text.strip_prefix('"') {
        Some(rest) => Value::from(rest.trim_end_matches('"')),
        None => number(text),
    }
}

pub fn uuid(bytes: &[u8]) -> Value {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Value::from(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

fn value(kind: &str, of: &PerfItemValue<'_>) -> Value {
    let bytes = of.bytes();
    let text = || String::from_utf8_lossy(bytes).into_owned();
    match kind {
        "text?" => return Value::from(text()),
        // JSON that was cut is none.
        "json?" => return try_numbered(&text()).unwrap_or_else(|_| Value::from(text())),
        "bytes?" => return Value::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        _ => {}
    }
    if bytes.is_empty() {
        return Value::Null;
    }
    match (kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == '?'), bytes.len()) {
        ("bool", 1) => Value::from(of.to_u8(0) != 0),
        ("u" | "hex", 1) => number(of.to_u8(0)),
        ("u" | "hex", 2) => number(of.to_u16(0)),
        ("u" | "hex", 4) => number(of.to_u32(0)),
        ("u" | "hex", 8) => number(of.to_u64(0)),
        ("i", 1) => number(of.to_i8(0)),
        ("i", 2) => number(of.to_i16(0)),
        ("i", 4) => number(of.to_i32(0)),
        ("i", 8) => number(of.to_i64(0)),
        ("f", 4) => float(|out| push_f32(out, of.to_f32(0))),
        ("f", 8) => float(|out| push_f64(out, of.to_f64(0))),
        ("uuid", 16) => uuid(bytes),
        (kind, size) => panic!("{kind} of {size} bytes"),
    }
}

/// JSON whose numbers are texts after `#`: none is rounded.
pub fn numbered(json: &str) -> Value {
    try_numbered(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

pub fn try_numbered(json: &str) -> serde_json::Result<Value> {
    let (mut out, mut is_text, mut is_escaped, mut is_number) = (String::new(), false, false, false);
    for c in json.chars() {
        let digit = !is_text
            && (c.is_ascii_digit() || "+-.eE".contains(c))
            && (is_number || c.is_ascii_digit() || c == '-');
        if digit != is_number {
            out.push_str(if digit { "\"#" } else { "\"" });
            is_number = digit;
        }
        out.push(c);
        if is_text {
            is_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else {
            is_text = c == '"';
        }
    }
    if is_number {
        out.push('"');
    }
    serde_json::from_str(&out)
}

/// A truth value that the JSON of a record does not say.
const UNKNOWN: &str = "*unknown*";

/// Whether two trees are equal, but for the spelling of floats.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| others.get(key).is_some_and(|other| same(one, other)))
        }
        (Value::String(one), Value::String(other)) if one != other => {
            let (Some(one), Some(other)) = (one.strip_prefix('#'), other.strip_prefix('#')) else {
                return false;
            };
            let is_float = one.contains(['.', 'e', 'E']) || other.contains(['.', 'e', 'E']);
            let (Ok(wide), Ok(other_wide)) = (one.parse::<f64>(), other.parse::<f64>()) else { return false };
            let (Ok(narrow), Ok(other_narrow)) = (one.parse::<f32>(), other.parse::<f32>()) else {
                return false;
            };
            is_float && (wide == other_wide || narrow == other_narrow)
        }
        (Value::Bool(_), Value::String(other)) => other == UNKNOWN,
        _ => one == other,
    }
}

/// The JSON of a record's arguments, as `cat --json` has it, each number as a text.
fn json_of(types: &[Type], bytes: &[u8]) -> Vec<Value> {
    let signature = types.iter().map(ToString::to_string).collect();
    let site = Site::new(SiteDescription { signature, ..description() });
    assert_eq!(site.fault, None);
    let mut out = String::new();
    push_args(&mut out, &mut Stack::default(), &site, bytes);
    match numbered(&out) {
        Value::Array(values) => values,
        // Without arguments.
        _ => Vec::new(),
    }
}

fn description() -> SiteDescription {
    use silverpoint_wire::level::{Kind, Level};
    SiteDescription {
        kind: Kind::Log,
        level: Level::Info,
        flags: 0,
        line: 1,
        language: 1,
        category: String::new(),
        file: String::new(),
        function: String::new(),
        names: String::new(),
        template: String::new(),
        signature: String::new(),
    }
}

/// The type without what changes only its notation; with `numbers` enumerations are what they are over.
fn plain(of: &Type, numbers: bool) -> Type {
    let inner = |of: &Type| Box::new(plain(of, numbers));
    let int = |bits, signed| Type::Int { bits, signed };
    match of {
        Type::Meta(_, _, of) => plain(of, numbers),
        Type::Pointer => int(64, false),
        Type::Time | Type::Duration => int(64, true),
        Type::Optional(of) => Type::Optional(inner(of)),
        Type::Sequence(of) => Type::Sequence(inner(of)),
        Type::Set(of) => Type::Set(inner(of)),
        Type::Array(count, of) => Type::Array(*count, inner(of)),
        Type::Map(key, of) => Type::Map(inner(key), inner(of)),
        Type::Tuple(tuple) => {
            Type::Tuple(Box::new(Tuple::new(tuple.types().iter().map(|of| plain(of, numbers)).collect())))
        }
        Type::Record(record) => {
            let fields = record.fields().iter().map(|(name, of)| (name.clone(), plain(of, numbers)));
            Type::Record(Box::new(Record::new(record.name().to_owned(), fields.collect())))
        }
        Type::Variant(all) => Type::Variant(all.iter().map(|of| plain(of, numbers)).collect()),
        Type::Enumeration(enumeration) if numbers => match enumeration.underlying().bare() {
            Type::Bool | Type::Char8 => int(8, false),
            Type::Char16 => int(16, false),
            Type::Char32 => int(32, false),
            of => of.clone(),
        },
        other => other.clone(),
    }
}

/// What events are for.
#[derive(Clone, Copy, PartialEq)]
pub enum Dialect {
    EventHeader,
    /// It has neither values that may be null nor arrays of constant size.
    TraceLogging,
}

/// What an event has of a record with these arguments. `names`: none, or one for each.
pub fn expected(dialect: Dialect, signature: &str, names: &[&str], arguments: &[u8]) -> Vec<Value> {
    let types = parse(signature).unwrap();
    let json = |numbers| json_of(&types.iter().map(|of| plain(of, numbers)).collect::<Vec<_>>(), arguments);
    let (labels, numbers) = (json(false), json(true));
    let mut fields = Fields { dialect, all: Vec::new() };
    for (number, of) in types.iter().enumerate() {
        let name = names
            .get(number)
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("arg{number}"), |name| fit(name));
        let given = Given { labels: &labels[number], numbers: &numbers[number] };
        fields.add(&name, of, Some(given), 7, false);
    }
    fields.all
}

fn fit(name: &str) -> String {
    let fit = |c| match c {
        ';' => ',',
        '\0'..'\x20' | '\x7f' => '_',
        c => c,
    };
    name.chars().map(fit).collect()
}

#[derive(Clone, Copy)]
struct Given<'a> {
    labels: &'a Value,
    numbers: &'a Value,
}

struct Fields {
    dialect: Dialect,
    all: Vec<Value>,
}

impl Fields {
    fn put(&mut self, name: &str, kind: &str, value: Value) {
        let mut unique = name.to_owned();
        let mut number = 1;
        while self.all.iter().any(|field| field[0] == unique.as_str()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        self.all.push(json!([unique, kind, value]));
    }

    fn add(&mut self, name: &str, of: &Type, given: Option<Given<'_>>, depth: usize, is_hex: bool) {
        let is_hex = is_hex || asks_hex(of);
        let of = of.bare();
        let labels = given.map(|given| given.labels.clone());
        if let Some((kind, size, zero)) = scalar(of, is_hex) {
            return self.put(name, &format!("{kind}{size}"), bits(kind, size, labels.unwrap_or(zero)));
        }
        let text = Value::from("");
        match of {
            Type::Null => {}
            Type::Text8 | Type::Text16 | Type::Text32 | Type::Char8 | Type::Char16 | Type::Char32 => {
                self.put(name, "text?", labels.unwrap_or(text));
            }
            // The digits of an integer of 128 bits.
            Type::Int { .. } => {
                let digits =
                    labels.map(|digits| Value::from(digits.as_str().unwrap().trim_start_matches('#')));
                self.put(name, "text?", digits.unwrap_or(text));
            }
            Type::Bytes => self.put(name, "bytes?", labels.unwrap_or(text)),
            Type::Enumeration(enumeration) => {
                let over = match enumeration.underlying().bare() {
                    Type::Char8 => Type::Int { bits: 8, signed: false },
                    Type::Char16 => Type::Int { bits: 16, signed: false },
                    Type::Char32 => Type::Int { bits: 32, signed: false },
                    of => of.clone(),
                };
                let (kind, size, zero) = scalar(&over, is_hex).unwrap();
                let number = given.map_or(zero, |given| match (&over, given.numbers) {
                    (Type::Bool, number) => Value::from(number != "#0"),
                    (_, number) => number.clone(),
                });
                self.put(name, &format!("{kind}{size}"), bits(kind, size, number));
                if enumeration.labels().next().is_some() {
                    let label =
                        labels.filter(|label| label.as_str().is_some_and(|label| !label.starts_with('#')));
                    self.put(&format!("{name}_label"), "text?", label.unwrap_or(text));
                }
            }
            Type::Optional(inner) => {
                let is_null = given.is_none_or(|given| given.labels.is_null());
                let value = scalar(inner.bare(), is_hex || asks_hex(inner));
                if let Some((kind, size, _)) = value.filter(|_| self.dialect == Dialect::EventHeader) {
                    let value = bits(kind, size, given.map_or(Value::Null, |given| given.labels.clone()));
                    return self.put(name, &format!("{kind}?"), value);
                }
                // JSON does not say whether a value that may be null is there.
                let is_unknown = given.is_some() && is_null && may_be_null(inner.bare());
                let present = if is_unknown { Value::from(UNKNOWN) } else { Value::from(!is_null) };
                self.put(&format!("{name}_present"), "bool8", present);
                self.add(name, inner, given.filter(|_| !is_null || is_unknown), depth, is_hex);
            }
            Type::Sequence(inner) | Type::Set(inner) => self.list(name, inner, None, labels, is_hex),
            Type::Array(count, inner) => self.list(name, inner, Some(*count as usize), labels, is_hex),
            Type::Tuple(tuple) => {
                let members: Vec<(String, &Type)> =
                    tuple.types().iter().enumerate().map(|(number, of)| (number.to_string(), of)).collect();
                self.structure(name, &members, given, depth, is_hex);
            }
            Type::Record(record) => {
                let members: Vec<(String, &Type)> =
                    record.fields().iter().map(|(name, of)| (name.clone(), of)).collect();
                self.structure(name, &members, given, depth, is_hex);
            }
            _ => self.put(name, "json?", labels.unwrap_or(Value::Null)),
        }
    }

    fn list(&mut self, name: &str, of: &Type, count: Option<usize>, value: Option<Value>, is_hex: bool) {
        let element = of.bare();
        if *element == Type::Text8 {
            return self.put(name, "text?[]", value.unwrap_or_else(|| json!([])));
        }
        let Some((kind, size, zero)) = scalar(element, is_hex || asks_hex(of)) else {
            return self.put(name, "json?", value.unwrap_or(Value::Null));
        };
        let value = value.map(|value| bits(kind, size, value));
        let count = count.filter(|_| self.dialect == Dialect::EventHeader);
        match count.filter(|count| (1..=4096).contains(&(count * size / 8))) {
            Some(count) => {
                let value = value.unwrap_or_else(|| Value::from(vec![zero; count]));
                self.put(name, &format!("{kind}{size}[{count}]"), value);
            }
            None => self.put(name, &format!("{kind}{size}[]"), value.unwrap_or_else(|| json!([]))),
        }
    }

    fn structure(
        &mut self,
        name: &str,
        members: &[(String, &Type)],
        given: Option<Given<'_>>,
        depth: usize,
        is_hex: bool,
    ) {
        let mut inner = Fields { dialect: self.dialect, all: Vec::new() };
        if depth > 0 {
            for (number, (name, of)) in members.iter().enumerate() {
                let member = |of: &'_ Value| match of {
                    Value::Array(all) => all[number].clone(),
                    of => of[name].clone(),
                };
                let parts = given.map(|given| (member(given.labels), member(given.numbers)));
                let given = parts.as_ref().map(|(labels, numbers)| Given { labels, numbers });
                let name = if name.is_empty() { number.to_string() } else { fit(name) };
                inner.add(&name, of, given, depth - 1, is_hex);
            }
        }
        let is_json = depth == 0 || inner.all.len() > 127;
        if is_json {
            let value = given.map_or(Value::Null, |given| given.labels.clone());
            self.put(name, "json?", value);
        } else if !inner.all.is_empty() {
            self.put(name, "struct", Value::from(inner.all));
        }
    }
}

fn may_be_null(of: &Type) -> bool {
    matches!(of, Type::Null | Type::Optional(_) | Type::Any | Type::Variant(_))
}

fn asks_hex(of: &Type) -> bool {
    match of {
        Type::Meta(key, _, inner) => key == "hex" || asks_hex(inner),
        _ => false,
    }
}

/// Hexadecimal numbers have no sign.
fn bits(kind: &str, size: usize, of: Value) -> Value {
    match of {
        Value::Array(all) => all.into_iter().map(|of| bits(kind, size, of)).collect(),
        Value::String(text) if kind == "hex" && text.starts_with("#-") => {
            let value: i64 = text[1..].parse().unwrap();
            number((value as u64) << (64 - size) >> (64 - size))
        }
        of => of,
    }
}

/// Kind, bits, and what stands for no value.
fn scalar(of: &Type, is_hex: bool) -> Option<(&'static str, usize, Value)> {
    Some(match of {
        Type::Bool => ("bool", 8, Value::from(false)),
        Type::Int { bits, .. } if *bits <= 64 && is_hex => ("hex", usize::from(*bits), number(0)),
        Type::Int { bits, signed } if *bits <= 64 => {
            (if *signed { "i" } else { "u" }, usize::from(*bits), number(0))
        }
        Type::Float32 => ("f", 32, float(|out| push_f32(out, 0.0))),
        Type::Float64 => ("f", 64, float(|out| push_f64(out, 0.0))),
        Type::Pointer => ("hex", 64, number(0)),
        Type::Time | Type::Duration => ("i", 64, number(0)),
        Type::Uuid => ("uuid", 128, uuid(&[0; 16])),
        _ => return None,
    })
}
