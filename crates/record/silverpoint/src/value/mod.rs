//! Values that can be recorded.

#[cfg(any(feature = "chrono", feature = "time"))]
mod calendar;
mod cells;
#[cfg(feature = "chrono")]
mod chrono;
mod container;
mod errors;
mod marks;
pub mod recursive;
mod scalar;
#[cfg(feature = "serde")]
mod serde;
#[cfg(test)]
mod tests;
mod text;
#[cfg(feature = "time")]
mod time;
mod trace;
#[cfg(feature = "uuid")]
mod uuid;
mod wrapper;

pub use errors::Causes;
pub use marks::{Hex, Secret, Unit, UnitName};
use scalar::number_item;
#[cfg(feature = "serde")]
pub use serde::Serde;
pub use text::{Bytes, Debugged, Displayed};
pub(crate) use trace::transparent;
pub use trace::{Borrow, Known, Trace};
