//! Parameters of a request: each with bounds, and none that is not known.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Longest query of an address.
const LONGEST: usize = 16 << 10;
/// Longest filter, and longest text to complete.
pub const TEXT_MAX: usize = 4096;

/// Why a request is not answered as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Status of HTTP.
    pub status: u16,
    /// For programs.
    pub code: &'static str,
    /// What, where, and what to do.
    pub text: String,
}

impl Wrong {
    /// A wrong parameter.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { status: 400, code: "usage", text: text.into() }
    }

    /// A wrong filter.
    pub fn filter(text: impl Display) -> Self {
        Self { status: 400, code: "filter", text: text.to_string() }
    }

    /// Directives that are malformed.
    pub fn directives(text: impl Display) -> Self {
        Self { status: 400, code: "directives", text: text.to_string() }
    }

    /// What was asked for is not there any more.
    pub fn gone(text: impl Into<String>) -> Self {
        Self { status: 409, code: "gone", text: text.into() }
    }

    /// Something failed here.
    pub fn failed(text: impl Display) -> Self {
        Self { status: 500, code: "failed", text: text.to_string() }
    }
}

/// The parameters that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Reads the query of an address.
    ///
    /// # Errors
    /// Too long, not UTF-8, or a parameter that appears twice.
    pub fn parse(query: &str) -> Result<Self, Wrong> {
        if query.len() > LONGEST {
            return Err(Wrong::usage(format!("the query is longer than {LONGEST} bytes")));
        }
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text| {
                decoded(text).ok_or_else(|| Wrong::usage(format!("{name}: the value is no text in UTF-8")))
            };
            let (name, value) = (decode(name)?, decode(value)?);
            if pairs.iter().any(|(other, _)| *other == name) {
                return Err(Wrong::usage(format!("{name} is given twice")));
            }
            pairs.push((name, value));
        }
        Ok(Self(pairs))
    }

    /// A text, without bounds on its contents.
    ///
    /// # Errors
    /// It is too long.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Wrong> {
        let Some(at) = self.0.iter().position(|(other, _)| other == name) else { return Ok(None) };
        let value = self.0.swap_remove(at).1;
        if value.len() > TEXT_MAX {
            return Err(Wrong::usage(format!("{name} is longer than {TEXT_MAX} bytes")));
        }
        Ok(Some(value))
    }

    /// The filter; empty where none is given.
    ///
    /// # Errors
    /// It is too long.
    pub fn filter(&mut self) -> Result<String, Wrong> {
        Ok(self.text("filter")?.unwrap_or_default())
    }

    /// A number that may be missing.
    ///
    /// # Errors
    /// It is no number, or out of bounds.
    pub fn optional<T>(&mut self, name: &str, range: RangeInclusive<T>) -> Result<Option<T>, Wrong>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(Wrong::usage(format!(
                "{name} must be a number from {} to {}",
                range.start(),
                range.end()
            ))),
        }
    }

    /// A number, or this one.
    ///
    /// # Errors
    /// As of [`Params::optional`].
    pub fn number<T>(&mut self, name: &str, range: RangeInclusive<T>, default: T) -> Result<T, Wrong>
    where
        T: FromStr + PartialOrd + Display,
    {
        Ok(self.optional(name, range)?.unwrap_or(default))
    }

    /// A number that must be there.
    ///
    /// # Errors
    /// As of [`Params::optional`], or it is missing.
    pub fn needed<T>(&mut self, name: &str, range: RangeInclusive<T>) -> Result<T, Wrong>
    where
        T: FromStr + PartialOrd + Display,
    {
        self.optional(name, range)?.ok_or_else(|| Wrong::usage(format!("{name} is missing")))
    }

    /// A range of times: `from` and `to`.
    ///
    /// # Errors
    /// One is missing or no number, or the range is empty.
    pub fn range(&mut self) -> Result<(i64, i64), Wrong> {
        let (from, to) = (self.needed("from", i64::MIN..=i64::MAX)?, self.needed("to", i64::MIN..=i64::MAX)?);
        if from < to { Ok((from, to)) } else { Err(Wrong::usage("from must be before to")) }
    }

    /// To be called when all parameters have been taken.
    ///
    /// # Errors
    /// There is one more.
    pub fn end(self) -> Result<(), Wrong> {
        match self.0.first() {
            Some((name, _)) => Err(Wrong::usage(format!("{name} is no parameter here"))),
            None => Ok(()),
        }
    }
}

/// Without percent signs, and `+` as a space.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_bounded() {
        let mut params = Params::parse("filter=-c+net%20x%3D%C3%A4&count=5&a").unwrap();
        assert_eq!(params.filter().unwrap(), "-c net x=ä");
        assert_eq!(params.number("count", 1..=10, 3), Ok(5));
        assert_eq!(params.number("other", 1..=10, 3), Ok(3));
        assert!(params.end().unwrap_err().text.starts_with("a is no parameter"));
        for query in ["count=0", "count=11", "count=-1", "count=x", "count=99999999999999999999999"] {
            let mut params = Params::parse(query).unwrap();
            assert_eq!(params.number("count", 1..=10, 3).unwrap_err().code, "usage", "{query}");
        }
        for query in ["a=%", "a=%f", "a=%zz", "a=%ff", "a=1&a=2"] {
            assert_eq!(Params::parse(query).unwrap_err().status, 400, "{query}");
        }
        assert!(Params::parse(&"x".repeat(LONGEST + 1)).is_err());
        assert!(Params::parse(&format!("filter={}", "x".repeat(TEXT_MAX + 1))).unwrap().filter().is_err());
    }

    #[test]
    fn a_range_of_times_is_not_empty() {
        let range = |query| Params::parse(query).unwrap().range();
        assert_eq!(range("from=-5&to=7"), Ok((-5, 7)));
        for query in ["from=5&to=5", "from=5", "to=5", "from=a&to=5", "from=0&to=9223372036854775808"] {
            assert!(range(query).is_err(), "{query}");
        }
    }
}
