//! The specification of one placeholder, with every default resolved.

use silverpoint_wire::template;

/// Where a value stands in a field that is wider than it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `<`
    Left,
    /// `>`
    Right,
    /// `^`
    Centre,
}

/// What stands before a number that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// `-`, the default: nothing.
    #[default]
    Minus,
    /// `+`
    Plus,
    /// A space.
    Space,
}

impl Sign {
    /// Appends the sign of a number.
    #[inline]
    pub(super) fn push(self, out: &mut String, negative: bool) {
        match (negative, self) {
            (true, _) => out.push('-'),
            (false, Self::Plus) => out.push('+'),
            (false, Self::Space) => out.push(' '),
            (false, Self::Minus) => {}
        }
    }
}

/// A format specification: `[[fill]align][sign][#][0][width][.precision][type]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Fills a field that is wider than its value.
    pub fill: char,
    /// Absent: numbers to the right, everything else to the left.
    pub align: Option<Align>,
    /// Sign of numbers.
    pub sign: Sign,
    /// `#`: prefixes of integers, the point of floats.
    pub alternate: bool,
    /// `0`: zeros between sign and digits; ignored when `align` is given.
    pub zero: bool,
    /// Least columns, at most 1000; 0: as wide as the value.
    pub width: u16,
    /// Digits of a float, columns of a text; at most 1000.
    pub precision: Option<u16>,
    /// Presentation type, an ASCII letter or `?`; 0 when absent.
    pub ty: u8,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            fill: ' ',
            align: None,
            sign: Sign::Minus,
            alternate: false,
            zero: false,
            width: 0,
            precision: None,
            ty: 0,
        }
    }
}

impl Spec {
    /// Whether nothing is specified, so that the fast ways apply.
    #[inline]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl From<&template::Spec> for Spec {
    fn from(spec: &template::Spec) -> Self {
        Self {
            fill: spec.fill.unwrap_or(' '),
            align: spec.align.map(|align| match align {
                template::Align::Left => Align::Left,
                template::Align::Right => Align::Right,
                template::Align::Center => Align::Centre,
            }),
            sign: match spec.sign {
                Some(template::Sign::Plus) => Sign::Plus,
                Some(template::Sign::Space) => Sign::Space,
                Some(template::Sign::Minus) | None => Sign::Minus,
            },
            alternate: spec.alternate,
            zero: spec.zero,
            width: spec.width.unwrap_or(0).min(template::NUMBER_MAX),
            precision: spec.precision.map(|precision| precision.min(template::NUMBER_MAX)),
            ty: spec.ty.and_then(|ty| u8::try_from(ty).ok()).unwrap_or(0),
        }
    }
}
