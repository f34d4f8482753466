//! Where a sink's records end up: one kind of destination for each file.

mod compression;
mod console;
mod file;
mod handler;
mod interface;
mod lines;
mod logfile;
mod old_name;
mod open;
mod rotate;
mod settings;
mod socket;
mod system;
mod trace;

pub use console::{Share, Shared, share_standard_output};
pub(crate) use interface::Target;
pub(crate) use open::open;
pub(crate) use settings::Settings;
