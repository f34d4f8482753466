//! From a reader to a writer, without a type in between.

use crate::{Error, Integer, Kind, Sink, Source};

/// Copies the next value, whatever it is. Memory is that of the longest text; nesting is bounded by the source.
///
/// # Errors
/// Those of the source. What was written then is unfinished.
pub fn copy(source: &mut impl Source, sink: &mut impl Sink) -> Result<(), Error> {
    match source.kind()? {
        Kind::Null => {
            source.null()?;
            sink.null();
        }
        Kind::Bool => sink.bool(source.bool()?),
        Kind::Integer => match source.integer()? {
            Integer::Negative(value) => sink.i128(value),
            Integer::Positive(value) => sink.u128(value),
        },
        Kind::Float => sink.f64(source.f64()?),
        Kind::Text => sink.text(source.text()?),
        Kind::Bytes => sink.bytes(&source.bytes()?),
        Kind::Uuid => sink.uuid(source.uuid()?),
        Kind::Time => {
            let (seconds, nanoseconds) = source.time()?;
            sink.time(seconds, nanoseconds);
        }
        Kind::Array => {
            let len = source.begin_array()?;
            sink.begin_array(len);
            let mut at = 0;
            while source.next_element()? {
                sink.element();
                copy(source, sink).map_err(|error| error.in_element(at))?;
                at += 1;
            }
            sink.end_array();
        }
        Kind::Object => {
            let len = source.begin_object()?;
            sink.begin_object(len);
            let mut last = String::new();
            while let Some(name) = source.next_member()? {
                sink.member(name);
                last.clear();
                last.push_str(name);
                copy(source, sink).map_err(|error| error.in_member(&last))?;
            }
            sink.end_object();
        }
        Kind::Pairs => {
            let len = source.begin_pairs()?;
            sink.begin_array(len);
            let mut at = 0;
            while source.next_pair()? {
                sink.element();
                sink.begin_array(Some(2));
                for part in 0..2 {
                    sink.element();
                    copy(source, sink).map_err(|error| error.in_element(part).in_element(at))?;
                }
                sink.end_array();
                at += 1;
            }
            sink.end_array();
        }
    }
    Ok(())
}
