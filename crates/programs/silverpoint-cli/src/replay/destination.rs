//! How destinations are named.

use std::path::PathBuf;

use silverpoint_logger::{Sink, Syslog};

/// What `--sink` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The standard input of a command, by the shell.
    Command(String),
    /// A file, by its ending.
    File(PathBuf),
    /// A syslog receiver: what stands after `syslog:`.
    Syslog(SyslogAt),
    /// The journal, at its own socket or another.
    Journald(Option<PathBuf>),
    /// A living session of our own.
    Session,
}

/// A syslog receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyslogAt {
    Local,
    Socket(PathBuf),
    Udp(String),
    Tcp(String),
}

/// Reads a destination.
pub fn parse(text: &str) -> Result<Destination, String> {
    if let Some(command) = text.strip_prefix('|') {
        let command = command.trim();
        if command.is_empty() {
            return Err("a command follows the '|'".into());
        }
        return Ok(Destination::Command(command.into()));
    }
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name, Some(rest)),
        None => (text, None),
    };
    let address = |rest: &str| match rest.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(rest.to_owned()),
        _ => Err(format!("'{rest}': expected HOST:PORT")),
    };
    Ok(match (name, rest) {
        ("", None) => return Err("expected a sink".into()),
        ("stdout" | "-", None) => Destination::Stdout,
        ("stderr", None) => Destination::Stderr,
        ("session", None) => Destination::Session,
        ("syslog", None) => Destination::Syslog(SyslogAt::Local),
        ("syslog", Some(rest)) => Destination::Syslog(match rest.split_once(':') {
            Some(("udp", rest)) => SyslogAt::Udp(address(rest)?),
            Some(("tcp", rest)) => SyslogAt::Tcp(address(rest)?),
            _ if rest.starts_with('/') => SyslogAt::Socket(rest.into()),
            _ => return Err(format!("'{rest}': expected /SOCKET, udp:HOST:PORT or tcp:HOST:PORT")),
        }),
        ("journald", None) => Destination::Journald(None),
        ("journald", Some(rest)) => Destination::Journald(Some(rest.into())),
        // A name without directory and ending is more likely a typing error than a file.
        _ if text.contains(['/', '.']) => Destination::File(text.into()),
        _ => {
            return Err(format!(
                "there is no sink '{text}'; known are stdout, stderr, session, syslog, journald, '| COMMAND' and files (./{text})"
            ));
        }
    })
}

impl Destination {
    /// As a sink of a logger; `None` for what a logger has no sink for.
    pub fn sink(&self) -> Option<Sink> {
        Some(match self {
            Self::File(path) => {
                let ends = |ending: &str| path.extension().is_some_and(|found| found == ending);
                if ends("silver") {
                    Sink::trace_file(path)
                } else if ends("jsonl") || ends("ndjson") || ends("json") {
                    Sink::file(path).json()
                } else {
                    Sink::file(path)
                }
            }
            Self::Syslog(SyslogAt::Local) => Sink::syslog(Syslog::local()),
            Self::Syslog(SyslogAt::Socket(path)) => Sink::syslog(Syslog::at(path)),
            Self::Syslog(SyslogAt::Udp(host)) => Sink::syslog(Syslog::udp(host)),
            Self::Syslog(SyslogAt::Tcp(host)) => Sink::syslog(Syslog::tcp(host)),
            Self::Journald(None) => Sink::journald(),
            Self::Journald(Some(path)) => Sink::journald_at(path),
            Self::Stdout | Self::Stderr | Self::Command(_) | Self::Session => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinks_are_told_apart() {
        let good = [
            ("stdout", Destination::Stdout),
            ("| jq .", Destination::Command("jq .".into())),
            ("a.log", Destination::File("a.log".into())),
            ("./session", Destination::File("./session".into())),
            ("session", Destination::Session),
            ("syslog", Destination::Syslog(SyslogAt::Local)),
            ("syslog:/run/x", Destination::Syslog(SyslogAt::Socket("/run/x".into()))),
            ("syslog:tcp:host:601", Destination::Syslog(SyslogAt::Tcp("host:601".into()))),
            ("syslog:udp:[::1]:514", Destination::Syslog(SyslogAt::Udp("[::1]:514".into()))),
            ("journald:/x", Destination::Journald(Some("/x".into()))),
        ];
        for (text, wanted) in good {
            assert_eq!(parse(text), Ok(wanted), "{text}");
        }
        for text in ["", "|", "stdin", "syslog:host", "syslog:udp:host", "syslog:tcp::7", "sesion"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
