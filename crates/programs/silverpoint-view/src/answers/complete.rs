//! Completions of a filter line.

use std::collections::HashMap;

use serde_json::{Value, json};
use silverpoint_wire::level::Level;

use super::shared::{body, category_pattern, cut, quoted};
use crate::params::{Params, Wrong};
use crate::timeline::TrackKind;
use crate::view::View;
use crate::worker::Views;

/// Completions of an answer.
const ITEMS_MAX: usize = 50;
/// Longest completion.
const LONGEST: usize = 300;
/// The options of a filter line.
const OPTIONS: [&str; 9] = [
    "--level",
    "--category",
    "--file",
    "--function",
    "--thread",
    "--process",
    "--since",
    "--until",
    "--where",
];

pub(super) fn complete(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let text = params.text("text")?.unwrap_or_default();
    let at = params.needed("at", 0..=crate::params::TEXT_MAX)?;
    params.end()?;
    let view = views.get(&filter)?;
    // What is behind the place does not matter.
    let mut units = 0;
    let before = text.char_indices().find(|(_, c)| {
        let is_behind = units >= at;
        units += c.len_utf16();
        is_behind
    });
    let before = &text[..before.map_or(text.len(), |(index, _)| index)];
    let is_options = text.trim_start().starts_with('-');
    let separators: &[char] = if is_options { &[' ', '\t', '='] } else { &[' ', '\t', '(', ')', ','] };
    let begin = before.rfind(separators).map_or(0, |index| index + 1);
    let word = &before[begin..];
    let option = before[..begin].trim_end_matches(separators).rsplit([' ', '\t']).next().unwrap_or("");
    let mut found = candidates(view, option, is_options);
    let wanted = word.trim_start_matches('\'').to_lowercase();
    found.retain(|(name, _)| name.to_lowercase().contains(&wanted) && name.len() <= LONGEST);
    let is_start = |name: &str| name.to_lowercase().starts_with(&wanted);
    found.sort_by(|(one, a), (other, b)| {
        (!is_start(one), std::cmp::Reverse(a), one).cmp(&(!is_start(other), std::cmp::Reverse(b), other))
    });
    let items = found.iter().take(ITEMS_MAX).map(|(name, records)| {
        let note = if *records > 0 { format!("{records} records") } else { String::new() };
        json!({"text": if is_options { quoted(name) } else { name.clone() }, "note": note})
    });
    let (from, to) = (before[..begin].encode_utf16().count(), before.encode_utf16().count());
    body(&json!({"from": from, "to": to, "items": items.collect::<Value>(), "progress": view.progress()}))
}

/// What may stand there, and how many records have it.
fn candidates(view: &View, option: &str, is_options: bool) -> Vec<(String, u64)> {
    let trace = view.reader.trace();
    let mut found: HashMap<String, u64> = HashMap::new();
    let mut add = |name: &str, records: u64| {
        if !name.is_empty() && name.len() <= LONGEST {
            *found.entry(name.to_owned()).or_default() += records;
        }
    };
    let sites = trace.sites.iter().zip(&view.counts.sites);
    let threads = view.timeline.tracks().iter().filter(|track| track.kind == TrackKind::Thread);
    match option {
        _ if !is_options => {
            add("message", 0);
            sites.for_each(|(site, counted)| site.names.iter().for_each(|name| add(name, counted.records)));
        }
        "-l" | "--level" => {
            Level::ALL.into_iter().for_each(|level| add(level.name(), view.counts.levels[level as usize]));
        }
        "-c" | "--category" => {
            sites.for_each(|(site, counted)| {
                add(&category_pattern(&site.description.category), counted.records)
            });
        }
        "--file" => {
            sites.for_each(|(site, counted)| add(cut(&site.description.file, LONGEST).0, counted.records))
        }
        "--function" => sites.for_each(|(site, counted)| add(site.function(), counted.records)),
        "-t" | "--thread" => threads.for_each(|track| add(&track.name, track.records)),
        "-p" | "--process" => threads.for_each(|track| add(&track.process, track.records)),
        "--since" | "--until" | "-w" | "--where" => {}
        _ => OPTIONS.iter().for_each(|name| add(name, 0)),
    }
    found.into_iter().collect()
}
