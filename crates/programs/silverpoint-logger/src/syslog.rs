//! The configuration of a syslog sink.

use std::path::PathBuf;

pub use silverpoint_render::system::syslog::{Facility, FacilityError};
use silverpoint_render::system::syslog::{Form, Options};

use crate::config::Address;

/// Where the local receiver listens.
const LOCAL: &str = "/dev/log";
/// Size that every receiver of datagrams should accept (RFC 5426, section 3.2).
const UDP_LIMIT: usize = 2048;

/// A syslog receiver, and how messages for it look: for [`Sink::syslog`](crate::Sink::syslog).
///
/// ```
/// use silverpoint_logger::{Config, Facility, Sink, Syslog};
///
/// let local = Sink::syslog(Syslog::local().facility(Facility::DAEMON));
/// let far = Sink::syslog(Syslog::tcp("logs.example.org:601")).identity("indexer");
/// let config = Config::new("info").sink(local).sink(far);
/// ```
#[derive(Clone, Debug)]
pub struct Syslog {
    pub(crate) address: Address,
    pub(crate) messages: Options,
}

impl Syslog {
    /// The receiver of this machine, at `/dev/log`.
    pub fn local() -> Self {
        Self::at(LOCAL)
    }

    /// A receiver of this machine at another socket, of datagrams or a stream (then a zero byte ends each
    /// message). Messages are of RFC 3164 without the machine's name, which every receiver understands.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let messages = Options { form: Form::Rfc3164, ..Options::default() };
        Self { address: Address::Local(path.into()), messages }
    }

    /// A receiver at `host:port`, by UDP (RFC 5426), which does not confirm datagrams. Messages are of RFC
    /// 5424, of at most 2 KiB.
    pub fn udp(host: impl Into<String>) -> Self {
        let messages = Options { limit: UDP_LIMIT, host: host_name(), ..Options::default() };
        Self { address: Address::Udp(host.into()), messages }
    }

    /// A receiver at `host:port`, by TCP, each message with its length before it (RFC 6587, octet counting). Messages are of RFC 5424.
    pub fn tcp(host: impl Into<String>) -> Self {
        let messages = Options { host: host_name(), ..Options::default() };
        Self { address: Address::Tcp(host.into()), messages }
    }

    /// The facility; the default is `user`.
    #[must_use]
    pub fn facility(mut self, facility: Facility) -> Self {
        self.messages.facility = facility;
        self
    }

    /// Messages of RFC 5424: with structured data that holds thread, site and named arguments.
    #[must_use]
    pub fn rfc5424(mut self) -> Self {
        self.messages.form = Form::Rfc5424;
        self
    }

    /// Messages of RFC 3164: the message alone, local time to the second.
    #[must_use]
    pub fn rfc3164(mut self) -> Self {
        self.messages.form = Form::Rfc3164;
        self
    }

    /// Longest message in bytes: by default 8 KiB, by UDP 2 KiB; at least 480.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.messages.limit = bytes;
        self
    }
}

fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}
