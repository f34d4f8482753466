//! Reports precisely what was lost: cause, count, thread, and between which times.

use std::collections::BTreeMap;
use std::path::Path;

use silverpoint_collect::Account;
use silverpoint_render::time::{Style, TimeText, local_zone};
use silverpoint_trace::{Trace, What, cause_name, loss_causes, with_parts};

use crate::exit::note;
use crate::sessions::Place;
use crate::units::{show_bytes, show_number};

/// Reports what each session lost. True: nothing.
pub fn tell(accounts: &[(Place, Account)], output: &Path) -> bool {
    let mut is_whole = true;
    for (place, account) in accounts {
        for message in &account.messages {
            note(format_args!("session {}: {}", place.name, message.text));
        }
        is_whole &= account.is_whole();
        if account.overwritten_bytes > 0 {
            note(format_args!(
                "session {}: {} were overwritten before they were collected (the oldest records of a flight recorder)",
                place.name,
                show_bytes(account.overwritten_bytes)
            ));
        }
        if account.broken_bytes > 0 {
            note(format_args!(
                "session {}: {} of {} rings contradict the rules and were left out",
                place.name,
                show_bytes(account.broken_bytes),
                account.broken_rings.len()
            ));
        }
        let lost: u64 = account.losses.iter().map(|loss| loss.records).sum();
        if lost > 0 {
            note(format_args!("session {}: {} lost:", place.name, show_number(lost, "record")));
        }
    }
    if !is_whole {
        tell_streams(output);
    }
    is_whole
}

/// Losses by thread, as the file records them.
fn tell_streams(output: &Path) {
    let Ok(trace) = Trace::open(&with_parts(&[output.to_owned()])) else { return };
    let mut times = loss_times(&trace);
    for (number, session) in trace.sessions.iter().enumerate() {
        for (cause, records) in loss_causes(&session.loss.losses) {
            note(format_args!(
                "  {}: {} without a ring ({cause})",
                session.label(),
                show_number(records, "record")
            ));
        }
        for stream in &session.streams {
            for (cause, records) in loss_causes(&stream.loss.losses) {
                let when = times.remove(&(number, stream.number, cause.to_string()));
                let when = when.map_or_else(String::new, |(begin_ns, end_ns)| {
                    format!(", between {} and {}", time_text(begin_ns), time_text(end_ns))
                });
                note(format_args!(
                    "  {}: {} ({cause}){when}",
                    session.stream_label(stream),
                    show_number(records, "record")
                ));
            }
        }
    }
}

/// By session, stream and cause: wall time of the first and the last lost record, from the loss records in the streams.
fn loss_times(trace: &Trace) -> BTreeMap<(usize, u32, String), (i64, i64)> {
    let mut times = BTreeMap::new();
    let mut events = trace.events();
    while let Some(event) = events.next() {
        let What::Loss { cause, span_ns, .. } = event.what else { continue };
        let begin_ns = event.wall_ns.saturating_sub(i64::try_from(span_ns).unwrap_or(i64::MAX));
        let key = (event.session_number, event.stream.number, cause_name(cause).to_owned());
        let range: &mut (i64, i64) = times.entry(key).or_insert((begin_ns, event.wall_ns));
        *range = (range.0.min(begin_ns), range.1.max(event.wall_ns));
    }
    times
}

fn time_text(wall_ns: i64) -> String {
    let mut text = String::new();
    TimeText::new(Style::TimeOfDay, local_zone(), 3).push(&mut text, wall_ns);
    text
}
