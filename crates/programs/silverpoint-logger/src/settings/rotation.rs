//! Rotation of files: `rotate-size = "64M"`, `rotate-at = "day"`, `keep = 5`, `compress = "gzip"`,
//! `rotate-names = "date"`.

use toml::de::DeTable;

use silverpoint_render::{time, units};

use super::error::SettingsError;
use super::reader::Reader;
use crate::config::{Compression, Naming, Sink, To};

/// Default number of old files.
const KEEP: u32 = 5;

impl Reader<'_> {
    /// When a file is rotated, and what happens to the old ones.
    pub(super) fn rotation(&self, table: &DeTable<'_>, sink: &mut Sink) -> Result<(), SettingsError> {
        let keys =
            ["rotate-size", "rotate-age", "rotate-at", "keep", "keep-size", "compress", "rotate-names"];
        let all = keys.map(|key| table.get(key));
        let [size, age, at, keep, keep_size, compress, names] = all;
        let Some(first) = all.into_iter().flatten().next() else { return Ok(()) };
        let To::File(file) = &mut sink.to else {
            return Err(
                self.mistake(first.span(), "only a sink to = \"file\" or \"trace-file\" is rotated".into())
            );
        };
        // Not 0: without this key, rotation must not remove a log with all its records.
        file.keep.count = KEEP;
        if let Some(value) = size {
            file.rotate_bytes = Some(self.parsed(value, "a size such as \"64M\"", units::size)?.max(4096));
        }
        if let Some(value) = age {
            file.rotate_after = Some(self.parsed(value, "a duration such as \"24h\"", units::duration)?);
        }
        if let Some(value) = at {
            let read = |text: &str| match text {
                "hour" => Ok(time::Boundary::Hour),
                "day" => Ok(time::Boundary::Day),
                _ => Err(format!("{text:?} is no moment of rotation; valid are hour, day")),
            };
            file.rotate_at = Some(self.parsed(value, "\"hour\" or \"day\"", read)?);
        }
        if let Some(value) = keep_size {
            file.keep.bytes = self.parsed(value, "a size such as \"1G\"", units::size)?;
            // Without a number the size alone decides.
            file.keep.count = u32::MAX;
        }
        if let Some(value) = keep {
            let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
            file.keep.count = number.ok_or_else(|| {
                self.mistake(value.span(), "expected how many old files are kept: 5".into())
            })?;
        }
        if let Some(value) = compress {
            file.keep.compress = self.parsed(value, "\"zstd\", \"zstd:9\" or \"gzip\"", compression)?;
        }
        if let Some(value) = names {
            let read = |text: &str| match text {
                "number" => Ok(Naming::Numbers),
                "date" => Ok(Naming::Dates),
                _ => Err(format!("{text:?} is no name for old files; valid are number, date")),
            };
            file.keep.naming = self.parsed(value, "\"number\" or \"date\"", read)?;
        }
        if size.is_none() && age.is_none() && at.is_none() {
            let text = "this needs a reason to rotate: rotate-size, rotate-age or rotate-at".into();
            return Err(self.mistake(first.span(), text));
        }
        Ok(())
    }
}

/// `zstd` or `gzip`, with a level or without, or `none`.
fn compression(text: &str) -> Result<Option<Compression>, String> {
    let (kind, level) = text.split_once(':').map_or((text, None), |(kind, level)| (kind, Some(level)));
    let level = |usual: u32, most: u32| match level {
        None => Some(usual),
        Some(level) => level.parse().ok().filter(|level| (1..=most).contains(level)),
    };
    let found = match kind {
        "none" if text == "none" => return Ok(None),
        "zstd" => level(3, 22).map(|level| Compression::Zstd(level as i32)),
        "gzip" => level(6, 9).map(Compression::Gzip),
        _ => None,
    };
    let valid = "valid are none, zstd, zstd:LEVEL with a level from 1 to 22, gzip, or gzip:LEVEL with a level from 1 to 9";
    found.map(Some).ok_or_else(|| format!("{text:?} is no compression; {valid}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(keys: &str) -> Result<Config, String> {
        let text = format!("[[sink]]\nto = 'file'\npath = 'app.log'\nrotate-at = 'day'\n{keys}\n");
        Config::from_text(&text, "log.toml").map_err(|error| error.to_string())
    }

    /// None were: each rotation removed the log.
    #[test]
    fn old_files_stay_when_nothing_is_said_of_them() {
        let count = |keys: &str| match &read(keys).unwrap().sinks[0].to {
            To::File(file) => file.keep.count,
            other => panic!("{other:?}"),
        };
        let counts = ["", "keep = 0", "keep = 9", "keep-size = '1M'"].map(count);
        assert_eq!(counts, [KEEP, 0, 9, u32::MAX]);
    }

    #[test]
    fn compressions_and_names_are_read_and_nothing_else() {
        let keep = |keys: &str| match &read(keys).unwrap().sinks[0].to {
            To::File(file) => (file.keep.compress, file.keep.naming),
            other => panic!("{other:?}"),
        };
        assert_eq!(keep(""), (None, Naming::Numbers));
        assert_eq!(keep("compress = 'none'\nrotate-names = 'number'"), (None, Naming::Numbers));
        assert_eq!(keep("compress = 'zstd'").0, Some(Compression::Zstd(3)));
        assert_eq!(keep("compress = 'zstd:22'").0, Some(Compression::Zstd(22)));
        assert_eq!(
            keep("compress = 'gzip'\nrotate-names = 'date'"),
            (Some(Compression::Gzip(6)), Naming::Dates)
        );
        assert_eq!(keep("compress = 'gzip:9'").0, Some(Compression::Gzip(9)));
        for bad in ["gzip:0", "gzip:10", "gzip:", "zstd:23", "none:1", "lz4", ""] {
            let error = read(&format!("compress = '{bad}'")).unwrap_err();
            assert!(error.starts_with("log.toml:5: ") && error.contains("gzip:LEVEL"), "{bad}: {error}");
        }
        let error = read("rotate-names = 'weekday'").unwrap_err();
        assert!(error.ends_with("\"weekday\" is no name for old files; valid are number, date"), "{error}");
    }
}
