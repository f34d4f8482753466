//! The contract of Silverpoint as code: values, signatures, records, sites, blocks, directives, templates, clocks.
//!
//! **The invariant.** All input is treated as hostile. Bounds are checked before use, errors name the place,
//! and nothing panics. Work and memory are bounded by the size of the input.
//!
//! ```
//! use silverpoint_wire::directive::{SiteFacts, decide};
//! use silverpoint_wire::level::Level;
//! use silverpoint_wire::signature;
//! use silverpoint_wire::value::skip;
//!
//! // A record's arguments: their types are in its site's signature, their bytes are packed.
//! let types = signature::parse("Is").unwrap();
//! let packed = [7, 0, 0, 0, 3, 0, 0, 0, b'a', b'd', b'a'];
//! let second = skip(&types[0], &packed, 0).unwrap();
//! assert_eq!((second, skip(&types[1], &packed, second)), (4, Ok(11)));
//! // Bytes that contradict the types are an error with its place.
//! assert_eq!(skip(&types[1], &packed[..10], second).unwrap_err().at, 4);
//!
//! let site = SiteFacts { level: Level::Warn, category: "net", file: "a.rs", line: 1, function: "send" };
//! assert!(decide("info,net=warn", &site) && !decide("error", &site));
//! ```
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
//!  crash       what makes a record of a crash      registration  sites as frontends register them
//!  about       the lines of a *file* block         json, cbor    strings of JSON, heads of CBOR
//! ```
//!
//! Pure: no I/O, no unsafe code, no state.
#![forbid(unsafe_code)]

pub mod about;
#[cfg(test)]
mod any_bytes;
pub mod batch;
pub mod block;
pub mod bytes;
pub mod cbor;
pub mod clock;
pub mod compact;
#[cfg(feature = "compression")]
pub mod compression;
pub mod crash;
pub mod directive;
pub mod function;
pub mod glob;
pub mod json;
pub mod layout;
pub mod leaf;
pub mod level;
pub mod marker;
pub mod percent;
pub mod policy;
pub mod process;
pub mod record;
pub mod registration;
pub mod repetition;
pub mod scan;
pub mod signature;
pub mod site;
pub mod slice;
pub mod template;
pub mod value;
pub mod version;
