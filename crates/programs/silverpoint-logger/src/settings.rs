//! Configuration from a file (TOML) and from the environment. Every error names the file, the line and valid
//! values.
//!
//! ```toml
//! record = "info,net=debug"
//!
//! [[sink]]
//! to = "stderr"
//! level = "warn"
//!
//! [[sink]]
//! to = "file"
//! path = "app.log"
//! rotate-size = "64M"
//! keep = 5
//! ```

mod backtrace;
mod effective;
mod error;
mod keys;
mod look;
mod reader;
mod rotation;
mod system;
#[cfg(test)]
mod tests;
mod trace_file;
mod written;

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use silverpoint_query::filter::{Expression, FilePattern, Filter, WhoPattern, category};
use silverpoint_render::units;
use silverpoint_wire::directive;
use silverpoint_wire::policy::Policy;
use toml::de::DeTable;

use crate::config::{Config, ConfigFile, Place, Sink, To, fingerprint};
use crate::error::LoggerError;
use crate::flushing::{Flush, Sync};
pub use error::SettingsError;
use keys::{FLUSH_KEYS, KEYS, OWN_KEYS, SINK_KEYS};
use reader::{LEVELS, Reader, Value, kind, level};

/// Variables of the environment.
const VARIABLE: &str = "SILVERPOINT";
const POLICY: &str = "SILVERPOINT_POLICY";
const BLOCK_MAX: &str = "SILVERPOINT_BLOCK_MAX";
/// Bytes of a configuration file.
const FILE_MAX: u64 = 1 << 20;

/// Where a sink may lead.
const DESTINATIONS: &str = "stderr, stdout, file, trace-file, journald, syslog";

impl Config {
    /// Reads a configuration file. Paths in it are relative to the current directory.
    ///
    /// # Errors
    /// A file that cannot be read, or with a mistake.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SettingsError> {
        let path = path.as_ref();
        let source = path.display().to_string();
        let seen = fingerprint(path);
        let mut config = Self::from_text(&read(path)?, &source)?;
        config.sinks.iter_mut().for_each(|sink| sink.is_of_file = true);
        let base = std::env::current_dir().map_err(|error| SettingsError {
            source,
            line: 0,
            text: format!("the current directory: {error}"),
        })?;
        let fixed = config.fixed();
        config.file =
            Some(ConfigFile { path: base.join(path), base, record: None, also: String::new(), seen, fixed });
        Ok(config)
    }

    /// Reads a configuration; `source` names it in errors.
    ///
    /// # Errors
    /// A mistake.
    pub fn from_text(text: &str, source: &str) -> Result<Self, SettingsError> {
        Self::read(&Reader { text, source, has_own_keys: false })
    }

    /// Reads the result of [`Config::written`].
    pub(crate) fn from_written(text: &str, source: &str) -> Result<Self, SettingsError> {
        Self::read(&Reader { text, source, has_own_keys: true })
    }

    fn read(reader: &Reader<'_>) -> Result<Self, SettingsError> {
        let table = DeTable::parse(reader.text).map_err(|error| {
            reader.mistake(error.span().unwrap_or(0..0), error.message().trim().to_owned())
        })?;
        reader.config(table.get_ref())
    }

    /// Checks what single keys do not show: that no two sinks use the same file.
    ///
    /// # Errors
    /// What [`crate::Logger::start`] would refuse before it touches anything.
    pub fn check(self) -> Result<Self, SettingsError> {
        let file = self.file.as_ref().map(|file| file.path.display().to_string());
        let source = self.sinks.iter().find_map(|sink| sink.place.as_ref()).map(|place| place.source.clone());
        self.checked().map_err(|error| match error {
            LoggerError::Settings(error) => error,
            error => {
                let source = source.or(file).unwrap_or_else(|| "configuration".to_owned());
                SettingsError { source, line: 0, text: error.to_string() }
            }
        })
    }

    /// Applies the environment. `SILVERPOINT=FILE.toml` (a path, or a name with this ending) replaces
    /// everything by that file, `SILVERPOINT=DIRECTIVES` only the directives. `SILVERPOINT_POLICY` and
    /// `SILVERPOINT_BLOCK_MAX` replace policy and longest wait. Without the variables nothing changes.
    /// Sessions of a privileged program (AT_SECURE) ignore the environment; such a program should not call
    /// this either.
    ///
    /// # Errors
    /// A mistake, as of [`Config::from_file`].
    pub fn with_environment(self) -> Result<Self, SettingsError> {
        let mut config = match std::env::var(VARIABLE) {
            Ok(value) => self.with_value(&value)?,
            Err(_) => self,
        };
        let mistake = |variable: &str| {
            let source = variable.to_owned();
            move |text| SettingsError { source, line: 0, text }
        };
        if let Ok(value) = std::env::var(POLICY) {
            Policy::parse(&value).map_err(mistake(POLICY))?;
            config.policy = Some(value);
        }
        if let Ok(value) = std::env::var(BLOCK_MAX) {
            config.block_max = Some(units::duration(&value).map_err(mistake(BLOCK_MAX))?);
        }
        Ok(config)
    }

    fn with_value(mut self, value: &str) -> Result<Self, SettingsError> {
        let value = value.trim();
        if value.is_empty() {
            return Ok(self);
        }
        if value.contains('/') && !value.contains('=') || value.ends_with(".toml") {
            return Self::from_file(value);
        }
        directive::check(value).map_err(|error| SettingsError {
            source: VARIABLE.to_owned(),
            line: 0,
            text: format!(
                "{error}; valid are directives such as info,net=debug, or the path of a .toml file"
            ),
        })?;
        self.record = value.to_owned();
        if let Some(file) = &mut self.file {
            file.record = Some(value.to_owned());
        }
        Ok(self)
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String, SettingsError> {
    let fail = |text: String| SettingsError { source: path.display().to_string(), line: 0, text };
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    let mut bytes = Vec::new();
    // Any kind of file, even a device.
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(fail(format!("more than {FILE_MAX} bytes: this is not a configuration file")));
    }
    String::from_utf8(bytes).map_err(|error| {
        fail(format!("at byte {}: not UTF-8, so not TOML", error.utf8_error().valid_up_to()))
    })
}

impl Reader<'_> {
    fn config(&self, table: &DeTable<'_>) -> Result<Config, SettingsError> {
        self.check_keys(table, KEYS, "")?;
        let mut config = Config::new("info");
        if let Some(value) = table.get("record") {
            let text = self.string(value, "directives such as \"info,net=debug\"")?;
            directive::check(text).map_err(|error| self.mistake(value.span(), error.to_string()))?;
            config.record = text.to_owned();
        }
        if let Some(value) = table.get("spool") {
            config.spool = Some(PathBuf::from(self.string(value, "a directory")?));
        }
        if let Some(value) = table.get("spool-size") {
            config.spool_bytes = self.parsed(value, "a size such as \"1G\"", units::size)?;
        }
        if let Some(value) = table.get("crash") {
            if !self.boolean(value)? {
                config.crash = None;
            }
        }
        if let Some(value) = table.get("crash-wait") {
            let wait = self.parsed(value, "a duration such as \"3s\"", units::duration)?;
            if let Some(crash) = &mut config.crash {
                crash.wait = wait;
            }
        }
        if let Some(value) = table.get("policy") {
            let read = |text: &str| Policy::parse(text).map(|_| text.to_owned());
            config.policy = Some(self.parsed(value, "a policy such as \"block,debug=drop\"", read)?);
        }
        if let Some(value) = table.get("block-max") {
            config.block_max = Some(self.parsed(value, "a duration such as \"500ms\"", units::duration)?);
        }
        if let Some(value) = table.get("reopen-on-hangup") {
            config.reopen_on_hangup = self.boolean(value)?;
        }
        if let Some(value) = table.get("sink") {
            let Some(sinks) = value.get_ref().as_array() else {
                return Err(self.mistake(value.span(), "a sink is a table of its own: [[sink]]".into()));
            };
            for sink in sinks.iter() {
                config = config.sink(self.sink(sink)?);
            }
        }
        Ok(config)
    }

    fn sink(&self, value: &Value<'_>) -> Result<Sink, SettingsError> {
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.mistake(value.span(), "a sink is a table: [[sink]]".into()));
        };
        match self.has_own_keys {
            true => self.check_keys(table, &[SINK_KEYS, OWN_KEYS].concat(), " of a sink")?,
            false => self.check_keys(table, SINK_KEYS, " of a sink")?,
        }
        let Some(to) = table.get("to") else {
            let text = format!("this sink has no to = …; valid are {DESTINATIONS}");
            return Err(self.mistake(value.span(), text));
        };
        let path = table.get("path");
        let name = self.string(to, &format!("one of {DESTINATIONS}"))?;
        let mut sink = match (name, path) {
            ("file", Some(path)) => Sink::file(self.string(path, "the path of a file")?),
            ("trace-file", path) => self.trace_file(to, path)?,
            ("file", None) => {
                return Err(self.mistake(to.span(), "a file needs its path: path = \"app.log\"".into()));
            }
            ("stderr" | "stdout" | "journald" | "syslog", Some(path)) => {
                return Err(self
                    .mistake(path.span(), "only a sink to = \"file\" or \"trace-file\" has a path".into()));
            }
            ("stderr", None) => Sink::stderr(),
            ("stdout", None) => Sink::stdout(),
            ("journald", None) => self.journald(table)?,
            ("syslog", None) => self.syslog(table)?,
            (other, _) => {
                let text = format!("{other:?} is no destination; valid are {DESTINATIONS}");
                return Err(self.mistake(to.span(), text));
            }
        };
        self.check_destination(table, name)?;
        self.look(table, &mut sink)?;
        sink.filter = self.filter(table)?;
        self.rotation(table, &mut sink)?;
        self.check_trace_file(table, &sink)?;
        self.flushing(table, &mut sink)?;
        self.backtrace(table, &mut sink)?;
        let line = self.line(path.unwrap_or(to).span().start);
        sink.place = Some(Place { source: self.source.to_owned(), line });
        Ok(sink)
    }

    fn filter(&self, table: &DeTable<'_>) -> Result<Filter, SettingsError> {
        let mut filter = Filter::default();
        if let Some(value) = table.get("level") {
            filter.level = Some(self.parsed(value, LEVELS, level)?);
        }
        for name in self.strings(table.get("category"))? {
            let span = table.get("category").map_or(0..0, |value| value.span());
            filter.categories.push(category(&name).map_err(|text| self.mistake(span, text))?);
        }
        filter.functions = self.strings(table.get("function"))?.into_iter().map(Cow::into_owned).collect();
        filter.files = self.strings(table.get("file"))?.iter().map(|text| FilePattern::parse(text)).collect();
        filter.threads =
            self.strings(table.get("thread"))?.iter().map(|text| WhoPattern::parse(text)).collect();
        if let Some(value) = table.get("where") {
            let read = |text: &str| Expression::parse(text).map_err(|error| error.to_string());
            filter.expression = Some(self.parsed(value, "an expression such as \"bytes > 1000\"", read)?);
        }
        Ok(filter)
    }

    /// When lines are written, and when they are made durable.
    fn flushing(&self, table: &DeTable<'_>, sink: &mut Sink) -> Result<(), SettingsError> {
        if let Some(value) = table.get("flush") {
            if !matches!(sink.to, To::File(_) | To::Stderr | To::Stdout) {
                let text = "only files and the console have lines to flush".into();
                return Err(self.mistake(value.span(), text));
            }
            let Some(table) = value.get_ref().as_table() else {
                let text = format!("expected flush.every, flush.bytes or flush.level, not {}", kind(value));
                return Err(self.mistake(value.span(), text));
            };
            self.check_keys(table, FLUSH_KEYS, " of flush")?;
            let mut flush = Flush::default();
            if let Some(value) = table.get("every") {
                flush.every = self.parsed(value, "a duration such as \"200ms\"", units::duration)?;
            }
            if let Some(value) = table.get("bytes") {
                let bytes = self.parsed(value, "a size such as \"64K\"", units::size)?;
                flush.bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            }
            if let Some(value) = table.get("level") {
                flush.level = Some(self.parsed(value, LEVELS, level)?);
            }
            sink.flush = Some(flush);
        }
        if let Some(value) = table.get("sync") {
            if !matches!(sink.to, To::File(_)) {
                return Err(self
                    .mistake(value.span(), "only a sink to = \"file\" or \"trace-file\" is synced".into()));
            }
            let valid = "never, a level, or a duration such as \"1s\"";
            let read = |text: &str| match (text, level(text), units::duration(text)) {
                ("never", ..) => Ok(Sync::Never),
                (_, Ok(level), _) => Ok(Sync::Level(level)),
                (_, _, Ok(time)) => Ok(Sync::Every(time)),
                _ => Err(format!("{text:?} is no time to sync; valid are {valid}")),
            };
            sink.sync = self.parsed(value, valid, read)?;
        }
        Ok(())
    }
}
