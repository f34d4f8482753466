//! The metadata of a trace (TSDL): clock, stream, and a class of events for each site, declared when its first record comes.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_trace::Site;
use silverpoint_wire::level::Level;
use silverpoint_wire::signature::Type;
use silverpoint_wire::site::fnv1a64;

use super::Clock;
use super::fields::{Names, push_aliases, push_field, push_literal};
use super::packets::{EVENT_HEADER, PACKET_CONTEXT, PACKET_HEADER};

/// What stands in the context of each event.
const EVENT_CONTEXT: &str =
    "struct { i32 vpid; i32 vtid; string procname; string thread_name; string context; }";

/// A class of events: records of a site, ends of spans of a site, and what has none.
pub(super) enum Class<'s> {
    Site(usize, &'s Site),
    /// Whether it says how long the span took.
    End(usize, &'s Site, bool),
    UnknownEnd(bool),
    Loss,
    Stall,
    Unknown,
    Unreadable,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Site(usize),
    End(usize, bool),
    Own(&'static str, bool),
}

/// Writes the metadata and knows the classes' ids.
pub(super) struct Classes<W> {
    out: W,
    ids: HashMap<Key, u32>,
    text: String,
}

impl<W: Write> Classes<W> {
    /// Begins the metadata.
    pub(super) fn new(out: W, uuid: [u8; 16], clock: &Clock) -> io::Result<Self> {
        let mut classes = Self { out, ids: HashMap::new(), text: String::new() };
        classes.begin(uuid, clock);
        classes.flush()?;
        Ok(classes)
    }

    pub(super) fn get_ref(&self) -> &W {
        &self.out
    }

    fn begin(&mut self, uuid: [u8; 16], clock: &Clock) {
        let text = &mut self.text;
        text.push_str("/* CTF 1.8 */\n\n");
        push_aliases(text);
        text.push_str("\ntrace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
        silverpoint_render::push_uuid(text, &uuid);
        let _ = write!(text, "\";\n    byte_order = le;\n    packet.header := {PACKET_HEADER};\n}};\n\n");
        let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        let _ = write!(
            text,
            "env {{\n    tracer_name = \"silverpoint\";\n    tracer_major = {major};\n    tracer_minor = {minor};\n}};\n\n"
        );
        clock.declare(text);
        let _ = write!(
            text,
            "stream {{\n    id = 0;\n    packet.context := {PACKET_CONTEXT};\n    event.header := {EVENT_HEADER};\n    event.context := {EVENT_CONTEXT};\n}};\n"
        );
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// The id of a class, declared when it is new.
    pub(super) fn id(&mut self, class: &Class<'_>) -> io::Result<u32> {
        let key = match class {
            Class::Site(number, _) => Key::Site(*number),
            Class::End(number, _, is_timed) => Key::End(*number, *is_timed),
            Class::UnknownEnd(is_timed) => Key::Own("span_end", *is_timed),
            Class::Loss => Key::Own("loss", true),
            Class::Stall => Key::Own("stall", true),
            Class::Unknown => Key::Own("unknown", false),
            Class::Unreadable => Key::Own("unreadable", false),
        };
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        let id = self.ids.len() as u32;
        self.declare(id, class, &key);
        self.flush()?;
        self.ids.insert(key, id);
        Ok(id)
    }

    fn declare(&mut self, id: u32, class: &Class<'_>, key: &Key) {
        let text = &mut self.text;
        text.push_str("\nevent {\n    name = ");
        match (class, key) {
            (Class::Site(_, site), _) => push_literal(text, &name(site)),
            (Class::End(_, site, _), _) => push_literal(text, &format!("{}_end", name(site))),
            (_, Key::Own(name, _)) => push_literal(text, &format!("silverpoint:{name}")),
            _ => text.push_str("\"\""),
        }
        let _ = write!(text, ";\n    id = {id};\n    stream_id = 0;\n    loglevel = {};\n", loglevel(class));
        if let Class::Site(_, site) | Class::End(_, site, _) = class {
            text.push_str("    model.emf.uri = ");
            push_literal(text, &uri(site));
            text.push_str(";\n");
        }
        text.push_str("    fields := struct { ");
        let mut names = Names::default();
        let mut field = |name: &str, ty: &Type| push_field(text, &mut names, name, ty);
        let u64 = Type::Int { bits: 64, signed: false };
        match class {
            Class::Site(_, site) => {
                for (number, ty) in site.types.iter().enumerate() {
                    match site.names.get(number) {
                        Some(name) => field(name, ty),
                        None => field(&format!("arg{number}"), ty),
                    }
                }
            }
            Class::End(_, _, is_timed) | Class::UnknownEnd(is_timed) => {
                if *is_timed {
                    field("duration_ns", &u64);
                }
            }
            Class::Loss => {
                field("cause", &Type::Text8);
                field("count", &u64);
                field("span_ns", &u64);
            }
            Class::Stall => {
                field("cause", &Type::Text8);
                field("duration_ns", &u64);
            }
            Class::Unknown => {
                field("site", &Type::Int { bits: 32, signed: false });
                field("raw", &Type::Bytes);
            }
            Class::Unreadable => {
                field("name", &Type::Text8);
                field("raw", &Type::Bytes);
            }
        }
        text.push_str("};\n};\n");
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Category and template; file and line of a site without a template.
pub(super) fn name(site: &Site) -> String {
    let description = &site.description;
    let what = if description.template.is_empty() { site.place() } else { description.template.clone() };
    if description.category.is_empty() { what } else { format!("{}:{what}", description.category) }
}

/// The levels of LTTng.
fn loglevel(class: &Class<'_>) -> u8 {
    let level = match class {
        Class::Site(_, site) | Class::End(_, site, _) => site.level(),
        Class::Loss => Level::Warn,
        _ => Level::Info,
    };
    match level {
        Level::Fatal => 2,
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug => 8,
        Level::Trace => 14,
    }
}

/// Kind and place of a site, as a URI: `silverpoint:log?file=src/pump.cpp&line=88&function=run`.
fn uri(site: &Site) -> String {
    let description = &site.description;
    let mut uri = format!("silverpoint:{}?file=", site.kind().name());
    let push = |uri: &mut String, text: &str| {
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                    uri.push(char::from(byte));
                }
                _ => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
    };
    push(&mut uri, &description.file);
    let _ = write!(uri, "&line={}&function=", description.line);
    push(&mut uri, &description.function);
    uri
}

/// A UUID of version 4 for a trace: of the time and the process, which no two conversions share.
pub(super) fn new_uuid() -> [u8; 16] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    let first = fnv1a64(format!("{now} {}", std::process::id()).as_bytes());
    let second = fnv1a64(&first.to_le_bytes());
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&first.to_le_bytes());
    uuid[8..].copy_from_slice(&second.to_le_bytes());
    uuid[6] = uuid[6] & 0x0F | 0x40;
    uuid[8] = uuid[8] & 0x3F | 0x80;
    uuid
}
