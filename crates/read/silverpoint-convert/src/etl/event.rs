//! An event as it lies in a buffer: `EVENT_HEADER`, extended data items, payload.

use super::activities::Activity;
use super::identity::Provider;
use super::schema::TAG_AT;

/// What marks events of programs of 64 bits.
const MARK: [u8; 2] = [0x13, 0xC0];
const HEADER: usize = 0x50;

/// Extended data items, programs of 64 bits, and that the buffer's processor is an index.
const FLAGS: u16 = 0x0001 | 0x0040 | 0x0200;
/// The channel of events that describe themselves.
const CHANNEL: u8 = 11;

/// Kinds of extended data items.
mod item {
    pub(super) const RELATED_ACTIVITY: u16 = 1;
    pub(super) const STACK: u16 = 6;
    pub(super) const SCHEMA: u16 = 11;
    pub(super) const PROVIDER: u16 = 12;
}

/// Frames of a stack, as many as a crash record has.
const FRAMES_MOST: usize = 64;

/// What an event consists of.
pub(super) struct Event<'a> {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) time: u64,
    pub(super) provider: &'a Provider,
    pub(super) level: u8,
    pub(super) opcode: u8,
    pub(super) keyword: u64,
    pub(super) activity: &'a Activity,
    pub(super) schema: &'a [u8],
    pub(super) is_cut: bool,
    /// Program counters, eight bytes each.
    pub(super) stack: &'a [u8],
    pub(super) payload: &'a [u8],
}

impl Event<'_> {
    /// Puts it into `out`, which holds nothing else then.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        // The size stands here later.
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&MARK);
        out.extend_from_slice(&FLAGS.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.tid.to_le_bytes());
        out.extend_from_slice(&self.pid.to_le_bytes());
        out.extend_from_slice(&self.time.to_le_bytes());
        out.extend_from_slice(&self.provider.id);
        // Id 0 and version 0: its schema says what it is.
        out.extend_from_slice(&[0, 0, 0, CHANNEL, self.level, self.opcode, 0, 0]);
        out.extend_from_slice(&self.keyword.to_le_bytes());
        // Times of the processor are not known.
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.activity.id.unwrap_or_default());
        debug_assert_eq!(out.len(), HEADER);
        if let Some(around) = self.activity.around {
            push_item(out, item::RELATED_ACTIVITY, true, |out| out.extend_from_slice(&around));
        }
        if !self.stack.is_empty() {
            push_item(out, item::STACK, true, |out| {
                // No other event has the rest of it.
                out.extend_from_slice(&[0; 8]);
                out.extend_from_slice(&self.stack[..self.stack.len().min(8 * FRAMES_MOST)]);
            });
        }
        push_item(out, item::SCHEMA, true, |out| {
            let at = out.len();
            out.extend_from_slice(self.schema);
            out[at + TAG_AT] = self.is_cut.into();
        });
        push_item(out, item::PROVIDER, false, |out| out.extend_from_slice(&self.provider.traits));
        out.extend_from_slice(self.payload);
        let size = out.len() as u16;
        out[..2].copy_from_slice(&size.to_le_bytes());
    }
}

/// An extended data item: its size with everything, kind, whether another follows, size of the data.
fn push_item(out: &mut Vec<u8>, kind: u16, has_next: bool, data: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    data(out);
    let size = (out.len() - at - 8) as u16;
    out.resize(out.len().next_multiple_of(8), 0);
    let whole = (out.len() - at) as u16;
    for (place, number) in out[at..at + 8].chunks_exact_mut(2).zip([whole, kind, has_next.into(), size]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}
