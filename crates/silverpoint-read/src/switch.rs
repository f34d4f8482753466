//! Keeps a category of living sessions on while somebody looks.

use std::collections::HashMap;

use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_wire::directive::{SiteFacts, decide};
use silverpoint_wire::level::Level;

use crate::ReadError;
use crate::sessions::Place;

/// See the module. Sessions whose directives have the category on already are left alone.
pub(crate) struct Switch {
    category: &'static str,
    directive: String,
    /// Sessions that were changed; `None`: they cannot be.
    changed: HashMap<SessionName, Option<Place>>,
}

impl Switch {
    /// Of a category, from level debug on.
    pub(crate) fn new(category: &'static str) -> Self {
        Self { category, directive: format!("{category}=debug"), changed: HashMap::new() }
    }

    /// Switches the category on where it is off. Fails once for each session.
    pub(crate) fn keep_on(&mut self, place: &Place, session: &ObservedSession) -> Result<(), ReadError> {
        if matches!(self.changed.get(&place.name), Some(None)) || self.is_on(session) {
            return Ok(());
        }
        let done = place.open().and_then(|session| place.direct(&session, &format!("+{}", self.directive)));
        self.changed.insert(place.name, done.is_ok().then(|| place.clone()));
        done.map(drop)
    }

    fn is_on(&self, session: &ObservedSession) -> bool {
        let facts =
            SiteFacts { level: Level::Debug, category: self.category, file: "", line: 0, function: "" };
        session.directives().is_ok_and(|text| decide(&String::from_utf8_lossy(&text), &facts))
    }

    /// Takes the directive back where it was added.
    fn put_back(&self, place: &Place) -> Result<(), ReadError> {
        let session = place.open()?;
        let present = session.directives().map_err(|error| place.failed(error))?;
        let present = String::from_utf8_lossy(&present);
        let others: Vec<&str> = present.split(',').filter(|text| *text != self.directive).collect();
        let before = others.join(",");
        if before != present {
            place.direct(&session, &before)?;
        }
        Ok(())
    }
}

impl Drop for Switch {
    /// A session that has gone meanwhile needs nothing.
    fn drop(&mut self) {
        for place in self.changed.values().flatten() {
            let _ = self.put_back(place);
        }
    }
}
