//! Keeps a category of living sessions on while somebody looks.

use std::collections::HashMap;

use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_wire::directive::{self, SiteFacts, decide};
use silverpoint_wire::level::Level;

use crate::ReadError;
use crate::sessions::Place;

/// See the module. Sessions whose directives have the category on already are left alone.
pub(crate) struct Switch {
    category: &'static str,
    directive: String,
    /// Sessions that were changed; `None`: they cannot be.
    changed: HashMap<SessionName, Option<Changed>>,
}

/// A session to which the directive was added.
struct Changed {
    place: Place,
    /// Its directives before and after that.
    before: String,
    after: String,
}

impl Switch {
    /// Of a category, from level debug on.
    pub(crate) fn new(category: &'static str) -> Self {
        Self { category, directive: format!("{category}=debug"), changed: HashMap::new() }
    }

    /// Whether the category is off there, and no attempt to change that has failed.
    pub(crate) fn is_due(&self, place: &Place, session: &ObservedSession) -> bool {
        !matches!(self.changed.get(&place.name), Some(None)) && !self.is_on(session)
    }

    /// Switches the category on. Fails once for each session.
    pub(crate) fn switch_on(&mut self, place: &Place) -> Result<(), ReadError> {
        let done = self.change(place);
        let (changed, result) = done.map_or_else(|error| (None, Err(error)), |done| (Some(done), Ok(())));
        self.changed.insert(place.name, changed);
        result
    }

    /// Forgets sessions that have ended: each keeps a directory open.
    pub(crate) fn keep_only(&mut self, is_there: impl Fn(&SessionName) -> bool) {
        self.changed.retain(|name, _| is_there(name));
    }

    fn change(&self, place: &Place) -> Result<Changed, ReadError> {
        let session = place.open()?;
        let (mut before, mut after) = (String::new(), String::new());
        place.change_directives(&session, |present| {
            before = present.to_owned();
            after = directive::added(present, &self.directive);
            after.clone()
        })?;
        Ok(Changed { place: place.clone(), before, after })
    }

    fn is_on(&self, session: &ObservedSession) -> bool {
        let facts =
            SiteFacts { level: Level::Debug, category: self.category, file: "", line: 0, function: "" };
        session.directives().is_ok_and(|text| decide(&String::from_utf8_lossy(&text), &facts))
    }
}

impl Changed {
    /// Takes the directive back. What it had replaced stands in its place again.
    fn put_back(&self, directive: &str) -> Result<(), ReadError> {
        let put_back = |present: &str| restored(present, directive, &self.before, &self.after);
        self.place.change_directives(&self.place.open()?, put_back).map(drop)
    }
}

/// The directives without this one, which made `after` of `before`. Others may have changed them since.
fn restored(present: &str, directive: &str, before: &str, after: &str) -> String {
    // A text with mistakes would be refused, and the directive would stay.
    let is_sound = |text: &str| directive::check(text).is_ok();
    if present == after && is_sound(before) {
        return before.to_owned();
    }
    let is_replaced = |piece: &&str| after.split(',').all(|kept| kept.trim() != *piece);
    let earlier = before.split(',').map(str::trim).filter(|piece| !piece.is_empty() && is_sound(piece));
    let mut replaced: Vec<&str> = earlier.filter(is_replaced).collect();
    let pieces = present.split(',').flat_map(|piece| {
        if piece.trim() == directive { std::mem::take(&mut replaced) } else { vec![piece] }
    });
    pieces.collect::<Vec<_>>().join(",")
}

impl Drop for Switch {
    /// A session that has gone meanwhile needs nothing.
    fn drop(&mut self) {
        for changed in self.changed.values().flatten() {
            let _ = changed.put_back(&self.directive);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::restored;

    #[test]
    fn what_was_replaced_stands_there_again() {
        let ours = "x=debug";
        let restored = |present, before, after| restored(present, ours, before, after);
        // Nobody changed anything: the very text.
        assert_eq!(restored("a=on,x=debug", " x = off, a=on,", "a=on,x=debug"), " x = off, a=on,");
        assert_eq!(restored("x=debug", "", "x=debug"), "");
        // Others were added.
        assert_eq!(restored("trace,x=debug,b=off", "trace,x=off", "trace,x=debug"), "trace,x=off,b=off");
        assert_eq!(restored("trace,x=debug,b=off", "trace", "trace,x=debug"), "trace,b=off");
        assert_eq!(restored("x=debug,b=off", "x=off, x=warn", "x=debug"), "x=off,x=warn,b=off");
        assert_eq!(restored("a=on,x=debug", "a=on,x=loud", "a=on,x=debug"), "a=on");
        // It was replaced, or removed.
        assert_eq!(restored("trace,x=info", "trace,x=off", "trace,x=debug"), "trace,x=info");
        assert_eq!(restored("warn", "trace,x=off", "trace,x=debug"), "warn");
    }
}
