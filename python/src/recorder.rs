//! Recording from Python into the process's own session, as any frontend does.
//!
//! A tracepoint is a place with a template. Programs make templates while they run (`f"user {name}"`). After many of them, a place records its message
//! as one text from then on, so that the session's table of tracepoints never fills.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyList;
use silverpoint::dynamic::{self, Description, Encoder, Recorded, Registered};
use silverpoint_wire::level::{Kind, Language};

use crate::encode::{self, Encoded};

/// Templates and types that one place may have.
const FORMS_MAX: usize = 16;
/// Places that are remembered; when there are more, all are looked up again.
const PLACES_MAX: usize = 16 << 10;
/// Bytes of a template.
const TEMPLATE_MAX: usize = 8 << 10;

/// Where a record is made.
#[derive(PartialEq, Eq, Hash)]
struct Place {
    kind: u8,
    level: u8,
    line: u32,
    category: String,
    file: String,
    function: String,
}

#[derive(PartialEq, Eq, Hash)]
struct Form {
    template: String,
    names: String,
    signature: String,
}

/// What is registered, by place and form.
type Places = HashMap<Place, HashMap<Form, Registered>>;

/// Those of the process of this id.
static PLACES: Mutex<Option<(u32, Places)>> = Mutex::new(None);

/// The site of a form, `None` where there are too many at this place.
fn registered(place: Place, form: Form) -> Option<Registered> {
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = std::process::id();
    // A forked child has a session of its own.
    if places.as_ref().is_none_or(|(owner, known)| *owner != pid || known.len() >= PLACES_MAX) {
        *places = Some((pid, HashMap::new()));
    }
    let (_, known) = places.as_mut()?;
    if let Some(site) = known.get(&place).and_then(|forms| forms.get(&form)) {
        return Some(*site);
    }
    if known.get(&place).is_some_and(|forms| forms.len() >= FORMS_MAX) {
        return None;
    }
    let site = register(&place, &form);
    known.entry(place).or_default().insert(form, site);
    Some(site)
}

fn register(place: &Place, form: &Form) -> Registered {
    dynamic::register(&Description {
        kind: place.kind,
        level: place.level,
        line: place.line,
        language: Language::Python as u16,
        category: &place.category,
        file: &place.file,
        function: &place.function,
        names: &|give| give(form.names.as_bytes()),
        template: &|give| give(form.template.as_bytes()),
        signature: &|give| give(form.signature.as_bytes()),
    })
}

/// Whether anything is recorded at a place, by the directives as they are now, before its template and arguments are looked at.
#[pyfunction]
pub(crate) fn would_record(level: u8, category: &str, file: &str, line: u32, function: &str) -> bool {
    let nothing = &|_: &mut dyn FnMut(&[u8])| {};
    dynamic::would_record(&Description {
        kind: Kind::Log as u8,
        level: level.min(5),
        line,
        language: Language::Python as u16,
        category,
        file,
        function,
        names: nothing,
        template: nothing,
        signature: nothing,
    })
}

/// Records. Gives the id of the site and the ticks, by which a span is ended; None when it was off, or lost.
///
/// `message` makes the whole text, when the place has had too many templates.
#[pyfunction]
#[pyo3(signature = (kind, level, category, file, line, function, template, names, args, message = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn record(
    py: Python<'_>,
    kind: u8,
    level: u8,
    category: &str,
    file: &str,
    line: u32,
    function: &str,
    template: &str,
    names: Option<&Bound<'_, PyList>>,
    args: &Bound<'_, PyList>,
    message: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(u32, u64)>> {
    let level = level.min(5);
    // Descriptions have bounds of their own; these are what people write.
    let short = |text: &str| text.chars().take(1000).collect::<String>();
    let place = || Place {
        kind,
        level,
        line,
        category: short(category),
        file: short(file),
        function: short(function),
    };
    let mut encoded = Encoded::default();
    let mut all_names = String::new();
    for value in args {
        encoded.push(&value)?;
    }
    for name in names.into_iter().flatten() {
        all_names.push_str(&short(&encode::text_of(&name)).replace('\n', " "));
        all_names.push('\n');
    }
    let form = Form { template: template.to_owned(), names: all_names, signature: encoded.signature.clone() };
    let is_plain = template.len() <= TEMPLATE_MAX && args.len() < 200;
    let site = match if is_plain { registered(place(), form) } else { None } {
        Some(site) => site,
        None => {
            encoded = Encoded::default();
            let is_text = kind == Kind::Log as u8;
            match message {
                Some(message) if is_text => encoded.push(&message.call0()?)?,
                _ => encoded.push(args.as_any())?,
            }
            let template = if is_text { "{}" } else { template };
            let template = template.chars().take(1000).collect();
            register(&place(), &Form { template, names: String::new(), signature: encoded.signature.clone() })
        }
    };
    if !dynamic::is_on(&site) {
        return Ok(None);
    }
    // A full ring may be waited for.
    let made = py.detach(|| dynamic::record(level, |encoder| fill(encoder, &encoded, site.id)));
    Ok(match made {
        Recorded::At { ticks } => Some((site.id, ticks)),
        Recorded::GivenUp | Recorded::Lost => None,
    })
}

fn fill(encoder: &mut Encoder<'_>, encoded: &Encoded, site: u32) -> Option<u32> {
    if site == 0 {
        dynamic::lose_without_site();
        return None;
    }
    let mut at = 0;
    for text in &encoded.texts {
        // Behind its length, which is written again.
        encoder.raw(&encoded.bytes[at..text.start - 4]);
        match std::str::from_utf8(&encoded.bytes[text.clone()]) {
            Ok(text) => encoder.text(text),
            Err(_) => encoder.bytes(&encoded.bytes[text.clone()]),
        }
        at = text.end;
    }
    encoder.raw(&encoded.bytes[at..]);
    Some(site)
}

/// Ends a span that [`record`] has begun in this thread.
#[pyfunction]
pub(crate) fn end_span(py: Python<'_>, level: u8, site: u32, ticks: u64) {
    py.detach(|| dynamic::end_span(level.min(5), site, ticks));
}

/// Makes the session now, so that others can look at it and switch it; false where there can be none.
#[pyfunction]
pub(crate) fn start() -> bool {
    silverpoint_shm::owner::start()
}
