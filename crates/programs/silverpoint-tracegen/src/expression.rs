//! Values of constant expressions of C++: integers, names of earlier values, `~`, `-`, `+`, `<<`, `|` and parentheses.
//!
//! Types are those of C++ on 64-bit Unix. An expression whose value depends on anything else has none.

use std::collections::HashMap;

use crate::tokens::Token;

/// An integer with its type in C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub value: i128,
    bits: u32,
    is_unsigned: bool,
}

impl Number {
    /// The first value of an enumeration.
    pub const ZERO: Self = Self { value: 0, bits: 32, is_unsigned: false };

    /// The value that follows, of the smallest type that has it.
    pub fn next(self) -> Option<Self> {
        let next = Self { value: self.value + 1, ..self };
        next.checked().or_else(|| Self { bits: 64, ..next }.checked())
    }

    /// None: the type does not have the value.
    fn checked(self) -> Option<Self> {
        let value_bits = self.bits - u32::from(!self.is_unsigned);
        let low = if self.is_unsigned { 0 } else { -(1_i128 << value_bits) };
        (low..1_i128 << value_bits).contains(&self.value).then_some(self)
    }

    /// Without the bits that the type does not have.
    fn wrapped(self) -> Self {
        let value = self.value & ((1_i128 << self.bits) - 1);
        let is_negative = !self.is_unsigned && value >> (self.bits - 1) != 0;
        Self { value: if is_negative { value - (1_i128 << self.bits) } else { value }, ..self }
    }

    /// A result of unsigned integers wraps; a signed one that overflows has no value.
    fn result(self) -> Option<Self> {
        if self.is_unsigned { Some(self.wrapped()) } else { self.checked() }
    }

    /// Both in their common type.
    fn common(self, other: Self) -> (Self, Self) {
        let bits = self.bits.max(other.bits);
        let is_unsigned = [self, other].iter().any(|one| one.is_unsigned && one.bits == bits);
        let of = |value| Self { value, bits, is_unsigned }.wrapped();
        (of(self.value), of(other.value))
    }
}

/// The value of all these tokens.
///
/// `has_type`: whether the enumeration names the type of its values. Then earlier values have that type, which is not known here.
pub fn value(tokens: &[Token<'_>], known: &HashMap<&str, Number>, has_type: bool) -> Option<Number> {
    let mut reader = Reader { tokens, known, has_type, at: 0 };
    let value = reader.disjunction(0)?;
    (reader.at == tokens.len()).then_some(value)
}

const DEEPEST: u32 = 32;

struct Reader<'r, 't> {
    tokens: &'r [Token<'t>],
    known: &'r HashMap<&'t str, Number>,
    has_type: bool,
    at: usize,
}

impl Reader<'_, '_> {
    fn take(&mut self, marks: &[char]) -> bool {
        let next = self.tokens.get(self.at..self.at + marks.len()).unwrap_or(&[]);
        let is_next =
            next.len() == marks.len() && next.iter().zip(marks).all(|(one, mark)| *one == Token::Mark(*mark));
        if is_next {
            self.at += marks.len();
        }
        is_next
    }

    /// The operator that binds least.
    fn disjunction(&mut self, depth: u32) -> Option<Number> {
        let mut value = self.shift(depth)?;
        while self.take(&['|']) {
            let (one, other) = value.common(self.shift(depth)?);
            value = Number { value: one.value | other.value, ..one };
        }
        Some(value)
    }

    fn shift(&mut self, depth: u32) -> Option<Number> {
        let mut value = self.sum(depth)?;
        while self.take(&['<', '<']) {
            let by = self.sum(depth)?.value;
            let by = u32::try_from(by).ok().filter(|by| *by < value.bits)?;
            value = Number { value: value.value << by, ..value }.wrapped();
        }
        Some(value)
    }

    fn sum(&mut self, depth: u32) -> Option<Number> {
        let mut value = self.term(depth)?;
        loop {
            let sign = if self.take(&['+']) {
                1
            } else if self.take(&['-']) {
                -1
            } else {
                return Some(value);
            };
            let (one, other) = value.common(self.term(depth)?);
            value = Number { value: one.value + sign * other.value, ..one }.result()?;
        }
    }

    fn term(&mut self, depth: u32) -> Option<Number> {
        if depth > DEEPEST {
            return None;
        }
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Mark(sign @ ('-' | '~')) => {
                let is_name = matches!(self.tokens.get(self.at), Some(Token::Word(word)) if self.known.contains_key(word));
                let operand = self.term(depth + 1)?;
                if self.has_type && is_name {
                    return None;
                }
                let value = if sign == '-' { -operand.value } else { !operand.value };
                Number { value, ..operand }.result()
            }
            Token::Mark('(') => {
                let value = self.disjunction(depth + 1)?;
                self.take(&[')']).then_some(value)
            }
            Token::Word(word) => self.known.get(word).copied().or_else(|| literal(word)),
            _ => None,
        }
    }
}

/// A literal with the type that C++ gives it.
fn literal(word: &str) -> Option<Number> {
    let word = word.replace('\'', "");
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &word[digits.len()..];
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some("0b" | "0B") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let value =
        i128::from_str_radix(digits, radix).ok().filter(|_| digits.starts_with(char::is_alphanumeric))?;
    let must_be_unsigned = suffix.contains(['u', 'U']);
    let least = if suffix.contains(['l', 'L']) { 64 } else { 32 };
    let types = [(32, false), (32, true), (64, false), (64, true)];
    let is_allowed = |(bits, is_unsigned): &(u32, bool)| {
        *bits >= least && if *is_unsigned { must_be_unsigned || radix != 10 } else { !must_be_unsigned }
    };
    types
        .into_iter()
        .filter(is_allowed)
        .find_map(|(bits, is_unsigned)| Number { value, bits, is_unsigned }.checked())
}
