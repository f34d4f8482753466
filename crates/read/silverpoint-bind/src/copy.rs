//! From a reader to a writer, without a type in between.

use crate::{Error, Integer, Kind, Sink, Source};

/// Copies the next value of any kind. Memory is that of the longest text; nesting is bounded by the source.
///
/// # Errors
/// Those of the source. What was written then is unfinished.
pub fn copy(source: &mut impl Source, sink: &mut impl Sink) -> Result<(), Error> {
    if sink.takes_items() {
        if let Some(item) = source.item()? {
            sink.item(item);
            return Ok(());
        }
    }
    match source.kind()? {
        Kind::Null => {
            source.null()?;
            sink.null();
        }
        Kind::Bool => sink.bool(source.bool()?),
        Kind::Integer | Kind::Float if sink.takes_digits() && source.has_digits() => {
            sink.digits(source.digits()?);
        }
        Kind::Integer => {
            if sink.takes_digits() {
                if let Some((is_negative, bytes)) = source.bignum()? {
                    sink.digits(&decimal(is_negative, bytes));
                    return Ok(());
                }
            }
            match source.integer()? {
                Integer::Negative(value) => sink.i128(value),
                Integer::Positive(value) => sink.u128(value),
            }
        }
        Kind::Float if source.is_single()? => sink.f32(source.f32()?),
        Kind::Float => {
            let at = source.position()?;
            let value = source.f64()?;
            if value.is_infinite() && source.has_digits() {
                return Err(source.unexpected(at, "a number that 64 bits hold"));
            }
            sink.f64(value);
        }
        // A date-time is the text that it is: another form of it would be another value.
        Kind::Text | Kind::Time => sink.text(source.text()?),
        Kind::Bytes => sink.bytes(&source.bytes()?),
        Kind::Uuid => sink.uuid(source.uuid()?),
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

/// Bytes of an integer whose digits are written at most.
pub(crate) const BIGNUM_MAX: usize = 1024;

/// The digits of an integer beyond 128 bits.
fn decimal(is_negative: bool, bytes: &[u8]) -> String {
    const CHUNK: u64 = 1_000_000_000;
    // Limbs of 32 bits, the highest first.
    let mut limbs: Vec<u32> = bytes
        .rchunks(4)
        .rev()
        .map(|limb| limb.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
        .collect();
    if is_negative {
        // One further from zero.
        let mut carry = true;
        for limb in limbs.iter_mut().rev() {
            (*limb, carry) = limb.overflowing_add(u32::from(carry));
        }
        if carry {
            limbs.insert(0, 1);
        }
    }
    let mut chunks = Vec::new();
    while limbs.iter().any(|limb| *limb != 0) {
        let mut rest = 0;
        for limb in &mut limbs {
            let value = rest << 32 | u64::from(*limb);
            (*limb, rest) = ((value / CHUNK) as u32, value % CHUNK);
        }
        chunks.push(rest);
    }
    let mut out = String::from(if is_negative { "-" } else { "" });
    for (at, chunk) in chunks.iter().rev().enumerate() {
        if at == 0 {
            out.push_str(&chunk.to_string());
        } else {
            out.push_str(&format!("{chunk:09}"));
        }
    }
    out
}
