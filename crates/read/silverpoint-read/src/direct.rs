//! Directives of a living session: all that is ever written into one.

use silverpoint_shm::observer::ObservedSession;
use silverpoint_wire::directive;

use crate::ReadError;
use crate::sessions::Place;

impl Place {
    /// Replaces the directives of this session, which has been opened; after a `+` they are added to the present ones. Gives how many sites are on.
    ///
    /// # Errors
    /// Malformed directives, or the session cannot be written. Then everything is as before.
    pub fn direct(&self, session: &ObservedSession, text: &str) -> Result<u32, ReadError> {
        self.change_directives(session, |present| match text.strip_prefix('+') {
            Some(more) => directive::added(present, more),
            None => text.to_owned(),
        })
    }

    /// Replaces the directives by a text made of the present ones. Gives how many sites are on.
    pub(crate) fn change_directives(
        &self,
        session: &ObservedSession,
        change: impl FnOnce(&str) -> String,
    ) -> Result<u32, ReadError> {
        let failed = |error| self.failed(error);
        let on = session.change_directives(change).map_err(failed)?;
        // A stopped program follows when it continues.
        let _ = session.await_followers().map_err(failed)?;
        Ok(on)
    }
}
