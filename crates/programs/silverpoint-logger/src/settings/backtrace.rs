//! `backtrace = { records = 100, trigger = "warn" }` of a sink.

use silverpoint_wire::level::Level;
use toml::de::DeTable;

use super::error::SettingsError;
use super::reader::{Reader, Value, kind, level};
use crate::config::{Backtrace, Sink};

pub(super) const KEYS: &[&str] = &["records", "trigger"];
/// Records that may be kept back; their bytes are bounded besides.
const RECORDS_MAX: usize = 1_000_000;
const TRIGGERS: &str = "trace, debug, info, warn, error, fatal or never";

impl Reader<'_> {
    /// What a sink keeps back.
    pub(super) fn backtrace(&self, table: &DeTable<'_>, sink: &mut Sink) -> Result<(), SettingsError> {
        let Some(value) = table.get("backtrace") else { return Ok(()) };
        let Some(keys) = value.get_ref().as_table() else {
            let text = format!("expected {{ records = 100, trigger = \"warn\" }}, not {}", kind(value));
            return Err(self.mistake(value.span(), text));
        };
        self.check_keys(keys, KEYS, " of backtrace")?;
        let Some(records) = keys.get("records") else {
            let text = "backtrace needs to know how many records are kept back: records = 100".into();
            return Err(self.mistake(value.span(), text));
        };
        let trigger = match keys.get("trigger") {
            Some(value) => self.parsed(value, TRIGGERS, trigger)?,
            None => Some(Level::Warn),
        };
        let least = sink.filter.level.unwrap_or(Level::Info);
        if let Some(trigger) = trigger.filter(|trigger| *trigger < least) {
            let text =
                format!("a record of level {trigger} triggers nothing: the sink's own level is {least}");
            return Err(self.mistake(keys.get("trigger").unwrap_or(value).span(), text));
        }
        sink.backtrace = Some(Backtrace { records: self.count(records)?, trigger });
        Ok(())
    }

    fn count(&self, value: &Value<'_>) -> Result<usize, SettingsError> {
        let integer = value.get_ref().as_integer();
        let number = integer.and_then(|number| number.as_str().parse().ok());
        number.filter(|number| (1..=RECORDS_MAX).contains(number)).ok_or_else(|| {
            let found = integer.map_or_else(|| kind(value).to_string(), |number| number.as_str().to_owned());
            self.mistake(value.span(), format!("expected a number from 1 to {RECORDS_MAX}, not {found}"))
        })
    }
}

fn trigger(text: &str) -> Result<Option<Level>, String> {
    match text {
        "never" => Ok(None),
        text => level(text).map(Some).map_err(|error| format!("{error}; \"never\": only on demand")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(backtrace: &str) -> Result<Config, String> {
        let text = format!("[[sink]]\nto = 'stderr'\nlevel = 'warn'\nbacktrace = {backtrace}\n");
        Config::from_text(&text, "log.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn records_and_trigger_are_read_and_nothing_else() {
        let sink = &read("{ records = 100, trigger = 'error' }").unwrap().sinks[0];
        assert_eq!(sink.backtrace.unwrap().records, 100);
        assert_eq!(sink.backtrace.unwrap().trigger, Some(Level::Error));
        assert_eq!(
            read("{ records = 1, trigger = 'never' }").unwrap().sinks[0].backtrace.unwrap().trigger,
            None
        );
        assert_eq!(read("{ records = 1 }").unwrap().sinks[0].backtrace.unwrap().trigger, Some(Level::Warn));
        for (bad, what) in [
            ("100", "log.toml:4: expected { records = 100, trigger = \"warn\" }, not integer"),
            ("{ trigger = 'warn' }", "how many records"),
            ("{ records = 0 }", "expected a number from 1 to 1000000, not 0"),
            ("{ records = 'x' }", "expected a number"),
            ("{ records = 1, trigger = 'bad' }", "\"bad\" is no level"),
            ("{ records = 1, trigger = 'info' }", "the sink's own level is warn"),
            (
                "{ records = 1, tigger = 'warn' }",
                "\"tigger\" is no key of backtrace; valid are records, trigger",
            ),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.starts_with("log.toml:4: ") && error.contains(what), "{bad}: {error}");
        }
    }
}
