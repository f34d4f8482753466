//! Objects of Python as values of the wire: the type of each argument by its value, and packed bytes.
//!
//! | Python | type |
//! |---|---|
//! | `None`, `bool`, `float`, `str`, `bytes`, `bytearray` | null, bool, f64, text, bytes |
//! | `int` | i64; wider ones i128 or u128; what 128 bits cannot hold: text |
//! | `datetime`, `timedelta`, `UUID` | time, duration (64 bits of nanoseconds; what they cannot hold: text), UUID |
//! | `Enumeration`, `enum.IntEnum` and its like | an enumeration with this one label |
//! | `list`, `tuple`, `set`, `dict` and what they hold | one item of CBOR |
//! | anything else | its `str()` as text |

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use silverpoint_convert::scratch::Scratch;
use silverpoint_wire::signature::escape_name;

use crate::filter::instant;

/// Nesting of lists and dicts that is recorded; what lies deeper is text. (Readers go 32 deep.)
const DEPTH_MAX: u32 = 24;
/// Bytes of one text or bytes that are recorded: a record has at most 256 KiB.
const TEXT_MAX: usize = 60_000;
/// Bytes of one nested value; a larger one is recorded as the beginning of its text.
const ITEM_MAX: usize = 120_000;

/// Arguments as they are packed.
#[derive(Default)]
pub(crate) struct Encoded {
    pub(crate) signature: String,
    pub(crate) bytes: Vec<u8>,
    /// Texts and bytes in `bytes`, behind their lengths: what may be cut where there is little room.
    pub(crate) texts: Vec<Range<usize>>,
}

impl Encoded {
    /// Forgets all but the room.
    pub(crate) fn clear(&mut self) {
        self.signature.clear();
        self.bytes.clear();
        self.texts.clear();
    }

    fn put(&mut self, code: &str, bytes: &[u8]) {
        self.signature.push_str(code);
        self.bytes.extend_from_slice(bytes);
    }

    fn sized(&mut self, code: &str, bytes: &[u8]) {
        self.signature.push_str(code);
        let kept = &bytes[..bytes.len().min(TEXT_MAX)];
        self.cut(kept, bytes.len() - kept.len());
    }

    fn text(&mut self, text: &str) {
        // Cut between characters.
        let mut end = text.len().min(TEXT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.signature.push('s');
        self.cut(&text.as_bytes()[..end], text.len() - end);
    }

    fn cut(&mut self, kept: &[u8], missing: usize) {
        push_length(&mut self.bytes, kept.len(), missing);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(kept);
        if missing == 0 {
            self.texts.push(start..self.bytes.len());
        }
    }

    /// Appends a value.
    pub(crate) fn push(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.put("n", &[]);
        } else if let Ok(value) = value.cast::<PyBool>() {
            self.put("b", &[u8::from(value.is_true())]);
        } else if let Ok(value) = value.cast::<PyInt>() {
            self.int(value)?;
        } else if let Ok(value) = value.cast::<PyFloat>() {
            self.put("d", &value.value().to_le_bytes());
        } else if let Ok(value) = value.cast::<PyString>() {
            self.text(&value.to_string_lossy());
        } else if let Ok(value) = value.cast::<PyBytes>() {
            self.sized("y", value.as_bytes());
        } else if let Ok(value) = value.cast::<PyByteArray>() {
            self.sized("y", &value.to_vec());
        } else if is_container(value) {
            let mut scratch = Scratch::default();
            match item(value, 0, &mut scratch) {
                Ok(()) if scratch.bytes().len() <= ITEM_MAX => {
                    self.put("v", &(scratch.bytes().len() as u32).to_le_bytes());
                    self.bytes.extend_from_slice(scratch.bytes());
                }
                _ => self.text(&text_of(value)),
            }
        } else {
            match known(value)? {
                Known::Time(ns) => self.put("t", &ns.to_le_bytes()),
                Known::Duration(ns) => self.put("T", &ns.to_le_bytes()),
                Known::Uuid(bytes) => self.put("u", &bytes),
                Known::No => self.text(&text_of(value)),
            }
        }
        Ok(())
    }

    fn int(&mut self, value: &Bound<'_, PyInt>) -> PyResult<()> {
        if let Ok(number) = value.extract::<i64>() {
            let is_plain = value.is_exact_instance_of::<PyInt>();
            if let Some((name, label)) = if is_plain { None } else { label(value)? } {
                self.signature.push('e');
                escape_name(&name, &mut self.signature);
                self.signature.push_str("|l|");
                if let Some(label) = label {
                    self.signature.push_str(&number.to_string());
                    self.signature.push('=');
                    escape_name(&label, &mut self.signature);
                    self.signature.push(',');
                }
                self.signature.push(';');
            } else {
                self.signature.push('l');
            }
            self.bytes.extend_from_slice(&number.to_le_bytes());
        } else if let Ok(number) = value.extract::<i128>() {
            self.put("o", &number.to_le_bytes());
        } else if let Ok(number) = value.extract::<u128>() {
            self.put("O", &number.to_le_bytes());
        } else {
            self.text(&text_of(value));
        }
        Ok(())
    }
}

fn push_length(out: &mut Vec<u8>, len: usize, missing: usize) {
    const CUT: u32 = 1 << 31;
    if missing == 0 {
        out.extend_from_slice(&(len as u32).to_le_bytes());
    } else {
        out.extend_from_slice(&(len as u32 | CUT).to_le_bytes());
        out.extend_from_slice(&u32::try_from(missing).unwrap_or(u32::MAX).to_le_bytes());
    }
}

/// What `str()` says of it; an object whose `str()` fails is named by that.
pub(crate) fn text_of(value: &Bound<'_, PyAny>) -> String {
    match value.str() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(error) => format!("<str() failed: {error}>"),
    }
}

fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

/// Type's name and label of a number with names.
fn label(value: &Bound<'_, PyInt>) -> PyResult<Option<(String, Option<String>)>> {
    if let Ok(name) = value.getattr("type_name") {
        return Ok(Some((name.extract()?, value.getattr("label")?.extract()?)));
    }
    let ty = value.get_type();
    if !ty.hasattr("__members__")? {
        return Ok(None);
    }
    let name = value.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
    Ok(Some((ty.name()?.to_string_lossy().into_owned(), name)))
}

enum Known {
    Time(i64),
    Duration(i64),
    Uuid([u8; 16]),
    No,
}

/// Objects of the standard library that have types of their own; recognised by what they can do, so that subclasses count.
fn known(value: &Bound<'_, PyAny>) -> PyResult<Known> {
    let py = value.py();
    let datetime = py.import("datetime")?;
    if value.is_instance(&datetime.getattr("datetime")?)? {
        return Ok(instant(value).ok().flatten().map_or(Known::No, Known::Time));
    }
    if value.is_instance(&datetime.getattr("timedelta")?)? {
        return Ok(nanoseconds(value)?.map_or(Known::No, Known::Duration));
    }
    if value.is_instance(&py.import("uuid")?.getattr("UUID")?)? {
        return Ok(Known::Uuid(value.getattr("bytes")?.extract()?));
    }
    Ok(Known::No)
}

/// Of a timedelta.
pub(crate) fn nanoseconds(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if let Ok(ns) = value.getattr("ns").and_then(|ns| ns.extract::<i64>()) {
        return Ok(Some(ns));
    }
    let part = |name: &str| -> PyResult<i64> { value.getattr(name)?.extract() };
    let seconds = part("days")?.checked_mul(86_400).and_then(|s| s.checked_add(part("seconds").ok()?));
    let us = part("microseconds")?;
    Ok(seconds.and_then(|s| s.checked_mul(1_000_000)?.checked_add(us)?.checked_mul(1000)))
}

/// Puts a value as CBOR.
pub(crate) fn item(value: &Bound<'_, PyAny>, depth: u32, out: &mut Scratch) -> PyResult<()> {
    if out.bytes().len() > ITEM_MAX {
        return Err(pyo3::exceptions::PyValueError::new_err("too large"));
    }
    if value.is_none() {
        out.null();
    } else if let Ok(value) = value.cast::<PyBool>() {
        out.bool(value.is_true());
    } else if let Ok(number) = value.cast::<PyInt>() {
        match (number.extract::<i128>(), number.extract::<u128>()) {
            (Ok(number), _) => out.signed(number),
            (_, Ok(number)) => out.unsigned(number),
            _ => out.text(&text_of(value)),
        }
    } else if let Ok(value) = value.cast::<PyFloat>() {
        out.float(value.value());
    } else if let Ok(value) = value.cast::<PyString>() {
        out.text(&value.to_string_lossy());
    } else if let Ok(value) = value.cast::<PyBytes>() {
        out.octets(value.as_bytes());
    } else if depth >= DEPTH_MAX {
        out.text(&text_of(value));
    } else if let Ok(dict) = value.cast::<PyDict>() {
        out.begin_map();
        for (key, value) in dict {
            item(&key, depth + 1, out)?;
            item(&value, depth + 1, out)?;
        }
        out.end();
    } else if is_container(value) {
        out.begin_sequence();
        for value in value.try_iter()? {
            item(&value?, depth + 1, out)?;
        }
        out.end();
    } else {
        match known(value)? {
            Known::Uuid(bytes) => {
                // Tag 37.
                out.item(&[0xD8, 37]);
                out.octets(&bytes);
            }
            Known::Time(ns) => {
                // Tag 1: seconds since 1970.
                out.item(&[0xC1]);
                if ns % 1_000_000_000 == 0 && ns >= 0 {
                    out.signed((ns / 1_000_000_000).into());
                } else {
                    out.float(ns as f64 / 1e9);
                }
            }
            Known::Duration(_) | Known::No => out.text(&text_of(value)),
        }
    }
    Ok(())
}
