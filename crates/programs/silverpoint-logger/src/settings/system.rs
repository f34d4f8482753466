//! The keys of sinks to journald and syslog.

use toml::de::DeTable;

use silverpoint_render::units;

use super::error::SettingsError;
use super::reader::{Reader, Value};
use crate::config::Sink;
use crate::syslog::Syslog;

/// Keys of a sink that only these have.
const JOURNALD: [&str; 2] = ["address", "identity"];
const SYSLOG: [&str; 5] = ["address", "identity", "facility", "protocol", "message-size"];

/// How lines look.
pub(super) const LINES: [&str; 7] = ["format", "colour", "pattern", "location", "time", "digits", "zone"];

impl Reader<'_> {
    /// Of `to = "journald"`.
    pub(super) fn journald(&self, table: &DeTable<'_>) -> Result<Sink, SettingsError> {
        let sink = match table.get("address") {
            None => Sink::journald(),
            Some(value) => {
                let path = self.string(value, "the path of the journal's socket")?;
                if !path.starts_with('/') {
                    return Err(
                        self.mistake(value.span(), format!("{path:?} is no absolute path of a socket"))
                    );
                }
                Sink::journald_at(path)
            }
        };
        self.identity(table, sink)
    }

    /// Of `to = "syslog"`.
    pub(super) fn syslog(&self, table: &DeTable<'_>) -> Result<Sink, SettingsError> {
        let mut syslog = match table.get("address") {
            None => Syslog::local(),
            Some(value) => {
                let valid = "a socket's absolute path, \"udp://host:port\" or \"tcp://host:port\"";
                let text = self.string(value, valid)?;
                let host = |rest: &str| {
                    let port = rest.rsplit_once(':').filter(|(host, _)| !host.is_empty());
                    port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
                };
                match (text.strip_prefix("udp://"), text.strip_prefix("tcp://")) {
                    (Some(rest), _) if host(rest) => Syslog::udp(rest),
                    (_, Some(rest)) if host(rest) => Syslog::tcp(rest),
                    _ if text.starts_with('/') => Syslog::at(text),
                    _ => {
                        let text = format!("{text:?} is no address; valid are {valid}");
                        return Err(self.mistake(value.span(), text));
                    }
                }
            }
        };
        if let Some(value) = table.get("facility") {
            let read = |text: &str| text.parse().map_err(|error: crate::FacilityError| error.to_string());
            syslog = syslog.facility(self.parsed(value, "a facility such as \"daemon\"", read)?);
        }
        if let Some(value) = table.get("protocol") {
            syslog = match self.string(value, "\"rfc5424\" or \"rfc3164\"")? {
                "rfc5424" => syslog.rfc5424(),
                "rfc3164" => syslog.rfc3164(),
                other => {
                    let text = format!("{other:?} is no protocol; valid are rfc5424, rfc3164");
                    return Err(self.mistake(value.span(), text));
                }
            };
        }
        if let Some(value) = table.get("message-size") {
            let read = |text: &str| match units::size(text)? {
                bytes @ 480..=0x0010_0000 => Ok(bytes as usize),
                _ => Err("a message has from 480 bytes to 1M".to_owned()),
            };
            syslog = syslog.limit(self.parsed(value, "a size such as \"8K\"", read)?);
        }
        self.identity(table, Sink::syslog(syslog))
    }

    fn identity(&self, table: &DeTable<'_>, sink: Sink) -> Result<Sink, SettingsError> {
        let Some(value) = table.get("identity") else { return Ok(sink) };
        let name = self.string(value, "the program's name in the log")?;
        if name.is_empty() {
            return Err(self.mistake(value.span(), "a name that is not empty, or no identity".into()));
        }
        Ok(sink.identity(name))
    }

    /// Refuses keys that this destination does not support.
    pub(super) fn check_destination(&self, table: &DeTable<'_>, to: &str) -> Result<(), SettingsError> {
        let own: &[&str] = match to {
            "journald" => &JOURNALD,
            "syslog" => &SYSLOG,
            _ => &[],
        };
        let others = JOURNALD.iter().chain(&SYSLOG).filter(|key| !own.contains(key));
        let foreign: Option<(&&str, &Value<'_>)> =
            others.filter_map(|key| table.get(*key).map(|value| (key, value))).next();
        if let Some((key, value)) = foreign {
            let whose = if JOURNALD.contains(key) { "\"journald\" or \"syslog\"" } else { "\"syslog\"" };
            return Err(self.mistake(value.span(), format!("only a sink to = {whose} has {key}")));
        }
        match LINES.iter().find_map(|key| table.get(*key).map(|value| (key, value))) {
            Some((key, value)) if !own.is_empty() => {
                let text = format!("a sink to = {to:?} has no {key}: its messages have their own form");
                Err(self.mistake(value.span(), text))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Address;
    use crate::config::{Config, To};

    fn only(text: &str) -> To {
        let mut config = Config::from_text(&format!("[[sink]]\n{text}"), "a.toml").unwrap();
        config.sinks.remove(0).to
    }

    #[test]
    fn the_systems_logs_are_read() {
        let To::Journald(config) = only("to = 'journald'\nidentity = 'app'") else { panic!() };
        assert_eq!(
            (config.path.to_str(), config.identity.as_deref()),
            (Some("/run/systemd/journal/socket"), Some("app"))
        );
        let To::Syslog(config) = only("to = 'syslog'") else { panic!() };
        assert_eq!(config.address, Address::Local("/dev/log".into()));
        let text = "to = 'syslog'\naddress = 'tcp://[::1]:601'\nfacility = 'local3'\nprotocol = 'rfc3164'\nmessage-size = '1K'";
        let To::Syslog(config) = only(text) else { panic!() };
        assert_eq!(config.address, Address::Tcp("[::1]:601".into()));
        assert_eq!((config.messages.facility, config.messages.limit), (crate::Facility::local(3), 1024));
    }

    /// The page's examples, as they stand there.
    #[test]
    fn the_examples_of_the_guide_are_right() {
        let pages = [
            include_str!("../../../../../docs/guide/sinks.md"),
            include_str!("../../../../../docs/guide/policies.md"),
        ];
        let examples = pages.iter().flat_map(|page| page.split("```toml\n").skip(1));
        let examples: Vec<&str> = examples.map(|rest| rest.split("```").next().unwrap()).collect();
        assert!(examples.len() >= 3);
        for example in examples {
            assert!(Config::from_text(example, "guide").unwrap().check().is_ok(), "{example}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        let cases = [
            ("to = 'syslog'\nfacility = 'loud'", 3, "\"loud\" is no facility; valid are kern, user"),
            (
                "to = 'syslog'\naddress = 'udp://host'",
                3,
                "valid are a socket's absolute path, \"udp://host:port\"",
            ),
            ("to = 'syslog'\naddress = 'tcp://:601'", 3, "is no address"),
            ("to = 'syslog'\nprotocol = 'rfc1'", 3, "valid are rfc5424, rfc3164"),
            ("to = 'syslog'\nmessage-size = '100'", 3, "from 480 bytes"),
            ("to = 'syslog'\npath = 'x'", 3, "only a sink to = \"file\" or \"trace-file\" has a path"),
            ("to = 'syslog'\nformat = 'json'", 3, "has no format"),
            ("to = 'journald'\nfacility = 'user'", 3, "only a sink to = \"syslog\" has facility"),
            ("to = 'journald'\naddress = 'socket'", 3, "no absolute path"),
            ("to = 'stderr'\nidentity = 'x'", 3, "only a sink to = \"journald\" or \"syslog\" has identity"),
            ("to = 'journald'\nidentity = ''", 3, "not empty"),
        ];
        for (text, line, words) in cases {
            let error = Config::from_text(&format!("[[sink]]\n{text}"), "a.toml").expect_err(text);
            assert!(error.line == line && error.text.contains(words), "{text}: {error}");
        }
    }
}
