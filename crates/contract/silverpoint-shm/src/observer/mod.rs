//! The collector's side of a session: it trusts nothing that it reads.
//!
//! ```text
//!  list ─▶ names in a root        ObservedSession::open ─▶ files (beneath the root, no links) ─▶ header (offsets within the files)
//!  rings    slabs, ring headers, data by pread, consumed by pwrite        sites     the site table as it grows
//!  mode     directives, states, policies: change, save, restore           intent    what may be stored but is not released
//!  kept     the mode as it was, for whoever follows a collector that died
//!  doorbell sleeping until a producer rings                               lock      one collector, one controller
//! ```
//!
//! **Why pread?** A producer can cut its files at any moment, and a load from a mapped page that is gone ends
//! the reader (SIGBUS). A pread of such bytes is merely short. The data lies in private memory afterwards: it
//! is checked there and cannot change between the check and the use. The only maps are those whose addresses
//! name futex words (`doorbell`). They are never loaded from, and for a page that is gone the kernel gives an
//! error.
//!
//! **Torn words.** A pread copies aligned words as a whole on every known machine, but this is not
//! guaranteed. Positions that are written often are therefore read twice and the smaller counts; those that
//! are written seldom are read until two readings agree.

mod doorbell;
mod error;
mod files;
mod followers;
mod give_back;
mod header;
mod intent;
mod kept;
mod mode;
mod name;
mod rings;
mod session;
mod sites;

pub use doorbell::{Nudge, Sleep, sleep_until_rung};
pub use error::ObserveError;
pub(crate) use files::Access;
pub use header::ControlHeader;
pub use intent::Intent;
pub use mode::SavedMode;
pub use name::{SessionName, list};
pub use rings::{Look, MAX_RINGS, Slab, SlabFault, Slice};
pub use session::{Counters, ObservedSession};
pub use sites::{MAX_DESCRIPTION_BYTES, SiteState, TableSite};
