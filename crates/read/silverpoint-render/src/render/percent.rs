//! Records of templates with `%` conversions: the text that printf of the C library would write (spec/templates.md).
//!
//! Width and precision count bytes, as printf does. They are cut to 1000. What a conversion cannot show (templates come from files) is shown as without a template.

use std::convert::Infallible;

use silverpoint_trace::{Site, escape};
use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::percent::{Amount, Conversion, Piece};
use silverpoint_wire::signature::Type;
use silverpoint_wire::template::NUMBER_MAX;
use silverpoint_wire::value::{DecodeError, walk};

use super::value::{Quoting, TextVisitor};
use super::{Renderer, damaged};
use crate::format::{self, Sign, Spec};

/// Appends a record's text.
pub(super) fn push(
    renderer: &mut Renderer,
    out: &mut String,
    site: &Site,
    pieces: &[Piece],
    args: &[u8],
) -> Result<(), DecodeError> {
    let mut arguments = Arguments { renderer, types: &site.types, args, at: 0 };
    for piece in pieces {
        let conversion = match piece {
            Piece::Literal(text) => {
                escape::push_escaped(out, text);
                continue;
            }
            Piece::Conversion(conversion) => conversion,
        };
        let mut field = Field::from(conversion);
        let width = arguments.amount(out, conversion.width)?;
        if let Some(width) = width {
            field.left |= width < 0;
            field.width = width.unsigned_abs().min(u64::from(NUMBER_MAX)) as usize;
        }
        let precision = arguments.amount(out, conversion.precision)?;
        field.precision = precision.and_then(|p| u16::try_from(p.min(i64::from(NUMBER_MAX))).ok());
        arguments.value(out, &field)?;
    }
    // Arguments without a conversion follow the text.
    while !arguments.types.is_empty() {
        out.push(' ');
        arguments.plain(out)?;
    }
    Ok(())
}

/// The arguments that are left.
struct Arguments<'a> {
    renderer: &'a mut Renderer,
    types: &'a [Type],
    args: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// The value of a width or precision.
    fn amount(&mut self, out: &mut String, amount: Option<Amount>) -> Result<Option<i64>, DecodeError> {
        match amount {
            None => Ok(None),
            Some(Amount::Fixed(value)) => Ok(Some(i64::from(value))),
            Some(Amount::Argument) => match self.scalar(out)? {
                Some(Scalar::Integer(value)) => {
                    Ok(Some(value.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i64))
                }
                _ => Ok(None),
            },
        }
    }

    /// The next argument; `None` when there is none.
    fn scalar(&mut self, out: &mut String) -> Result<Option<Scalar>, DecodeError> {
        let Some((ty, rest)) = self.types.split_first() else { return Ok(None) };
        let mut taken = Taken { scalar: Scalar::Other, is_qdebug: false };
        self.at = walk(ty, self.args, self.at, &mut taken).map_err(|error| damaged(out, out.len(), error))?;
        self.types = rest;
        Ok(Some(match (taken.scalar, taken.is_qdebug) {
            (Scalar::Float(value), true) => Scalar::QtFloat(value),
            (scalar, _) => scalar,
        }))
    }

    fn value(&mut self, out: &mut String, field: &Field) -> Result<(), DecodeError> {
        let (types, at) = (self.types, self.at);
        let shown = match self.scalar(out)? {
            None => {
                out.push_str("<no argument>");
                true
            }
            Some(scalar) => field.push(out, scalar),
        };
        if !shown {
            (self.types, self.at) = (types, at);
            self.plain(out)?;
        }
        Ok(())
    }

    /// The next argument, as without a template.
    fn plain(&mut self, out: &mut String) -> Result<(), DecodeError> {
        let Some((ty, rest)) = self.types.split_first() else { return Ok(()) };
        let start = out.len();
        let mut visitor =
            TextVisitor::new(out, &mut self.renderer.stack, Spec::default(), Quoting::WhenAmbiguous);
        self.at = walk(ty, self.args, self.at, &mut visitor).map_err(|error| damaged(out, start, error))?;
        self.types = rest;
        Ok(())
    }
}

/// A conversion whose amounts are known.
struct Field {
    left: bool,
    zero: bool,
    alternate: bool,
    sign: Sign,
    width: usize,
    precision: Option<u16>,
    bits: u8,
    ty: u8,
}

impl From<&Conversion> for Field {
    fn from(c: &Conversion) -> Self {
        let sign = match (c.plus, c.space) {
            (true, _) => Sign::Plus,
            (false, true) => Sign::Space,
            (false, false) => Sign::Minus,
        };
        let (left, zero, alternate) = (c.left, c.zero, c.alternate);
        Self { left, zero, alternate, sign, width: 0, precision: None, bits: c.bits, ty: c.ty }
    }
}

impl Field {
    /// False when the conversion cannot show the value.
    fn push(&self, out: &mut String, scalar: Scalar) -> bool {
        let start = out.len();
        match (self.ty, scalar) {
            (b'd' | b'i' | b'o' | b'u' | b'x' | b'X', Scalar::Integer(value)) => self.integer(out, value),
            (b'c', Scalar::Integer(value)) => self.text(out, &char::from(value as u8).to_string(), 0),
            (b'c', Scalar::Text(text, missing)) => self.text(out, &text, missing),
            (b's', Scalar::Text(mut text, missing)) => {
                if let Some(most) = self.precision.map(usize::from).filter(|most| *most < text.len()) {
                    text.truncate(floor_char_boundary(&text, most));
                    self.text(out, &text, 0);
                } else {
                    self.text(out, &text, missing);
                }
            }
            (b'p', Scalar::Pointer(0)) => self.text(out, "(nil)", 0),
            (b'p', Scalar::Pointer(value)) => {
                out.push_str(match self.sign {
                    Sign::Plus => "+",
                    Sign::Space => " ",
                    Sign::Minus => "",
                });
                let digits = out.len() + 2;
                format::pointer(out, value, &Spec::default());
                self.pad(out, start, digits, true);
            }
            (b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G', Scalar::Float(value)) => {
                self.float(out, value, false)
            }
            (b'e' | b'E' | b'f' | b'F' | b'g' | b'G', Scalar::QtFloat(value)) => self.float(out, value, true),
            _ => return false,
        }
        true
    }

    fn integer(&self, out: &mut String, value: i128) {
        let start = out.len();
        let spare = 128 - u32::from(self.bits);
        let signed = matches!(self.ty, b'd' | b'i');
        // As the length modifier makes the callee see it.
        let value =
            if signed { value << spare >> spare } else { ((value as u128) << spare >> spare) as i128 };
        let ty = match self.ty {
            b'o' | b'x' | b'X' => self.ty,
            _ => b'd',
        };
        let mut digits = String::new();
        if value != 0 || self.precision != Some(0) {
            format::integer(&mut digits, false, value.unsigned_abs(), &Spec { ty, ..Spec::default() });
        }
        if signed {
            out.push_str(match (value < 0, self.sign) {
                (true, _) => "-",
                (false, Sign::Plus) => "+",
                (false, Sign::Space) => " ",
                (false, Sign::Minus) => "",
            });
        }
        match self.ty {
            b'x' if self.alternate && value != 0 => out.push_str("0x"),
            b'X' if self.alternate && value != 0 => out.push_str("0X"),
            _ => {}
        }
        let digits_at = out.len();
        let least = usize::from(self.precision.unwrap_or(0));
        out.extend(std::iter::repeat_n('0', least.saturating_sub(digits.len())));
        out.push_str(&digits);
        if self.ty == b'o' && self.alternate && !out[digits_at..].starts_with('0') {
            out.insert(digits_at, '0');
        }
        self.pad(out, start, digits_at, self.precision.is_none());
    }

    /// `away`: as Qt rounds it.
    fn float(&self, out: &mut String, value: f64, away: bool) {
        let start = out.len();
        let spec = Spec {
            sign: self.sign,
            alternate: self.alternate,
            precision: self.precision,
            ty: self.ty,
            ..Spec::default()
        };
        format::float64(out, if away { format::rounding_away(value, &spec) } else { value }, &spec);
        let mut digits_at = start + usize::from(out[start..].starts_with(['-', '+', ' ']));
        if value.is_finite() && matches!(self.ty, b'a' | b'A') {
            out.insert_str(digits_at, if self.ty == b'a' { "0x" } else { "0X" });
            digits_at += 2;
        }
        self.pad(out, start, digits_at, value.is_finite());
    }

    /// A text in its field; what is escaped counts as it was.
    fn text(&self, out: &mut String, text: &str, missing: u32) {
        let spaces = self.width.saturating_sub(text.len());
        if !self.left {
            out.extend(std::iter::repeat_n(' ', spaces));
        }
        escape::push_escaped(out, text);
        super::value::push_missing(out, missing);
        if self.left {
            out.extend(std::iter::repeat_n(' ', spaces));
        }
    }

    /// Fills the field of what was written from `start`: ASCII, whose digits begin at `digits_at`.
    fn pad(&self, out: &mut String, start: usize, digits_at: usize, zeros: bool) {
        let missing = self.width.saturating_sub(out.len() - start);
        if missing == 0 {
            return;
        }
        if self.left {
            out.extend(std::iter::repeat_n(' ', missing));
        } else if self.zero && zeros {
            out.insert_str(digits_at, &"0".repeat(missing));
        } else {
            out.insert_str(start, &" ".repeat(missing));
        }
    }
}

/// An argument that a conversion may show.
enum Scalar {
    Integer(i128),
    Float(f64),
    /// In the notation of Qt.
    QtFloat(f64),
    Pointer(u64),
    /// And what was cut off.
    Text(String, u32),
    Other,
}

/// Keeps a value that is a scalar; of others nothing.
struct Taken {
    scalar: Scalar,
    is_qdebug: bool,
}

impl Pieces for Taken {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Infallible> {
        self.scalar = match leaf {
            Leaf::Bool(value) => Scalar::Integer(i128::from(value)),
            Leaf::I64(value) | Leaf::Enumeration { value, .. } => Scalar::Integer(i128::from(value)),
            Leaf::U64(value) => Scalar::Integer(i128::from(value)),
            Leaf::F32(value) => Scalar::Float(f64::from(value)),
            Leaf::F64(value) => Scalar::Float(value),
            Leaf::Char(value) => Scalar::Text(value.to_string(), 0),
            Leaf::Pointer(value) => Scalar::Pointer(value),
            Leaf::Text(text, missing) => Scalar::Text(text.to_string_lossy().into_owned(), missing),
            _ => Scalar::Other,
        };
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Infallible> {
        self.scalar = Scalar::Other;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        self.scalar = Scalar::Other;
        Ok(())
    }

    fn meta(&mut self, key: &str, text: &str) -> Result<(), Infallible> {
        self.is_qdebug |= key == "notation" && text == "qdebug";
        Ok(())
    }
}
