//! Ids that join what several programs do for one request: the W3C Trace Context (<https://www.w3.org/TR/trace-context/>), in and out.
//!
//! ```text
//!  traceparent, tracestate of a request ─▶ TraceContext::accept ─▶ enter ─▶ fields trace_id, span_id, parent_id of all records inside
//!                                          TraceContext::current ─▶ header, state: for a request to somebody else
//! ```
//!
//! The ids are fields of the thread's context like any other: what takes a context along takes them along.

use std::fmt;
use std::str::FromStr;

use silverpoint_wire::cbor::{Head, INDEFINITE, head_at};

use crate::platform::owner;

use crate::context::{ContextScope, Fields};

/// Bytes of a `traceparent` of version 00: version, trace id, parent id, flags.
const LEN: usize = 2 + 1 + 32 + 1 + 16 + 1 + 2;
/// A longer `tracestate` is not passed on: it would take the room of the context's other fields.
const STATE_MAX: usize = 512;
/// Flags that have a meaning: *sampled*, and *random trace id*.
const FLAGS: u8 = 3;
const SAMPLED: u8 = 1;
/// Nesting of items that are passed over.
const MAX_DEPTH: u32 = 40;

/// A trace and a span in it.
///
/// ```
/// use silverpoint::{TraceContext, info};
///
/// # let (traceparent, tracestate) = (Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), None);
/// // A request comes in: a span of its own in the caller's trace, or a new trace.
/// let _scope = TraceContext::accept(traceparent, tracestate).enter();
/// info!("got it"); // has trace_id, span_id and parent_id
/// // One goes out: the receiver's parent is the span that is open here.
/// let outgoing = TraceContext::current().map(|trace| trace.header());
/// # assert!(outgoing.unwrap().starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    parent_id: Option<[u8; 8]>,
    flags: u8,
    state: String,
}

/// What is wrong with a `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContextError {
    /// Offset of the mistake in the text.
    pub at: usize,
    /// What stands there, or does not.
    pub what: &'static str,
}

impl fmt::Display for TraceContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "traceparent, byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for TraceContextError {}

impl TraceContext {
    /// A new trace with its first span, sampled. Costs a system call, as every new span does.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let trace_id = non_zero(owner::random_bytes);
        Self { trace_id, span_id: new_span(), parent_id: None, flags: FLAGS, state: String::new() }
    }

    /// Reads a `traceparent`: the caller's span. Versions later than 00 are read as far as 00 goes.
    ///
    /// # Errors
    /// An invalid text; it has no other effect.
    pub fn parse(traceparent: &str) -> Result<Self, TraceContextError> {
        let text = traceparent.as_bytes();
        let error = |at, what| Err(TraceContextError { at, what });
        if text.len() < LEN {
            return error(text.len(), "it ends early");
        }
        for at in [2, 35, 52] {
            if text[at] != b'-' {
                return error(at, "a hyphen is expected");
            }
        }
        let mut version = [0; 1];
        let (mut trace_id, mut span_id, mut flags) = ([0; 16], [0; 8], [0; 1]);
        read_hex(text, 0, &mut version)?;
        read_hex(text, 3, &mut trace_id)?;
        read_hex(text, 36, &mut span_id)?;
        read_hex(text, 53, &mut flags)?;
        match (version[0], text.get(LEN)) {
            (0xFF, _) => return error(0, "there is no version ff"),
            (0, Some(_)) => return error(LEN, "version 00 ends before"),
            (_, None | Some(b'-')) => {}
            (_, Some(_)) => return error(LEN, "a hyphen is expected"),
        }
        if trace_id == [0; 16] {
            return error(3, "the trace id is zero");
        }
        if span_id == [0; 8] {
            return error(36, "the parent id is zero");
        }
        Ok(Self { trace_id, span_id, parent_id: None, flags: flags[0] & FLAGS, state: String::new() })
    }

    /// For a request that comes in: a new span in the caller's trace when `traceparent` is one, else a new trace. A `tracestate` without a `traceparent` means
    /// nothing.
    pub fn accept(traceparent: Option<&str>, tracestate: Option<&str>) -> Self {
        match traceparent.map(Self::parse) {
            Some(Ok(caller)) => caller.with_state(tracestate.unwrap_or("")).child(),
            _ => Self::new(),
        }
    }

    /// With a `tracestate`, which is passed on as it is. One of more than 512 bytes, or that is not printable ASCII, is dropped.
    #[must_use]
    pub fn with_state(mut self, tracestate: &str) -> Self {
        let is_kept = tracestate.len() <= STATE_MAX && tracestate.bytes().all(|b| matches!(b, b' '..=b'~'));
        tracestate[..if is_kept { tracestate.len() } else { 0 }].clone_into(&mut self.state);
        self
    }

    /// A new span within this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { span_id: new_span(), parent_id: Some(self.span_id), ..self.clone() }
    }

    /// That of the innermost scope of this thread which has one: entered here, or taken along from another thread.
    pub fn current() -> Option<Self> {
        owner::with_context(|pairs, _| from_pairs(pairs))
    }

    /// Attaches `trace_id`, `span_id` and `parent_id` to all records of this thread until the scope ends; `trace_flags` and `tracestate` where there are any.
    pub fn enter(&self) -> ContextScope {
        let outer = Self::current();
        let mut fields = Fields::new();
        fields.add("trace_id", hex(&self.trace_id, &mut [0; 32]));
        fields.add("span_id", hex(&self.span_id, &mut [0; 16]));
        // What an outer trace has said must not show through.
        let has_parent = outer.as_ref().is_some_and(|outer| outer.parent_id.is_some());
        match &self.parent_id {
            Some(parent) => fields.add("parent_id", hex(parent, &mut [0; 16])),
            None if has_parent => fields.add("parent_id", &None::<&str>),
            None => {}
        }
        if self.flags != 0 || outer.as_ref().is_some_and(|outer| outer.flags != 0) {
            fields.add("trace_flags", hex(&[self.flags], &mut [0; 2]));
        }
        if !self.state.is_empty() || outer.is_some_and(|outer| !outer.state.is_empty()) {
            fields.add("tracestate", self.state.as_str());
        }
        fields.enter()
    }

    /// The `traceparent` of a request to somebody else: its parent is this span.
    pub fn header(&self) -> String {
        let (mut trace_id, mut span_id) = ([0; 32], [0; 16]);
        format!(
            "00-{}-{}-{:02x}",
            hex(&self.trace_id, &mut trace_id),
            hex(&self.span_id, &mut span_id),
            self.flags
        )
    }

    /// The `tracestate` that goes with it; may be empty: then none is sent.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// The trace's id: 128 bits, the first byte first.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span's id.
    pub fn span_id(&self) -> [u8; 8] {
        self.span_id
    }

    /// The id of the span that this one is within.
    pub fn parent_id(&self) -> Option<[u8; 8]> {
        self.parent_id
    }

    /// Whether the caller says that it records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl FromStr for TraceContext {
    type Err = TraceContextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header())
    }
}

fn new_span() -> [u8; 8] {
    non_zero(owner::random_bytes)
}

/// Zero is no id.
fn non_zero<const N: usize>(random: fn() -> [u8; N]) -> [u8; N] {
    let mut bytes = random();
    if bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

fn hex<'t>(bytes: &[u8], text: &'t mut [u8]) -> &'t str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (byte, digits) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    std::str::from_utf8(text).unwrap_or_default()
}

/// Small hexadecimal digits, as the recommendation has it.
fn read_hex(text: &[u8], begin: usize, to: &mut [u8]) -> Result<(), TraceContextError> {
    for (at, byte) in to.iter_mut().enumerate() {
        *byte = 0;
        for at in [begin + 2 * at, begin + 2 * at + 1] {
            let digit = match text.get(at) {
                Some(digit @ b'0'..=b'9') => digit - b'0',
                Some(digit @ b'a'..=b'f') => digit - b'a' + 10,
                _ => return Err(TraceContextError { at, what: "a digit is expected: 0 to 9, a to f" }),
            };
            *byte = *byte << 4 | digit;
        }
    }
    Ok(())
}

/// Finds the ids among the fields of a thread's scopes.
fn from_pairs(pairs: &[u8]) -> Option<TraceContext> {
    let mut found: Option<TraceContext> = None;
    let mut at = 0;
    while at < pairs.len() {
        let (name, after) = text_at(pairs, at)?;
        let end = end_of_item(pairs, after, 0)?;
        let value = text_at(pairs, after).map(|(text, _)| text);
        fn id<const N: usize>(value: Option<&[u8]>) -> Option<[u8; N]> {
            let mut id = [0; N];
            let value = value.filter(|value| value.len() == 2 * N)?;
            read_hex(value, 0, &mut id).ok().map(|()| id)
        }
        match name {
            // The statements of an outer trace no longer hold.
            b"trace_id" => {
                found = id(value).map(|trace_id| TraceContext {
                    trace_id,
                    span_id: [0; 8],
                    parent_id: None,
                    flags: 0,
                    state: String::new(),
                });
            }
            b"span_id" => {
                if let (Some(found), Some(span_id)) = (&mut found, id(value)) {
                    found.span_id = span_id;
                }
            }
            b"parent_id" => {
                if let Some(found) = &mut found {
                    found.parent_id = id(value);
                }
            }
            b"trace_flags" => {
                if let (Some(found), Some([flags])) = (&mut found, id(value)) {
                    found.flags = flags & FLAGS;
                }
            }
            b"tracestate" => {
                if let (Some(found), Some(Ok(state))) = (&mut found, value.map(std::str::from_utf8)) {
                    state.clone_into(&mut found.state);
                }
            }
            _ => {}
        }
        at = end;
    }
    found.filter(|found| found.span_id != [0; 8])
}

/// The text that begins there, and where it ends.
fn text_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (head, after) = head_at(bytes, at).ok()?;
    let end = after.checked_add(usize::try_from(head.number).ok()?)?;
    (head.major == 3 && head.info != INDEFINITE).then_some((bytes.get(after..end)?, end))
}

/// Where an item of CBOR ends.
fn end_of_item(bytes: &[u8], at: usize, depth: u32) -> Option<usize> {
    let (Head { major, info, number }, after) = head_at(bytes, at).ok()?;
    if depth > MAX_DEPTH {
        return None;
    }
    let number = (info != INDEFINITE).then_some(number);
    let items = match (major, number) {
        (0 | 1, Some(_)) | (7, Some(_)) => return Some(after),
        (2 | 3, Some(number)) => {
            let end = after.checked_add(usize::try_from(number).ok()?)?;
            return (end <= bytes.len()).then_some(end);
        }
        (4, Some(number)) => Some(number),
        (5, Some(number)) => Some(number.checked_mul(2)?),
        (6, Some(_)) => Some(1),
        (2..=5, None) => None,
        _ => return None,
    };
    let mut at = after;
    let mut left = items;
    loop {
        match &mut left {
            Some(0) => return Some(at),
            Some(left) => *left -= 1,
            None if bytes.get(at) == Some(&0xFF) => return Some(at + 1),
            None => {}
        }
        at = end_of_item(bytes, at, depth + 1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_written() {
        let trace = TraceContext::parse(HEADER).unwrap();
        assert_eq!(trace.header(), HEADER);
        assert!(trace.is_sampled() && trace.parent_id().is_none());
        let child = trace.child();
        assert_eq!((child.trace_id(), child.parent_id()), (trace.trace_id(), Some(trace.span_id())));
        assert_ne!(child.span_id(), trace.span_id());
        assert_eq!(TraceContext::parse(&child.header()).unwrap().span_id(), child.span_id());
        let unsampled = TraceContext::parse(&HEADER.replace("-01", "-00")).unwrap();
        assert!(!unsampled.is_sampled());
        // Of a later version what is known; flags without a meaning are not passed on.
        let later =
            TraceContext::parse(&format!("cc{}-what comes", &HEADER[2..].replace("-01", "-fd"))).unwrap();
        assert_eq!(later.header(), HEADER);
        assert!(TraceContext::parse(&TraceContext::new().header()).unwrap().is_sampled());
    }

    #[test]
    fn whatever_is_no_traceparent_is_refused() {
        for cut in 0..HEADER.len() {
            assert_eq!(TraceContext::parse(&HEADER[..cut]).unwrap_err().at, cut);
        }
        for at in 0..HEADER.len() {
            for bad in ["g", "A", " ", "-", "\0", "é"] {
                let text = format!("{}{bad}{}", &HEADER[..at], &HEADER[at + 1..]);
                let is_same = text == HEADER;
                assert_eq!(TraceContext::parse(&text).is_ok(), is_same, "{text}");
            }
        }
        for (text, at) in [
            (format!("{HEADER}-"), 55),
            (format!("{HEADER}0"), 55),
            (format!("01{}x", &HEADER[2..]), 55),
            (format!("ff{}", &HEADER[2..]), 0),
            (HEADER.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)), 3),
            (HEADER.replace("00f067aa0ba902b7", &"0".repeat(16)), 36),
        ] {
            assert_eq!(TraceContext::parse(&text).unwrap_err().at, at, "{text}");
        }
        let error = TraceContext::parse("").unwrap_err().to_string();
        assert_eq!(error, "traceparent, byte 0: it ends early");
    }

    #[test]
    fn a_request_that_brings_nonsense_begins_a_trace() {
        let accepted = TraceContext::accept(Some(HEADER), Some("a=1,b=2"));
        assert_eq!(
            (accepted.state(), accepted.header()[..36].to_owned()),
            ("a=1,b=2", HEADER[..36].to_owned())
        );
        assert_eq!(accepted.parent_id(), Some(TraceContext::parse(HEADER).unwrap().span_id()));
        for traceparent in [None, Some(""), Some("00-zz")] {
            let new = TraceContext::accept(traceparent, Some("a=1"));
            assert_eq!((new.state(), new.parent_id()), ("", None));
        }
        let long = "x".repeat(513);
        for state in [long.as_str(), "a=\n", "a=ü"] {
            assert_eq!(TraceContext::accept(Some(HEADER), Some(state)).state(), "");
        }
    }

    #[test]
    fn the_innermost_trace_is_found_among_the_fields() {
        let pairs = |parts: &[&[u8]]| parts.concat();
        let trace =
            b"\x68trace_id\x78\x204bf92f3577b34da6a3ce929d0e0e4736\x67span_id\x7000f067aa0ba902b7".as_slice();
        let other = b"\x65other\xBF\x61x\x9F\x01\xFF\x61y\xC1\xFB\0\0\0\0\0\0\0\0\xFF".as_slice();
        let parent = b"\x69parent_id\x700000000000000001".as_slice();
        let found = from_pairs(&pairs(&[other, trace, parent, b"\x6Btrace_flags\x6201", other])).unwrap();
        assert_eq!(found.header(), HEADER);
        assert_eq!(found.parent_id(), Some([0, 0, 0, 0, 0, 0, 0, 1]));
        let inner = from_pairs(&pairs(&[
            trace,
            parent,
            b"\x68trace_id\x78\x20",
            &[b'a'; 32],
            b"\x67span_id\x70",
            &[b'b'; 16],
        ]))
        .unwrap();
        assert_eq!((inner.trace_id(), inner.span_id(), inner.parent_id()), ([0xAA; 16], [0xBB; 8], None));
        assert_eq!(from_pairs(other), None);
        let whole = pairs(&[other, trace, parent]);
        for cut in 0..whole.len() {
            let _ = from_pairs(&whole[..cut]);
        }
        assert_eq!(from_pairs(&[0x61, b'x'].iter().copied().chain([0x81; 100]).collect::<Vec<_>>()), None);
    }
}
