//! The rows of the timeline: one for each thread, group of async spans, and counter, filled record by record.

use std::collections::HashMap;

use silverpoint_query::spans::{AsyncSpans, OpenSpans, async_id};
use silverpoint_query::stats::number_of;
use silverpoint_trace::{Event, Trace, What};
use silverpoint_wire::level::Kind;

use crate::lanes::{Entry, LOSS, Lane, OPEN, Point, Points, STALL};
use crate::levels::Merge;
use crate::merging::Merging;

/// Bytes of the rectangles and values that are kept of all tracks together, by default.
const BYTES_MAX: usize = 12 << 20;
/// Tracks; records of further ones are counted, and not shown.
const TRACKS_MAX: usize = 12_000;
/// Rows of all tracks together.
const ROWS_MAX: usize = 60_000;
/// Rows of nested spans.
const DEPTH_MAX: usize = 32;
/// Spans of threads that are open at once, of all threads and of one.
const OPEN_MAX: usize = 100_000;
const OPEN_OF_ONE_MAX: usize = 4096;
/// Async spans that are open at once.
const OPEN_ASYNCS_MAX: usize = 10_000;
/// A value of [`Entry::site`]: none.
pub const NO_SITE: u32 = u32::MAX;

/// What a track is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrackKind {
    /// A thread.
    Thread,
    /// Async spans of one name.
    Async,
    /// A counter.
    Counter,
}

/// One track.
#[derive(Debug)]
pub struct Track {
    /// What it is of.
    pub kind: TrackKind,
    /// Number of the process in the trace.
    pub session: usize,
    /// Process id.
    pub pid: u32,
    /// Name of the process.
    pub process: String,
    /// Of a thread.
    pub tid: u32,
    /// Of the thread, the spans or the counter.
    pub name: String,
    /// Records.
    pub records: u64,
    /// Records that were lost.
    pub lost: u64,
    /// Spans by depth.
    pub rows: Vec<Lane>,
    /// What else a thread has.
    pub instants: Lane,
    /// Of a counter.
    pub points: Points,
    /// Least, greatest and last value of a counter.
    pub values: Option<(f64, f64, f64)>,
    /// Rows that an async span is in.
    busy: Vec<u32>,
    /// Up to when one is in a row that began before the first record.
    taken_to: Vec<i64>,
    /// Rows of async spans.
    rows_max: usize,
    /// Spans of a thread that are open.
    open: usize,
    /// Spans that had begun before the first record.
    begun_before: usize,
}

impl Track {
    /// Without names, and without records.
    fn empty(kind: TrackKind, session: usize, pid: u32, tid: u32) -> Self {
        Self {
            kind,
            session,
            pid,
            process: String::new(),
            tid,
            name: String::new(),
            records: 0,
            lost: 0,
            rows: Vec::new(),
            instants: Lane::default(),
            points: Points::default(),
            values: None,
            busy: Vec::new(),
            taken_to: Vec::new(),
            rows_max: DEPTH_MAX,
            open: 0,
            begun_before: 0,
        }
    }
}

impl Track {
    /// Its lists, by numbers: none changes when further ones come.
    pub fn list(&mut self, number: usize) -> Option<&mut dyn Merge> {
        match number {
            0 => Some(self.instants.list()),
            1 => Some(self.points.list()),
            _ => self.rows.get_mut(number - 2).map(Lane::list),
        }
    }

    /// The row of an async span that begins: the first that is free.
    fn free_row(&mut self, at: i64) -> usize {
        let is_free = |row: &usize| {
            self.busy[*row] == 0 && self.taken_to.get(*row).is_none_or(|taken_to| *taken_to <= at)
        };
        match (0..self.busy.len()).find(is_free) {
            Some(free) => free,
            None if self.busy.len() < self.rows_max => {
                self.busy.push(0);
                self.busy.len() - 1
            }
            None => self.rows_max - 1,
        }
    }
}

/// A span that has not ended.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    begin: i64,
    depth: usize,
    site: u32,
    level: u8,
    track: u32,
}

/// See the module.
#[derive(Default)]
pub struct Timeline {
    tracks: Vec<Track>,
    threads: HashMap<(usize, u32), u32>,
    counters: HashMap<(usize, usize), u32>,
    asyncs: HashMap<(usize, String), u32>,
    /// By session and site, what `asyncs` has.
    async_sites: HashMap<(usize, usize), u32>,
    open: OpenSpans<u32, Open>,
    open_asyncs: AsyncSpans<(u32, u64), Open>,
    /// Rows of async spans that another timeline knows, by track and begin.
    known_rows: HashMap<(u32, i64), usize>,
    /// Rectangles that begin in the same 2^`shift` nanoseconds are one.
    shift: u32,
    bytes: usize,
    /// How many bytes of rectangles are to be kept at most; 0: [`BYTES_MAX`].
    bytes_max: usize,
    /// How many of them lead to merging.
    limit: usize,
    merging: Option<Merging>,
    rows: usize,
    left_out: u64,
    /// Shorter spans without a begin are ignored.
    shortest: u64,
}

impl Timeline {
    /// An empty one that keeps so many bytes of rectangles.
    pub fn with_room(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }

    /// All tracks.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Records of tracks that there was no room for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Nanoseconds within which rectangles may have been merged; 0: none was.
    pub fn resolution(&self) -> u64 {
        if self.shift == 0 { 0 } else { 1 << self.shift }
    }

    /// The same as a power of two; 0: none was merged.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Bytes of its rectangles and values.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a record.
    pub fn add(&mut self, trace: &Trace, event: &Event<'_>) {
        let Some(thread) = self.thread(event) else {
            self.left_out += 1;
            return;
        };
        let level = event.what.level() as u8;
        self.tracks[thread as usize].records += 1;
        let at = event.wall_ns;
        let moment = Entry { begin: at, duration: 0, site: NO_SITE, count: 1, level, marks: 0 };
        match event.what {
            What::Record { site, site_number, args, .. } => {
                let number = site_number as u32;
                match site.kind() {
                    Kind::Span => {
                        let depth = self.depth(thread);
                        let open = Open { begin: at, depth, site: number, level, track: thread };
                        let track = &mut self.tracks[thread as usize];
                        if self.open.count() < OPEN_MAX && track.open < OPEN_OF_ONE_MAX {
                            track.open += 1;
                            self.open.begin((event.session_number, thread), site_number, event.ticks, open);
                        }
                    }
                    Kind::Counter => self.value(event, site_number, number_of(site, args)),
                    Kind::AsyncBegin | Kind::AsyncEnd if async_id(site, args).is_some() => {
                        let id = async_id(site, args).unwrap_or_default();
                        self.half(trace, event, site_number, id, site.kind() == Kind::AsyncEnd);
                    }
                    _ => self.instant(thread, Entry { site: number, ..moment }),
                }
            }
            What::SpanEnd { site_number, begin_ticks, duration_ns, .. } => {
                let duration = duration_ns.unwrap_or(0);
                let found = site_number
                    .and_then(|number| self.open.end((event.session_number, thread), number, begin_ticks));
                let (thread, begin, depth) = match &found {
                    // It is shown where it began, which may be another thread.
                    Some(open) => {
                        self.tracks[open.track as usize].open -= 1;
                        (open.track, open.begin, open.depth)
                    }
                    // It began before what is read again, and so it ended before what is shown.
                    None if duration < self.shortest => return,
                    None => {
                        let depth = self.depth(thread);
                        let track = &mut self.tracks[thread as usize];
                        track.begun_before = track.begun_before.saturating_sub(1);
                        (thread, at.saturating_sub_unsigned(duration), depth.saturating_sub(1))
                    }
                };
                let site = site_number.map_or(NO_SITE, |number| number as u32);
                self.put(thread, depth, Entry { begin, duration, site, ..moment });
            }
            What::Loss { count, span_ns, .. } => {
                let track = &mut self.tracks[thread as usize];
                track.lost = track.lost.saturating_add(count);
                self.open.lost((event.session_number, thread));
                let begin = at.saturating_sub_unsigned(span_ns);
                self.instant(thread, Entry { begin, duration: span_ns, marks: LOSS, ..moment });
            }
            What::Stall { duration_ns, .. } => {
                let begin = at.saturating_sub_unsigned(duration_ns);
                self.instant(thread, Entry { begin, duration: duration_ns, marks: STALL, ..moment });
            }
            _ => self.instant(thread, moment),
        }
    }

    /// Depth of the next span of a thread.
    fn depth(&self, thread: u32) -> usize {
        let track = &self.tracks[thread as usize];
        track.open + track.begun_before
    }

    fn new_track(&mut self, kind: TrackKind, event: &Event<'_>, tid: u32, name: &str) -> Option<u32> {
        self.push_track(Track {
            process: shortened(&event.session.name).to_owned(),
            name: shortened(name).to_owned(),
            ..Track::empty(kind, event.session_number, event.session.pid, tid)
        })
    }

    fn push_track(&mut self, track: Track) -> Option<u32> {
        if self.tracks.len() >= TRACKS_MAX {
            return None;
        }
        self.tracks.push(track);
        Some(self.tracks.len() as u32 - 1)
    }

    /// Adds the tracks of threads whose records have not been read.
    pub fn expect(&mut self, trace: &Trace, threads: impl Iterator<Item = (usize, u32)>) {
        // Of threads with the same id the first counts.
        let named = trace.sessions.iter().enumerate().flat_map(|(number, session)| {
            session.threads.iter().rev().map(move |thread| ((number, thread.tid), &*thread.name))
        });
        let names: HashMap<(usize, u32), &str> = named.collect();
        for (number, tid) in threads {
            let Some(session) = trace.sessions.get(number) else { continue };
            let name = names.get(&(number, tid));
            let track = self.push_track(Track {
                process: shortened(&session.name).to_owned(),
                name: name.map_or_else(String::new, |name| shortened(name).to_owned()),
                ..Track::empty(TrackKind::Thread, number, session.pid, tid)
            });
            let Some(track) = track else { return };
            self.threads.insert((number, tid), track);
        }
    }

    fn thread(&mut self, event: &Event<'_>) -> Option<u32> {
        let key = (event.session_number, event.tid);
        let number = match self.threads.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.new_track(TrackKind::Thread, event, event.tid, event.thread_name)?;
                self.threads.insert(key, number);
                number
            }
        };
        let track = &mut self.tracks[number as usize];
        let name = shortened(event.thread_name);
        if !name.is_empty() && name != track.name {
            track.name = name.to_owned();
        }
        Some(number)
    }

    fn value(&mut self, event: &Event<'_>, site: usize, value: Option<f64>) {
        let Some(value) = value else { return };
        let key = (event.session_number, site);
        let number = match self.counters.get(&key) {
            Some(number) => *number,
            None => {
                let What::Record { site, .. } = event.what else { return };
                let name = &site.description.template;
                let Some(number) = self.new_track(TrackKind::Counter, event, 0, name) else { return };
                self.counters.insert(key, number);
                number
            }
        };
        let shift = self.shift;
        let track = &mut self.tracks[number as usize];
        track.records += 1;
        let (min, max, _) = track.values.unwrap_or((value, value, value));
        track.values = Some((min.min(value), max.max(value), value));
        let point = Point { at: event.wall_ns, min: value, max: value, last: value, count: 1 };
        self.bytes += track.points.add(point, shift);
        self.bound();
    }

    /// A begin or an end of an async span.
    fn half(&mut self, trace: &Trace, event: &Event<'_>, site: usize, id: u64, is_end: bool) {
        let Some(number) = self.async_track(trace, event, site) else { return };
        let key = (number, id);
        if !is_end {
            let track = &mut self.tracks[number as usize];
            track.records += 1;
            if self.open_asyncs.count() >= OPEN_ASYNCS_MAX {
                return;
            }
            let depth = match self.known_rows.remove(&(number, event.wall_ns)) {
                Some(row) => row,
                None => track.free_row(event.wall_ns),
            };
            track.busy[depth] += 1;
            let level = event.what.level() as u8;
            let open = Open { begin: event.wall_ns, depth, site: site as u32, level, track: number };
            self.open_asyncs.begin(key, open);
        } else if let Some(open) = self.open_asyncs.end(&key) {
            self.tracks[number as usize].busy[open.depth] -= 1;
            let duration = event.wall_ns.saturating_sub(open.begin).max(0) as u64;
            let Open { begin, depth, site, level, .. } = open;
            self.put(number, depth, Entry { begin, duration, site, count: 1, level, marks: 0 });
        }
    }

    fn async_track(&mut self, trace: &Trace, event: &Event<'_>, site: usize) -> Option<u32> {
        if let Some(number) = self.async_sites.get(&(event.session_number, site)) {
            return Some(*number);
        }
        let description = &trace.sites.get(site)?.description;
        let name = match description.category.as_str() {
            "" => description.template.clone(),
            category => format!("{category}: {}", description.template),
        };
        let key = (event.session_number, name);
        let number = match self.asyncs.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.new_track(TrackKind::Async, event, 0, &key.1)?;
                self.asyncs.insert(key, number);
                number
            }
        };
        self.async_sites.insert((event.session_number, site), number);
        Some(number)
    }

    fn instant(&mut self, track: u32, entry: Entry) {
        let shift = self.shift;
        self.bytes += self.tracks[track as usize].instants.add(entry, shift);
        self.bound();
    }

    fn put(&mut self, track: u32, depth: usize, entry: Entry) {
        let shift = self.shift;
        let rows = &mut self.tracks[track as usize].rows;
        while rows.len() <= depth.min(DEPTH_MAX - 1) && (self.rows < ROWS_MAX || rows.is_empty()) {
            rows.push(Lane::default());
            self.rows += 1;
        }
        let last = rows.len() - 1;
        self.bytes += rows[depth.min(last)].add(entry, shift);
        self.bound();
    }

    /// Where there is no room, merges a little: again and again, until there is.
    fn bound(&mut self) {
        let most = if self.bytes_max == 0 { BYTES_MAX } else { self.bytes_max };
        if self.merging.is_none() {
            self.limit = self.limit.max(most);
            if self.bytes < self.limit {
                return;
            }
        }
        let merging = self.merging.get_or_insert_with(Merging::new);
        if merging.step(&mut self.tracks, most / 2, &mut self.shift, &mut self.bytes) {
            self.merging = None;
            // Each lane has one at least: where there are very many lanes, there is nothing to gain.
            self.limit = most.max(2 * self.bytes);
        }
    }

    /// Makes one of all rectangles of a row that begin in the same 2^`shift` nanoseconds, at once.
    pub fn merge(&mut self, shift: u32) {
        for track in &mut self.tracks {
            let mut number = 0;
            while let Some(list) = track.list(number) {
                match list.merge_on(shift, usize::MAX) {
                    Some(gone) => self.bytes -= gone,
                    None => number += 1,
                }
            }
        }
        (self.shift, self.merging) = (shift, None);
    }

    /// The spans of a track that are open.
    pub fn open(&self, number: u32) -> Vec<Open> {
        match self.tracks.get(number as usize).map(|track| (track.kind, track.session)) {
            Some((TrackKind::Thread, session)) => self.open.of((session, number)).copied().collect(),
            Some((TrackKind::Async, _)) => {
                self.open_asyncs.all().filter(|open| open.track == number).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// How many rows of spans a track has, with those that are open.
    pub fn depth_of(&self, number: u32, open: &[Open]) -> usize {
        let rows = self.tracks.get(number as usize).map_or(0, |track| track.rows.len());
        open.iter().fold(rows, |most, open| most.max(open.depth + 1)).min(DEPTH_MAX)
    }

    /// An empty one with the same tracks, to be filled from the records since `from`.
    pub fn detail(&self, from: i64) -> Self {
        let begun = |number: u32| {
            let open = self.open(number);
            let depths = 0..self.depth_of(number, &open);
            let covering = depths.map_while(|depth| self.covering(number, depth, &open, from));
            // Shorter ones may have been merged into others: they are not counted, and their ends ignored.
            covering.take_while(|entry| entry.duration >= self.resolution()).count()
        };
        let tracks = self.tracks.iter().zip(0..).map(|(track, number)| Track {
            begun_before: if track.kind == TrackKind::Thread { begun(number) } else { 0 },
            ..Track::empty(track.kind, track.session, track.pid, track.tid)
        });
        Self {
            tracks: tracks.collect(),
            threads: self.threads.clone(),
            counters: self.counters.clone(),
            asyncs: self.asyncs.clone(),
            async_sites: self.async_sites.clone(),
            shortest: self.resolution(),
            ..Self::default()
        }
    }

    /// The same with async spans in the rows that they have here. Shorter ones than are known here get what is free.
    pub fn detail_with_asyncs(&self, (from, to): (i64, i64)) -> Self {
        let mut detail = self.detail(from);
        let is_long = |entry: &Entry| entry.duration >= self.resolution();
        let mut known: Vec<(u32, usize, Entry)> = Vec::new();
        for (track, number) in self.tracks.iter().zip(0..).filter(|(track, _)| track.kind == TrackKind::Async)
        {
            for (row, depth) in track.rows.iter().zip(0..) {
                let long = row.covering(from).into_iter().chain(row.within(from, to)).filter(is_long);
                known.extend(long.map(|entry| (number, depth, entry)));
            }
            // The page has no more rows.
            let rows = track.rows.len().max(track.busy.len()).max(1);
            let kept = &mut detail.tracks[number as usize];
            (kept.busy, kept.taken_to, kept.rows_max) = (vec![0; rows], vec![i64::MIN; rows], rows);
        }
        let open = self.open_asyncs.all().filter(|open| open.begin < to);
        known.extend(open.map(|open| (open.track, open.depth, open.entry(i64::MAX))));
        for (number, depth, entry) in known {
            if entry.begin < from {
                let taken_to = &mut detail.tracks[number as usize].taken_to[depth];
                *taken_to = entry.end().max(*taken_to);
            } else {
                detail.known_rows.insert((number, entry.begin), depth);
            }
        }
        detail
    }

    /// The same of a range of which nothing is known: spans that began before it are outermost.
    pub fn detail_of_unread(&self) -> Self {
        let mut detail = self.detail(i64::MIN);
        detail.shortest = 0;
        detail
    }

    /// The span of a row that began before a time and lasts beyond it; of the open ones, one of these.
    pub fn covering(&self, number: u32, depth: usize, open: &[Open], at: i64) -> Option<Entry> {
        let row = self.tracks.get(number as usize)?.rows.get(depth);
        let ended = row.and_then(|row| row.covering(at));
        let open = || open.iter().find(|open| open.depth == depth && open.begin < at);
        ended.or_else(|| open().map(|open| open.entry(i64::MAX)))
    }
}

impl Open {
    /// Its row.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// When it began.
    pub fn begin(&self) -> i64 {
        self.begin
    }

    /// As a rectangle up to a time.
    pub fn entry(&self, end: i64) -> Entry {
        let Self { begin, site, level, .. } = *self;
        let duration = u64::try_from(i128::from(end) - i128::from(begin)).unwrap_or(0);
        Entry { begin, duration, site, count: 1, level, marks: OPEN }
    }
}

/// Names are from traces: what is longer is cut.
fn shortened(name: &str) -> &str {
    const LONGEST: usize = 200;
    &name[..name.floor_char_boundary(LONGEST)]
}
