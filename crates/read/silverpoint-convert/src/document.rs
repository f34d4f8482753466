//! A record as one value, for any visitor: `docs/formats.md` lists its fields. `interpret` is the way back.

use std::convert::Infallible;

use silverpoint_trace::{Site, What};
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::level::Kind;
use silverpoint_wire::value::{Nobody, Sequence, Text, Visitor, WalkError, walk};

use crate::{Record, exact};

/// How a visitor wants it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Fields of contexts as items of CBOR, which [`Visitor::any`] is given; else as their bytes.
    pub embeds_cbor: bool,
}

/// Drives `visitor` with the record: a record of named fields, arguments in the exact form. `message` is what people read, left out when it is empty.
///
/// # Errors
/// Those of the visitor.
pub fn visit<V: Visitor>(
    record: &Record<'_>,
    message: &str,
    options: Options,
    visitor: &mut V,
) -> Result<(), V::Error> {
    visitor.begin_record("record", 0)?;
    head(record, visitor)?;
    body(record, message, options, visitor)?;
    visitor.end()
}

fn text<V: Visitor>(visitor: &mut V, name: &str, value: &str) -> Result<(), V::Error> {
    visitor.field(name)?;
    visitor.text(Text::Utf8(value.as_bytes()), 0)
}

fn number<V: Visitor>(visitor: &mut V, name: &str, value: u64) -> Result<(), V::Error> {
    visitor.field(name)?;
    visitor.u64(value)
}

/// When and who.
pub(crate) fn head<V: Visitor>(record: &Record<'_>, visitor: &mut V) -> Result<(), V::Error> {
    visitor.field("time")?;
    visitor.time(record.wall_ns)?;
    if let Some(ticks) = record.ticks {
        number(visitor, "ticks", ticks)?;
    }
    who(record, visitor)
}

/// How grave, and who: the same for many records of a thread.
pub(crate) fn who<V: Visitor>(record: &Record<'_>, visitor: &mut V) -> Result<(), V::Error> {
    text(visitor, "level", record.what.level().name())?;
    text(visitor, "process", record.process)?;
    number(visitor, "pid", record.pid.into())?;
    number(visitor, "tid", record.tid.into())?;
    text(visitor, "thread", record.thread)
}

/// What the site says, the same for all its records.
pub(crate) fn site<V: Visitor>(site: &Site, visitor: &mut V) -> Result<(), V::Error> {
    text(visitor, "kind", site.kind().name())?;
    place(site, true, visitor)
}

/// What the site says. `is_exact`: its arguments follow, with the names that they have.
fn place<V: Visitor>(site: &Site, is_exact: bool, visitor: &mut V) -> Result<(), V::Error> {
    let description = &site.description;
    text(visitor, "category", &description.category)?;
    text(visitor, "file", &description.file)?;
    number(visitor, "line", description.line.into())?;
    text(visitor, "function", &description.function)?;
    text(visitor, "template", &description.template)?;
    text(visitor, "signature", &description.signature)?;
    // A single name is the only one of its map. For several, the order is written: another tool may sort the
    // map.
    let tells_all = is_exact && site.names.len() == 1;
    if !tells_all && !description.names.is_empty() {
        text(visitor, "names", &description.names)?;
    }
    if description.flags != 0 {
        number(visitor, "flags", description.flags.into())?;
    }
    if description.language != 0 {
        number(visitor, "language", description.language.into())?;
    }
    Ok(())
}

/// What happened.
pub(crate) fn body<V: Visitor>(
    record: &Record<'_>,
    message: &str,
    options: Options,
    visitor: &mut V,
) -> Result<(), V::Error> {
    let kind = |visitor: &mut V, name| text(visitor, "kind", name);
    match record.what {
        What::Record { site, args, truncated, .. } => {
            kind(visitor, site.kind().name())?;
            let is_whole = is_exact(site, args);
            place(site, is_whole, visitor)?;
            if !message.is_empty() {
                text(visitor, "message", message)?;
            }
            if is_whole {
                arguments(site, args, visitor)?;
            } else {
                visitor.field("raw")?;
                visitor.bytes(args, 0)?;
            }
            if truncated {
                visitor.field("truncated")?;
                visitor.bool(true)?;
            }
        }
        What::SpanEnd { site, duration_ns, .. } => {
            kind(visitor, "span_end")?;
            if let Some(site) = site {
                place(site, false, visitor)?;
                if site.kind() != Kind::Span {
                    text(visitor, "of", site.kind().name())?;
                }
            }
            visitor.field("duration_ns")?;
            match duration_ns {
                Some(ns) => visitor.u64(ns)?,
                None => visitor.null()?,
            }
        }
        What::Loss { cause, count, span_ns } => {
            kind(visitor, "loss")?;
            self::cause(cause, visitor)?;
            number(visitor, "count", count)?;
            number(visitor, "span_ns", span_ns)?;
        }
        What::Stall { cause, duration_ns } => {
            kind(visitor, "stall")?;
            self::cause(cause, visitor)?;
            number(visitor, "duration_ns", duration_ns)?;
        }
        What::Unknown { site_id, args } => {
            kind(visitor, "unknown")?;
            number(visitor, "site", site_id.into())?;
            visitor.field("raw")?;
            visitor.bytes(args, 0)?;
        }
        What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
    }
    if record.is_backtrace {
        visitor.field("backtrace")?;
        visitor.bool(true)?;
    }
    if let Some(context) = record.context {
        visitor.field("context")?;
        if options.embeds_cbor {
            visitor.any(context.item())?;
        } else {
            visitor.bytes(context.item(), 0)?;
        }
    }
    Ok(())
}

/// The name of a cause, or the number of one without.
fn cause<V: Visitor>(cause: u8, visitor: &mut V) -> Result<(), V::Error> {
    match CAUSE_NAMES.get(usize::from(cause)) {
        Some(name) => text(visitor, "cause", name),
        None => number(visitor, "cause", cause.into()),
    }
}

/// Whether the bytes are exactly what the signature says: then the exact form gives them back.
pub(crate) fn is_exact(site: &Site, args: &[u8]) -> bool {
    let mut at = 0;
    for ty in &site.types {
        let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, &mut Nobody);
        match walked {
            Ok(end) => at = end,
            Err(_) => return false,
        }
    }
    args.len() - at < 8 && args[at..].iter().all(|byte| *byte == 0)
}

fn arguments<V: Visitor>(site: &Site, args: &[u8], visitor: &mut V) -> Result<(), V::Error> {
    visitor.field("args")?;
    // A map has each name once.
    let is_named = site.has_distinct_names();
    if is_named {
        visitor.begin_record("", site.types.len())?;
    } else {
        visitor.begin_sequence(Sequence::Tuple, site.types.len() as u32, 0)?;
    }
    let mut at = 0;
    for (index, ty) in site.types.iter().enumerate() {
        if let Some(name) = site.names.get(index).filter(|_| is_named) {
            visitor.field(name)?;
        }
        match exact::visit(ty, args, at, visitor) {
            Ok(end) => at = end,
            Err(WalkError::Visitor(error)) => return Err(error),
            // It was gone through before.
            Err(WalkError::Decode(_)) => visitor.null()?,
        }
    }
    visitor.end()
}
