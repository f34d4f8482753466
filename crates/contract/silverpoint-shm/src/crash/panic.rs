//! Panics: a hook before the one that was there.

use std::fmt::Write;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use super::handler::{self, Severity};

pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            record(info);
            before(info);
        }));
    });
}

fn record(info: &PanicHookInfo<'_>) {
    let severity = if cfg!(panic = "abort") {
        Severity::Last
    } else if is_main_thread() {
        // The process ends, unless somebody catches it.
        Severity::Serious
    } else {
        Severity::Survivable
    };
    handler::record_panic(severity, |crash| {
        crash.what.push("panicked: ");
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        crash.what.push(text.unwrap_or("(a payload that is no text)"));
        if let Some(place) = info.location() {
            let _ = write!(crash.place, "{}:{}:{}", place.file(), place.line(), place.column());
        }
    });
}

fn is_main_thread() -> bool {
    crate::sys::thread_id() == std::process::id()
}
