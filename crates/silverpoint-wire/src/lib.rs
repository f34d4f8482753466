//! The contract of Silverpoint as code: values, signatures, records, sites, blocks, directives, templates, clocks.
//!
//! ```text
//!  layout      every number of spec/wire.md and spec/file.md
//!  level       levels and kinds of sites          site        descriptions of sites
//!  signature   types of values                    value       the visitor, and what drives it from packed bytes
//!  leaf        values in pieces: leaf or container
//!  record      records in a payload               slice       a ring's header and image
//!  block       blocks of trace files              scan        blocks found again behind damage
//!  compact     raw payloads made small            clock       ticks to wall time
//!  compression lz4 and zstd over payloads (feature `compression`)
//!  directive   which sites are on                 template    texts with placeholders
//!  process     key=value texts                    function    plain names of functions
//!  version     of the trace file's format          marker      names of functions from Rust paths
//! ```
//!
//! Pure: no I/O, no unsafe code, no state. All input is treated as hostile. Bounds are checked before use,
//! errors name the place, and nothing panics. Work and memory are bounded by the size of the input.
#![forbid(unsafe_code)]

#[cfg(test)]
mod any_bytes;
pub mod batch;
pub mod block;
pub mod bytes;
pub mod clock;
pub mod compact;
#[cfg(feature = "compression")]
pub mod compression;
pub mod directive;
pub mod function;
pub mod layout;
pub mod leaf;
pub mod level;
pub mod marker;
pub mod percent;
pub mod policy;
pub mod process;
pub mod record;
pub mod repetition;
pub mod scan;
pub mod signature;
pub mod site;
pub mod slice;
pub mod template;
pub mod value;
pub mod version;
