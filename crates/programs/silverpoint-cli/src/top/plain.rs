//! `top --batch`: the table as text or JSON, interval after interval.

use std::fmt::Write;

use serde_json::json;
use silverpoint_trace::Trace;
use silverpoint_wire::level::Level;

use super::model::{Model, Row, Total, View};
use super::shown::{self, Cells};

/// Columns of numbers, before the names.
const HEADINGS: Cells<&str> =
    Cells { rate: "RATE/S", bytes: "BYTES/S", records: "RECORDS", stalls: "WAITED", lost: "LOST" };

/// Appends a table: what all have together, then at most `most` rows.
pub fn push_text(out: &mut String, model: &Model, trace: &Trace, most: usize) {
    let rows = model.rows(trace);
    shown::summary(&model.total(trace)).iter().for_each(|line| {
        let _ = writeln!(out, "{line}");
    });
    let heads = match model.view {
        View::Sites => "LEVEL  PROCESS               SITE",
        View::Threads => "PROCESS               THREAD",
    };
    push_numbers(out, &HEADINGS);
    let _ = writeln!(out, "{heads}");
    for row in rows.iter().take(most) {
        push_numbers(out, &shown::cells(row));
        let level = row.level.map_or("", Level::name);
        let line = match model.view {
            View::Sites => format!("{level:<5}  {:<20}  {}", row.process, shown::name(row)),
            View::Threads => format!("{:<20}  {}", row.process, row.name),
        };
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if rows.len() > most {
        let _ = writeln!(out, "… and {} more", rows.len() - most);
    }
    out.push('\n');
}

fn push_numbers<T: std::fmt::Display>(out: &mut String, cells: &Cells<T>) {
    let Cells { rate, bytes, records, stalls, lost } = cells;
    let _ = write!(out, "{rate:>11}  {bytes:>11}  {records:>13}  {stalls:>9}  {lost:>9}  ");
}

/// Appends one JSON object on a line.
pub fn push_json(out: &mut String, model: &Model, trace: &Trace, most: usize) {
    let total = model.total(trace);
    let estimated = total.estimated_rate();
    let Total { rate, byte_rate, counts, losses, missed: (missed, _), .. } = total;
    let row = |row: &Row| {
        let Row { rate, byte_rate, counts, level, process, category, name, place } = row;
        json!({
            "rate": rate, "bytes_per_second": byte_rate, "records": counts.records, "bytes": counts.bytes, "stalls": counts.stalls,
            "stall_ns": counts.stall_ns, "lost_before": counts.lost, "level": level.map(Level::name), "process": process, "category": category,
            "name": name, "place": place,
        })
    };
    let rows: Vec<_> = model.rows(trace).iter().take(most).map(row).collect();
    let losses: serde_json::Map<_, _> =
        losses.iter().map(|(cause, count)| ((*cause).to_owned(), (*count).into())).collect();
    let view = match model.view {
        View::Sites => "sites",
        View::Threads => "threads",
    };
    let line = json!({
        "rate": rate, "bytes_per_second": byte_rate, "records": counts.records, "bytes": counts.bytes, "stalls": counts.stalls,
        "stall_ns": counts.stall_ns, "losses": losses, "unseen_bytes": missed, "estimated_rate": estimated, view: rows,
    });
    let _ = writeln!(out, "{line}");
}
