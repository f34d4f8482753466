//! The clock of a trace: our own, or that of another trace, so that both have one timeline.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// More of a metadata's file is not read.
const METADATA_MAX: u64 = 64 << 20;
/// Folders that deep are searched for metadata: LTTng has `ust/uid/1000/64-bit`.
const DEPTH: usize = 6;
/// The first word of each packet of metadata, and the size of its header.
const PACKET: (u32, usize) = (0x75D1_1D57, 37);

/// A clock: its values are nanoseconds after its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// An identifier.
    name: String,
    uuid: Option<[u8; 16]>,
    offset_s: i64,
    offset: i64,
    is_absolute: bool,
}

impl Clock {
    /// Nanoseconds since 1970-01-01T00:00Z. `boot` is the id of the boot if all records are of one: Trace Compass takes traces with equal ids for traces of one machine.
    pub fn realtime(boot: Option<[u8; 16]>) -> Self {
        Self { name: "realtime".into(), uuid: boot, offset_s: 0, offset: 0, is_absolute: true }
    }

    /// The clock of the trace of CTF 1.8 in a directory or below it. It must count CLOCK_MONOTONIC in nanoseconds, as those of LTTng and of `perf record -k mono` do.
    ///
    /// # Errors
    /// That there is no such trace, several with different clocks, or no such clock; those of reading.
    pub fn of_trace(directory: &Path) -> io::Result<Self> {
        let mut found = Vec::new();
        search(directory, DEPTH, &mut found)?;
        found.sort();
        let mut clock: Option<(Self, &Path)> = None;
        for path in &found {
            let of = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let next = Self::parse(&read(path).map_err(of)?).map_err(|why| of(invalid(&why)))?;
            match &clock {
                Some((known, _)) if known.offset_ns() == next.offset_ns() && known.uuid == next.uuid => {}
                Some((_, other)) => {
                    return Err(invalid(&format!(
                        "{} and {} have different clocks: name the directory of one of them",
                        other.display(),
                        path.display()
                    )));
                }
                None => clock = Some((next, path)),
            }
        }
        let missing = || invalid("there is no trace of CTF: no file `metadata`");
        clock.map(|(clock, _)| clock).ok_or_else(missing)
    }

    /// The id of the boot that it belongs to, as of LTTng's. perf's clocks have an arbitrary id, and say that they are not absolute.
    pub fn boot(&self) -> Option<[u8; 16]> {
        self.uuid.filter(|_| self.is_absolute)
    }

    fn offset_ns(&self) -> i128 {
        i128::from(self.offset_s) * 1_000_000_000 + i128::from(self.offset)
    }

    /// Of a metadata's text.
    fn parse(text: &str) -> Result<Self, String> {
        let clocks = blocks(text, "clock");
        let named = |name: &str| {
            clocks.iter().find(|clock| clock.iter().any(|(key, value)| key == "name" && value == name))
        };
        let chosen = match (named("monotonic"), &clocks[..]) {
            (Some(clock), _) => clock,
            (None, [clock]) => clock,
            (None, []) => return Err("it declares no clock".into()),
            (None, _) => return Err("it declares several clocks, and none is called monotonic".into()),
        };
        let value =
            |key: &str| chosen.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        let number = |key: &str, default: i64| match value(key) {
            Some(text) => integer(text).ok_or_else(|| format!("the clock's {key} is no number: {text}")),
            None => Ok(default),
        };
        let freq = number("freq", 1_000_000_000)?;
        if freq != 1_000_000_000 {
            return Err(format!("the clock counts {freq} units a second, not nanoseconds"));
        }
        let name = value("name").unwrap_or("");
        if name == "realtime" {
            return Err("its clock is not monotonic: records have its time already".into());
        }
        let is_identifier = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_identifier {
            return Err(format!("the clock's name is no identifier: {name:?}"));
        }
        let uuid = match value("uuid") {
            Some(text) => Some(uuid(text).ok_or_else(|| format!("the clock's uuid is none: {text}"))?),
            None => None,
        };
        // Readers merge clocks that are all absolute, or have one id. LTTng's is absolute and does not say so.
        let is_absolute = value("absolute").is_none_or(|value| !value.eq_ignore_ascii_case("false"));
        let (offset_s, offset) = (number("offset_s", 0)?, number("offset", 0)?);
        Ok(Self { name: name.to_owned(), uuid, offset_s, offset, is_absolute })
    }

    /// Its declaration, and that of `time_t`, whose values are its.
    pub(super) fn declare(&self, text: &mut String) {
        let Self { name, uuid, offset_s, offset, is_absolute } = self;
        let _ = write!(text, "clock {{\n    name = {name};\n");
        if let Some(uuid) = uuid {
            text.push_str("    uuid = \"");
            silverpoint_render::push_uuid(text, uuid);
            text.push_str("\";\n");
        }
        if self.offset_ns() == 0 {
            text.push_str("    description = \"Nanoseconds since 1970-01-01T00:00Z\";\n");
        }
        let absolute = if *is_absolute { "TRUE" } else { "FALSE" };
        let _ = write!(
            text,
            "    freq = 1000000000;\n    offset_s = {offset_s};\n    offset = {offset};\n    absolute = {absolute};\n}};\n\n\
             typealias integer {{ size = 64; align = 8; signed = false; byte_order = le; map = clock.{name}.value; }} := time_t;\n\n"
        );
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Finds the files `metadata` in a directory and below it. Links are not followed.
fn search(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() && entry.file_name() == "metadata" {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            search(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

/// The text of a metadata's file, which may be in packets.
fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(METADATA_MAX).read_to_end(&mut bytes)?;
    let bytes =
        if bytes.starts_with(&PACKET.0.to_le_bytes()) { unpacked(&bytes, u32::from_le_bytes) } else { bytes };
    let bytes =
        if bytes.starts_with(&PACKET.0.to_be_bytes()) { unpacked(&bytes, u32::from_be_bytes) } else { bytes };
    String::from_utf8(bytes).map_err(|_| invalid("the metadata is no text in UTF-8"))
}

/// What packets contain: magic number, UUID (16 bytes), checksum, sizes of content and packet in bits, five bytes more.
fn unpacked(bytes: &[u8], number: fn([u8; 4]) -> u32) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = bytes;
    while let Some(header) = rest.get(..PACKET.1) {
        let word = |at: usize| {
            header.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, number) as usize
        };
        let (content, size) = (word(24) / 8, word(28) / 8);
        if word(0) != PACKET.0 as usize || content < PACKET.1 || size < content || size > rest.len() {
            break;
        }
        text.extend_from_slice(&rest[PACKET.1..content]);
        rest = &rest[size..];
    }
    text
}

/// Keys and values of all blocks of a name at the top level. A value keeps no quotes.
fn blocks(text: &str, wanted: &str) -> Vec<Vec<(String, String)>> {
    let mut all = Vec::new();
    let (mut depth, mut is_inside) = (0_usize, false);
    let (mut last, mut before) = (String::new(), String::new());
    let mut key: Option<String> = None;
    let mut value = String::new();
    for token in Tokens(text) {
        match token {
            "{" => {
                depth += 1;
                if depth == 1 && last == wanted && before.is_empty() {
                    is_inside = true;
                    all.push(Vec::new());
                }
                (last, before) = (String::new(), String::new());
            }
            "}" => {
                depth = depth.saturating_sub(1);
                is_inside &= depth > 0;
            }
            ";" => {
                if let (true, Some(key), Some(block)) = (is_inside && depth == 1, key.take(), all.last_mut())
                {
                    block.push((key, std::mem::take(&mut value)));
                }
                (last, before) = (String::new(), String::new());
                key = None;
                value.clear();
            }
            "=" if is_inside && depth == 1 => key = Some(std::mem::take(&mut last)),
            _ if key.is_some() => value.push_str(token.trim_matches('"')),
            _ => before = std::mem::replace(&mut last, token.to_owned()),
        }
    }
    all
}

/// Words, strings with their quotes, and single other characters; comments and white space are left out.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            self.0 = self.0.trim_start();
            self.0 = match (self.0.strip_prefix("/*"), self.0.strip_prefix("//")) {
                (Some(rest), _) => rest.split_once("*/").map_or("", |(_, rest)| rest),
                (_, Some(rest)) => rest.split_once('\n').map_or("", |(_, rest)| rest),
                _ => break,
            };
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let first = self.0.chars().next()?;
        let end = if first == '"' {
            let mut is_escaped = false;
            let closing = self.0[1..].find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            closing.map_or(self.0.len(), |at| at + 2)
        } else if is_word(first) {
            self.0.find(|c| !is_word(c)).unwrap_or(self.0.len())
        } else {
            first.len_utf8()
        };
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// A number of TSDL: decimal, hexadecimal or octal.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => i128::from_str_radix(digits, 8).ok()?,
        None => digits.parse().ok()?,
    };
    i64::try_from(sign * value).ok()
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let value = u128::from_str_radix(&digits, 16).ok()?;
    (digits.len() == 32).then(|| value.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LTTNG: &str = r#"/* CTF 1.8 */
        typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
        trace { major = 1; minor = 8; uuid = "00000000-0000-0000-0000-000000000001"; byte_order = le; };
        env { clock = "no { clock"; };
        /* clock { name = comment; }; */
        clock {
            name = "monotonic";
            uuid = "01020304-0506-0708-090a-0b0c0d0e0f10";
            description = "Monotonic; Clock }";
            freq = 1000000000; /* Frequency, in Hz */
            // clock value offset from Epoch is: offset * (1/freq)
            offset = 1764100000123456789;
        };
        typealias integer { size = 27; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
    "#;

    #[test]
    fn the_clock_of_lttng_is_read() {
        let clock = Clock::parse(LTTNG).unwrap();
        let uuid = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(clock.boot(), Some(uuid));
        assert_eq!((clock.name.as_str(), clock.offset_ns()), ("monotonic", 1_764_100_000_123_456_789));
        let mut text = String::new();
        clock.declare(&mut text);
        assert!(text.contains("map = clock.monotonic.value") && text.contains("absolute = TRUE"), "{text}");
        // What is written is read as it was.
        assert_eq!(Clock::parse(&text).unwrap(), clock);
    }

    #[test]
    fn offsets_have_seconds_signs_and_other_bases() {
        let perf = "clock { name = perf_clock; freq = 0x3B9ACA00; offset = -5; offset_s = 010; };";
        assert_eq!(Clock::parse(perf).unwrap().offset_ns(), 8_000_000_000 - 5);
    }

    #[test]
    fn a_clock_that_is_not_absolute_stays_so_and_is_of_no_known_boot() {
        let perf = "clock { name = perf_clock; uuid = \"0a0fe762-1a21-47ac-990a-fed82488fad0\"; absolute = FALSE; };";
        let clock = Clock::parse(perf).unwrap();
        assert_eq!(clock.boot(), None);
        let mut text = String::new();
        clock.declare(&mut text);
        assert!(text.contains("uuid = \"0a0fe762") && text.contains("absolute = FALSE"), "{text}");
    }

    #[test]
    fn clocks_that_cannot_be_copied_are_refused() {
        for (text, why) in [
            ("", "no clock"),
            ("clock { name = a; }; clock { name = b; };", "several clocks"),
            ("clock { name = monotonic; freq = 1000; };", "not nanoseconds"),
            ("clock { name = monotonic; offset = x; };", "no number"),
            ("clock { name = monotonic; uuid = \"12\"; };", "uuid"),
            ("clock { name = \"a b\"; };", "identifier"),
            ("clock { name = realtime; };", "not monotonic"),
        ] {
            let found = Clock::parse(text).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }

    #[test]
    fn packets_of_metadata_are_joined_and_broken_ones_end_it() {
        let mut bytes = Vec::new();
        for part in ["clock { na", "me = monotonic; };"] {
            let content = (PACKET.1 + part.len()) as u32 * 8;
            bytes.extend_from_slice(&PACKET.0.to_le_bytes());
            bytes.extend_from_slice(&[0; 20]);
            bytes.extend_from_slice(&content.to_le_bytes());
            bytes.extend_from_slice(&(content + 24).to_le_bytes());
            bytes.extend_from_slice(&[0, 0, 0, 1, 8]);
            bytes.extend_from_slice(part.as_bytes());
            bytes.extend_from_slice(&[0; 3]);
        }
        assert_eq!(unpacked(&bytes, u32::from_le_bytes), b"clock { name = monotonic; };");
        for cut in 0..bytes.len() {
            let text = unpacked(&bytes[..cut], u32::from_le_bytes);
            assert!(text.is_empty() || text == b"clock { na", "{cut}");
        }
    }
}
