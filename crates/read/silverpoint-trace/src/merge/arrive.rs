//! What changes with a record: names of threads, and fields of scopes. Then it is known whether the record is wanted.

use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::record::RecordHeader;

use super::Events;
use crate::cursor::State;
use crate::event::thread_name;
use crate::progress::{Name, context_of};

impl Events<'_> {
    /// Follows what changes with the record at which the cursor stands, and decides whether it is wanted.
    #[inline]
    pub(super) fn arrive(&mut self, index: u32) -> bool {
        let cursor = &self.cursors[index as usize];
        let State::Record { header: RecordHeader { site, .. }, .. } = cursor.state else { return false };
        // Most do not affect others.
        if site < FIRST_ID || !cursor.begun {
            self.on_control(index);
            if self.with_statements && matches!(site, THREAD_NAME | CONTEXT) {
                return true;
            }
        }
        self.selection.is_none() || self.is_selected(index)
    }

    /// Applies a stream's first record, or a control record.
    fn on_control(&mut self, index: u32) {
        let cursor = &mut self.cursors[index as usize];
        let session_number = cursor.session as usize;
        let session = &self.trace.sessions[session_number];
        let stream = &session.streams[cursor.stream as usize];
        let names = &mut self.names[session_number];
        if !cursor.begun {
            cursor.begun = true;
            let name = stream.info.map_or_else(String::new, |info| info.thread_name());
            // A thread that reuses the id of one that is gone does not inherit its name.
            let fresh = stream.info.is_none_or(|info| info.lane == 0 && info.previous == 0);
            // A record since the claim of the stream has a newer name.
            let claimed = stream.info.map_or(0, |info| info.claimed_ticks);
            let is_old = claimed != 0 && names[stream.thread].ticks > claimed;
            if (fresh || !name.is_empty()) && !is_old {
                names[stream.thread] = Name { text: name, ticks: 0 };
            }
            if let Some(selection) = &mut self.selection {
                selection.thread_changed(
                    session_number,
                    stream.thread,
                    session.threads[stream.thread].tid,
                    &names[stream.thread].text,
                );
            }
        }
        let State::Record { header: RecordHeader { ticks, .. }, block, .. } = cursor.state else { return };
        let Some(record) = cursor.state.record() else { return };
        if record.header.site == THREAD_NAME {
            if let Some(name) = thread_name(&record) {
                names[stream.thread] = Name { text: name, ticks };
                if let Some(selection) = &mut self.selection {
                    let tid = session.threads[stream.thread].tid;
                    selection.thread_changed(session_number, stream.thread, tid, &names[stream.thread].text);
                }
            }
        }
        if let Some(context) = context_of(&record) {
            cursor.context = context;
        }
        if (CONTEXT + 1..FIRST_ID).contains(&record.header.site) {
            self.unknown_controls = (self.unknown_controls.0 + 1, block.block.file);
        }
    }

    /// Whether the record at which a cursor stands passes the selection.
    fn is_selected(&mut self, index: u32) -> bool {
        let cursor = &mut self.cursors[index as usize];
        let State::Record { header: RecordHeader { ticks, .. }, .. } = cursor.state else { return false };
        let session_number = cursor.session as usize;
        let session = &self.trace.sessions[session_number];
        let wall_ns = cursor.wall_ns(session, ticks);
        let (Some(record), Some(selection)) = (cursor.state.record(), &mut self.selection) else {
            return true;
        };
        let thread = session.streams[cursor.stream as usize].thread;
        selection.record(self.trace, session_number, thread, wall_ns, cursor.context.as_deref(), &record)
    }
}
