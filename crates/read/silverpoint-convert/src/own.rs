//! Records as `document` and the usual JSON write them, recognised by a rule (`docs/formats.md`), and their fields.

use std::borrow::Cow;
use std::collections::HashMap;

use minicbor::Decoder;
use minicbor::data::Type as Item;
use silverpoint_wire::cbor::push_head;
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::level::{Kind, Level};

use crate::pack::{Mismatch, Whole, goes_on, mismatch, octets, skip, time, time_error, whole};

pub(crate) type Done<T = ()> = Result<T, Mismatch>;

/// A member of the record: its name, and where its value begins.
pub(crate) type Member<'s> = (&'s str, usize);

/// The members of a map, each as often as it stands there.
pub(crate) fn members(bytes: &[u8], at: usize) -> Done<Vec<Member<'_>>> {
    let mut items = Decoder::new(bytes);
    items.set_position(at);
    let stated = items.map().map_err(|_| mismatch(&items, at, "a record: a map of names to values"))?;
    let mut members = Vec::new();
    while goes_on(&mut items, stated, members.len() as u64) {
        let at = items.position();
        let name = items.str().map_err(|_| mismatch(&items, at, "a name"))?;
        let at = items.position();
        members.push((name, at));
        skip(&mut items).ok_or_else(|| {
            let mut error = mismatch(&items, at, "a value");
            error.path = format!(".{name}");
            error
        })?;
    }
    Ok(members)
}

/// A decoder of the value at an offset.
pub(crate) fn at(bytes: &[u8], at: usize) -> Decoder<'_> {
    let mut items = Decoder::new(bytes);
    items.set_position(at);
    items
}

/// The bytes of the item at an offset.
pub(crate) fn item_at(bytes: &[u8], begin: usize) -> Option<&[u8]> {
    let mut items = at(bytes, begin);
    skip(&mut items)?;
    bytes.get(begin..items.position())
}

/// Whose record it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Silverpoint's, with a signature: what is wrong in it is an error.
    Exact,
    /// Silverpoint's by its names, if their values are of the types that Silverpoint writes.
    Usual,
    /// Another program's.
    Foreign,
}

/// No single name makes a record one of Silverpoint's: other programs use each of them.
pub(crate) fn owner(bytes: &[u8], members: &[Member<'_>]) -> Owner {
    let value = |name: &str| members.iter().find(|(known, _)| *known == name).map(|(_, begin)| *begin);
    let has = |name: &str| value(name).is_some();
    let text = |name: &str| value(name).and_then(|begin| at(bytes, begin).str().ok());
    let has_args = value("args").is_some_and(|begin| {
        let sort = at(bytes, begin).datatype();
        matches!(sort, Ok(Item::Array | Item::ArrayIndef | Item::Map | Item::MapIndef))
    });
    let is_described = text("template").is_some();
    let is_record = is_described && (has_args || has("raw"));
    let is_own = match text("kind") {
        Some("span_end") => has("duration_ns"),
        Some("loss") => has("cause") && has("count"),
        Some("stall") => has("cause") && has("duration_ns"),
        Some("unknown") => has("site"),
        Some(name) => is_record && Kind::from_name(name).is_some(),
        None => is_record && text("signature").is_some(),
    };
    match is_own {
        false => Owner::Foreign,
        true if is_described && text("signature").is_some() => Owner::Exact,
        true => Owner::Usual,
    }
}

/// Names whose values follow from others.
const DERIVED: [&str; 3] = ["message", "damaged", "stack"];

/// The fields of a record, as they stand in the scratch.
#[derive(Default)]
pub(crate) struct Fields<'s> {
    pub time: Option<i64>,
    pub ticks: Option<u64>,
    pub level: Option<Level>,
    pub process: &'s str,
    pub pid: u32,
    pub tid: u32,
    pub thread: &'s str,
    pub category: &'s str,
    pub file: &'s str,
    pub line: u32,
    pub function: &'s str,
    pub kind: Option<&'s str>,
    pub of: Option<&'s str>,
    pub template: Option<&'s str>,
    pub signature: Option<&'s str>,
    pub signature_at: usize,
    pub names: Option<&'s str>,
    pub flags: u16,
    pub language: u16,
    pub args: Option<usize>,
    pub raw: Option<Vec<u8>>,
    pub context: Option<usize>,
    pub truncated: bool,
    pub is_backtrace: bool,
    pub duration_ns: Option<u64>,
    pub span_ns: u64,
    pub cause: u8,
    pub count: u64,
    pub site: u32,
    /// Members that Silverpoint does not write: somebody added them on the way.
    pub others: Vec<Member<'s>>,
    /// The arguments stand before the signature, as Silverpoint never writes them: their order is not the one that was recorded.
    pub is_reordered: bool,
}

/// The fields of one of Silverpoint's records.
pub(crate) fn fields<'s>(bytes: &'s [u8], members: &[Member<'s>]) -> Done<Fields<'s>> {
    let mut fields = Fields::default();
    for (name, begin) in members {
        field(&mut fields, name, &mut at(bytes, *begin)).map_err(|mut error| {
            error.path = format!(".{name}{}", error.path);
            error
        })?;
    }
    Ok(fields)
}

fn field<'s>(fields: &mut Fields<'s>, name: &'s str, items: &mut Decoder<'s>) -> Done {
    let at = items.position();
    let wrong = |items: &Decoder<'_>, expected| mismatch(items, at, expected);
    let is_null = matches!(items.datatype(), Ok(Item::Null));
    macro_rules! text {
        () => {
            items.str().map_err(|_| wrong(items, "text"))?
        };
    }
    macro_rules! unsigned {
        ($type:ty) => {
            match whole(items) {
                Some(Whole::Unsigned(value)) => <$type>::try_from(value).ok(),
                _ => None,
            }
            .ok_or_else(|| wrong(items, "an unsigned integer that fits"))?
        };
    }
    if is_null && name != "args" && crate::cells::COLUMNS.contains(&name) {
        return Ok(());
    }
    match name {
        "time" => {
            let expected = time_error(&mut items.clone());
            fields.time = Some(time(items).ok_or_else(|| wrong(items, expected))?);
        }
        "ticks" => fields.ticks = Some(unsigned!(u64)),
        "level" => {
            let level = text!().parse();
            fields.level = Some(level.map_err(|_| wrong(items, "trace, debug, info, warn, error or fatal"))?);
        }
        "process" => fields.process = text!(),
        "pid" => fields.pid = unsigned!(u32),
        "tid" => fields.tid = unsigned!(u32),
        "thread" => fields.thread = text!(),
        "category" => fields.category = text!(),
        "file" => fields.file = text!(),
        "line" => fields.line = unsigned!(u32),
        "function" => fields.function = text!(),
        "kind" => fields.kind = Some(text!()),
        "of" => fields.of = Some(text!()),
        "template" => fields.template = Some(text!()),
        "signature" => {
            fields.signature_at = at;
            fields.signature = Some(text!());
        }
        "names" => fields.names = Some(text!()),
        "flags" => fields.flags = unsigned!(u16),
        "language" => fields.language = unsigned!(u16),
        "duration_ns" => fields.duration_ns = Some(unsigned!(u64)),
        "span_ns" => fields.span_ns = unsigned!(u64),
        "count" => fields.count = unsigned!(u64),
        "site" => fields.site = unsigned!(u32),
        "truncated" => fields.truncated = items.bool().map_err(|_| wrong(items, "true or false"))?,
        "backtrace" => fields.is_backtrace = items.bool().map_err(|_| wrong(items, "true or false"))?,
        "raw" => fields.raw = Some(octets(items).ok_or_else(|| wrong(items, "bytes"))?),
        "cause" => {
            fields.cause = if matches!(items.datatype(), Ok(Item::String)) {
                let name = text!();
                let cause = CAUSE_NAMES.iter().position(|known| *known == name);
                cause.ok_or_else(|| wrong(items, "the cause of a loss"))? as u8
            } else {
                unsigned!(u8)
            };
        }
        "args" => {
            fields.args = Some(at);
            fields.is_reordered = fields.signature.is_none();
        }
        "context" => fields.context = Some(at),
        name if DERIVED.contains(&name) => {}
        _ => fields.others.push((name, at)),
    }
    Ok(())
}

/// Members beside those of Silverpoint that a record may have.
const OTHERS_MAX: usize = 256;

/// The context with the members that Silverpoint does not write: they are of the record, and none of its arguments. An item of CBOR.
pub(crate) fn context(bytes: &[u8], fields: &Fields<'_>) -> Done<Option<Vec<u8>>> {
    let own = fields.context.and_then(|begin| context_item(bytes, begin));
    let known = own.as_deref().and_then(|item| members(item, 0).ok()).unwrap_or_default();
    let is_same = |name: &str, begin: usize| {
        let value = item_at(bytes, begin);
        own.as_deref().is_some_and(|own| known.iter().any(|k| k.0 == name && item_at(own, k.1) == value))
    };
    if let Some((name, begin)) = fields.others.get(OTHERS_MAX) {
        let error =
            mismatch(&at(bytes, *begin), *begin, "at most 256 members that Silverpoint does not write");
        return Err(Mismatch { path: format!(".{name}"), ..error });
    }
    // `trace_id` and `span_id` stand beside the context, too.
    let added: Vec<_> = fields.others.iter().filter(|(name, begin)| !is_same(name, *begin)).collect();
    if added.is_empty() {
        return Ok(own);
    }
    let mut item = vec![0xBF];
    let mut names = Names::default();
    let kept = known.iter().filter_map(|k| Some((k.0, item_at(own.as_deref()?, k.1)?)));
    let added = added.into_iter().filter_map(|(name, begin)| Some((*name, item_at(bytes, *begin)?)));
    for (name, value) in kept.chain(added) {
        let name = names.add(name);
        push_head(&mut item, 3, name.len() as u64);
        item.extend_from_slice(name.as_bytes());
        item.extend_from_slice(value);
    }
    item.push(0xFF);
    Ok(Some(item))
}

/// Names of one map. A name that is taken gets a number behind it.
#[derive(Default)]
pub(crate) struct Names {
    /// Each name, and the number that the next one like it gets.
    taken: HashMap<String, u64>,
}

impl Names {
    /// Takes the name, or where it is taken the one that stands for it.
    pub fn add<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        let Some(next) = self.taken.get_mut(name) else {
            self.taken.insert(name.to_owned(), 2);
            return Cow::Borrowed(name);
        };
        let mut number = *next;
        let mut other = format!("{name}_{number}");
        while self.taken.contains_key(&other) {
            number += 1;
            other = format!("{name}_{number}");
        }
        self.taken.insert(name.to_owned(), number + 1);
        self.taken.insert(other.clone(), 2);
        Cow::Owned(other)
    }
}

/// Fields of a context: a map, or the bytes of an item of CBOR that is one.
fn context_item(bytes: &[u8], begin: usize) -> Option<Vec<u8>> {
    let item = item_at(bytes, begin)?;
    match at(item, 0).datatype().ok()? {
        Item::Map | Item::MapIndef => Some(item.to_vec()),
        _ => octets(&mut at(item, 0)),
    }
}
