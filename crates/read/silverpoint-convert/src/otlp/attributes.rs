//! What of a record becomes attributes.

use std::convert::Infallible;

use silverpoint_trace::{Context, Site, cbor};
use silverpoint_wire::value::{WalkError, walk};

use super::message::Message;
use super::value::{self, Values};
use crate::Record;

/// The thread.
pub(super) fn who<M: Message>(message: &mut M, record: &Record<'_>) {
    if record.tid != 0 {
        value::int(message, "thread.id", record.tid.into());
    }
    if !record.thread.is_empty() {
        value::text(message, "thread.name", record.thread);
    }
}

/// Fields of a context; the ids stand elsewhere.
pub(super) fn fields<M: Message>(message: &mut M, context: &Context) {
    for (name, item) in context.fields().filter(|(name, _)| !["trace_id", "span_id"].contains(name)) {
        value::attribute(message, &format!("context.{name}"), |message| {
            // It was read before: it is well-formed.
            let _: Result<(), cbor::Error<Infallible>> = cbor::visit(item, &mut Values::new(message));
        });
    }
}

/// Arguments as attributes of these keys.
pub(super) fn arguments<M: Message>(message: &mut M, site: &Site, args: &[u8], keys: &[String]) {
    arguments_from(message, site, args, keys, 0);
}

/// The same without the first `skipped`.
pub(super) fn arguments_from<M: Message>(
    message: &mut M,
    site: &Site,
    args: &[u8],
    keys: &[String],
    skipped: usize,
) {
    let mut at = 0;
    for (number, (ty, key)) in site.types.iter().zip(keys).enumerate() {
        let mut put = |message: &mut M| {
            let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, &mut Values::new(message));
            at = walked.unwrap_or(args.len());
        };
        if number < skipped {
            put(&mut M::default());
        } else {
            value::attribute(message, key, put);
        }
    }
}

/// Keys of a site's arguments: their names, or their numbers. Those that mean something else here get `arg.` before them; equal ones their number behind them.
pub(super) fn keys(site: &Site) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for number in 0..site.types.len() {
        let mut key = site.names.get(number).cloned().unwrap_or_else(|| number.to_string());
        if ["thread.", "code.", "silverpoint.", "context."].iter().any(|begin| key.starts_with(begin)) {
            key.insert_str(0, "arg.");
        }
        while keys.contains(&key) {
            key = format!("{key}_{number}");
        }
        keys.push(key);
    }
    keys
}
