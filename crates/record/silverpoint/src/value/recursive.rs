//! The derived methods of types that contain themselves.

use super::trace::Trace;
use crate::item::{self, LEAST};
use crate::writer::Writer;

/// Bytes at most.
pub fn size<T: Trace + ?Sized>(value: &T) -> usize {
    item::size(&|item| value.trace_item(item))
}

/// Bytes when it is made as small as it can be.
pub const fn least() -> usize {
    LEAST
}

/// Writes it.
pub fn write<T: Trace + ?Sized>(value: &T, writer: &mut Writer<'_>) {
    writer.item(&|item| value.trace_item(item));
}
