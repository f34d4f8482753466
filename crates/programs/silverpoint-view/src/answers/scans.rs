//! Values of an argument, and records that contain a text.

use serde_json::{Value, json};

use super::shared::body;
use crate::params::{Params, Wrong};
use crate::scan::{Kind, Made, Question, Scan};
use crate::worker::Views;

/// All records of a filter.
const ALL: (i64, i64) = (i64::MIN, i64::MAX);

pub(super) fn values(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let count = params.number("count", 1..=1000usize, 50)?;
    let scan = begun(views, params, "name", Kind::Values)?;
    let Made::Values(values) = &scan.made else { return Err(Wrong::failed("no values were counted")) };
    let list = values.most_frequent();
    let row = |(value, records): &(&crate::texts::Value, u64)| json!({"value": value.text, "number": value.is_number, "records": records});
    body(&json!({
        "values": list.iter().take(count).map(row).collect::<Value>(),
        "more": list.len().saturating_sub(count),
        "left_out": values.left_out(),
        "progress": scan.progress(),
    }))
}

pub(super) fn search(views: &mut Views, params: Params) -> Result<Vec<u8>, Wrong> {
    let scan = begun(views, params, "text", Kind::Matches)?;
    let Made::Matches(matches) = &scan.made else { return Err(Wrong::failed("nothing was searched")) };
    body(&json!({
        "numbers": matches.numbers.iter().map(ToString::to_string).collect::<Value>(),
        "count": matches.count,
        "progress": scan.progress(),
    }))
}

/// What a text asks for, of all records of a filter.
fn begun<'v>(
    views: &'v mut Views,
    mut params: Params,
    name: &str,
    kind: fn(String) -> Kind,
) -> Result<&'v Scan, Wrong> {
    let filter = params.filter()?.trim().to_owned();
    let text = params.text(name)?.filter(|text| !text.is_empty());
    params.end()?;
    let text = text.ok_or_else(|| Wrong::usage(format!("{name} is missing")))?;
    let question = Question { filter, range: ALL, file: None, kind: kind(text) };
    Ok(views.scan(&question)?.0)
}
