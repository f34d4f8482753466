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
        let failed = |error| self.failed(error);
        let new = match text.strip_prefix('+') {
            Some(more) => {
                let present = session.directives().map_err(failed)?;
                directive::added(&String::from_utf8_lossy(&present), more)
            }
            None => text.to_owned(),
        };
        let on = session.write_directives(&new).map_err(failed)?;
        // A stopped program follows when it continues.
        let _ = session.await_followers().map_err(failed)?;
        Ok(on)
    }
}
