//! Messages of the syslog protocol, one an event, in the form of RFC 5424 or of RFC 3164.
//!
//! ```text
//! <14>1 2026-11-20T19:02:11.123456Z host indexer 4312 net::tcp [silverpoint@32473 tid="4313" …][fields@32473 order="7"] order 7 at 3.14
//! <14>Nov 20 19:02:11 indexer[4312]: order 7 at 3.14
//! ```
//!
//! The first has structured data for what the second leaves out: thread, site, and the record's named
//! arguments. Texts stand as they are, everything else as JSON. 32473 is the number that RFC 5612 reserves
//! for elements that belong to no registered enterprise.
//!
//! A message longer than its limit is cut, at the end of a character. Structured data that does not fit in
//! half the limit is left out first, so that the message always has the other half.

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use silverpoint_trace::{Event, escape};
use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::level::Level;

use super::fields::{Fields, site};
use super::severity;
use crate::render::Renderer;
use crate::text;
use crate::time::{self, Style, TimeText};

/// The least limit of a message, in bytes: every receiver must accept it (RFC 5424, section 6.1).
pub const LIMIT_MIN: usize = 480;
/// Longest fields of the header, by RFC 5424, section 6.
const HOST_MAX: usize = 255;
const APP_MAX: usize = 48;
const MSGID_MAX: usize = 32;
const PARAM_MAX: usize = 32;
/// Of RFC 3164, section 5.3.
const TAG_MAX: usize = 32;

/// Names of facilities, by their number.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
    "ntp", "security", "console", "clock", "local0", "local1", "local2", "local3", "local4", "local5",
    "local6", "local7",
];

/// The document that defines the form of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With the year, fractions, structured data.
    Rfc5424,
    /// The older form: local time, no fields. Every receiver at `/dev/log` understands at least this.
    Rfc3164,
}

/// How messages look.
#[derive(Clone, Debug)]
pub struct Options {
    /// In which form.
    pub form: Form,
    /// Which part of the system speaks.
    pub facility: Facility,
    /// Instead of the process's name.
    pub identity: Option<String>,
    /// The machine's name; without it `-`, or nothing in RFC 3164, as is right for a receiver on the same machine.
    pub host: Option<String>,
    /// Bytes of a message; at least [`LIMIT_MIN`].
    pub limit: usize,
    /// Zone of RFC 3164's times.
    pub zone: TimeZone,
}

impl Default for Options {
    /// RFC 5424, facility `user`, at most 8 KiB.
    fn default() -> Self {
        Self {
            form: Form::Rfc5424,
            facility: Facility::USER,
            identity: None,
            host: None,
            limit: 8 << 10,
            zone: time::local_zone(),
        }
    }
}

/// Which part of the system a message comes from: a number from 0 to 23.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facility(u8);

impl Facility {
    /// Programs of users.
    pub const USER: Self = Self(1);
    /// Programs of the system.
    pub const DAEMON: Self = Self(3);
    /// Logins; readable by few.
    pub const AUTHPRIV: Self = Self(10);

    /// `local0` to `local7`, for any purpose of the machine's owner; a greater number is 7.
    pub const fn local(number: u8) -> Self {
        Self(16 + if number < 7 { number } else { 7 })
    }
}

/// The text was no facility.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacilityError(String);

impl fmt::Display for FacilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no facility; valid are {}", self.0, FACILITIES.join(", "))
    }
}

impl std::error::Error for FacilityError {}

impl fmt::Display for Facility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FACILITIES.get(usize::from(self.0)).unwrap_or(&"user"))
    }
}

impl FromStr for Facility {
    type Err = FacilityError;

    fn from_str(text: &str) -> Result<Self, FacilityError> {
        let number = FACILITIES.iter().position(|known| *known == text);
        number.map(|number| Self(number as u8)).ok_or_else(|| FacilityError(text.to_owned()))
    }
}

/// Writes messages. Keeps room that is reused.
pub struct Writer {
    options: Options,
    time: TimeText,
    renderer: Renderer,
    fields: Fields,
    /// The message under way.
    out: String,
    room: String,
}

impl Writer {
    /// See [`Options`].
    pub fn new(options: Options) -> Self {
        let time = match options.form {
            Form::Rfc5424 => TimeText::new(Style::Full, TimeZone::UTC, 6),
            Form::Rfc3164 => TimeText::new(Style::Full, options.zone.clone(), 0),
        };
        let (fields, out, room) = Default::default();
        Self { options, time, renderer: Renderer::new(), fields, out, room }
    }

    /// The message of an event. Names and ends of threads have none: an empty text then.
    pub fn message(&mut self, event: &Event<'_>) -> &str {
        self.out.clear();
        if event.is_shown() {
            self.priority(event.what.level());
            match self.options.form {
                Form::Rfc5424 => self.head(event),
                Form::Rfc3164 => self.old_head(event),
            }
            text::message(&mut self.renderer, &mut self.out, event);
            let limit = self.options.limit.max(LIMIT_MIN);
            self.out.truncate(floor_char_boundary(&self.out, limit));
        }
        &self.out
    }

    fn priority(&mut self, level: Level) {
        self.out.push('<');
        let number = u16::from(self.options.facility.0) * 8 + u16::from(severity(level));
        self.out.push_str(itoa::Buffer::new().format(number));
        self.out.push('>');
    }

    fn head(&mut self, event: &Event<'_>) {
        self.out.push_str("1 ");
        self.time.push(&mut self.out, event.wall_ns);
        let app = self.options.identity.as_deref().unwrap_or(&event.session.name);
        let category = site(event).map_or("", |site| &site.description.category);
        for (word, longest) in [(self.options.host.as_deref().unwrap_or(""), HOST_MAX), (app, APP_MAX)] {
            self.out.push(' ');
            push_word(&mut self.out, word, longest);
        }
        self.out.push(' ');
        self.out.push_str(itoa::Buffer::new().format(event.session.pid));
        self.out.push(' ');
        push_word(&mut self.out, category, MSGID_MAX);
        self.out.push(' ');
        self.structured(event);
        // The mark for UTF-8 (section 6.4) is left out: receivers show it as characters, and all of them
        // accept UTF-8.
        self.out.push(' ');
    }

    fn structured(&mut self, event: &Event<'_>) {
        let half = self.options.limit.max(LIMIT_MIN) / 2;
        let out = &mut self.out;
        out.push_str("[silverpoint@32473");
        let mut digits = itoa::Buffer::new();
        let name = &mut self.room;
        param(out, name, half, "tid", digits.format(event.tid));
        param(out, name, half, "thread", event.thread_name);
        if let Some(site) = site(event) {
            param(out, name, half, "category", &site.description.category);
            param(out, name, half, "file", &site.description.file);
            if site.description.line > 0 {
                param(out, name, half, "line", digits.format(site.description.line));
            }
            param(out, name, half, "function", site.function());
        }
        out.push(']');
        let start = out.len();
        out.push_str("[fields@32473");
        let empty = out.len();
        self.fields.each(event, |argument, value| param(out, name, half, argument, value));
        if out.len() == empty {
            out.truncate(start);
        } else {
            out.push(']');
        }
    }

    fn old_head(&mut self, event: &Event<'_>) {
        self.room.clear();
        self.time.push(&mut self.room, event.wall_ns);
        push_old_time(&mut self.out, &self.room);
        if let Some(host) = &self.options.host {
            self.out.push(' ');
            push_word(&mut self.out, host, HOST_MAX);
        }
        self.out.push(' ');
        let tag = self.options.identity.as_deref().unwrap_or(&event.session.name);
        // What ends a tag cannot be in it.
        let sane = |c: char| if c.is_ascii_graphic() && !matches!(c, '[' | ':') { c } else { '_' };
        self.out.extend(tag.chars().take(TAG_MAX).map(sane));
        self.out.push('[');
        self.out.push_str(itoa::Buffer::new().format(event.session.pid));
        self.out.push_str("]: ");
    }
}

/// A word of printable ASCII; `-` when there is none.
fn push_word(out: &mut String, word: &str, longest: usize) {
    let sane = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    out.extend(word.chars().take(longest).map(sane));
    if word.is_empty() {
        out.push('-');
    }
}

/// ` name="value"`, unless it is empty or passes the limit.
fn param(out: &mut String, room: &mut String, limit: usize, name: &str, value: &str) {
    if value.is_empty() || name.is_empty() {
        return;
    }
    let start = out.len();
    out.push(' ');
    let sane = |c: char| if c.is_ascii_graphic() && !matches!(c, '=' | ']' | '"') { c } else { '_' };
    out.extend(name.chars().take(PARAM_MAX).map(sane));
    out.push_str("=\"");
    // Control characters first: receivers that split at line breaks must not see any.
    room.clear();
    escape::push_escaped(room, value);
    for c in room.chars() {
        if matches!(c, '"' | '\\' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    if out.len() + 1 > limit {
        out.truncate(start);
    }
}

/// `Nov  5 19:02:11` of `2026-11-05T19:02:11+01:00`.
fn push_old_time(out: &mut String, time: &str) {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let part = |from: usize, to: usize| time.get(from..to).unwrap_or("");
    let month = part(5, 7).parse::<usize>().ok().and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    out.push_str(month.unwrap_or(&"Jan"));
    out.push(' ');
    match part(8, 10).strip_prefix('0') {
        Some(digit) => {
            out.push(' ');
            out.push_str(digit);
        }
        None => out.push_str(part(8, 10)),
    }
    out.push(' ');
    out.push_str(part(11, 19));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_escaped_and_named_within_the_rules() {
        let mut out = String::new();
        let mut room = String::new();
        param(&mut out, &mut room, 1000, "a=b]\"c d", "quo\"te br]acket back\\slash\nline");
        assert_eq!(out, " a_b__c_d=\"quo\\\"te br\\]acket back\\\\slash\\\\nline\"");
        let before = out.clone();
        param(&mut out, &mut room, before.len() + 5, "long", "what does not fit is left out whole");
        param(&mut out, &mut room, 1000, "empty", "");
        assert_eq!(out, before);
        out.clear();
        param(&mut out, &mut room, 1000, &"n".repeat(40), "v");
        assert_eq!(out, format!(" {}=\"v\"", "n".repeat(32)));
    }

    #[test]
    fn words_are_printable_and_never_empty() {
        let word = |text: &str| {
            let mut out = String::new();
            push_word(&mut out, text, 5);
            out
        };
        assert_eq!(word(""), "-");
        assert_eq!(word("a b\nç!"), "a_b__");
    }

    #[test]
    fn old_times_have_a_space_before_a_single_digit() {
        let old = |time: &str| {
            let mut out = String::new();
            push_old_time(&mut out, time);
            out
        };
        assert_eq!(old("2026-11-05T19:02:11+01:00"), "Nov  5 19:02:11");
        assert_eq!(old("2026-01-25T09:02:11Z"), "Jan 25 09:02:11");
    }

    #[test]
    fn facilities_have_their_numbers() {
        let number = |name: &str| name.parse::<Facility>().map(|facility| facility.0);
        assert_eq!((number("kern"), number("local7")), (Ok(0), Ok(23)));
        assert_eq!(number("user"), Ok(Facility::USER.0));
        assert_eq!(
            (number("local5"), number("authpriv")),
            (Ok(Facility::local(5).0), Ok(Facility::AUTHPRIV.0))
        );
        assert!(number("nobody").unwrap_err().to_string().contains("valid are kern, user, mail"));
    }
}
