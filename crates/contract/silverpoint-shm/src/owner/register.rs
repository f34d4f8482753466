//! Registering sites in the session of this process.

use super::local;
use super::sites::{self, Description, Registered};
use crate::sys::ErrnoGuard;

/// Registers a site, or finds it where it was registered before. In a process without a session it is off for ever.
pub fn register(description: &Description<'_>) -> Registered {
    register_within(description, sites::Share::Whole)
}

/// As [`register`], for a site that is only asked whether it is on: nothing is recorded of it. So no system
/// tracer has an event of it.
pub fn register_question(description: &Description<'_>) -> Registered {
    let _errno = ErrnoGuard::new();
    match local::session() {
        Some((session, local)) => sites::register_question(session, &local.remembered, description),
        None => sites::UNAVAILABLE,
    }
}

/// As [`register`], for a site whose names or types are made while the program runs, in any number. Such
/// sites take no more than half of the table, so that there is room for those of the program's source. One
/// that finds no room has the id 0; then the variable part is an argument of a site that was registered by
/// [`register`].
pub fn register_variety(description: &Description<'_>) -> Registered {
    register_within(description, sites::Share::Variety)
}

fn register_within(description: &Description<'_>, share: sites::Share) -> Registered {
    let _errno = ErrnoGuard::new();
    match local::session() {
        Some((session, local)) => sites::register(session, &local.remembered, description, share),
        None => sites::UNAVAILABLE,
    }
}
