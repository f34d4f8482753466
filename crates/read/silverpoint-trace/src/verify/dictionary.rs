//! The contents of a file's dictionaries so far.

use std::collections::{HashMap, HashSet};

use silverpoint_wire::block::{self, BlockHeader, BlockKind, LossInfo, SessionInfo, StreamInfo};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::compact::Signatures;
use silverpoint_wire::site::{SiteError, fnv1a64};

use super::super::left_out::LeftOut;
use super::super::scan::raise;
use super::Severity;

/// Anything wrong with a block.
pub(super) type Wrong = Vec<(Severity, String)>;

/// By the file's own numbers of sessions.
#[derive(Default)]
pub(super) struct Dictionaries {
    pub(super) sessions: HashMap<u32, Described>,
    /// What the file leaves out deliberately.
    pub(super) left_out: LeftOut,
}

/// One session.
#[derive(Default)]
pub(super) struct Described {
    /// Its id, once it is described.
    pub(super) id: Option<[u8; 16]>,
    pub(super) has_anchor: bool,
    /// Levels of sites, and a checksum of each description; without a level: of an unknown kind, or pending.
    pub(super) sites: HashMap<u32, (Option<u32>, u64)>,
    pub(super) signatures: Signatures,
    pub(super) streams: HashSet<u32>,
    /// Of each stream: up to where its ring was stored or recorded as a gap; here or, by *positions*, in
    /// earlier files.
    pub(super) ends: HashMap<u32, u64>,
    /// Streams whose last block holds nothing but names of threads.
    pub(super) after_statements: HashSet<u32>,
    pub(super) watermark: u64,
    /// Greatest totals of losses: of streams, and, by 0, of the session.
    losses: HashMap<u32, LossInfo>,
    /// Missing descriptions that have been reported.
    pub(super) told: HashSet<u32>,
}

impl Dictionaries {
    /// Takes any block but records, index and end.
    pub(super) fn take(&mut self, header: &BlockHeader, payload: &[u8], wrong: &mut Wrong) {
        let entry = match header.kind {
            BlockKind::STREAMS => StreamInfo::SIZE,
            BlockKind::ANCHORS => 24,
            BlockKind::LOSSES => LossInfo::SIZE,
            BlockKind::POSITIONS | BlockKind::GAP => 16,
            BlockKind::WATERMARK => 8,
            BlockKind::FILE | BlockKind::NOTE | BlockKind::SESSION | BlockKind::SITES => 1,
            BlockKind(kind) => {
                if kind < 128 {
                    wrong
                        .push((Severity::Remark, format!("a block of kind {kind}, which is not known here")));
                }
                return;
            }
        };
        if payload.len() % entry != 0 {
            let what = format!("{} bytes are no whole number of entries of {entry} bytes", payload.len());
            wrong.push((Severity::Damage, what));
        }
        if matches!(header.kind, BlockKind::FILE | BlockKind::NOTE) {
            return;
        }
        let session = self.sessions.entry(header.session).or_default();
        match header.kind {
            BlockKind::SESSION => match SessionInfo::decode(payload) {
                Some(info) if session.id.is_some_and(|id| id != info.session_id) => {
                    let what = format!("session {} is described as another one before", header.session);
                    wrong.push((Severity::Damage, what));
                }
                Some(info) => session.id = Some(info.session_id),
                None => wrong.push((Severity::Damage, "the description of the session is too short".into())),
            },
            BlockKind::SITES => session.sites(payload, wrong),
            BlockKind::STREAMS => {
                session.streams.extend(StreamInfo::decode_all(payload).map(|info| info.stream));
            }
            BlockKind::ANCHORS => session.has_anchor |= payload.len() >= 24,
            BlockKind::WATERMARK => {
                session.watermark = session.watermark.max(u64_at(payload, 0).unwrap_or(0));
            }
            BlockKind::POSITIONS => {
                for (stream, end) in block::positions(payload) {
                    session.covered(stream, end);
                }
            }
            BlockKind::LOSSES => {
                LossInfo::decode_all(payload).for_each(|loss| session.lost(header.session, &loss, wrong));
            }
            BlockKind::GAP => match (u64_at(payload, 0), u64_at(payload, 8)) {
                (Some(begin), Some(end)) if begin <= end => session.covered(header.stream, end),
                _ => wrong.push((Severity::Damage, "a gap that ends before it begins".into())),
            },
            _ => {}
        }
    }
}

impl Described {
    /// A stream's ring is accounted for up to here.
    pub(super) fn covered(&mut self, stream: u32, end: u64) {
        let known = self.ends.entry(stream).or_insert(end);
        *known = end.max(*known);
    }

    /// Totals never fall: readers take the last one, or the greatest.
    fn lost(&mut self, number: u32, loss: &LossInfo, wrong: &mut Wrong) {
        let known = self.losses.entry(loss.stream).or_default();
        let before = *known;
        raise(known, loss);
        let falls = |was: u64, is: u64| is < was;
        let causes = before.losses.iter().zip(loss.losses).any(|(was, is)| falls(*was, is));
        if causes || falls(before.stalls, loss.stalls) || falls(before.stall_ns, loss.stall_ns) {
            let what = format!(
                "session {number}, stream {}: its totals of losses or waits are less than before",
                loss.stream
            );
            wrong.push((Severity::Damage, what));
        }
    }

    fn sites(&mut self, payload: &[u8], wrong: &mut Wrong) {
        for (id, site) in block::sites(payload) {
            let description = match site {
                Ok(description) => description,
                Err(SiteError::Kind(kind)) => {
                    self.sites.entry(id).or_insert((None, 0));
                    wrong.push((
                        Severity::Remark,
                        format!("site {id} is of kind {kind}, which is not known here"),
                    ));
                    continue;
                }
                Err(error) => {
                    wrong.push((Severity::Damage, format!("site {id}: {error}")));
                    continue;
                }
            };
            let mut bytes = Vec::new();
            description.encode(&mut bytes);
            let sum = fnv1a64(&bytes);
            let is_pending = description.is_pending();
            let level = (!is_pending).then_some(description.level as u32);
            match self.sites.get(&id) {
                Some((Some(_), known)) if *known == sum || is_pending => continue,
                Some((Some(_), _)) => {
                    wrong.push((Severity::Damage, format!("site {id} is not described as before")));
                    continue;
                }
                _ => {}
            }
            self.sites.insert(id, (level, sum));
            if !is_pending {
                if let Err(error) = self.signatures.insert(id, &description.signature) {
                    wrong.push((Severity::Damage, format!("the signature of site {id}: {error}")));
                }
            }
        }
    }
}
