//! A configuration completed with its defaults: each effective key, with its value or its default.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::backtrace::KEYS as BACKTRACE_KEYS;
use super::error::SettingsError;
use super::keys::{FLUSH_KEYS, KEYS, SINK_KEYS};
use super::reader::{Reader, Value};
use crate::config::Config;

/// Defaults of the keys at the top.
const DEFAULTS: &[(&str, &str)] = &[
    ("record", "\"info\""),
    ("spool", "beside the first file"),
    ("spool-size", "\"1G\""),
    ("policy", "block, or what SILVERPOINT_POLICY says"),
    ("block-max", "1s, or what SILVERPOINT_BLOCK_MAX says"),
    ("crash", "true"),
    ("crash-wait", "\"3s\""),
    ("reopen-on-hangup", "false"),
];
/// Defaults of a sink's keys, with the destinations that have them; empty: all.
const SINK_DEFAULTS: &[(&str, &[&str], &str)] = &[
    ("level", &[], "\"trace\""),
    ("format", LINES, "\"text\""),
    ("time", &["file"], "\"full\""),
    ("time", &["stderr", "stdout"], "\"time\""),
    ("digits", LINES, "6"),
    ("zone", LINES, "\"local\""),
    ("location", LINES, "true"),
    ("colour", &["file"], "false"),
    ("colour", &["stderr", "stdout"], "on a terminal, unless NO_COLOR is set"),
    ("flush", WAITING, "at once"),
    ("sync", FILES, "\"never\""),
    ("rotate-size", FILES, "never"),
    ("rotate-age", FILES, "never"),
    ("rotate-at", FILES, "never"),
    ("keep", FILES, "5"),
    ("compress", &["file"], "\"none\""),
    ("rotate-names", &["file"], "\"number\""),
    ("identity", &["journald", "syslog"], "the program's name"),
    ("facility", &["syslog"], "\"user\""),
    ("protocol", &["syslog"], "rfc3164 at a socket, rfc5424 at a host"),
];
const FILES: &[&str] = &["file", "trace-file"];
const WAITING: &[&str] = &["file", "trace-file", "stderr", "stdout"];
const LINES: &[&str] = &["file", "stderr", "stdout"];
const FLUSH_DEFAULTS: &[(&str, &str)] = &[("every", "\"1s\""), ("bytes", "\"256K\"")];
const BACKTRACE_DEFAULTS: &[(&str, &str)] = &[("trigger", "\"warn\"")];

impl Config {
    /// As [`Config::effective`], of a file.
    ///
    /// # Errors
    /// As [`Config::from_file`].
    pub fn effective_file(path: impl AsRef<Path>) -> Result<String, SettingsError> {
        let path = path.as_ref();
        Self::effective(&super::read(path)?, &path.display().to_string())
    }

    /// The settings of a configuration's text, checked, with the defaults of missing keys, one key a line;
    /// `source` names it in errors.
    ///
    /// # Errors
    /// A mistake, as of [`Config::from_text`] and [`Config::check`].
    pub fn effective(text: &str, source: &str) -> Result<String, SettingsError> {
        Self::from_text(text, source)?.check()?;
        let reader = Reader { text, source, has_own_keys: false };
        let table = DeTable::parse(text).map_err(|error| {
            reader.mistake(error.span().unwrap_or(0..0), error.message().trim().to_owned())
        })?;
        let mut out = String::new();
        reader.keys(&mut out, table.get_ref(), KEYS, DEFAULTS, "");
        let sinks = table.get_ref().get("sink").and_then(|value| value.get_ref().as_array());
        for sink in sinks.into_iter().flat_map(|sinks| sinks.iter()) {
            let Some(table) = sink.get_ref().as_table() else { continue };
            let to = table.get("to").and_then(|value| value.get_ref().as_str()).unwrap_or_default();
            let defaults: Vec<(&str, &str)> = SINK_DEFAULTS
                .iter()
                .filter(|(_, whose, _)| whose.is_empty() || whose.contains(&to))
                .filter(|(key, ..)| !is_meaningless(key, table))
                .map(|(key, _, default)| (*key, *default))
                .collect();
            out.push_str("\n[[sink]]\n");
            reader.keys(&mut out, table, SINK_KEYS, &defaults, "");
        }
        Ok(out)
    }
}

impl Reader<'_> {
    fn keys(
        &self,
        out: &mut String,
        table: &DeTable<'_>,
        keys: &[&str],
        defaults: &[(&str, &str)],
        before: &str,
    ) {
        for key in keys.iter().filter(|key| **key != "sink") {
            let default = defaults.iter().find(|(known, _)| known == key).map(|(_, default)| *default);
            match (table.get(*key), default) {
                (Some(value), _) => match value.get_ref() {
                    DeValue::Table(inner) => {
                        let (keys, defaults) = match *key {
                            "backtrace" => (BACKTRACE_KEYS, BACKTRACE_DEFAULTS),
                            _ => (FLUSH_KEYS, FLUSH_DEFAULTS),
                        };
                        self.keys(out, inner, keys, defaults, &format!("{key}."));
                    }
                    _ => line(out, before, key, self.as_written(value), ""),
                },
                (None, Some(default)) if is_value(default) => {
                    line(out, before, key, default, "  # default");
                }
                // The default cannot be written as a value.
                (None, Some(words)) => out.push_str(&format!("# {before}{key}: {words}\n")),
                (None, None) => {}
            }
        }
    }

    fn as_written(&self, value: &Value<'_>) -> &str {
        self.text.get(value.span()).unwrap_or_default()
    }
}

/// Without rotation no old file exists, and where bytes decide, the number does not matter.
fn is_meaningless(key: &str, table: &DeTable<'_>) -> bool {
    let is_rotated = ["rotate-size", "rotate-age", "rotate-at"].iter().any(|key| table.get(*key).is_some());
    match key {
        "keep" => !is_rotated || table.get("keep-size").is_some(),
        "compress" | "rotate-names" => !is_rotated,
        _ => false,
    }
}

/// Whether a default is something that can be written.
fn is_value(text: &str) -> bool {
    text.starts_with('"')
        || matches!(text, "true" | "false")
        || text.bytes().all(|byte| byte.is_ascii_digit())
}

fn line(out: &mut String, before: &str, key: &str, value: &str, remark: &str) {
    out.push_str(&format!("{before}{key} = {value}{remark}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read_and_means_the_same() {
        let text = "record = 'info,net=debug'\n[[sink]]\nto = 'stderr'\nlevel = 'warn'\n\
                    [[sink]]\nto = 'file'\npath = '/x/plain.log'\n\
                    [[sink]]\nto = 'file'\npath = '/x/other.log'\nrotate-size = '1M'\n\
                    [[sink]]\nto = 'file'\npath = '/x/sized.log'\nrotate-size = '1M'\nkeep-size = '9M'\n\
                    [[sink]]\nto = 'file'\npath = '/x/app.log'\ncategory = ['a', 'b']\nflush.level = 'warn'\n\
                    rotate-at = 'day'\nkeep = 3\nbacktrace.records = 9\n[[sink]]\nto = 'syslog'\n";
        let shown = Config::effective(text, "a.toml").unwrap();
        let again = Config::effective(&shown, "shown").unwrap();
        assert_eq!(again, shown.replace("  # default", ""));
        let read = |text: &str| {
            let mut config = Config::from_text(text, "").unwrap();
            config.sinks.iter_mut().for_each(|sink| sink.place = None);
            config
        };
        let (one, other) = (read(text), read(&shown));
        // The lowest level is no restriction.
        let plain = |config: &Config| {
            let text = format!("{config:#?}")
                .replace("level: Some(\n                    Trace,\n                )", "level: None");
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (one, other) = (plain(&one), plain(&other));
        let differing: Vec<_> = one.iter().zip(&other).filter(|(one, other)| one != other).collect();
        assert!(differing.is_empty() && one.len() == other.len(), "{differing:?}");
        for line in [
            "flush.every = \"1s\"  # default\n",
            "flush.level = 'warn'\n",
            "# rotate-size: never\n",
            "category = ['a', 'b']\n",
            "backtrace.records = 9\nbacktrace.trigger = \"warn\"  # default\n",
            "facility = \"user\"  # default\n",
            "crash-wait = \"3s\"  # default\n",
            "rotate-size = '1M'\n# rotate-age: never\n# rotate-at: never\nkeep = 5  # default\n",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }

    /// The page states the same: no key is missing there, none is extra, and each default matches.
    #[test]
    fn the_page_has_every_key() {
        let page = include_str!("../../../../../docs/guide/configuration.md");
        let rows = |heading: &str| -> Vec<(String, String)> {
            let part = page.split(&format!("## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
            let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
            let rows = part.lines().filter(|line| line.starts_with("| `")).map(cells);
            rows.map(|cells| (cells[1].trim_matches('`').to_owned(), cells[3].clone())).collect()
        };
        let check = |heading: &str, keys: &[&str], prefix: &str, defaults: &dyn Fn(&str) -> Vec<String>| {
            let rows = rows(heading);
            let mut named: Vec<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
            let mut expected: Vec<String> = keys.iter().map(|key| format!("{prefix}{key}")).collect();
            named.sort_unstable();
            expected.sort_unstable();
            assert_eq!(named, expected, "{heading}");
            for (key, shown) in &rows {
                for default in defaults(key.strip_prefix(prefix).unwrap()) {
                    assert!(
                        shown.contains(&default),
                        "{heading}: {key} is {default} by default, not {shown}"
                    );
                }
            }
        };
        let of = |list: &[(&str, &str)], key: &str| -> Vec<String> {
            list.iter().filter(|(known, _)| *known == key).map(|(_, default)| (*default).to_owned()).collect()
        };
        let wait = silverpoint_shm::crash::Options::default().wait;
        assert_eq!(of(DEFAULTS, "crash-wait"), [format!("\"{}s\"", wait.as_secs())]);
        let top: Vec<&str> = KEYS.iter().copied().filter(|key| *key != "sink").collect();
        check("The logger", &top, "", &|key| {
            let all = of(DEFAULTS, key);
            assert!(!all.is_empty(), "{key} is left out where no line has it");
            all
        });
        let sinks: Vec<&str> =
            SINK_KEYS.iter().copied().filter(|key| !matches!(*key, "flush" | "backtrace")).collect();
        check("Sinks", &sinks, "", &|key| {
            let list: Vec<(&str, &str)> =
                SINK_DEFAULTS.iter().map(|(key, _, default)| (*key, *default)).collect();
            of(&list, key)
        });
        check("Flushing", FLUSH_KEYS, "flush.", &|key| of(FLUSH_DEFAULTS, key));
        check("Keeping back", BACKTRACE_KEYS, "backtrace.", &|key| of(BACKTRACE_DEFAULTS, key));
        for (number, snippet) in page.split("```toml\n").skip(1).enumerate() {
            let toml = snippet.split("```").next().unwrap();
            let checked = Config::from_text(toml, "page").and_then(Config::check);
            checked.unwrap_or_else(|error| panic!("snippet {number}: {error}"));
        }
        // An example of each key.
        for (key, _) in rows("The logger")
            .into_iter()
            .chain(rows("Sinks"))
            .chain(rows("Flushing"))
            .chain(rows("Keeping back"))
        {
            assert!(page.contains(&format!("{key} = ")), "no example of {key}");
        }
    }
}
