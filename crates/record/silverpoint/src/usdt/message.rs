//! The one probe of messages from other facades, `tracing` and `log` (spec/usdt.md, Messages of other facades). Their
//! places are not ours, so they have no notes of their own.

use std::fmt;

use silverpoint_wire::bytes::floor_char_boundary;

use super::name::Names;
use super::numbers::{MOST, size};
use super::{Note, hit};

/// Bytes of a text; the rest is cut. Tools read less.
const TEXT_MOST: usize = 1024;

/// `silverpoint:message`: level, target, text, line, file.
struct Message;

const NAMES: Names = Names::given("silverpoint", "message");
/// Of each number: bytes.
const BYTES: [usize; 8] = [1, 8, 8, 8, 8, 4, 8, 8];

/// Of numbers of so many bytes. `signed`: a bit for each that has a sign.
pub(super) const fn sizes(bytes: &[usize], signed: u16) -> u64 {
    let (mut all, mut number) = (0, 0);
    while number < bytes.len() {
        all |= size(bytes[number], signed >> number & 1 != 0) << (4 * number);
        number += 1;
    }
    all
}

impl Note for Message {
    const PROVIDER: [u64; 4] = NAMES.provider;
    const NAME: [u64; 7] = NAMES.name;
    const SIZES: u64 = sizes(&BYTES, 0);
    const COUNT: u64 = BYTES.len() as u64;
}

/// A text that is cut where its room ends.
pub(super) struct Text {
    bytes: [u8; TEXT_MOST],
    len: usize,
}

impl Text {
    /// What `write` makes; an error of it means that the text is cut.
    pub(super) fn of(write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result) -> Self {
        let mut text = Self { bytes: [0; TEXT_MOST], len: 0 };
        let _ = write(&mut text);
        text
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Address and number of bytes.
pub(super) fn parts(text: &[u8]) -> (u64, u64) {
    (text.as_ptr().addr() as u64, text.len() as u64)
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = TEXT_MOST - self.len;
        let taken = floor_char_boundary(text, room);
        self.bytes[self.len..][..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
        // What comes behind a gap would mislead.
        if taken < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Hits the probe with a message of `target`. `write` makes the text.
#[cold]
#[inline(never)]
pub(crate) fn hit_message(
    message_level: u8,
    message_target: &str,
    (in_file, in_line): (&str, u32),
    write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result,
) {
    let text = Text::of(write);
    let mut numbers = [0; MOST];
    let [level, target, target_len, at, len, line, file, file_len, ..] = &mut numbers;
    *level = message_level.into();
    (*target, *target_len) = parts(message_target.as_bytes());
    (*at, *len) = parts(text.bytes());
    *line = in_line.into();
    (*file, *file_len) = parts(in_file.as_bytes());
    hit::<Message>(&numbers);
}
