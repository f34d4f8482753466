//! Summary, tracks and sites.

use serde_json::{Value, json};

use super::shared::{body, cut, site_json};
use crate::params::{Params, Wrong};
use crate::source::Source;
use crate::timeline::{Track, TrackKind};
use crate::worker::Views;

/// Files and messages that are listed.
const LISTED: usize = 200;
const MESSAGE_MAX: usize = 2000;

pub(super) fn trace(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    params.end()?;
    let (title, is_live) = (views.source().title(), views.source().is_live());
    let mut can = vec!["records"];
    if matches!(views.source(), Source::Files { .. }) {
        can.push("sql");
    }
    if views.has_switches {
        can.push("switches");
    }
    let view = views.get(&filter)?;
    let trace = view.reader.trace();
    let files = trace
        .files
        .iter()
        .take(LISTED)
        .map(|file| json!({"path": file.path.to_string_lossy(), "bytes": file.bytes.to_string()}));
    let (begin, end) = view.range().unzip();
    let tracks = view.tracks().count();
    // A sum that only grows, also where tracks without records leave the list when all has been read.
    let revision = view.timeline.tracks().len() + trace.sites.len() + usize::from(view.unread().is_none());
    body(&json!({
        "title": cut(&title, LISTED).0,
        "live": is_live,
        "version": env!("CARGO_PKG_VERSION"),
        "can": can,
        "files": files.collect::<Vec<_>>(),
        "files_more": trace.files.len().saturating_sub(LISTED),
        "begin": begin.map(|ns| ns.to_string()),
        "end": end.map(|ns| ns.to_string()),
        "revision": revision,
        "tracks": tracks,
        "sites": trace.sites.len(),
        "tracks_left_out": view.timeline.left_out(),
        "levels": view.counts.levels,
        "lost": view.losses().iter().fold(0u64, |sum, count| sum.saturating_add(*count)).to_string(),
        "stalls": view.counts.stalls.to_string(),
        "messages": view.messages.iter().map(|text| cut(text, MESSAGE_MAX).0).collect::<Vec<_>>(),
        "messages_more": view.messages_more,
        "progress": view.progress(),
    }))
}

pub(super) fn tracks(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let from = params.number("from", 0..=usize::MAX, 0)?;
    let count = params.number("count", 1..=5000, 2000)?;
    params.end()?;
    let view = views.get(&filter)?;
    let mut list: Vec<(u32, &Track)> = view.tracks().collect();
    let key = |track: &Track| (track.session, track.kind, track.tid);
    list.sort_by(|(_, one), (_, other)| key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name)));
    let tracks = list.iter().skip(from).take(count).map(|(id, track)| {
        let mut value = json!({
            "id": id,
            "kind": match track.kind {
                TrackKind::Thread => "thread",
                TrackKind::Async => "async",
                TrackKind::Counter => "counter",
            },
            "pid": track.pid,
            "process": track.process,
            "tid": track.tid,
            "name": track.name,
            "records": track.records,
            "depth": view.timeline.depth_of(*id, &view.timeline.open(*id)),
            "lost": track.lost.to_string(),
        });
        if let Some((min, max, _)) = track.values {
            (value["min"], value["max"]) = (json!(min), json!(max));
        }
        value
    });
    let tracks: Vec<Value> = tracks.collect();
    body(&json!({"total": list.len(), "from": from, "tracks": tracks, "progress": view.progress()}))
}

pub(super) fn sites(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let from = params.number("from", 0..=usize::MAX, 0)?;
    let count = params.number("count", 1..=5000, 1000)?;
    params.end()?;
    let view = views.get(&filter)?;
    let all = &view.reader.trace().sites;
    let records = |number: usize| view.counts.sites.get(number).map_or(0, |site| site.records);
    let sites = all.iter().enumerate().skip(from).take(count);
    let sites: Vec<Value> = sites.map(|(number, site)| site_json(number, site, records(number))).collect();
    body(&json!({"total": all.len(), "from": from, "sites": sites, "progress": view.progress()}))
}
