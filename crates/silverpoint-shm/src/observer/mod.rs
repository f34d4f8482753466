//! The collector's side of a session.
//!
//! Everything here reads and writes by `pread` and `pwrite` and trusts nothing: a producer may be broken, hostile, or shrink its files at
//! any moment, and costs nobody but itself. Maps of a producer's files exist only as addresses for futex calls and are never dereferenced, so that
//! no access can fault.
//!
//! ```text
//!  name      names of session directories, and which there are
//!  header    the control header, checked against the size of its file
//!  session   an opened session: sites, states, anchors, liveness, locks
//!  rings     slices, positions, data; releasing and waking
//!  steer     directives, policies, the collector's own fields
//!  intent    what is about to be stored where
//!  doorbell  sleeping until a producer has something
//! ```

mod doorbell;
mod error;
mod header;
mod intent;
mod name;
mod rings;
mod session;
mod steer;

pub use doorbell::wait_for_any;
pub use error::{ObserveError, ObserveErrorKind};
pub use header::Header;
pub use intent::Intent;
pub use name::{SessionName, list};
pub use rings::RingRef;
pub use session::ObservedSession;
pub use steer::Steering;
