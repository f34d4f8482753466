//! The values of an event from the packed arguments of a record, as `fields.rs` says.

use std::convert::Infallible;

use silverpoint_render::json::{JsonVisitor, Stack, push_plain};
use silverpoint_wire::bytes::length_at;
use silverpoint_wire::value::{WalkError, walk};

use super::fields::{Field, Value, is_labelled};

/// What is reused from event to event.
#[derive(Default)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// Something did not fit.
    pub(super) is_cut: bool,
    /// Bytes for what may be cut.
    room: usize,
    text: String,
    stack: Stack,
}

/// Where the bytes of a guid lie in a UUID.
const GUID: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

impl Payload {
    pub(super) fn begin(&mut self, room: usize) {
        self.bytes.clear();
        self.is_cut = false;
        self.room = room;
    }

    /// Appends the value that begins at `at`; gives where it ends. `None`: the bytes contradict the type.
    pub(super) fn push(&mut self, field: &Field, bytes: &[u8], at: usize) -> Option<usize> {
        match field {
            Field::Nothing => Some(at),
            Field::Value(value) => {
                let (one, end) = taken(bytes, at, value.size)?;
                self.values(*value, one);
                Some(end)
            }
            Field::Text | Field::Bytes => {
                let (from, len) = length_at(bytes, at)?;
                let (units, end) = taken(bytes, from, len as usize)?;
                self.counted(units, *field == Field::Text);
                Some(end)
            }
            Field::Made(ty) => self.made(|text, stack| push_plain(text, stack, ty, bytes, at)),
            Field::Number { value, is_signed, of } => {
                let (number, end) = taken(bytes, at, value.size)?;
                self.values(*value, number);
                if is_labelled(of) {
                    let label = of.label(wide(number, *is_signed)).unwrap_or_default();
                    self.counted(label.as_bytes(), true);
                }
                Some(end)
            }
            Field::Optional(inner) => {
                let is_there = *bytes.get(at)? != 0;
                self.bytes.push(is_there.into());
                if is_there {
                    return self.push(inner, bytes, at + 1);
                }
                self.nothing(inner);
                Some(at + 1)
            }
            Field::Values(value, count) => {
                let (from, len) = elements(bytes, at, *count)?;
                let (all, end) = taken(bytes, from, len.checked_mul(value.size)?)?;
                let most = len.min(self.room / value.size).min(usize::from(u16::MAX));
                self.is_cut |= most < len;
                self.room -= most * value.size;
                self.count(most);
                self.values(*value, &all[..most * value.size]);
                Some(end)
            }
            Field::Texts(count) => self.texts(bytes, at, *count),
            Field::Structure(members) => {
                members.iter().try_fold(at, |at, (_, field)| self.push(field, bytes, at))
            }
            Field::Json(ty) => self.made(|text, stack| {
                let walked: Result<usize, WalkError<Infallible>> =
                    walk(ty, bytes, at, &mut JsonVisitor::new(text, stack));
                walked.ok()
            }),
        }
    }

    /// A text that is not in the record.
    pub(super) fn text(&mut self, text: &str) {
        self.counted(text.as_bytes(), true);
    }

    /// Bytes that nothing describes.
    pub(super) fn binary(&mut self, bytes: &[u8]) {
        self.counted(bytes, false);
    }

    /// What stands for a value within an optional that has none.
    fn nothing(&mut self, field: &Field) {
        let size = match field {
            Field::Nothing => 0,
            Field::Value(value) => value.size,
            Field::Number { value, of, .. } => value.size + if is_labelled(of) { 2 } else { 0 },
            Field::Text | Field::Bytes | Field::Made(_) | Field::Values(..) | Field::Texts(_) => 2,
            Field::Optional(inner) => {
                self.bytes.push(0);
                return self.nothing(inner);
            }
            Field::Structure(members) => {
                return members.iter().for_each(|(_, field)| self.nothing(field));
            }
            Field::Json(_) => return self.text("null"),
        };
        self.bytes.resize(self.bytes.len() + size, 0);
    }

    fn count(&mut self, count: usize) {
        self.bytes.extend_from_slice(&(count as u16).to_le_bytes());
    }

    fn values(&mut self, value: Value, bytes: &[u8]) {
        if !value.is_guid() {
            return self.bytes.extend_from_slice(bytes);
        }
        for uuid in bytes.chunks_exact(GUID.len()) {
            self.bytes.extend(GUID.map(|at| uuid[at]));
        }
    }

    fn counted(&mut self, bytes: &[u8], is_text: bool) {
        let most = self.room.min(usize::from(u16::MAX));
        let size = match bytes.len() <= most {
            true => bytes.len(),
            false if is_text => whole_characters(bytes, most),
            false => most,
        };
        self.is_cut |= size < bytes.len();
        self.room -= size;
        self.count(size);
        self.bytes.extend_from_slice(&bytes[..size]);
    }

    fn made(&mut self, make: impl FnOnce(&mut String, &mut Stack) -> Option<usize>) -> Option<usize> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let end = make(&mut text, &mut self.stack);
        self.text(&text);
        self.text = text;
        end
    }

    fn texts(&mut self, bytes: &[u8], at: usize, count: Option<u32>) -> Option<usize> {
        let (mut at, len) = elements(bytes, at, count)?;
        let head = self.bytes.len();
        self.count(0);
        let mut kept = 0_u16;
        for _ in 0..len {
            let (from, size) = length_at(bytes, at)?;
            let (units, end) = taken(bytes, from, size as usize)?;
            at = end;
            // Each has a count of its own.
            if self.room < 2 || kept == u16::MAX {
                self.is_cut = true;
                continue;
            }
            self.room -= 2;
            self.counted(units, true);
            kept += 1;
        }
        self.bytes[head..head + 2].copy_from_slice(&kept.to_le_bytes());
        Some(at)
    }
}

/// Of a text that is too long those of `most` bytes that are whole characters. Invalid UTF-8 is cut anywhere.
fn whole_characters(text: &[u8], most: usize) -> usize {
    let is_inner = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (most.saturating_sub(3)..=most).rev().find(|at| !is_inner(*at)).unwrap_or(most)
}

fn taken(bytes: &[u8], at: usize, size: usize) -> Option<(&[u8], usize)> {
    let end = at.checked_add(size)?;
    Some((bytes.get(at..end)?, end))
}

/// Where the elements of a sequence begin, and how many there are; those of an array have no length.
fn elements(bytes: &[u8], at: usize, count: Option<u32>) -> Option<(usize, usize)> {
    let (from, count) = count.map_or_else(|| length_at(bytes, at), |count| Some((at, count)))?;
    Some((from, count as usize))
}

/// A number of up to eight bytes.
fn wide(bytes: &[u8], is_signed: bool) -> i64 {
    let mut wide = [0; 8];
    let size = bytes.len().min(8);
    wide[..size].copy_from_slice(&bytes[..size]);
    let unused = 64 - 8 * size as u32;
    match is_signed {
        true if unused < 64 => i64::from_le_bytes(wide) << unused >> unused,
        _ => i64::from_le_bytes(wide),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let text = "a\u{4e16}\u{1F600}".as_bytes();
        let cut: Vec<usize> = (0..text.len()).map(|most| whole_characters(text, most)).collect();
        assert_eq!(cut, [0, 1, 1, 1, 4, 4, 4, 4]);
        assert_eq!(whole_characters(&[0x80; 9], 7), 7);
    }

    #[test]
    fn numbers_keep_their_signs() {
        assert_eq!(wide(&[0xFF], true), -1);
        assert_eq!(wide(&[0xFF], false), 255);
        assert_eq!(wide(&[0, 0x80], true), -32768);
        assert_eq!(wide(&u64::MAX.to_le_bytes(), false), -1);
    }
}
