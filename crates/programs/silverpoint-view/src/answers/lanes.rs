//! What the timeline shows, and how many records there were when.

use std::fmt::Write;

use serde_json::{Value, json};

use super::shared::body;
use crate::lanes::{Entry, OPEN, Point};
use crate::levels::SHIFT_MAX;
use crate::outline::Outline;
use crate::params::{Params, Wrong};
use crate::refine::{Picture, Refined, detail_ahead, surroundings};
use crate::timeline::{NO_SITE, Open, Timeline, TrackKind};
use crate::view::View;
use crate::worker::Views;

/// Records that are read for one answer, where the timeline in memory is too coarse or has not got there.
const EXACT_MAX: u64 = 60_000;
/// The same where details may follow: what takes a part of the time between two frames.
const QUICK_MAX: u64 = 12_000;
/// Records of which every rectangle is given on request.
const ALL_MAX: u64 = 20_000;
/// Tracks of an answer.
const TRACKS_MAX: usize = 200;

/// What is asked for, from one pixel to another.
#[derive(Clone, Copy)]
struct Range {
    /// What the answer's times are relative to.
    origin: i64,
    from: i64,
    to: i64,
    /// Pixels are 2^`pixel` nanoseconds, counted from 1970: those of two ranges are the same.
    pixel: u32,
    /// Time of the last record.
    end: i64,
}

impl Range {
    /// Widened to pixels.
    fn new(from: i64, to: i64, pixel: u32) -> Self {
        let within = (1i64 << pixel) - 1;
        let to = to.checked_add(within).map_or(i64::MAX, |behind| behind & !within);
        Self { origin: from, from: from & !within, to, pixel, end: to }
    }

    fn times(&self) -> (i64, i64) {
        (self.from, self.to)
    }
}

pub(super) fn lanes(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let (from, to) = params.range()?;
    let width = params.needed("width", 1..=8192u64)?;
    let is_exact = params.optional("exact", 1..=1u8)?.is_some();
    let is_refined = params.optional("refine", 1..=1u8)?.is_some();
    let wanted = params.text("tracks")?.ok_or_else(|| Wrong::usage("tracks is missing"))?;
    params.end()?;
    let wanted: Vec<u32> = wanted
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| Wrong::usage("tracks must be numbers of tracks, separated by commas"))?;
    if wanted.len() > TRACKS_MAX {
        return Err(Wrong::usage(format!("tracks are {}; at most {TRACKS_MAX} at once", wanted.len())));
    }
    views.look_at((from, to));
    let view = views.get(&filter)?;
    let length = (i128::from(to) - i128::from(from)) as u64;
    if is_exact && view.counts.records > ALL_MAX {
        let text = format!("exact is for at most {ALL_MAX} records, and these are {}", view.counts.records);
        return Err(Wrong { status: 413, code: "too_large", text });
    }
    let pixel = if is_exact { 0 } else { (length / width).max(1).ilog2().min(SHIFT_MAX) };
    let mut range = Range::new(from, to, pixel);
    let is_ahead = view.unread().is_some_and(|(_, read)| range.to > read);
    let is_coarse = view.timeline.shift() > pixel;
    let picture = Picture { from: range.from, to: range.to, pixel, is_ahead };
    let most = if is_refined { QUICK_MAX } else { EXACT_MAX };
    let now = match (is_ahead, is_coarse) {
        (true, _) if view.latest(picture).is_some() => None,
        (true, _) => read_ahead(view, picture, most),
        (_, true) => exact(view, picture, most),
        _ => None,
    };
    let mut is_refining = false;
    if is_refined && now.is_none() && (is_ahead || is_coarse) {
        is_refining = view.want(picture);
    }
    let timeline_to = view.read_to().filter(|read| *read < range.to);
    // What is known is not replaced by a part of it.
    let is_far = timeline_to.is_some_and(|read| read < range.from);
    let is_usable = |refined: &&Refined| refined.is_finished || is_ahead && is_far;
    let refined = if now.is_none() { view.latest(picture).filter(is_usable) } else { None };
    let exact_to = refined.map(Refined::read_to).filter(|read| *read < range.to);
    let exact = now.as_ref().or(refined.map(|refined| &refined.timeline));
    let is_ahead = is_ahead && exact.is_some();
    if !is_ahead {
        range.end = view.counts.range.map_or(range.to, |(_, end)| end);
    }
    let shown = Shown {
        timeline: &view.timeline,
        timeline_to,
        exact,
        exact_to,
        is_ahead,
        outline: view.unread().map(|(outline, _)| outline),
        range,
    };
    let known = exact.unwrap_or(&view.timeline);
    let is_known = !is_refining && if is_ahead { exact_to.is_none() } else { timeline_to.is_none() };
    let mut out = format!(
        r#"{{"from":"{}","to":"{}","pixel_ns":"{}","merged_ns":"{}","ahead":{is_ahead},"refining":{is_refining},"known":{is_known},"tracks":["#,
        from,
        to,
        1u64 << pixel,
        if known.shift() > pixel { known.resolution() } else { 0 },
    );
    let known = wanted.iter().filter(|id| shown.timeline.tracks().get(**id as usize).is_some());
    for (at, id) in known.enumerate() {
        if at > 0 {
            out.push(',');
        }
        shown.push_track(&mut out, *id);
    }
    let _ = write!(out, r#"],"progress":{}}}"#, view.progress());
    Ok(out.into_bytes())
}

/// The records of a picture and of its surroundings, read again: `None` where they are too many for an answer.
fn exact(view: &mut View, picture: Picture, most: u64) -> Option<Timeline> {
    let (from, to) = surroundings(view, picture);
    if view.counts.samples.cost(from, to).0 > most {
        return None;
    }
    let mut detail = view.timeline.detail_with_asyncs((from, to));
    view.within((from, to), most, |trace, event| detail.add(trace, event)).then_some(detail)
}

/// The records of a range that has not been read wholly, found by the headers of their blocks: `None` where they are too many.
fn read_ahead(view: &View, picture: Picture, most: u64) -> Option<Timeline> {
    let (mut detail, trace) = (detail_ahead(view, picture.from), view.reader.trace());
    let range = (picture.from, picture.to);
    trace.between(range, most, |event| detail.add(trace, event)).then_some(detail)
}

/// What an answer is made of.
struct Shown<'v> {
    timeline: &'v Timeline,
    /// Behind this time, within the range, it knows nothing yet.
    timeline_to: Option<i64>,
    /// Records of the range that were read for this picture.
    exact: Option<&'v Timeline>,
    /// Up to where.
    exact_to: Option<i64>,
    /// Some of these have not been read otherwise.
    is_ahead: bool,
    /// What headers state of those that have not been read at all.
    outline: Option<&'v Outline>,
    range: Range,
}

impl Shown<'_> {
    fn push_track(&self, out: &mut String, id: u32) {
        let Self { timeline, exact, range, .. } = *self;
        let track = &timeline.tracks()[id as usize];
        let _ = write!(out, r#"{{"id":{id},"rows":["#);
        match track.kind {
            TrackKind::Async if self.is_ahead && !self.is_near() => self.push_ahead(out, id),
            _ => self.push_rows(out, id),
        }
        out.push_str(r#"],"instants":"#);
        if track.kind == TrackKind::Thread {
            let known = exact.unwrap_or(timeline);
            let instants = &known.tracks()[id as usize].instants;
            let mut entries = Vec::new();
            instants.fold(range.times(), range.pixel, |entry| entries.push(entry));
            if let Some(outline) = self.outline {
                let thread = (track.session, track.tid);
                let range = (range.from, range.to, 1 << range.pixel);
                let known_to = self.known_to(track.kind).unwrap_or(i64::MAX);
                outline.fold(thread, known_to, range, |entry| entries.push(entry));
            }
            push_entries(out, &entries, range);
        } else {
            out.push_str("null");
        }
        out.push_str(r#","points":"#);
        if track.kind == TrackKind::Counter {
            self.push_points(out, id);
        } else {
            out.push_str("null");
        }
        out.push_str(r#","unread_from":"#);
        // Of threads headers state what has not been read, but not what a filter has of it.
        let is_stated = track.kind == TrackKind::Thread && self.outline.is_some();
        match self.known_to(track.kind).filter(|_| !is_stated) {
            Some(at) => push_number(out, (false, relative(at, range).max(0).unsigned_abs())),
            None => out.push_str("null"),
        }
        out.push('}');
    }

    /// Whether what the timeline knows last is what is before the range.
    fn is_near(&self) -> bool {
        self.timeline_to.is_none_or(|read| read >= self.range.from)
    }

    /// Behind which time within the range nothing is known of a track.
    fn known_to(&self, kind: TrackKind) -> Option<i64> {
        // Where async spans lie in their rows only the whole trace tells: they are read ahead where nothing else is known.
        let is_async_before = kind == TrackKind::Async && self.is_near();
        if self.is_ahead && !is_async_before { self.exact_to } else { self.timeline_to }
    }

    /// The range; what is open lasts as long as is known.
    fn until_known(&self, kind: TrackKind) -> Range {
        Range { end: self.known_to(kind).unwrap_or(self.range.end), ..self.range }
    }

    fn push_rows(&self, out: &mut String, id: u32) {
        let timeline = self.timeline;
        let track = &timeline.tracks()[id as usize];
        let open = if self.is_near() { timeline.open(id) } else { Vec::new() };
        // Read ahead, nothing says in which rows async spans lie.
        let is_detailed = track.kind == TrackKind::Thread || track.kind == TrackKind::Async && !self.is_ahead;
        let detail = self.exact.filter(|_| is_detailed);
        let begun = detail.map_or_else(Vec::new, |detail| detail.open(id));
        let range = self.until_known(track.kind);
        for depth in 0..timeline.depth_of(id, &open) {
            if depth > 0 {
                out.push(',');
            }
            let mut entries = Vec::new();
            match detail {
                Some(detail) => {
                    detailed_row((id, depth), (timeline, &open), (detail, &begun), range, &mut entries);
                }
                None => {
                    if let Some(row) = track.rows.get(depth) {
                        row.fold(range.times(), range.pixel, |entry| entries.push(entry));
                    }
                    let open = open.iter().filter(|open| open.depth() == depth);
                    entries
                        .extend(open.map(|open| open.entry(range.end)).filter(|open| open.begin < range.to));
                }
            }
            push_entries(out, &entries, range);
        }
    }

    /// Rows of records that were read ahead: what has begun before the range is not known. The page has no more rows than the timeline.
    fn push_ahead(&self, out: &mut String, id: u32) {
        let (timeline, range) = (self.timeline, self.until_known(TrackKind::Async));
        let Some(detail) = self.exact else { return };
        let (known, found) = (timeline.open(id), detail.open(id));
        let rows = timeline.depth_of(id, &known).max(1);
        for depth in 0..rows.min(detail.depth_of(id, &found)) {
            if depth > 0 {
                out.push(',');
            }
            let mut entries = Vec::new();
            detailed_row((id, depth), (timeline, &[]), (detail, &found), range, &mut entries);
            push_entries(out, &entries, range);
        }
    }

    fn push_points(&self, out: &mut String, id: u32) {
        let Self { timeline, exact, range, .. } = *self;
        let known = exact.unwrap_or(timeline);
        let points_of = |timeline: &Timeline| timeline.tracks()[id as usize].points.before(range.from);
        let before =
            exact.and_then(points_of).or_else(|| if self.is_near() { points_of(timeline) } else { None });
        let mut points: Vec<Point> = before.into_iter().collect();
        let of_range = &known.tracks()[id as usize].points;
        of_range.fold(range.times(), range.pixel, |point| points.push(point));
        let list = |value: &dyn Fn(&Point) -> Value| points.iter().map(value).collect::<Value>();
        let columns = json!({
            "at": list(&|point| json!(relative(point.at, range))),
            "min": list(&|point| json!(point.min)),
            "max": list(&|point| json!(point.max)),
            "last": list(&|point| json!(point.last)),
            "count": list(&|point| json!(point.count)),
        });
        let _ = write!(out, "{columns}");
    }
}

/// The spans of a row whose begins or ends were read again, and the one that has neither in the range.
fn detailed_row(
    (id, depth): (u32, usize),
    (timeline, open): (&Timeline, &[Open]),
    (detail, begun): (&Timeline, &[Open]),
    range: Range,
    entries: &mut Vec<Entry>,
) {
    if let Some(row) = detail.tracks()[id as usize].rows.get(depth) {
        row.fold(range.times(), range.pixel, |entry| entries.push(entry));
    }
    // What has not ended by then the timeline in memory knows.
    for begun in begun.iter().filter(|open| open.depth() == depth && open.begin() < range.to) {
        let ended = timeline.tracks()[id as usize].rows.get(depth).and_then(|row| row.at(begun.begin()));
        entries.push(ended.map_or_else(|| begun.entry(range.end), |entry| Entry { count: 1, ..entry }));
    }
    // An end says when a span of a thread began. Of an async span only its begin does, which is not read of long ones.
    let is_async = timeline.tracks()[id as usize].kind == TrackKind::Async;
    let is_missing = |around: &Entry| match is_async {
        true => {
            around.duration >= timeline.resolution()
                && entries.iter().all(|entry| entry.begin != around.begin)
        }
        false => entries.is_empty(),
    };
    if let Some(around) = timeline.covering(id, depth, open, range.from).filter(is_missing) {
        let is_open = around.marks & OPEN != 0;
        let end = range.end.saturating_sub(around.begin).max(0) as u64;
        let duration = if is_open { end } else { around.duration };
        entries.insert(0, Entry { duration, count: 1, ..around });
    }
}

/// Nanoseconds since the beginning of the range, as numbers of JavaScript.
fn relative(at: i64, range: Range) -> i64 {
    at.saturating_sub(range.origin)
}

fn push_entries(out: &mut String, entries: &[Entry], range: Range) {
    let mut column = |name: &str, value: &dyn Fn(&Entry) -> (bool, u64)| {
        out.push_str(if name == "begin" { "{\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":[");
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            push_number(out, value(entry));
        }
        out.push(']');
    };
    column("begin", &|entry| {
        let begin = relative(entry.begin, range);
        (begin < 0, begin.unsigned_abs())
    });
    column("duration", &|entry| (false, entry.duration));
    column("site", &|entry| if entry.site == NO_SITE { (true, 1) } else { (false, u64::from(entry.site)) });
    column("count", &|entry| (false, u64::from(entry.count)));
    column("level", &|entry| (false, u64::from(entry.level)));
    column("marks", &|entry| (false, u64::from(entry.marks)));
    out.push('}');
}

/// A number that may be below 0. There are 100,000 of them in an answer, and `write!` took more time than all else.
fn push_number(out: &mut String, (is_negative, number): (bool, u64)) {
    if is_negative {
        out.push('-');
    }
    out.push_str(itoa::Buffer::new().format(number));
}

pub(super) fn histogram(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let (from, to) = params.range()?;
    let parts = params.number("parts", 1..=2000u64, 200)?;
    params.end()?;
    let view = views.get(&filter)?;
    let length = (i128::from(to) - i128::from(from)) as u64;
    let part = length.div_ceil(parts);
    let count = length.div_ceil(part) as usize;
    let mut levels = vec![vec![0u64; count]; 6];
    let index = |at: i64| ((i128::from(at) - i128::from(from)).max(0) as u64 / part) as usize;
    let mut merged = view.counts.buckets.resolution();
    let is_coarse = merged > part;
    if is_coarse
        && view.within((from, to), EXACT_MAX, |_, event| {
            if event.wall_ns >= from && event.wall_ns < to {
                levels[usize::from(event.what.level() as u8)][index(event.wall_ns)] += 1;
            }
        })
    {
        merged = 0;
    } else {
        for (begin, counts) in view.counts.buckets.within(from, to) {
            let at = index(begin).min(count - 1);
            levels.iter_mut().zip(counts).for_each(|(level, more)| level[at] += more);
        }
        if merged == 1 {
            merged = 0;
        }
    }
    let unread = view.unread().map(|(outline, read)| {
        let mut counts = vec![0u64; count];
        outline.count(
            read,
            (from, from.saturating_add_unsigned(part.saturating_mul(count as u64))),
            &mut counts,
        );
        counts
    });
    body(&json!({
        "from": from.to_string(), "to": to.to_string(), "part_ns": part.to_string(),
        "merged_ns": merged.to_string(), "levels": levels, "unread": unread, "progress": view.progress(),
    }))
}
