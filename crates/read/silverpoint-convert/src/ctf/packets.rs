//! A stream of CTF: events in packets. Each packet has its size, the times of its first and last event, and
//! how many events were lost so far.

use std::io::{self, Write};

/// A packet is closed when it has so many bytes.
const FULL: usize = 64 << 10;
/// Magic number, UUID and number of the stream class.
const HEADER: usize = 4 + 16 + 4;
/// Header and context: times, sizes, number, losses.
const BEGIN: usize = HEADER + 6 * 8;

/// Declaration of header and context, as [`Packets`] writes them.
pub(super) const PACKET_HEADER: &str = "struct { u32 magic; byte uuid[16]; u32 stream_id; }";
/// See [`PACKET_HEADER`].
pub(super) const PACKET_CONTEXT: &str = concat!(
    "struct { time_t timestamp_begin; time_t timestamp_end; u64 content_size; u64 packet_size; ",
    "u64 packet_seq_num; u64 events_discarded; }"
);
/// What stands before each event.
pub(super) const EVENT_HEADER: &str = "struct { u32 id; time_t timestamp; }";

/// Writes one stream.
pub(super) struct Packets<W> {
    out: W,
    uuid: [u8; 16],
    packet: Vec<u8>,
    first: u64,
    last: u64,
    events: u64,
    number: u64,
    discarded: u64,
}

impl<W: Write> Packets<W> {
    pub(super) fn new(out: W, uuid: [u8; 16]) -> Self {
        Self { out, uuid, packet: vec![0; BEGIN], first: 0, last: 0, events: 0, number: 0, discarded: 0 }
    }

    pub(super) fn get_ref(&self) -> &W {
        &self.out
    }

    /// Time of the last event; 0 when there is none.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Events were lost between a time and the next event. Readers count from the end of one packet to that of the next, so there is one before, empty or not.
    pub(super) fn lose(&mut self, count: u64, since: u64) -> io::Result<()> {
        if self.events == 0 && self.number == 0 {
            (self.first, self.last) = (since, since);
            self.close()?;
        } else if self.events > 0 {
            self.close()?;
        }
        self.discarded = self.discarded.saturating_add(count);
        Ok(())
    }

    /// Begins an event; what follows is appended to what is given.
    pub(super) fn event(&mut self, class: u32, time: u64) -> &mut Vec<u8> {
        if self.events == 0 {
            self.first = time;
        }
        self.last = time;
        self.events += 1;
        self.packet.extend_from_slice(&class.to_le_bytes());
        self.packet.extend_from_slice(&time.to_le_bytes());
        &mut self.packet
    }

    /// The event is complete, and the packet too if that is wanted or it is full.
    pub(super) fn end_of_event(&mut self, close: bool) -> io::Result<()> {
        if close || self.packet.len() >= FULL { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        let bits = self.packet.len() as u64 * 8;
        let head = &mut self.packet[..BEGIN];
        head[..4].copy_from_slice(&0xC1FC_1FC1_u32.to_le_bytes());
        head[4..20].copy_from_slice(&self.uuid);
        head[20..HEADER].fill(0);
        let words = [self.first, self.last, bits, bits, self.number, self.discarded];
        for (place, word) in head[HEADER..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&self.packet)?;
        self.packet.truncate(BEGIN);
        // One large record is no reason to keep its room.
        self.packet.shrink_to(2 * FULL);
        self.events = 0;
        self.number += 1;
        Ok(())
    }

    /// Writes what is left. A stream without events is one empty packet.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.events > 0 || self.number == 0 {
            self.close()?;
        }
        self.out.flush()
    }
}
