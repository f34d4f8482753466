//! The descriptions before the records of a rewritten file: itself, the sessions, their sites, streams,
//! clocks and losses.

use std::collections::HashSet;
use std::io::{self, Write};

use silverpoint_wire::about::{self, About};
use silverpoint_wire::block::{self, BlockKind, LossInfo, SessionInfo, push_anchor, push_site};
use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::compression::Compression;
use silverpoint_wire::process;
use silverpoint_wire::site::fnv1a64;

use super::{Rewriter, stated};
use crate::left_out::holds_only_statements;
use crate::session::Session;
use crate::verdict::Matter;
use crate::{BlockCursor, Trace, TraceFile};

/// Descriptions of sites that stand in one block.
const SITES_BYTES: usize = 1 << 20;
/// Bytes of the text that says what was left out, of all inputs together.
const TRIMMED_MAX: usize = 4096;

/// What of a trace is described.
pub(super) struct Scope {
    /// By the trace's numbers of sessions.
    pub(super) sessions: Vec<bool>,
    /// By the trace's numbers of sites.
    pub(super) sites: Vec<bool>,
}

impl Scope {
    pub(super) fn all(trace: &Trace) -> Self {
        Self { sessions: vec![true; trace.sessions.len()], sites: vec![true; trace.sites.len()] }
    }

    /// The sessions, each with its number in the new file.
    pub(super) fn sessions<'t>(&self, trace: &'t Trace) -> Vec<(u32, &'t Session)> {
        let all = (1u32..).zip(&trace.sessions).zip(&self.sessions);
        all.filter_map(|(session, wanted)| wanted.then_some(session)).collect()
    }
}

impl<W: Write> Rewriter<'_, W> {
    /// Everything that describes the sessions, and their losses.
    pub(super) fn dictionaries(&mut self) -> io::Result<()> {
        for (number, session) in self.scope.sessions(self.trace) {
            let mut payload = Vec::new();
            match &session.info {
                Some(info) => info.encode(&mut payload),
                // Its description was lost: it belongs to no other session.
                None => {
                    let mut session_id = [0; 16];
                    session_id[..8].copy_from_slice(&fnv1a64(&self.now.to_le_bytes()).to_le_bytes());
                    session_id[8..12].copy_from_slice(&number.to_le_bytes());
                    SessionInfo { session_id, ..SessionInfo::default() }.encode(&mut payload);
                }
            }
            self.out.push(BlockKind::SESSION, number, 0, &payload)?;
            self.sites(number, session)?;
            payload.clear();
            for stream in &session.streams {
                let unknown = block::StreamInfo { stream: stream.number, ..Default::default() };
                stream.info.unwrap_or(unknown).encode(&mut payload);
            }
            if !payload.is_empty() {
                self.out.push(BlockKind::STREAMS, number, 0, &payload)?;
            }
            payload.clear();
            for anchor in &session.anchors {
                push_anchor(&mut payload, anchor);
            }
            for part in payload.chunks(24 * 10_000) {
                self.out.push(BlockKind::ANCHORS, number, 0, part)?;
            }
            payload.clear();
            let of_streams =
                session.streams.iter().map(|stream| LossInfo { stream: stream.number, ..stream.loss });
            let own = LossInfo { stream: 0, ..session.loss };
            for loss in std::iter::once(own).chain(of_streams) {
                if loss != (LossInfo { stream: loss.stream, ..LossInfo::default() }) {
                    loss.encode(&mut payload);
                }
            }
            for part in payload.chunks(LossInfo::SIZE * 10_000) {
                self.out.push(BlockKind::LOSSES, number, 0, part)?;
            }
        }
        Ok(())
    }

    fn sites(&mut self, number: u32, session: &Session) -> io::Result<()> {
        let mut sites: Vec<(u32, usize)> = session.site_numbers().collect();
        sites.retain(|(_, site)| self.scope.sites.get(*site).is_some_and(|wanted| *wanted));
        sites.sort_unstable();
        let (mut payload, mut description) = (Vec::new(), Vec::new());
        for (id, site) in sites {
            description.clear();
            self.trace.sites[site].description.encode(&mut description);
            push_site(&mut payload, id, &description);
            if payload.len() >= SITES_BYTES {
                self.out.push(BlockKind::SITES, number, 0, &payload)?;
                payload.clear();
            }
        }
        if payload.is_empty() { Ok(()) } else { self.out.push(BlockKind::SITES, number, 0, &payload) }
    }

    /// Gaps and notes.
    pub(super) fn told(&mut self) -> io::Result<()> {
        let mut seen = HashSet::new();
        for note in self.trace.notes() {
            match &note.matter {
                Matter::Collector { whose, text } if whose.is_empty() && seen.insert(text) => {
                    self.out.push(BlockKind::NOTE, 0, 0, text.as_bytes())?;
                }
                _ => {}
            }
        }
        for (number, session) in self.scope.sessions(self.trace) {
            for text in &session.notes {
                self.out.push(BlockKind::NOTE, number, 0, text.as_bytes())?;
            }
            for stream in &session.streams {
                for gap in &stream.gaps {
                    let mut payload = Vec::new();
                    gap.encode(&mut payload);
                    self.out.push(BlockKind::GAP, number, stream.number, &payload)?;
                }
            }
        }
        Ok(())
    }

    /// The text of the *file* block.
    pub(super) fn about(&self) -> String {
        let own = u64::from(self.part - 1) << 32 | u64::from(std::process::id());
        let id = u128::from(fnv1a64(&self.now.to_le_bytes())) << 64 | u128::from(own);
        // Of files that do not agree the level is known no more.
        let files = &self.trace.files;
        let common = files.first().and_then(stated);
        let common = common.filter(|first| files.iter().all(|file| stated(file) == Some(*first)));
        let compression = self.options.compression.or(common).filter(|how| *how != Compression::None);
        let split = match self.options.split.as_str() {
            // Where all parts are together, it is not stated any more.
            "" => files.iter().find_map(TraceFile::split).filter(|_| repeats_statements(self.trace)),
            split => Some(split),
        };
        // What has been left out of an input is not here either.
        let before = self.trace.files.iter().filter_map(|file| process::value(&file.about, about::TRIMMED));
        let mut trimmed: Vec<&str> = Vec::new();
        for one in before.chain(Some(self.options.trimmed.as_str())) {
            if !one.is_empty() && !trimmed.contains(&one) {
                trimmed.push(one);
            }
        }
        let mut trimmed = trimmed.join("; ");
        trimmed.truncate(floor_char_boundary(&trimmed, TRIMMED_MAX));
        About {
            writer: concat!("silverpoint ", env!("CARGO_PKG_VERSION")),
            created: self.now,
            host: files.iter().find_map(|file| process::value(&file.about, about::HOST)),
            id,
            compression: compression.map(|how| how.to_string()).as_deref(),
            part: Some(self.part.into()),
            split,
            trimmed: Some(trimmed.as_str()).filter(|trimmed| !trimmed.is_empty()),
            ..About::default()
        }
        .text()
    }
}

/// Whether a run of some stream begins after names or contexts that are repeated there.
fn repeats_statements(trace: &Trace) -> bool {
    trace.sessions.iter().flat_map(|session| &session.streams).any(|stream| {
        let mut cursor = BlockCursor::new(stream);
        let mut after_statements = None;
        while let Some(next) = cursor.next() {
            let header = &next.block.header;
            if after_statements.is_some_and(|end| header.ring_begin > end) {
                return true;
            }
            after_statements = holds_only_statements(header).then_some(header.ring_end);
        }
        false
    })
}
