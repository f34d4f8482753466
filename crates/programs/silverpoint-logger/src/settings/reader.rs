//! Values of a configuration, by the type that is expected, and mistakes with their places.

use std::borrow::Cow;
use std::ops::Range;

use silverpoint_wire::level::Level;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::SettingsError;

/// What levels there are.
pub(super) const LEVELS: &str = "trace, debug, info, warn, error or fatal";
/// One text, for errors.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) source: &'t str,
    /// Also the keys that only a spool has.
    pub(super) has_own_keys: bool,
}

pub(super) type Value<'t> = Spanned<DeValue<'t>>;

impl Reader<'_> {
    /// Each key must be one of these.
    pub(super) fn check_keys(
        &self,
        table: &DeTable<'_>,
        valid: &[&str],
        of: &str,
    ) -> Result<(), SettingsError> {
        match table.keys().find(|key| !valid.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => {
                let text = format!("{:?} is no key{of}; valid are {}", key.get_ref(), valid.join(", "));
                Err(self.mistake(key.span(), text))
            }
        }
    }

    pub(super) fn string<'v>(&self, value: &'v Value<'_>, expected: &str) -> Result<&'v str, SettingsError> {
        let wrong = || self.mistake(value.span(), format!("expected {expected}, not {}", kind(value)));
        value.get_ref().as_str().ok_or_else(wrong)
    }

    /// A string, or several.
    pub(super) fn strings<'v>(
        &self,
        value: Option<&'v Value<'_>>,
    ) -> Result<Vec<Cow<'v, str>>, SettingsError> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let expected = "a pattern, or [\"several\", \"patterns\"]";
        match value.get_ref().as_array() {
            None => Ok(vec![Cow::Borrowed(self.string(value, expected)?)]),
            Some(values) => {
                values.iter().map(|value| self.string(value, expected).map(Cow::Borrowed)).collect()
            }
        }
    }

    pub(super) fn parsed<T>(
        &self,
        value: &Value<'_>,
        expected: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, SettingsError> {
        let text = self.string(value, expected)?;
        read(text).map_err(|text| self.mistake(value.span(), text))
    }

    pub(super) fn boolean(&self, value: &Value<'_>) -> Result<bool, SettingsError> {
        let wrong = || self.mistake(value.span(), format!("expected true or false, not {}", kind(value)));
        value.get_ref().as_bool().ok_or_else(wrong)
    }

    pub(super) fn mistake(&self, span: Range<usize>, text: String) -> SettingsError {
        SettingsError { source: self.source.to_owned(), line: self.line(span.start), text }
    }

    /// Of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(0, |before| before.matches('\n').count() + 1)
    }
}

pub(super) fn level(text: &str) -> Result<Level, String> {
    text.parse().map_err(|_| format!("{text:?} is no level; valid are {LEVELS}"))
}

pub(super) fn kind(value: &Value<'_>) -> &'static str {
    value.get_ref().type_str()
}
