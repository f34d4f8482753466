//! Requests by HTTP to a collector: `POST /v1/logs` and `/v1/traces` as protocol buffers. A collector that is busy is asked again when it says, or a while later;
//! what it does not take is counted.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use ureq::http::{Response, StatusCode};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

use super::resolve::SystemResolver;
use super::{Export, Signal};

/// How a collector that is busy, or away, is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Before the second attempt; each further time twice as long.
    pub first: Duration,
    /// The longest time between two attempts, also when a collector asks for more.
    pub longest: Duration,
    /// Attempts at one request.
    pub attempts: u32,
    /// For one attempt.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            attempts: 6,
            answer: Duration::from_secs(10),
        }
    }
}

/// What a collector did not take (partial success).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Log records and spans.
    pub records: u64,
    /// Its words, each once, the first few.
    pub messages: Vec<String>,
}

/// Words of a collector that are kept.
const MESSAGES_MAX: usize = 8;
/// Bytes of an answer that are read, and of its words that are shown.
const ANSWER_MAX: u64 = 64 << 10;
const WORDS_MAX: usize = 300;

/// Sends requests to a collector.
pub struct Sender {
    agent: Agent,
    base: String,
    patience: Patience,
    refused: Rc<RefCell<Refused>>,
    /// It has answered once: that it does not is worth waiting for.
    has_answered: bool,
}

impl Sender {
    /// To a collector at `http://HOST:PORT[/PATH]`, to which `/v1/logs` and `/v1/traces` are added. Nothing is sent yet.
    ///
    /// # Errors
    /// When it is no such address.
    pub fn new(address: &str, patience: Patience) -> Result<Self, String> {
        if address.starts_with("https://") {
            return Err(format!(
                "{address}: https is not built in; send to a collector of this machine or network by http, which passes it on"
            ));
        }
        let host = address.strip_prefix("http://").map(|rest| rest.split('/').next().unwrap_or_default());
        let uri = address.parse::<ureq::http::Uri>().ok().filter(|uri| uri.query().is_none());
        if host.is_none_or(str::is_empty)
            || uri.is_none_or(|uri| uri.host().is_none())
            || address.contains('@')
        {
            return Err(format!("{address}: expected the address of a collector, http://HOST:PORT"));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(patience.answer))
            .max_redirects(0)
            // The address is the collector's own, even if the environment has a proxy for the outside world.
            .proxy(None)
            .user_agent(concat!("silverpoint/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), SystemResolver);
        let base = address.trim_end_matches('/').to_owned();
        Ok(Self { agent, base, patience, refused: Rc::default(), has_answered: false })
    }

    /// What has been refused so far, and will be.
    pub fn refused(&self) -> Rc<RefCell<Refused>> {
        Rc::clone(&self.refused)
    }

    /// One attempt. An inner error may be worth another one, after some time if it says so.
    fn attempt(&mut self, url: &str, request: &[u8]) -> Result<Vec<u8>, Failure> {
        let sent = self.agent.post(url).header("content-type", "application/x-protobuf").send(request);
        let mut answer = match sent {
            Ok(answer) => answer,
            Err(error) => {
                return Err(Failure { what: error.to_string(), after: None, is_passing: self.has_answered });
            }
        };
        self.has_answered = true;
        let status = answer.status();
        let after = retry_after(&answer);
        let body = answer.body_mut().with_config().limit(ANSWER_MAX).read_to_vec();
        if status.is_success() {
            let is_binary = answer
                .headers()
                .get("content-type")
                .is_some_and(|of| of.to_str().is_ok_and(|of| of.starts_with("application/x-protobuf")));
            return Ok(body.ok().filter(|_| is_binary).unwrap_or_default());
        }
        let words = words(&body.unwrap_or_default());
        let is_passing = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        let what = if words.is_empty() { status.to_string() } else { format!("{status}: {words}") };
        Err(Failure { what, after, is_passing })
    }

    fn note(&self, answer: &[u8]) {
        // ExportLogsServiceResponse and ExportTraceServiceResponse: partial_success = 1 { rejected = 1; error_message = 2 }.
        let Some(Field::Bytes(partial)) = field(answer, 1) else { return };
        let rejected = match field(partial, 1) {
            Some(Field::Number(number)) => number,
            _ => 0,
        };
        let mut refused = self.refused.borrow_mut();
        refused.records = refused.records.saturating_add(rejected);
        if let Some(Field::Bytes(message)) = field(partial, 2) {
            let message = words(message);
            if refused.messages.len() < MESSAGES_MAX
                && !message.is_empty()
                && !refused.messages.contains(&message)
            {
                refused.messages.push(message);
            }
        }
    }
}

struct Failure {
    what: String,
    after: Option<Duration>,
    is_passing: bool,
}

impl Export for Sender {
    fn export(&mut self, signal: Signal, request: &[u8], records: u64) -> io::Result<()> {
        let path = match signal {
            Signal::Logs => "/v1/logs",
            Signal::Traces => "/v1/traces",
        };
        let url = format!("{}{path}", self.base);
        let mut wait = self.patience.first;
        for attempt in 1.. {
            let failure = match self.attempt(&url, request) {
                Ok(answer) => {
                    self.note(&answer);
                    return Ok(());
                }
                Err(failure) => failure,
            };
            if !failure.is_passing || attempt >= self.patience.attempts {
                let attempts =
                    if attempt > 1 { format!(", after {attempt} attempts") } else { String::new() };
                return Err(io::Error::other(format!(
                    "{url}: {}; {records} records were not taken{attempts}",
                    failure.what
                )));
            }
            std::thread::sleep(failure.after.unwrap_or(wait).min(self.patience.longest));
            wait = wait.saturating_mul(2);
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `Retry-After` asks for: seconds, or a date.
fn retry_after(answer: &Response<Body>) -> Option<Duration> {
    let text = answer.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let then = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(then.as_second()).ok()?);
    Some(then.duration_since(SystemTime::now()).unwrap_or_default())
}

/// What a collector says, for people: the message of a `Status`, or the text; short, and without control characters.
fn words(body: &[u8]) -> String {
    let text = match field(body, 2) {
        Some(Field::Bytes(message)) => message,
        _ => body,
    };
    let text = String::from_utf8_lossy(text);
    let mut short: String =
        text.chars().take(WORDS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(WORDS_MAX).is_some() {
        short.push('…');
    }
    short.trim().to_owned()
}

/// A field of a message of protocol buffers.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The first field of this number; `None` when there is none, or the message is none.
fn field(mut message: &[u8], wanted: u64) -> Option<Field<'_>> {
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut message)?),
            1 => Field::Bytes(message.split_off(..8)?),
            2 => {
                let len = usize::try_from(varint(&mut message)?).ok()?;
                Field::Bytes(message.split_off(..len)?)
            }
            5 => Field::Bytes(message.split_off(..4)?),
            _ => return None,
        };
        if tag >> 3 == wanted {
            return Some(value);
        }
    }
    None
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *message.split_off_first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Patience, Sender, words};

    #[test]
    fn words_are_those_of_a_status_or_the_text() {
        assert_eq!(words(b"no\nway "), "no way");
        assert_eq!(words(b"\x08\x03\x12\x04what"), "what");
        assert_eq!(
            words(&[0x12, 0xFF, 0xFF, 0xFF]),
            "\u{12}\u{FFFD}\u{FFFD}\u{FFFD}".replace('\u{12}', "").trim()
        );
        assert_eq!(words(&[b'x'; 400]).chars().count(), 301);
    }

    #[test]
    fn addresses_are_http() {
        for address in ["http://localhost:4318", "http://[::1]:4318/otlp/"] {
            assert!(Sender::new(address, Patience::default()).is_ok(), "{address}");
        }
        for address in [
            "https://a",
            "http://",
            "http:///v1",
            "ftp://a",
            "http://a b",
            "a:4318",
            "http://a/?x=1",
            "http://u:p@a",
        ] {
            assert!(Sender::new(address, Patience::default()).is_err(), "{address}");
        }
    }
}
