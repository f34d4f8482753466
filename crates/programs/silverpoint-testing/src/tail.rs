//! Reading on in the rings of the process, from where the capture began.
//!
//! A ring's bytes are copied and then checked. Bytes that the ring's owner has released (`oldest`) are gone.
//! Bytes that a collector has taken (`consumed`) are still there until they are overwritten, without notice.
//! Therefore taken bytes are read only while they are among the last three quarters of a ring. (A record that
//! is being written has at most a quarter.) Otherwise they are not read, because the begin of a record in
//! them is unknown. Data that does not look like a record of this time is skipped: an abandoned record may
//! have overwritten the bytes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use silverpoint_shm::observer::{Look, ObserveError, Slice};
use silverpoint_trace::Site;
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::directive::{self, SiteFacts};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::layout::{self, CAUSES};
use silverpoint_wire::record::{self, Records};
use silverpoint_wire::slice::RingHeader;

use crate::Losses;
use crate::process::Process;
use crate::record::{Origin, Record};

/// Records that one capture keeps.
const MAX_RECORDS: usize = 1_000_000;

/// What was found.
pub(crate) struct Item {
    pub(crate) stream: u32,
    pub(crate) ticks: u64,
    pub(crate) thread: u32,
    pub(crate) what: What,
}

pub(crate) enum What {
    Record {
        site: u32,
        record: Record,
    },
    /// The span ends that is of this site and began then.
    SpanEnd {
        site: u32,
        begun: u64,
    },
}

/// Where a capture is in the rings, and what it has found.
pub(crate) struct Tail {
    /// Whose records; `None`: of all threads.
    thread: Option<u32>,
    directives: Arc<str>,
    directory: std::path::PathBuf,
    since: u64,
    streams_before: u32,
    session_losses: [u64; CAUSES],
    cursors: HashMap<u64, Cursor>,
    /// Streams begun since that were looked at, and own ones from before.
    seen: HashSet<u32>,
    /// Streams begun since, as far as they were missed and counted.
    missed: u64,
    /// Whether a site is let through by the directives.
    admitted: HashMap<u32, bool>,
    pub(crate) items: Vec<Item>,
    pub(crate) losses: Losses,
    /// Whether threads recorded that are not looked at.
    pub(crate) others_recorded: bool,
}

/// How far a ring was read.
struct Cursor {
    stream: u32,
    position: u64,
    is_ours: bool,
    losses: [u64; CAUSES],
}

impl Tail {
    /// From now on.
    pub(crate) fn begin(
        process: &mut Process,
        thread: Option<u32>,
        directives: Arc<str>,
    ) -> Result<Self, ObserveError> {
        let counters = process.session.counters()?;
        let mut tail = Self {
            thread,
            directives,
            directory: process.directory().clone(),
            since: process.session.ticks_now().unwrap_or(0),
            streams_before: counters.streams_next,
            session_losses: counters.session_losses,
            cursors: HashMap::new(),
            seen: HashSet::new(),
            missed: 0,
            admitted: HashMap::new(),
            items: Vec::new(),
            losses: Losses::default(),
            others_recorded: false,
        };
        let mut slices = Vec::new();
        process.session.slices(counters.slabs_next, &mut slices, |_| {})?;
        for slice in slices {
            if let Look::Ring(ring) = process.session.look(slice)? {
                let is_ours = tail.is_ours(&ring);
                if is_ours {
                    tail.seen.insert(ring.stream);
                }
                let (stream, position, losses) = (ring.stream, ring.committed, ring.losses);
                tail.cursors.insert(slice.at, Cursor { stream, position, is_ours, losses });
            }
        }
        Ok(tail)
    }

    fn is_ours(&self, ring: &RingHeader) -> bool {
        self.thread.is_none_or(|thread| ring.owner_tid == thread)
    }

    /// Forgets what was found, and what was lost.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.losses = Losses::default();
        self.others_recorded = false;
    }

    /// Reads what has come since the last look.
    pub(crate) fn read_on(&mut self, process: &mut Process) -> Result<(), String> {
        if process.directory() != &self.directory {
            return Err("the process has forked since the capture began: a child needs its own".to_owned());
        }
        self.look_around(process).map_err(|error| format!("the process's own session: {error}"))
    }

    fn look_around(&mut self, process: &mut Process) -> Result<(), ObserveError> {
        // Before the rings are looked at: a stream that begins meanwhile is the next look's.
        let counters = process.session.counters()?;
        self.losses.is_collected = process.is_collected()?;
        for (cause, now) in counters.session_losses.iter().enumerate() {
            self.losses.by_cause[cause] += now.saturating_sub(self.session_losses[cause]);
        }
        self.session_losses = counters.session_losses;
        let mut slices = Vec::new();
        process.session.slices(counters.slabs_next, &mut slices, |_| {})?;
        let (mut claiming, mut continued) = (0, Vec::new());
        for slice in slices {
            match process.session.look(slice)? {
                Look::Ring(ring) => {
                    self.look_at(process, slice, &ring)?;
                    if self.is_ours(&ring) && ring.previous > self.streams_before {
                        continued.push(ring.previous);
                    }
                }
                Look::Claiming => claiming += 1,
                Look::Free => {}
            }
        }
        self.count_missed(counters.streams_next, claiming, continued);
        Ok(())
    }

    /// Counts the rings that came and went between two looks. Of one thread: each ring names the one before it. Of all: their numbers have no holes.
    fn count_missed(&mut self, streams_next: u32, claiming: u64, continued: Vec<u32>) {
        let missed = if self.thread.is_some() {
            let new = continued.into_iter().filter(|stream| self.seen.insert(*stream)).count();
            self.missed + new as u64
        } else {
            let begun = self.streams_before + 1..=streams_next;
            let seen = self.seen.iter().filter(|stream| begun.contains(stream)).count() as u64;
            (begun.count() as u64).saturating_sub(seen + claiming)
        };
        self.losses.missed_streams += missed.saturating_sub(self.missed);
        self.missed = self.missed.max(missed);
    }

    /// Takes what a ring holds that is new.
    fn look_at(
        &mut self,
        process: &mut Process,
        slice: Slice,
        ring: &RingHeader,
    ) -> Result<(), ObserveError> {
        let is_ours = self.is_ours(ring);
        let known = self.cursors.get(&slice.at);
        let (from, losses) = match known {
            Some(cursor) if cursor.stream == ring.stream => (cursor.position, cursor.losses),
            before => {
                // Positions go on when a slice is given to another stream: what the one before held that was not seen lies between.
                if let Some(before) = before.filter(|cursor| cursor.is_ours) {
                    self.losses.overwritten_bytes += ring.base.saturating_sub(before.position);
                }
                (ring.base, [0; CAUSES])
            }
        };
        let position = if is_ours {
            self.seen.insert(ring.stream);
            for (cause, now) in ring.losses.iter().enumerate() {
                self.losses.by_cause[cause] += now.saturating_sub(losses[cause]);
            }
            self.take(process, slice, ring, from)?
        } else {
            self.others_recorded |= ring.committed > from;
            ring.committed
        };
        let cursor = Cursor { stream: ring.stream, position, is_ours, losses: ring.losses };
        self.cursors.insert(slice.at, cursor);
        Ok(())
    }

    /// Takes the records of a ring from a position on. Gives the position to go on from.
    fn take(
        &mut self,
        process: &mut Process,
        slice: Slice,
        ring: &RingHeader,
        wanted: u64,
    ) -> Result<u64, ObserveError> {
        let end = ring.committed;
        if wanted >= end {
            return Ok(wanted);
        }
        if ring.valid_range(slice.size as usize).is_err() {
            self.losses.damaged += 1;
            return Ok(end);
        }
        let from = still_there(ring, wanted.max(ring.base)).min(end);
        // At most one capacity: what is not consumed has no more, by `valid_range`, and of the rest there are three quarters.
        let mut bytes = vec![0; (end - from) as usize];
        process.session.read_data(slice, ring, from, &mut bytes)?;
        // `committed` as it is after the copy tells how far the producer may have come since; what was consumed may be gone by then.
        let after = match (process.session.positions_after_copy(slice, ring)?, process.session.look(slice)?) {
            (Some((oldest, consumed)), Look::Ring(after)) if after.stream == ring.stream => {
                RingHeader { oldest, consumed, ..after }
            }
            _ => {
                self.losses.overwritten_bytes += end - wanted;
                return Ok(end);
            }
        };
        let good = still_there(&after, from).min(end);
        let taken = after.consumed.clamp(good, end);
        let begin = if self.decode(process, ring, &bytes[(good - from) as usize..], taken - good)? {
            good
        } else {
            self.decode(process, ring, &bytes[(taken - from) as usize..], 0)?;
            taken
        };
        self.losses.overwritten_bytes += begin - wanted;
        Ok(end)
    }

    /// Decodes records. The first `unsure` bytes may have been overwritten: false, and nothing is taken, when they do not look like records of this time.
    fn decode(
        &mut self,
        process: &mut Process,
        ring: &RingHeader,
        bytes: &[u8],
        unsure: u64,
    ) -> Result<bool, ObserveError> {
        let (known, losses) = (self.items.len(), self.losses);
        let now = process.session.ticks_now().unwrap_or(u64::MAX);
        for found in Records::new(bytes).without_pads() {
            let (offset, found) = match found {
                Ok(found) => (found.offset as u64, Some(found)),
                Err(error) => (error.offset as u64, None),
            };
            let site = match found {
                Some(found) if found.header.site >= FIRST_ID => process.site(found.header.site)?,
                _ => None,
            };
            if offset < unsure
                && found.is_none_or(|found| {
                    let is_known = site.is_some() || found.header.site < FIRST_ID;
                    !is_known || !(self.since..=now).contains(&found.header.ticks)
                })
            {
                self.items.truncate(known);
                self.losses = losses;
                return Ok(false);
            }
            match found {
                Some(found) => self.keep(ring, &found, site),
                // Where the next record would begin is not known.
                None => self.losses.damaged += 1,
            }
        }
        Ok(true)
    }

    fn keep(&mut self, ring: &RingHeader, found: &record::Record<'_>, site: Option<Arc<Site>>) {
        let header = &found.header;
        let what = match (header.site, site) {
            (layout::record::SPAN_END, _) => match (u32_at(found.args, 0), u64_at(found.args, 4)) {
                (Some(site), Some(begun)) => What::SpanEnd { site, begun },
                _ => return self.losses.damaged += 1,
            },
            (id, None) if id < FIRST_ID => return,
            (_, None) => return self.losses.damaged += 1,
            (id, Some(site)) => {
                if !self.admits(id, &site) {
                    return;
                }
                let name = ring.name.split(|byte| *byte == 0).next().unwrap_or_default();
                let origin = Origin {
                    ticks: header.ticks,
                    thread: ring.owner_tid,
                    thread_name: String::from_utf8_lossy(name).into_owned(),
                    truncated: header.is_truncated(),
                };
                match Record::decode(&site, found.args, origin) {
                    Ok(record) => What::Record { site: id, record },
                    Err(_) => return self.losses.damaged += 1,
                }
            }
        };
        if self.items.len() >= MAX_RECORDS {
            self.losses.beyond_limit += 1;
            return;
        }
        self.items.push(Item { stream: ring.stream, ticks: header.ticks, thread: ring.owner_tid, what });
    }

    /// Whether the capture's own directives let a site through: others may have switched it on.
    fn admits(&mut self, id: u32, site: &Site) -> bool {
        let directives = &self.directives;
        *self.admitted.entry(id).or_insert_with(|| {
            let description = &site.description;
            let facts = SiteFacts {
                level: description.level,
                category: &description.category,
                file: &description.file,
                line: description.line,
                function: &description.function,
            };
            directive::decide(directives, &facts)
        })
    }
}

/// The first position from `wanted` on whose bytes are there.
fn still_there(ring: &RingHeader, wanted: u64) -> u64 {
    let from = wanted.max(ring.oldest);
    let too_old = ring.committed.saturating_sub(from) > u64::from(ring.capacity) / 4 * 3;
    if from < ring.consumed && too_old { ring.consumed } else { from }
}
