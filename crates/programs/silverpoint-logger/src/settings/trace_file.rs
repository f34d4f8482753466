//! `to = "trace-file"`.

use toml::de::DeTable;

use super::error::SettingsError;
use super::reader::{Reader, Value};
use super::system::LINES;
use crate::config::Sink;

impl Reader<'_> {
    /// The sink, without what its other keys say.
    pub(super) fn trace_file(&self, to: &Value<'_>, path: Option<&Value<'_>>) -> Result<Sink, SettingsError> {
        let Some(path) = path else {
            let text = "a trace file needs its path: path = \"app.silver\"".into();
            return Err(self.mistake(to.span(), text));
        };
        Ok(Sink::trace_file(self.string(path, "the path of a trace file")?))
    }

    /// Refuses keys that a trace file does not support: lines, compressed old files, an order of its own.
    /// (`zone` is that of `rotate-at`, too.)
    pub(super) fn check_trace_file(&self, table: &DeTable<'_>, sink: &Sink) -> Result<(), SettingsError> {
        if !sink.is_trace() {
            return Ok(());
        }
        let lines = LINES.iter().filter(|key| **key != "zone").map(|key| (*key, "it has records, not lines"));
        let others = [
            ("compress", "tools read old ones as they are"),
            ("rotate-names", "its parts are numbered"),
            ("backtrace", "its records stand in their order"),
        ];
        for (key, why) in lines.chain(others) {
            if let Some(value) = table.get(key) {
                let text = format!("a sink to = \"trace-file\" has no {key}: {why}");
                return Err(self.mistake(value.span(), text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, To};

    #[test]
    fn what_a_trace_file_does_not_have_is_refused() {
        let head = "[[sink]]\nto = 'trace-file'\npath = 'app.silver'\n";
        let good = format!("{head}level = 'debug'\nrotate-at = 'day'\nzone = 'utc'\nkeep = 3\nsync = '1s'\n");
        let config = Config::from_text(&good, "a.toml").unwrap();
        let To::File(file) = &config.sinks[0].to else { panic!("{config:?}") };
        assert!(file.is_trace && file.keep.count == 3, "{file:?}");
        for (text, expected) in [
            ("[[sink]]\nto = 'trace-file'".to_owned(), "path = \"app.silver\""),
            (format!("{head}format = 'json'"), "has no format: it has records, not lines"),
            (format!("{head}rotate-at = 'day'\ncompress = 'zstd'"), "has no compress"),
            (format!("{head}backtrace.records = 9"), "has no backtrace"),
            (format!("{head}facility = 'user'"), "only a sink to = \"syslog\" has facility"),
        ] {
            let error = Config::from_text(&text, "a.toml").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
