//! What the timeline shows, and how many records there were when.

use std::fmt::Write;

use serde_json::{Value, json};

use super::shared::body;
use crate::lanes::{Entry, OPEN};
use crate::outline::Outline;
use crate::params::{Params, Wrong};
use crate::timeline::{NO_SITE, Open, Timeline, TrackKind};
use crate::view::View;
use crate::worker::Views;

/// Records that are read for one answer, where the timeline in memory is too coarse or has not got there.
const EXACT_MAX: u64 = 60_000;
/// Records of which every rectangle is given on request.
const ALL_MAX: u64 = 20_000;
/// Tracks of an answer.
const TRACKS_MAX: usize = 200;

/// What is asked for.
#[derive(Clone, Copy)]
struct Range {
    from: i64,
    to: i64,
    pixel: u64,
    /// Time of the last record.
    end: i64,
}

pub(super) fn lanes(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let (from, to) = params.range()?;
    let width = params.needed("width", 1..=8192u64)?;
    let is_exact = params.optional("exact", 1..=1u8)?.is_some();
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
    let view = views.get(&filter)?;
    let length = (i128::from(to) - i128::from(from)) as u64;
    if is_exact && view.counts.records > ALL_MAX {
        let text = format!("exact is for at most {ALL_MAX} records, and these are {}", view.counts.records);
        return Err(Wrong { status: 413, code: "too_large", text });
    }
    let pixel = if is_exact { 1 } else { length.div_ceil(width) };
    let end = view.counts.range.map_or(to, |(_, end)| end);
    let mut range = Range { from, to, pixel, end };
    let merged = view.timeline.resolution();
    let unread =
        if view.unread().is_some_and(|(_, read)| to > read) { read_ahead(view, range) } else { None };
    let exact = match unread {
        Some(unread) => {
            range.end = to;
            Some(unread)
        }
        None if merged > pixel => exact(view, range, merged),
        None => None,
    };
    let mut out = format!(
        r#"{{"from":"{from}","to":"{to}","pixel_ns":"{pixel}","merged_ns":"{}","tracks":["#,
        if exact.is_some() { 0 } else { merged }
    );
    let timeline = &view.timeline;
    let unread = view.unread().filter(|_| exact.is_none());
    let known = wanted.iter().filter(|id| timeline.tracks().get(**id as usize).is_some());
    for (at, id) in known.enumerate() {
        if at > 0 {
            out.push(',');
        }
        push_track(&mut out, *id, (timeline, unread), exact.as_ref(), range);
    }
    let _ = write!(out, r#"],"progress":{}}}"#, view.progress());
    Ok(out.into_bytes())
}

/// The records of a range and of its surroundings, read again: `None` where they are too many.
///
/// The timeline in memory has every span that lasts longer than `merged`. So the others that reach into the range begin and end in what is read.
fn exact(view: &mut View, range: Range, merged: u64) -> Option<Timeline> {
    let from = range.from.saturating_sub_unsigned(merged);
    let to = range.to.saturating_add_unsigned(merged);
    if view.counts.samples.estimate(from, to) > EXACT_MAX {
        return None;
    }
    let mut detail = view.timeline.detail(from);
    view.within((from, to), EXACT_MAX, |trace, event| detail.add(trace, event)).then_some(detail)
}

/// The records of a range that has not been read wholly, found by the headers of their blocks: `None` where they are too many.
fn read_ahead(view: &View, range: Range) -> Option<Timeline> {
    let is_known = view.counts.range.is_some_and(|(begin, end)| (begin..=end).contains(&range.from));
    let mut detail =
        if is_known { view.timeline.detail(range.from) } else { view.timeline.detail_of_unread() };
    let trace = view.reader.trace();
    trace.between((range.from, range.to), EXACT_MAX, |event| detail.add(trace, event)).then_some(detail)
}

fn push_track(
    out: &mut String,
    id: u32,
    (timeline, unread): (&Timeline, Option<(&Outline, i64)>),
    exact: Option<&Timeline>,
    range: Range,
) {
    let track = &timeline.tracks()[id as usize];
    let _ = write!(out, r#"{{"id":{id},"rows":["#);
    let open = timeline.open(id);
    // Async spans are few, and where they lie in their rows only the whole trace tells.
    let detail = exact.filter(|_| track.kind == TrackKind::Thread);
    for depth in 0..timeline.depth_of(id, &open) {
        if depth > 0 {
            out.push(',');
        }
        let mut entries = Vec::new();
        match detail {
            Some(detail) => detailed_row(id, depth, (timeline, &open), detail, range, &mut entries),
            None => {
                if let Some(row) = track.rows.get(depth) {
                    row.fold(range.from, range.to, range.pixel, |entry| entries.push(entry));
                }
                let open = open.iter().filter(|open| open.depth() == depth);
                entries.extend(open.map(|open| open.entry(range.end)).filter(|open| open.begin < range.to));
            }
        }
        push_entries(out, &entries, range);
    }
    out.push_str(r#"],"instants":"#);
    if track.kind == TrackKind::Thread {
        let instants = exact.map_or(&track.instants, |exact| &exact.tracks()[id as usize].instants);
        let mut entries = Vec::new();
        instants.fold(range.from, range.to, range.pixel, |entry| entries.push(entry));
        if let Some((outline, read)) = unread {
            let thread = (track.session, track.tid);
            outline.fold(thread, read, (range.from, range.to, range.pixel), |entry| entries.push(entry));
        }
        push_entries(out, &entries, range);
    } else {
        out.push_str("null");
    }
    out.push_str(r#","points":"#);
    if track.kind == TrackKind::Counter {
        push_points(out, id, timeline, exact, range);
    } else {
        out.push_str("null");
    }
    out.push('}');
}

/// The spans of a row whose begins or ends were read again, and the one that has neither in the range.
fn detailed_row(
    id: u32,
    depth: usize,
    (timeline, open): (&Timeline, &[Open]),
    detail: &Timeline,
    range: Range,
    entries: &mut Vec<Entry>,
) {
    if let Some(row) = detail.tracks()[id as usize].rows.get(depth) {
        row.fold(range.from, range.to, range.pixel, |entry| entries.push(entry));
    }
    // What has not ended by then the timeline in memory knows.
    let lasts = detail.open(id).into_iter().filter(|open| open.depth() == depth && open.begin() < range.to);
    for begun in lasts {
        let ended = timeline.tracks()[id as usize].rows.get(depth).and_then(|row| row.at(begun.begin()));
        entries.push(ended.map_or_else(|| begun.entry(range.end), |entry| Entry { count: 1, ..*entry }));
    }
    if entries.is_empty()
        && let Some(around) = timeline.covering(id, depth, open, range.from)
    {
        let is_open = around.marks & OPEN != 0;
        let end = range.end.saturating_sub(around.begin).max(0) as u64;
        entries.push(Entry { duration: if is_open { end } else { around.duration }, count: 1, ..around });
    }
}

/// Nanoseconds since the beginning of the range, as numbers of JavaScript.
fn relative(at: i64, range: Range) -> i128 {
    i128::from(at) - i128::from(range.from)
}

fn push_entries(out: &mut String, entries: &[Entry], range: Range) {
    let mut column = |name: &str, value: &dyn Fn(&Entry) -> i128| {
        let _ = write!(out, r#"{}"{name}":["#, if name == "begin" { '{' } else { ',' });
        for (at, entry) in entries.iter().enumerate() {
            let _ = write!(out, "{}{}", if at > 0 { "," } else { "" }, value(entry));
        }
        out.push(']');
    };
    column("begin", &|entry| relative(entry.begin, range));
    column("duration", &|entry| i128::from(entry.duration));
    column("site", &|entry| if entry.site == NO_SITE { -1 } else { i128::from(entry.site) });
    column("count", &|entry| i128::from(entry.count));
    column("level", &|entry| i128::from(entry.level));
    column("marks", &|entry| i128::from(entry.marks));
    out.push('}');
}

fn push_points(out: &mut String, id: u32, timeline: &Timeline, exact: Option<&Timeline>, range: Range) {
    let coarse = &timeline.tracks()[id as usize].points;
    let mut points = Vec::new();
    match exact {
        Some(exact) => {
            let fine = &exact.tracks()[id as usize].points;
            coarse.fold(range.from, range.from.saturating_add(1), 1, |point| {
                if point.at < range.from {
                    points.push(point);
                }
            });
            fine.fold(range.from, range.to, range.pixel, |point| {
                if point.at < range.from {
                    points.clear();
                }
                points.push(point);
            });
        }
        None => coarse.fold(range.from, range.to, range.pixel, |point| points.push(point)),
    }
    let list = |value: &dyn Fn(&crate::lanes::Point) -> Value| points.iter().map(value).collect::<Value>();
    let columns = json!({
        "at": list(&|point| json!(i64::try_from(relative(point.at, range)).unwrap_or(i64::MAX))),
        "min": list(&|point| json!(point.min)),
        "max": list(&|point| json!(point.max)),
        "last": list(&|point| json!(point.last)),
        "count": list(&|point| json!(point.count)),
    });
    let _ = write!(out, "{columns}");
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
