//! The text form of the kernel's trace, with the messages of Android's ATrace, as systrace, Perfetto, Catapult and `trace-cmd`'s readers know it. Written only:
//! `docs/formats.md` says what is left out.
//!
//! ```text
//!           worker-17      (     12) [000] ..... 1700000000.123456: tracing_mark_write: B|12|load, path=a.txt
//! ```
//!
//! What [`silverpoint-atrace`] recorded into a ring becomes what it would have written to `trace_marker`, to the byte.
//!
//! [`silverpoint-atrace`]: ../../../../docs/guide/atrace.md

use std::collections::HashSet;
use std::io::{self, Write};
use std::rc::Rc;

use silverpoint_render::json::{Stack, push_plain};
use silverpoint_render::{Renderer, text};
use silverpoint_trace::{Site, What};
use silverpoint_wire::level::Kind;

use crate::nesting::Nesting;
use crate::waiting::Waiting;
use crate::{Record, WriteError, Writer, atrace};

/// Bytes of a message at most: what Android writes.
const MOST: usize = 1023;
/// Bytes of a track's name at most, in all of its messages.
const TRACK: usize = 900;
/// Bytes that a number takes behind names, with what stands before it.
const NUMBER: usize = 21;
/// Most open intervals on tracks whose ends are written as such.
const TRACKS_MOST: usize = 1 << 16;

/// What readers know the form by.
const HEAD: &str = "# tracer: nop\n#\n#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |           |       |   |||||     |         |\n";

/// Writes lines.
pub struct SystraceWriter<W> {
    out: W,
    text: String,
    stack: Stack,
    renderer: Renderer,
    /// Name and fields of the record at hand.
    name: String,
    value: String,
    /// Stretches on tracks that have begun: process, tag, track, id.
    tracks: HashSet<(u32, String, String, String)>,
    /// Names of spans that are open.
    /// Names of spans that are open, and of their threads.
    spans: Nesting<(Rc<str>, Rc<str>)>,
}

impl<W: Write> SystraceWriter<W> {
    /// Begins the text.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: HEAD.to_owned(),
            stack: Stack::default(),
            renderer: Renderer::new(),
            name: String::new(),
            value: String::new(),
            tracks: HashSet::new(),
            spans: Nesting::default(),
        }
    }

    /// A line: who, when, and the message: letter, process, names, number.
    fn line(&mut self, record: &Record<'_>, letter: char, names: &[&str], number: Option<&str>) {
        use std::fmt::Write;
        let pid = record.pid;
        let tid = if record.tid == 0 { pid } else { record.tid };
        let task = match (record.thread, record.process) {
            ("", "" | "?") => "<...>",
            ("", process) => process,
            (thread, _) => thread,
        };
        let (before, ns) = (record.wall_ns < 0, record.wall_ns.unsigned_abs());
        let sign = if before { "-" } else { "" };
        let mut safe = String::new();
        push_safe(&mut safe, task, usize::MAX);
        let _ = write!(
            self.text,
            "{safe:>16}-{tid:<7} ({pid:>7}) [000] ..... {sign}{}.{:06}: tracing_mark_write: ",
            ns / 1_000_000_000,
            ns % 1_000_000_000 / 1000
        );
        let start = self.text.len();
        let _ = write!(self.text, "{letter}|{pid}");
        for (place, name) in names.iter().enumerate() {
            self.text.push('|');
            let used = self.text.len() - start + if number.is_some() { NUMBER } else { 0 };
            let left = MOST.saturating_sub(used + names.len() - place - 1);
            let is_track = place == 0 && matches!(letter, 'G' | 'H' | 'N');
            push_safe(&mut self.text, name, if is_track { left.min(TRACK) } else { left });
        }
        if let Some(number) = number {
            self.text.push('|');
            push_safe(&mut self.text, number, usize::MAX);
        }
        self.text.push('\n');
    }

    /// Puts an argument into `value`, as text. Gives where the next one begins.
    fn value(&mut self, site: &Site, index: usize, args: &[u8], at: Option<usize>) -> Option<usize> {
        self.value.clear();
        let ty = site.types.get(index)?;
        push_plain(&mut self.value, &mut self.stack, ty, args, at?)
    }

    /// Puts the name into `name`, and the arguments from number `from` on: `name, key=value, …`.
    fn name_with_fields(&mut self, site: &Site, args: &[u8], from: usize) {
        self.name.clear();
        self.name.push_str(&site.description.template);
        let mut at = Some(0);
        for index in 0..site.types.len() {
            at = self.value(site, index, args, at);
            if index < from {
                continue;
            }
            self.name.push_str(", ");
            match site.names.get(index) {
                Some(name) => self.name.push_str(name),
                None => self.name.push_str(itoa::Buffer::new().format(index)),
            }
            self.name.push('=');
            self.name.push_str(if at.is_some() { &self.value } else { "?" });
        }
    }

    fn record(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) {
        let kind = site.kind();
        let named = atrace::named(site, args, &mut self.stack);
        let (site, args) = named.as_ref().map_or((site, args), |(site, args)| (site, *args));
        if let (Kind::Span, What::Record { site_number, .. }) = (kind, record.what) {
            let names = (site.description.template.as_str().into(), record.thread.into());
            self.spans.begin(record, site_number, names);
        }
        if atrace::is_call(site) && self.atrace(record, site, args) {
            return;
        }
        match kind {
            Kind::Counter => return self.counter(record, site, args),
            Kind::Log | Kind::Stream => {
                self.name.clear();
                let _ = self.renderer.message(&mut self.name, site, args);
            }
            Kind::AsyncBegin => self.name_with_fields(site, args, 1),
            // Begin and end belong together by their names.
            Kind::AsyncEnd => self.name.clone_from(&site.description.template),
            _ => self.name_with_fields(site, args, 0),
        }
        let name = std::mem::take(&mut self.name);
        match kind {
            Kind::Span => self.line(record, 'B', &[&name], None),
            Kind::AsyncBegin | Kind::AsyncEnd => {
                let _ = self.value(site, 0, args, Some(0));
                let id = std::mem::take(&mut self.value);
                let letter = if kind == Kind::AsyncBegin { 'S' } else { 'F' };
                let own = &site.description.template;
                self.line(record, letter, &[own], Some(&id));
                if kind == Kind::AsyncBegin && name != *own {
                    self.line(record, 'I', &[&name], None);
                }
                self.value = id;
            }
            _ => self.line(record, 'I', &[&name], None),
        }
        self.name = name;
    }

    /// A line for each number.
    fn counter(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) {
        let mut at = Some(0);
        for index in 0..site.types.len() {
            at = self.value(site, index, args, at);
            if at.is_none() || self.value.parse::<f64>().is_err() {
                continue;
            }
            self.name.clear();
            self.name.push_str(&site.description.template);
            if site.types.len() > 1 {
                self.name.push('.');
                match site.names.get(index) {
                    Some(name) => self.name.push_str(name),
                    None => self.name.push_str(itoa::Buffer::new().format(index)),
                }
            }
            let (name, value) = (std::mem::take(&mut self.name), std::mem::take(&mut self.value));
            self.line(record, 'C', &[&name], Some(&value));
            (self.name, self.value) = (name, value);
        }
    }

    /// A call of ATrace: the message that the kernel would have been given. False: it is none.
    fn atrace(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) -> bool {
        let mut values = Vec::new();
        let mut at = Some(0);
        for index in 0..site.types.len() {
            at = self.value(site, index, args, at);
            if at.is_none() {
                return false;
            }
            values.push(std::mem::take(&mut self.value));
        }
        let name = site.description.template.clone();
        // A cookie has 32 bits with a sign.
        let cookie = |id: &String| match id.parse::<u32>() {
            Ok(id) => id.cast_signed().to_string(),
            Err(_) => id.clone(),
        };
        match (site.kind(), values.as_slice()) {
            (Kind::Span, []) => self.line(record, 'B', &[&name], None),
            (Kind::Instant, []) => self.line(record, 'I', &[&name], None),
            (Kind::Instant, [track]) => self.line(record, 'N', &[track, &name], None),
            (Kind::Counter, [value]) => self.line(record, 'C', &[&name], Some(value)),
            (Kind::AsyncBegin, [id]) => self.line(record, 'S', &[&name], Some(&cookie(id))),
            (Kind::AsyncBegin, [id, within]) => {
                self.line(record, 'G', &[&name, within], Some(&cookie(id)));
                if self.tracks.len() < TRACKS_MOST {
                    let tag = site.description.category.clone();
                    self.tracks.insert((record.pid, tag, name, id.clone()));
                }
            }
            (Kind::AsyncEnd, [id]) => {
                let key = (record.pid, site.description.category.clone(), name, id.clone());
                let letter = if self.tracks.remove(&key) { 'H' } else { 'F' };
                self.line(record, letter, &[&key.2], Some(&cookie(id)));
            }
            _ => return false,
        }
        true
    }
}

/// What would end a name or a line is made harmless: `|` becomes `/`, a control character a space.
fn push_safe(out: &mut String, name: &str, most: usize) {
    let name = &name[..name.floor_char_boundary(most)];
    out.extend(name.chars().map(|character| match character {
        '|' => '/',
        '\0'..='\x1f' | '\x7f' => ' ',
        character => character,
    }));
}

impl<W: Write> Writer for SystraceWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        match record.what {
            What::Record { site, args, .. } => self.record(record, site, args),
            What::SpanEnd { site, site_number, .. } => {
                let end = self.spans.end(record, site_number);
                // It is shown in the thread of its begin.
                let thread = end.ends.first().map_or(record.thread, |(_, thread)| thread);
                let record = &Record { tid: end.tid, thread, ..*record };
                if end.is_moment {
                    let name = site.map_or("span", |site| &site.description.template);
                    self.line(record, 'I', &[&format!("{name} done")], None);
                } else {
                    (0..end.ends.len().max(1)).for_each(|_| self.line(record, 'E', &[], None));
                }
                end.again.iter().for_each(|(name, _)| self.line(record, 'B', &[name], None));
            }
            What::Loss { .. } | What::Stall { .. } | What::Unknown { .. } => {
                if matches!(record.what, What::Loss { .. }) {
                    self.spans.lost(record);
                }
                self.name.clear();
                text::say(&mut self.renderer, &mut self.name, &record.what, record.thread);
                let name = std::mem::take(&mut self.name);
                self.line(record, 'I', &[&name], None);
                self.name = name;
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
        }
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.text.end(&mut self.out)
    }
}
