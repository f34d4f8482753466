//! What providers and their events are called, as `cpp/src/etw/identity.hpp` and `cpp/src/probes/plan.hpp` have it.

use sha1_smol::Sha1;
use silverpoint_trace::Site;
use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::fnv1a64;

/// Bits of keywords.
const RECORDS: u64 = 1;
const SPANS: u64 = 2;

/// What an event is of its span.
pub(super) const INFORMATION: u8 = 0;
/// See [`INFORMATION`].
pub(super) const START: u8 = 1;
/// See [`INFORMATION`].
pub(super) const STOP: u8 = 2;

/// A provider.
#[derive(Clone, Debug)]
pub(super) struct Provider {
    pub(super) id: [u8; 16],
    /// The size of all, its name, a zero.
    pub(super) traits: Vec<u8>,
}

impl Provider {
    /// That of a category.
    pub(super) fn of(category: &str) -> Self {
        let name = name_of(category);
        let mut traits = (name.len() as u16 + 3).to_le_bytes().to_vec();
        traits.extend_from_slice(name.as_bytes());
        traits.push(0);
        Self { id: id_of(&name), traits }
    }
}

/// The name by the first part of a category, up to `::`, `.` or `/`. ASCII alone: tools disagree on how others are hashed.
fn name_of(category: &str) -> String {
    const MOST: usize = 60;
    let mut name = String::from("Silverpoint");
    let bytes = category.as_bytes();
    for (at, byte) in bytes.iter().take(MOST).enumerate() {
        if matches!(byte, b'.' | b'/') || bytes[at..].starts_with(b"::") {
            break;
        }
        if at == 0 {
            name.push('-');
        }
        name.push(if byte.is_ascii_alphanumeric() { char::from(*byte) } else { '_' });
    }
    name
}

/// The id that EventSource and TraceLogging compute from a name (by SHA-1), as it lies in memory. The name is ASCII.
fn id_of(name: &str) -> [u8; 16] {
    const SPACE: [u8; 16] =
        [0x48, 0x2C, 0x2D, 0xB2, 0xC3, 0x90, 0x47, 0xC8, 0x87, 0xF8, 0x1A, 0x15, 0xBF, 0xC1, 0x30, 0xFB];
    // UTF-16, the high byte first.
    let wide: Vec<u8> = name.bytes().flat_map(|byte| [0, byte.to_ascii_uppercase()]).collect();
    let mut sha1 = Sha1::new();
    sha1.update(&SPACE);
    sha1.update(&wide);
    let mut id = [0; 16];
    id.copy_from_slice(&sha1.digest().bytes()[..16]);
    id[7] = id[7] & 0x0F | 0x50;
    id
}

/// The keyword of a record: its sort, and a bit of its category, by a hash.
pub(super) fn keyword(kind: Kind, category: &str) -> u64 {
    let sort = match kind {
        Kind::Span
        | Kind::AsyncBegin
        | Kind::AsyncEnd
        | Kind::AsyncInstant
        | Kind::FlowBegin
        | Kind::FlowStep
        | Kind::FlowEnd => SPANS,
        _ => RECORDS,
    };
    // The two lowest bits are those of sorts, the highest 16 belong to ETW.
    sort | 1 << (2 + fnv1a64(category.as_bytes()) % 46)
}

/// Critical is 1, verbose 5.
pub(super) fn level(level: Level) -> u8 {
    match level {
        Level::Fatal => 1,
        Level::Error => 2,
        Level::Warn => 3,
        Level::Info => 4,
        Level::Debug | Level::Trace => 5,
    }
}

/// What an event is of its span.
pub(super) fn opcode(kind: Kind) -> u8 {
    match kind {
        Kind::Span | Kind::AsyncBegin => START,
        Kind::AsyncEnd => STOP,
        _ => INFORMATION,
    }
}

/// `CATEGORY:NAME` of a record's event.
pub(super) fn event_name(site: &Site) -> String {
    let ending = match site.kind() {
        Kind::Span => "_entry",
        Kind::AsyncBegin | Kind::FlowBegin => "_begin",
        Kind::AsyncEnd | Kind::FlowEnd => "_end",
        Kind::FlowStep => "_step",
        _ => "",
    };
    named(site, ending)
}

/// The same of the event for a span's end.
pub(super) fn end_name(site: &Site) -> String {
    named(site, "_exit")
}

fn named(site: &Site, ending: &str) -> String {
    const CATEGORY_MOST: usize = 100;
    const MOST: usize = 480;
    const PLACE_MOST: usize = 200;
    let description = &site.description;
    let category = if description.category.is_empty() { "silverpoint" } else { &description.category };
    let mut name = fit(category, CATEGORY_MOST);
    name.push(':');
    if description.template.is_empty() {
        let file = description.file.rsplit('/').next().unwrap_or_default();
        name.push_str(&fit(&format!("#{file}"), PLACE_MOST));
        name.push(':');
        name.push_str(itoa::Buffer::new().format(description.line));
    } else {
        name.push_str(&fit(&description.template, MOST - name.len()));
    }
    name.push_str(ending);
    name
}

fn fit(text: &str, most: usize) -> String {
    let fit = |c| match c {
        ';' => ',',
        '\0'..'\x20' | '\x7f' => ' ',
        c => c,
    };
    text[..floor_char_boundary(text, most)].chars().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn ids_are_those_that_tools_compute() {
        // The guide has it, as text: 5ed0a76c-606c-5c0d-8ef5-7470d5bb908a.
        assert_eq!(hex(&Provider::of("shop::orders").id), "6ca7d05e6c600d5c8ef57470d5bb908a");
        assert_eq!(hex(&id_of("Silverpoint-Test")), "5b07127652d85f54998a67067f9dc79e");
    }
}
