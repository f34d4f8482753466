//! Offsets and numbers of spec/wire.md, under one short name.

pub(crate) use silverpoint_wire::layout::control::at as header;
pub(crate) use silverpoint_wire::layout::{
    VERSION_MAJOR, VERSION_MINOR, collector_state, control, probes, record, ring, site, site_entry, state,
};

/// Bytes of the control header that do not change as long as the session lives.
pub(crate) const HEADER_CONSTANT: usize = header::RING_FIELDS + 2 * ring::FIELDS.len();

/// Offsets in an entry of the slab directory (section 3.4).
pub(crate) const SLAB_SHIFT: usize = 0;
/// See [`SLAB_SHIFT`].
pub(crate) const SLAB_NEXT: usize = 4;
/// See [`SLAB_SHIFT`].
pub(crate) const SLAB_BACKED: usize = 8;
/// See [`SLAB_SHIFT`].
pub(crate) const SLAB_PREPARED: usize = control::SLAB_PREPARED;
