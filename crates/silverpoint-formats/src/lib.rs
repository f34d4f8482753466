//! Readers and writers of what was recorded: trace files in, text, JSON lines and statistics out.
//!
//! ```text
//! tracefile   files ─▶ Trace ─▶ Event, in order of time       filter    which of them
//! site        a site taken apart once                         render    its records as text      format, escape, time
//! json, text  one line an event                               stats     counts, spans, counters, losses
//! columns     which columns a table of records has
//! cbor        items of CBOR inside arguments, as values        context   fields of all records of a scope
//! crash       records of crashes, with names for their addresses
//! system      events as messages of syslog and of the journal
//! replay      events again, in time
//! newfile     a file that is whole or not there
//! ```
//!
//! It uses files only: no session, no shared memory. No file makes it panic, and memory stays bounded.
#![forbid(unsafe_code)]

pub mod cbor;
pub mod columns;
mod context;
mod crash;
pub mod escape;
pub mod filter;
pub mod format;
pub mod json;
pub mod made;
mod marks;
pub mod newfile;
mod number;
pub mod render;
pub mod replay;
mod shown_context;
pub mod site;
pub mod stats;
pub mod system;
pub mod table;
pub mod text;
pub mod time;
pub mod tracefile;
pub mod tree;
pub mod units;

pub use context::Context;
pub use shown_context::ShowContext;
