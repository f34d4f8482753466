//! How far a trace has been given, and what its threads were called there: what reading goes on from.

use std::collections::HashMap;

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::THREAD_NAME;
use silverpoint_wire::record::Records;

use super::blocks::BlockReader;
use super::event::thread_name;
use super::{Session, Stream, Trace};

/// Where reading stopped: what [`Events::resume`](super::Events::resume) goes on from.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// By session and stream number: the ring position, and whether a record of the stream has been reached. Only of streams of which blocks were there:
    /// where the first one will begin is not known before.
    pub(super) positions: HashMap<(u32, u32), (u64, bool)>,
    pub(super) names: Names,
}

/// Names of threads, by session and thread.
pub(super) type Names = Vec<Vec<Name>>;

/// What a thread is called now.
#[derive(Clone, Debug, Default)]
pub(super) struct Name {
    pub(super) text: String,
    /// Since when, as far as that is known; 0: it is not.
    pub(super) ticks: u64,
}

impl Progress {
    /// Takes what lies before a position of a stream as given. The name that its thread had there is that of the last record before the position that gives one,
    /// else that of the stream's description.
    ///
    /// Reads those blocks before the position that may hold such a record, from the last one backwards.
    pub(super) fn go_on_at(
        &mut self,
        trace: &Trace,
        number: usize,
        stream_number: u32,
        position: u64,
        reader: &mut BlockReader,
    ) {
        let Some(session) = trace.sessions.get(number) else { return };
        let mut is_named = false;
        if let Some(stream) = session.stream(stream_number) {
            let said = name_before(trace, session, stream, position, reader);
            is_named = said.is_some();
            let described = || {
                let info = stream.info?;
                let text = info.thread_name();
                (!text.is_empty()).then_some(Name { text, ticks: info.claimed_ticks })
            };
            self.names.resize(trace.sessions.len().max(self.names.len()), Vec::new());
            let names = &mut self.names[number];
            names.resize(session.threads.len().max(names.len()), Name::default());
            // Of a thread with several streams the latest name counts.
            if let Some(name) = said.or_else(described)
                && let Some(known) = names.get_mut(stream.thread)
                && name.ticks >= known.ticks
            {
                *known = name;
            }
        }
        // A stream that has not begun takes its name from its description when it does.
        self.positions.insert((number as u32, stream_number), (position, is_named));
    }
}

/// The name that the last record before a position gives.
fn name_before(
    trace: &Trace,
    session: &Session,
    stream: &Stream,
    position: u64,
    reader: &mut BlockReader,
) -> Option<Name> {
    let mut raw = Vec::new();
    let before = stream.blocks.iter().rev().filter(|block| block.header.ring_begin < position);
    before.filter(|block| may_name(&block.header)).find_map(|block| {
        // What is wrong with it was told when its records were given.
        let _ = reader.read(trace, session, block, &mut raw);
        let end = usize::try_from(position - block.header.ring_begin).unwrap_or(usize::MAX);
        let records = Records::new(&raw).map_while(Result::ok).take_while(|record| record.offset < end);
        let named = records.filter(|record| record.header.site == THREAD_NAME).filter_map(|record| {
            let ticks = record.header.ticks;
            thread_name(&record).map(|text| Name { text, ticks })
        });
        named.last()
    })
}

/// Whether a block may hold a record that names the thread.
fn may_name(header: &BlockHeader) -> bool {
    header.levels & LEVELS_CONTROL != 0 && header.sites & site_bit(THREAD_NAME) != 0
}
