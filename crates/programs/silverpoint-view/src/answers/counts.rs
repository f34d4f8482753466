//! Facets and statistics: what the counts of a filter's records say.

use std::collections::HashMap;

use serde_json::{Value, json};
use silverpoint_trace::{Site, loss_causes};
use silverpoint_wire::layout::CAUSES;
use silverpoint_wire::level::Level;

use super::shared::{TEXT_MAX, body, category_pattern, cut, quoted};
use crate::counts::Counts;
use crate::params::{Params, Wrong};
use crate::scan::{Kind, Made, Question};
use crate::timeline::{Track, TrackKind};
use crate::view::View;
use crate::worker::Views;

/// The most frequent values, each with the words of a filter; and how many there are besides.
fn most_frequent<K: Into<String>>(
    counts: impl IntoIterator<Item = (K, u64)>,
    option: &str,
    count: usize,
) -> (Value, usize) {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for (name, records) in counts.into_iter().filter(|(_, records)| *records > 0) {
        *sums.entry(name.into()).or_default() += records;
    }
    sums.remove("");
    let mut list: Vec<(String, u64)> = sums.into_iter().collect();
    list.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let values = list.iter().take(count).map(|(value, records)| {
        let pattern = if option == "--category" { category_pattern(value) } else { value.clone() };
        let filter = format!("{option} {}", quoted(&pattern));
        json!({"value": value, "records": records, "filter": filter})
    });
    (values.collect(), list.len().saturating_sub(count))
}

pub(super) fn facets(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let count = params.number("count", 1..=1000, 50)?;
    params.end()?;
    let view = views.get(&filter)?;
    let levels = Level::ALL.into_iter().map(|level| {
        let records = view.counts.levels[level as usize];
        json!({"value": level.name(), "records": records, "filter": format!("--level {}", level.name())})
    });
    let of_sites = |text: fn(&Site) -> &str| -> Vec<(String, u64)> {
        let sites = view.reader.trace().sites.iter().zip(&view.counts.sites);
        sites.map(|(site, counted)| (cut(text(site), TEXT_MAX).0.to_owned(), counted.records)).collect()
    };
    let of_threads = |text: fn(&Track) -> &str| -> Vec<(String, u64)> {
        let threads = view.timeline.tracks().iter().filter(|track| track.kind == TrackKind::Thread);
        threads.map(|track| (text(track).to_owned(), track.records)).collect()
    };
    let (categories, more_categories) =
        most_frequent(of_sites(|site| &site.description.category), "--category", count);
    let (files, more_files) = most_frequent(of_sites(|site| &site.description.file), "--file", count);
    let (functions, more_functions) = most_frequent(of_sites(Site::function), "--function", count);
    let (threads, more_threads) = most_frequent(of_threads(|track| &track.name), "--thread", count);
    let (processes, more_processes) = most_frequent(of_threads(|track| &track.process), "--process", count);
    body(&json!({
        "levels": levels.collect::<Value>(),
        "categories": categories, "files": files, "functions": functions,
        "threads": threads, "processes": processes,
        "more": {
            "categories": more_categories, "files": more_files, "functions": more_functions,
            "threads": more_threads, "processes": more_processes,
        },
        "progress": view.progress(),
    }))
}

/// The first of a list, sorted by a number that falls; and how many there are besides.
fn largest<T>(
    mut list: Vec<T>,
    count: usize,
    key: impl Fn(&T) -> u128,
    show: impl Fn(T) -> Value,
) -> (Value, usize) {
    list.sort_by_key(|item| std::cmp::Reverse(key(item)));
    let more = list.len().saturating_sub(count);
    (list.into_iter().take(count).map(show).collect(), more)
}

pub(super) fn stats(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let count = params.number("count", 1..=1000, 100)?;
    let from = params.optional("from", i64::MIN..=i64::MAX)?;
    let to = params.optional("to", i64::MIN..=i64::MAX)?;
    let file = params.optional("file", 0..=usize::MAX)?;
    params.end()?;
    if from.is_none() && to.is_none() && file.is_none() {
        return of_all(views.get(&filter)?, count);
    }
    let range = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
    if range.0 >= range.1 {
        return Err(Wrong::usage("from must be before to"));
    }
    let question = Question { filter: filter.trim().to_owned(), range, file, kind: Kind::Counts };
    let (scan, view) = views.scan(&question)?;
    let Made::Counts(counts) = &scan.made else { return Err(Wrong::failed("nothing was counted")) };
    let mut answer = numbers(&view.reader.trace().sites, counts, &counts.losses, count);
    answer["progress"] = scan.progress();
    body(&answer)
}

/// Everything that is known of a filter's records.
fn of_all(view: &View, count: usize) -> Result<Vec<u8>, Wrong> {
    let (counters, more_counters) = tracks(view, TrackKind::Counter, count, |value, track| {
        let (min, max, last) = track.values.unwrap_or_default();
        (value["min"], value["max"], value["last"]) = (json!(min), json!(max), json!(last));
    });
    let (threads, more_threads) = tracks(view, TrackKind::Thread, count, |value, track| {
        (value["tid"], value["lost"]) = (json!(track.tid), json!(track.lost.to_string()));
    });
    let mut answer = numbers(&view.reader.trace().sites, &view.counts, &view.losses(), count);
    (answer["counters"], answer["threads"]) = (counters, threads);
    (answer["more"]["counters"], answer["more"]["threads"]) = (json!(more_counters), json!(more_threads));
    answer["progress"] = view.progress();
    body(&answer)
}

/// What counts say, of all records or of those of a range.
fn numbers(sites: &[Site], counts: &Counts, lost: &[u64; CAUSES], count: usize) -> Value {
    let sites = || sites.iter().zip(&counts.sites).enumerate();
    let (begin, end) = counts.range.unzip();
    let duration = counts.range.map_or(0, |(begin, end)| end.saturating_sub(begin));
    let spans =
        sites().filter_map(|(number, (site, counted))| Some((number, site, counted.spans.as_deref()?)));
    let (spans, more_spans) = largest(
        spans.collect(),
        count,
        |(_, _, spans)| spans.sum(),
        |(number, site, spans)| {
            let histogram = spans.powers().into_iter();
            let histogram = histogram.map(|(from, count)| json!({"from": from.to_string(), "count": count}));
            let mut value = short_site(number, site);
            value["count"] = json!(spans.count());
            value["total"] = json!(u64::try_from(spans.sum()).unwrap_or(u64::MAX).to_string());
            for (name, ns) in [
                ("mean", spans.mean()),
                ("min", spans.min()),
                ("p50", spans.quantile(500)),
                ("p90", spans.quantile(900)),
                ("p99", spans.quantile(990)),
                ("max", spans.max()),
            ] {
                value[name] = json!(ns.to_string());
            }
            value["histogram"] = histogram.collect();
            value
        },
    );
    let busy = sites().filter(|(_, (_, counted))| counted.records > 0);
    let (busy, more_sites) = largest(
        busy.collect(),
        count,
        |(_, (_, counted))| u128::from(counted.records),
        |(number, (site, counted))| {
            let mut value = short_site(number, site);
            value["level"] = json!(site.level() as u8);
            value["records"] = json!(counted.records);
            value["bytes"] = json!(counted.bytes);
            value
        },
    );
    let losses = loss_causes(lost).map(|(cause, n)| json!({"cause": cause, "records": n.to_string()}));
    json!({
        "records": counts.records.to_string(),
        "begin": begin.map(|ns| ns.to_string()),
        "end": end.map(|ns| ns.to_string()),
        "per_second": if duration > 0 { counts.records as f64 * 1e9 / duration as f64 } else { 0.0 },
        "levels": counts.levels,
        "losses": losses.collect::<Value>(),
        "stalls": counts.stalls.to_string(),
        "stall_ns": counts.stall_ns.to_string(),
        "spans": spans, "sites": busy, "counters": [], "threads": [],
        "more": {"spans": more_spans, "sites": more_sites, "counters": 0, "threads": 0},
    })
}

fn short_site(number: usize, site: &Site) -> Value {
    let description = &site.description;
    json!({
        "site": number,
        "name": cut(&description.template, TEXT_MAX).0,
        "category": cut(&description.category, TEXT_MAX).0,
        "file": cut(&description.file, TEXT_MAX).0,
        "line": description.line,
    })
}

fn tracks(view: &View, kind: TrackKind, count: usize, more: impl Fn(&mut Value, &Track)) -> (Value, usize) {
    let list = view.timeline.tracks().iter().enumerate().filter(|(_, track)| track.kind == kind);
    largest(
        list.collect(),
        count,
        |(_, track)| u128::from(track.records),
        |(number, track)| {
            let mut value = json!({
                "track": number, "name": track.name, "process": track.process, "pid": track.pid,
                "records": track.records,
            });
            more(&mut value, track);
            value
        },
    )
}
