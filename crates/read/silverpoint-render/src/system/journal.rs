//! The journal's native protocol: one message an event, one field a line.
//!
//! ```text
//! MESSAGE=order 7 at 3.14
//! PRIORITY=6
//! SYSLOG_IDENTIFIER=indexer
//! ```
//!
//! | field | |
//! |---|---|
//! | `MESSAGE` | one line, control characters escaped |
//! | `PRIORITY` | [`severity`] |
//! | `SYSLOG_IDENTIFIER`, `SYSLOG_PID` | the process that recorded it |
//! | `TIMESTAMP` | when it was recorded, RFC 3339 in UTC (the journal's own time is when it came in) |
//! | `TID`, `THREAD` | the thread, and its name if it has one |
//! | `CATEGORY`, `CODE_FILE`, `CODE_LINE`, `CODE_FUNC` | the site, as far as it says so |
//! | others | the record's named arguments: texts as they are, everything else as JSON |
//!
//! The name of an argument is converted to the journal's rules: capitals, at most 64 characters. Every
//! character that is neither letter nor digit becomes `_`. `FIELD_` precedes a name that would begin with a
//! digit or an underscore, or that is in the table above. A value with a line break is sent with its length
//! before it.

use silverpoint_trace::Event;

use super::fields::{Fields, site};
use super::severity;
use crate::render::Renderer;
use crate::text;
use crate::time::TimeText;

/// Longest name of a field.
const NAME_MAX: usize = 64;
/// Names that arguments may not have.
const TAKEN: [&str; 11] = [
    "MESSAGE",
    "PRIORITY",
    "SYSLOG_IDENTIFIER",
    "SYSLOG_PID",
    "TIMESTAMP",
    "TID",
    "THREAD",
    "CATEGORY",
    "CODE_FILE",
    "CODE_LINE",
    "CODE_FUNC",
];

/// Writes messages. Keeps room that is reused.
pub struct Writer {
    identifier: Option<String>,
    time: TimeText,
    renderer: Renderer,
    fields: Fields,
    text: String,
}

impl Writer {
    /// With `identifier` instead of the process's name.
    pub fn new(identifier: Option<String>) -> Self {
        Self {
            identifier,
            time: TimeText::rfc3339_utc(),
            renderer: Renderer::new(),
            fields: Fields::default(),
            text: String::new(),
        }
    }

    /// Appends the message of an event. Names and ends of threads have none: then nothing is appended.
    pub fn message(&mut self, out: &mut Vec<u8>, event: &Event<'_>) {
        if !event.is_shown() {
            return;
        }
        self.text.clear();
        text::message(&mut self.renderer, &mut self.text, event);
        push(out, "MESSAGE", &self.text);
        let mut digits = itoa::Buffer::new();
        push(out, "PRIORITY", digits.format(severity(event.what.level())));
        push(out, "SYSLOG_IDENTIFIER", self.identifier.as_deref().unwrap_or(&event.session.name));
        push(out, "SYSLOG_PID", digits.format(event.session.pid));
        self.text.clear();
        self.time.push(&mut self.text, event.wall_ns);
        push(out, "TIMESTAMP", &self.text);
        push(out, "TID", digits.format(event.tid));
        push(out, "THREAD", event.thread_name);
        if let Some(site) = site(event) {
            push(out, "CATEGORY", &site.description.category);
            push(out, "CODE_FILE", &site.description.file);
            if site.description.line > 0 {
                push(out, "CODE_LINE", digits.format(site.description.line));
            }
            push(out, "CODE_FUNC", site.function());
        }
        let name = &mut self.text;
        self.fields.each(event, |argument, value| {
            name.clear();
            push_name(name, argument);
            push(out, name, value);
        });
    }
}

/// Appends a field, unless it is empty.
fn push(out: &mut Vec<u8>, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    out.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        out.push(b'\n');
        out.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        out.push(b'=');
    }
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

/// Appends the journal's name for an argument.
fn push_name(out: &mut String, argument: &str) {
    let start = out.len();
    let sane = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    out.extend(argument.chars().take(NAME_MAX).map(sane));
    let name = &out[start..];
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) || TAKEN.contains(&name) {
        out.insert_str(start, "FIELD_");
        out.truncate(start + NAME_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_journals() {
        let cases = [
            ("user", "USER"),
            ("user.id", "USER_ID"),
            ("straße", "STRA_E"),
            ("_trusted", "FIELD__TRUSTED"),
            ("7up", "FIELD_7UP"),
            ("priority", "FIELD_PRIORITY"),
            ("message_id", "MESSAGE_ID"),
        ];
        for (argument, expected) in cases {
            let mut name = String::from("x");
            push_name(&mut name, argument);
            assert_eq!(name, format!("x{expected}"), "{argument}");
        }
        for long in ["a".repeat(100), "7".repeat(100)] {
            let mut name = String::new();
            push_name(&mut name, &long);
            assert_eq!(name.len(), NAME_MAX);
        }
    }

    #[test]
    fn a_value_with_a_line_break_has_its_length_before_it() {
        let mut out = Vec::new();
        push(&mut out, "A", "b=c");
        push(&mut out, "EMPTY", "");
        push(&mut out, "D", "e\nf");
        assert_eq!(out, b"A=b=c\nD\n\x03\0\0\0\0\0\0\0e\nf\n");
    }
}
