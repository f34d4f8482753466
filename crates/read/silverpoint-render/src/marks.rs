//! Metadata that changes how a value is shown, while that value is being written.
//!
//! | key | text | effect |
//! |---|---|---|
//! | `hex` | nothing | integers in hexadecimal |
//! | `unit` | `ms` | stands behind the value |
//! | `flags` | `1=read,2=write` | an integer or enumeration is the names of its bits |
//! | `secret` | nothing | the value is never shown |
//! | `look` | `QPoint({},{})` | what the value looks like (text only) |
//!
//! A mark is open from its metadata to the end of the value at the same depth.

use std::ops::Range;

use silverpoint_trace::escape;

/// What stands in the place of a secret.
pub(crate) const SECRET: &str = "<secret>";

/// The open marks, innermost last. Room is reused.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    list: Vec<Mark>,
    /// Texts of the marks, one after the other.
    texts: String,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    kind: Kind,
    /// Containers that were open.
    depth: usize,
    /// Where its text begins.
    text: usize,
    /// Where the value begins in the output.
    value: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Hex,
    Unit,
    Flags,
    Secret,
    Look,
    /// A look that its value has taken for its own.
    Taken,
}

impl Marks {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.texts.clear();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Metadata of the next value; other keys mean nothing here.
    pub(crate) fn open(&mut self, key: &str, text: &str, depth: usize) {
        let kind = match key {
            "hex" => Kind::Hex,
            "unit" => Kind::Unit,
            "flags" => Kind::Flags,
            "secret" => Kind::Secret,
            "look" => Kind::Look,
            _ => return,
        };
        self.list.push(Mark { kind, depth, text: self.texts.len(), value: None });
        self.texts.push_str(text);
    }

    /// A value begins at this place of the output.
    pub(crate) fn begin(&mut self, depth: usize, at: usize) {
        for mark in self.list.iter_mut().rev().take_while(|mark| mark.depth == depth) {
            mark.value.get_or_insert(at);
        }
    }

    /// The value at this depth is written: applies its marks, and removes them. Units stand after values, but
    /// not after a missing one: only if they are wanted.
    pub(crate) fn close(&mut self, out: &mut String, depth: usize, units: bool, secret: &str) {
        while let Some(mark) = self.list.last().filter(|mark| mark.depth >= depth) {
            match (mark.kind, mark.value) {
                (Kind::Unit, _) if units => {
                    out.push(' ');
                    escape::push_escaped(out, &self.texts[mark.text..]);
                }
                (Kind::Secret, Some(at)) => {
                    out.truncate(at);
                    out.push_str(secret);
                }
                _ => {}
            }
            self.texts.truncate(mark.text);
            self.list.pop();
        }
    }

    /// The look of the value at this depth: the place of its pattern among the texts. It is given once.
    pub(crate) fn take_look(&mut self, depth: usize) -> Option<Range<usize>> {
        let at = self.list.iter().rposition(|mark| mark.kind == Kind::Look && mark.depth == depth)?;
        self.list[at].kind = Kind::Taken;
        let end = self.list.get(at + 1).map_or(self.texts.len(), |next| next.text);
        Some(self.list[at].text..end)
    }

    /// A part of the texts.
    pub(crate) fn text(&self, place: Range<usize>) -> &str {
        self.texts.get(place).unwrap_or("")
    }

    /// Integers are shown in hexadecimal.
    pub(crate) fn hex(&self) -> bool {
        self.list.iter().any(|mark| mark.kind == Kind::Hex)
    }

    /// The names of a number's bits, when the value at this depth is one of flags: `read|write`. Bits without
    /// a name follow in hexadecimal; zero is shown by its name or as `0`.
    pub(crate) fn flags(&self, depth: usize, value: u64) -> Option<String> {
        let at = self.list.iter().rposition(|mark| mark.kind == Kind::Flags && mark.depth == depth)?;
        let end = self.list.get(at + 1).map_or(self.texts.len(), |next| next.text);
        let mut rest = value;
        let mut shown = String::new();
        for (bits, name) in self.texts[self.list[at].text..end].split(',').filter_map(pair) {
            let is_set = if bits == 0 { value == 0 } else { bits & value == bits && bits & rest != 0 };
            if is_set {
                rest &= !bits;
                if !shown.is_empty() {
                    shown.push('|');
                }
                shown.push_str(name);
            }
        }
        if rest != 0 {
            shown.push_str(if shown.is_empty() { "0x" } else { "|0x" });
            shown.push_str(&format!("{rest:x}"));
        } else if shown.is_empty() {
            shown.push('0');
        }
        Some(shown)
    }
}

/// `1=read` as number and name.
fn pair(text: &str) -> Option<(u64, &str)> {
    let (bits, name) = text.split_once('=')?;
    let bits = bits.parse::<u64>().or_else(|_| bits.parse::<i64>().map(|bits| bits as u64)).ok()?;
    Some((bits, name))
}
