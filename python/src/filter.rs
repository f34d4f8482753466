//! Which records are wanted: keyword arguments, with the words of `silverpoint cat`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use silverpoint_query::filter::{Expression, FilePattern, Filter, WhoPattern};
use silverpoint_render::time::{When, local_zone, utc_zone};
use silverpoint_wire::level::Level;

use crate::value::classes;

/// What the words say. `base` holds what was asked for before: each word replaces its own.
pub(crate) fn read(py: Python<'_>, base: &Filter, words: Option<&Bound<'_, PyDict>>) -> PyResult<Filter> {
    let mut filter = base.clone();
    let Some(words) = words else { return Ok(filter) };
    let is_utc = words.get_item("utc")?.is_some_and(|utc| utc.is_truthy().unwrap_or(false));
    let zone = if is_utc { utc_zone() } else { filter.zone.clone().unwrap_or_else(local_zone) };
    filter.zone = Some(zone.clone());
    for (word, value) in words {
        let word: String = word.extract()?;
        let fault = |why: String| error(py, &word, &why);
        if value.is_none() {
            continue;
        }
        let patterns = || texts(&value).map_err(|_| fault("a text, or several, are expected".into()));
        match word.as_str() {
            "level" => filter.level = Some(level(&value).map_err(&fault)?),
            "category" => filter.categories = patterns()?,
            "file" => filter.files = patterns()?.iter().map(|text| FilePattern::parse(text)).collect(),
            "function" => filter.functions = patterns()?,
            "thread" => filter.threads = patterns()?.iter().map(|text| WhoPattern::parse(text)).collect(),
            "process" => filter.processes = patterns()?.iter().map(|text| WhoPattern::parse(text)).collect(),
            "since" | "until" => {
                let when = match instant(&value)? {
                    Some(ns) => When::Absolute(ns),
                    None => {
                        let text: String = value.extract().map_err(|_| {
                            fault(
                                "a text as of `silverpoint cat`, a datetime or nanoseconds are expected"
                                    .into(),
                            )
                        })?;
                        When::parse(&text, &zone).map_err(|why| fault(why.to_string()))?
                    }
                };
                *if word == "since" { &mut filter.since } else { &mut filter.until } = Some(when);
            }
            "where" => {
                let text: String = value.extract().map_err(|_| fault("a text is expected".into()))?;
                let parsed = Expression::parse(&text);
                filter.expression =
                    Some(parsed.map_err(|why| fault(format!("{why}\n  {text}\n  {:>1$}", "^", why.column)))?);
            }
            "utc" => {}
            other => {
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "'{other}' filters nothing: level, category, file, function, thread, process, since, until, where and utc do"
                )));
            }
        }
    }
    Ok(filter)
}

fn error(py: Python<'_>, word: &str, why: &str) -> PyErr {
    match classes(py).and_then(|classes| classes.filter_error.bind(py).call1((format!("{word}: {why}"),))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// A level by name or number.
pub(crate) fn level(value: &Bound<'_, PyAny>) -> Result<Level, String> {
    if let Ok(number) = value.extract::<u8>() {
        return Level::from_u8(number)
            .ok_or_else(|| format!("there is no level {number}: 0 trace to 5 fatal"));
    }
    let text: String = value.extract().map_err(|_| "a level's name or number is expected".to_owned())?;
    text.parse().map_err(|why| format!("{why}, not '{text}'"))
}

/// One text or several; numbers are ids.
fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![value.extract()?]);
    }
    if let Ok(number) = value.extract::<u32>() {
        return Ok(vec![number.to_string()]);
    }
    let one = |item: Bound<'_, PyAny>| match item.extract::<u32>() {
        Ok(number) => Ok(number.to_string()),
        Err(_) => item.extract::<String>(),
    };
    value.try_iter()?.map(|item| one(item?)).collect()
}

/// A datetime or a number of nanoseconds; `None` for what is neither. A datetime without zone means the local one, as everywhere in Python.
pub(crate) fn instant(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if let Ok(ns) = value.extract::<i64>() {
        return Ok(Some(ns));
    }
    if let Ok(ns) = value.getattr("ns").and_then(|ns| ns.extract::<i64>()) {
        return Ok(Some(ns));
    }
    let Ok(method) = value.getattr("timestamp") else { return Ok(None) };
    let seconds: f64 = method.call0()?.extract()?;
    let us: i64 = value.getattr("microsecond")?.extract()?;
    // The float tells the second only: its last digits are not those of the time.
    let whole = (seconds - us as f64 * 1e-6).round() as i64;
    let ns = whole.checked_mul(1_000_000).and_then(|s| s.checked_add(us)).and_then(|us| us.checked_mul(1000));
    ns.map(Some).ok_or_else(|| {
        pyo3::exceptions::PyOverflowError::new_err("the time is beyond what 64 bits of nanoseconds hold")
    })
}
