//! ```text
//!  find       the command, before anything is started
//!  supervise  runs it, and passes signals and its end on
//! ```

mod find;
mod supervise;

pub use find::check;
pub use supervise::{Signals, run};
