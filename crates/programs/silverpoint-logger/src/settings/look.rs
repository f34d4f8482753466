//! How lines look.

use silverpoint_render::text::{self, Pattern};
use silverpoint_render::time;
use toml::de::DeTable;

use super::error::SettingsError;
use super::reader::Reader;
use crate::config::Sink;

/// What a sink's `format` may be.
const FORMATS: &str = "text, json, qdebug, qt, summary, pattern";
/// What its `time` may be.
pub(super) const TIMES: [(&str, time::Style); 5] = [
    ("time", time::Style::TimeOfDay),
    ("full", time::Style::Full),
    ("relative", time::Style::Relative),
    ("delta", time::Style::Delta),
    ("none", time::Style::None),
];

impl Reader<'_> {
    /// How its lines look.
    pub(super) fn look(&self, table: &DeTable<'_>, sink: &mut Sink) -> Result<(), SettingsError> {
        let pattern = table.get("pattern");
        if let Some(value) = table.get("format") {
            let name = self.string(value, FORMATS)?;
            let look = text::Look::ALL.iter().find(|(known, _)| *known == name);
            match (name, look) {
                ("json", _) if pattern.is_some() => {
                    return Err(
                        self.mistake(value.span(), "JSON has no pattern; leave one of the two out".into())
                    );
                }
                ("json", _) => sink.json = true,
                ("pattern", _) if pattern.is_none() => {
                    let text = "it needs a pattern: pattern = \"{time} {message}\"".into();
                    return Err(self.mistake(value.span(), text));
                }
                ("pattern", _) => {}
                (_, Some((_, look))) => sink.text = sink.text.clone().looking(*look),
                (other, None) => {
                    let text = format!("{other:?} is no format; valid are {FORMATS}");
                    return Err(self.mistake(value.span(), text));
                }
            }
        }
        if let Some(value) = pattern {
            let read = |text: &str| Pattern::parse(text).map_err(|error| error.to_string());
            sink.text.pattern = Some(self.parsed(value, "a pattern such as \"{time} {message}\"", read)?);
        }
        if let Some(value) = table.get("colour") {
            sink.text.colour = self.boolean(value)?;
        }
        if let Some(value) = table.get("location") {
            sink.text.location = self.boolean(value)?;
        }
        if let Some(value) = table.get("process") {
            sink.text.process = self.boolean(value)?;
        }
        if let Some(value) = table.get("long") {
            sink.text.long = self.boolean(value)?;
        }
        if let Some(value) = table.get("time") {
            let read = |text: &str| {
                let found = TIMES.iter().find(|(name, _)| *name == text).map(|(_, style)| *style);
                found.ok_or_else(|| {
                    let valid = TIMES.map(|(name, _)| name).join(", ");
                    format!("{text:?} is no form of time; valid are {valid}")
                })
            };
            sink.text.time = self.parsed(value, "a form of time such as \"full\"", read)?;
        }
        if let Some(value) = table.get("digits") {
            let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
            sink.text.digits = number.filter(|digits| *digits <= 9).ok_or_else(|| {
                self.mistake(value.span(), "expected the digits of a second's fraction, 0 to 9".into())
            })?;
        }
        if let Some(value) = table.get("zone") {
            sink.text.zone = self.parsed(value, "a time zone such as \"utc\"", time::named_zone)?;
        }
        Ok(())
    }
}
