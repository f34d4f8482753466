//! Numbers of which nothing is specified.

use super::float::has_digits_around_point;
use super::{Spec, float32, float64};
use crate::number::Number;

/// Appends a number as the default specification shows it.
#[inline]
pub(crate) fn number(out: &mut String, number: Number) {
    match number {
        Number::Signed(value) => out.push_str(itoa::Buffer::new().format(value)),
        Number::Unsigned(value) => out.push_str(itoa::Buffer::new().format(value)),
        Number::Float64(value) if has_digits_around_point(value.abs()) => {
            out.push_str(zmij::Buffer::new().format_finite(value));
        }
        Number::Float64(value) => float64(out, value, &Spec::default()),
        Number::Float32(value) if has_digits_around_point(value.abs().into()) => {
            out.push_str(zmij::Buffer::new().format_finite(value));
        }
        Number::Float32(value) => float32(out, value, &Spec::default()),
    }
}
