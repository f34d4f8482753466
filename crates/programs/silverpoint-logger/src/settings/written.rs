//! Sinks as an equivalent configuration. It is kept in the spool, so that after a kill `silverpoint recover`
//! can deliver the records without the program (module `unfinished`).
//!
//! Only sinks with a cursor are written: the console and handlers get nothing after a death.

use std::fmt::Write;
use std::time::Duration;

use silverpoint_query::filter::Filter;
use silverpoint_render::text::{self, Look};
use silverpoint_render::time::{Boundary, TimeZone, local_zone};
use silverpoint_render::{Dialect, system::syslog::Form};

use super::look::TIMES;
use crate::config::{Address, Compression, Config, FileSink, Naming, Sink, To};
use crate::flushing::Sync;

impl Config {
    /// The sinks that have a cursor. `None` when one cannot be expressed: a path that is no text, a filter by
    /// process or time, a time zone without a name.
    pub(crate) fn written(&self) -> Option<String> {
        let mut out = String::new();
        for sink in &self.sinks {
            out.push_str(&written(sink)?);
        }
        Some(out)
    }
}

/// One sink; nothing for one that has no cursor.
fn written(sink: &Sink) -> Option<String> {
    let mut out = String::from("[[sink]]\n");
    match &sink.to {
        To::Stderr | To::Stdout | To::Handler(_) => return Some(String::new()),
        To::File(file) => {
            key(&mut out, "to", if file.is_trace { "trace-file" } else { "file" });
            key(&mut out, "path", file.path.to_str()?);
            rotation(&mut out, file);
        }
        To::Journald(config) => {
            key(&mut out, "to", "journald");
            key(&mut out, "address", config.path.to_str()?);
            identity(&mut out, config.identity.as_deref());
        }
        To::Syslog(config) => {
            key(&mut out, "to", "syslog");
            match &config.address {
                Address::Local(path) => key(&mut out, "address", path.to_str()?),
                address => key(&mut out, "address", &address.to_string()),
            }
            identity(&mut out, config.messages.identity.as_deref());
            key(&mut out, "facility", &config.messages.facility.to_string());
            let protocol = match config.messages.form {
                Form::Rfc5424 => "rfc5424",
                Form::Rfc3164 => "rfc3164",
            };
            key(&mut out, "protocol", protocol);
            key(&mut out, "message-size", &config.messages.limit.to_string());
        }
    }
    filter(&mut out, &sink.filter)?;
    match &sink.to {
        To::File(file) if file.is_trace => key(&mut out, "zone", &zone(&sink.text.zone)?),
        To::File(_) => look(&mut out, sink)?,
        _ => {}
    }
    flushing(&mut out, sink);
    if let Some(backtrace) = sink.backtrace {
        let trigger = backtrace.trigger.map_or_else(|| "never".to_owned(), |level| level.to_string());
        let _ = writeln!(out, "backtrace.records = {}", backtrace.records);
        key(&mut out, "backtrace.trigger", &trigger);
    }
    Some(out)
}

fn key(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "{name} = {}", quoted(value));
}

fn identity(out: &mut String, name: Option<&str>) {
    if let Some(name) = name {
        key(out, "identity", name);
    }
}

fn rotation(out: &mut String, file: &FileSink) {
    if file.rotate_bytes.is_none() && file.rotate_after.is_none() && file.rotate_at.is_none() {
        return;
    }
    if let Some(bytes) = file.rotate_bytes {
        key(out, "rotate-size", &bytes.to_string());
    }
    if let Some(age) = file.rotate_after {
        key(out, "rotate-age", &duration(age));
    }
    if let Some(at) = file.rotate_at {
        key(out, "rotate-at", if at == Boundary::Hour { "hour" } else { "day" });
    }
    let _ = writeln!(out, "keep = {}", file.keep.count);
    if file.keep.bytes != u64::MAX {
        key(out, "keep-size", &file.keep.bytes.to_string());
    }
    match file.keep.compress {
        None => {}
        Some(Compression::Zstd(level)) => key(out, "compress", &format!("zstd:{level}")),
        Some(Compression::Gzip(level)) => key(out, "compress", &format!("gzip:{level}")),
    }
    if file.keep.naming == Naming::Dates {
        key(out, "rotate-names", "date");
    }
}

fn filter(out: &mut String, filter: &Filter) -> Option<()> {
    if !filter.processes.is_empty() || filter.since.is_some() || filter.until.is_some() {
        return None;
    }
    if let Some(level) = filter.level {
        key(out, "level", &level.to_string());
    }
    list(out, "category", filter.categories.iter().cloned());
    list(out, "function", filter.functions.iter().cloned());
    list(out, "thread", filter.threads.iter().map(|thread| thread.text().to_owned()));
    let files = filter.files.iter().map(|file| match file.line {
        Some(line) => format!("{}:{line}", file.path),
        None => file.path.clone(),
    });
    list(out, "file", files);
    if let Some(expression) = &filter.expression {
        key(out, "where", &expression.to_string());
    }
    Some(())
}

fn list(out: &mut String, name: &str, values: impl Iterator<Item = String>) {
    let values: Vec<String> = values.map(|value| quoted(&value)).collect();
    if !values.is_empty() {
        let _ = writeln!(out, "{name} = [{}]", values.join(", "));
    }
}

/// How lines look.
fn look(out: &mut String, sink: &Sink) -> Option<()> {
    let text = &sink.text;
    if sink.json {
        key(out, "format", "json");
    } else {
        let plain = || text::Options::default();
        let is_of = |look: Look| {
            let like = plain().looking(look);
            (like.dialect, &like.pattern) == (text.dialect, &text.pattern)
        };
        match (Look::ALL.iter().find(|(_, look)| is_of(*look)), text.pattern.as_ref()) {
            (Some((name, _)), _) => key(out, "format", name),
            (None, Some(pattern)) => {
                let format = match text.dialect {
                    Dialect::Plain => "text",
                    Dialect::QDebug => "qdebug",
                    Dialect::Summary => "summary",
                };
                key(out, "format", format);
                key(out, "pattern", pattern.text()?);
            }
            (None, None) => return None,
        }
    }
    let (time, _) = TIMES.iter().find(|(_, style)| *style == text.time)?;
    key(out, "time", time);
    let _ = writeln!(out, "digits = {}", text.digits.min(9));
    key(out, "zone", &zone(&text.zone)?);
    for (name, is_so) in
        [("location", text.location), ("colour", text.colour), ("process", text.process), ("long", text.long)]
    {
        let _ = writeln!(out, "{name} = {is_so}");
    }
    Some(())
}

/// By its name if it has one: the process that delivers may have another zone.
fn zone(zone: &TimeZone) -> Option<String> {
    match zone.iana_name() {
        _ if *zone == TimeZone::UTC => Some("utc".to_owned()),
        Some(name) => Some(name.to_owned()),
        None if *zone == local_zone() => Some("local".to_owned()),
        None => None,
    }
}

fn flushing(out: &mut String, sink: &Sink) {
    // When lines are written matters only to a running program; when they are made durable, also afterwards.
    match sink.sync {
        Sync::Never => {}
        Sync::Every(time) => key(out, "sync", &duration(time)),
        Sync::Level(level) => key(out, "sync", &level.to_string()),
    }
}

fn duration(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sink;
    use crate::{Level, Syslog};

    /// As it is read again.
    fn again(config: &Config) -> Config {
        let text = config.written().unwrap();
        let read = Config::from_written(&text, "spool");
        read.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Everything but when lines are written, and where the configuration says so.
    fn shown(config: &Config) -> Vec<String> {
        let sinks = config.sinks.iter().map(|sink| Sink { flush: None, place: None, ..sink.clone() });
        sinks.map(|sink| format!("{sink:#?}")).collect()
    }

    #[test]
    fn sinks_that_are_written_are_read_as_the_same() {
        let pattern = text::Pattern::parse("{time} \"{message}\" \\ \t").ok();
        let options = text::Options { pattern, dialect: Dialect::QDebug, ..text::Options::default() };
        let qt = text::Options::default().looking(Look::Qt);
        let filter = Config::from_text(
            "[[sink]]\nto = 'stderr'\ncategory = ['net=warn', 'io::*']\nthread = ['7', 'work*']\nfile = ['a.cpp:7', 'b.cpp']\n\
             function = 'f'\nwhere = 'a = 1 and not (b ~ \"x\\*\" or c[0] > 2.5)'\n",
            "",
        )
        .unwrap();
        let filter = filter.sinks[0].filter.clone();
        let config = Config::new("info")
            .sink(Sink::file("/x/\"a\" é.log").rotate(1 << 20, 3).keep_bytes(1 << 30).gzip(9).name_by_date())
            .sink(
                Sink::file("/x/b.log")
                    .text(options)
                    .only(filter)
                    .sync(Sync::Every(Duration::from_millis(1500))),
            )
            .sink(Sink::file("/x/c.log").json().level(Level::Warn).sync(Sync::Level(Level::Error)))
            .sink(Sink::file("/x/d.log").text(qt).backtrace(9, None).rotate_at(Boundary::Hour, 0))
            .sink(
                Sink::file("/x/e.log")
                    .backtrace(9, Level::Error)
                    .rotate_after(Duration::from_secs(60), 1)
                    .compress(7),
            )
            .sink(Sink::trace_file("/x/f.silver").rotate(1 << 20, 3))
            .sink(Sink::journald_at("/x/socket").identity("me"))
            .sink(Sink::syslog(Syslog::tcp("host:601").facility(crate::Facility::local(3))));
        assert_eq!(shown(&again(&config)), shown(&config));
    }

    #[test]
    fn what_is_owed_nothing_is_not_written_and_what_cannot_be_said_makes_none() {
        let config = Config::new("info").sink(Sink::stderr()).sink(Sink::handler(|_| {}));
        assert_eq!(config.written().as_deref(), Some(""));
        let mut sink = Sink::file("/x/a.log");
        sink.filter.processes.push(silverpoint_query::filter::WhoPattern::parse("7"));
        assert_eq!(Config::new("info").sink(sink).written(), None);
        // No other file has these keys.
        let text = Config::new("info").sink(Sink::file("/x/a.log")).written().unwrap();
        assert!(Config::from_text(&text, "a.toml").unwrap_err().to_string().contains("is no key of a sink"));
    }
}
