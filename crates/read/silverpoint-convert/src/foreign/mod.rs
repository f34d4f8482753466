//! Records of other programs: time, level, message, who and where by the names that logging libraries use, and everything else as an argument.
//!
//! Nothing is refused for a name, and nothing is left out. A value that its name does not explain is an argument of that name.

mod expand;
mod level;
mod message;
mod names;
mod time;

use std::borrow::Cow;

use minicbor::Decoder;
use minicbor::data::Type as Item;
use silverpoint_wire::cbor::push_head;
use silverpoint_wire::layout::signature::ARGS_MAX;

pub(crate) use expand::{Expanded, expand};
use names::{How, Known, PATH_MAX, Role, Sign};

use crate::own::{Done, Fields, Member, Names, at, item_at, members};
use crate::pack::{Mismatch, Whole, mismatch, whole};
use crate::scratch::Scratch;

/// A value: where it stands in the scratch, or what was made of it.
pub(crate) enum Value {
    At(usize),
    Made(Vec<u8>),
}

/// An argument and its name, if it has one.
pub(crate) type Argument<'s> = (Option<Cow<'s, str>>, Value);

/// What became of a record.
#[derive(Default)]
pub(crate) struct Foreign<'s> {
    pub fields: Fields<'s>,
    pub arguments: Vec<Argument<'s>>,
    /// The first argument is the message.
    pub has_message: bool,
    /// An item of CBOR: the span that an OpenTelemetry record belongs to.
    pub context: Option<Vec<u8>>,
}

/// A member whose name is known.
struct Candidate<'s> {
    known: Known,
    name: &'s str,
    at: usize,
}

/// What is known of a record while its members are given their meanings.
struct Meanings<'s> {
    scratch: &'s Scratch,
    bytes: &'s [u8],
    candidates: Vec<Candidate<'s>>,
    signs: u16,
    /// Values that became something else than arguments.
    taken: Vec<usize>,
}

/// Gives each member of a record its meaning.
pub(crate) fn read<'s>(scratch: &'s Scratch, top: &[Member<'s>]) -> Done<Foreign<'s>> {
    let bytes = scratch.bytes();
    let mut meanings = Meanings { scratch, bytes, candidates: Vec::new(), signs: 0, taken: Vec::new() };
    meanings.collect(&mut Path::default(), top);
    meanings.candidates.sort_by_key(|candidate| (candidate.known.role, candidate.known.rank));
    let mut foreign = Foreign::default();
    meanings.time(&mut foreign.fields)?;
    meanings.level(&mut foreign.fields);
    meanings.who_and_where(&mut foreign.fields);
    foreign.context = meanings.context();
    meanings.message(top, &mut foreign);
    meanings.arguments(top, &mut foreign);
    Ok(foreign)
}

/// A name below names, in lower case where it is longer than a letter.
#[derive(Default)]
struct Path {
    text: String,
}

impl Path {
    /// The path of a member below this one, which is left with a call of `leave`.
    fn enter(&mut self, name: &str) -> Option<usize> {
        let before = self.text.len();
        if before + name.len() >= PATH_MAX {
            return None;
        }
        if before > 0 {
            self.text.push('.');
        }
        match name {
            "PRIORITY" => self.text.push_str(name),
            _ if name.len() == 1 => self.text.push_str(name),
            _ => self.text.extend(name.chars().map(|c| c.to_ascii_lowercase())),
        }
        Some(before)
    }

    fn leave(&mut self, before: usize) {
        self.text.truncate(before);
    }
}

impl<'s> Meanings<'s> {
    fn collect(&mut self, path: &mut Path, members: &[Member<'s>]) {
        for &(name, begin) in members {
            let Some(before) = path.enter(name) else { continue };
            self.signs |= names::sign(&path.text);
            if let Some(known) = names::known(&path.text) {
                self.candidates.push(Candidate { known, name, at: begin });
            }
            let is_map = || matches!(at(self.bytes, begin).datatype(), Ok(Item::Map | Item::MapIndef));
            if names::is_container(&path.text)
                && is_map()
                && let Ok(inner) = crate::own::members(self.bytes, begin)
            {
                self.collect(path, &inner);
            }
            path.leave(before);
        }
    }

    fn has(&self, sign: Sign) -> bool {
        self.signs & sign as u16 != 0
    }

    /// Members that may have a role, the preferred ones first.
    fn of(&self, role: Role) -> impl Iterator<Item = &Candidate<'s>> {
        self.candidates.iter().filter(move |candidate| {
            candidate.known.role == role
                && match candidate.known.how {
                    // A name that other programs use for other things.
                    How::Beside(Sign::Bunyan) => {
                        self.has(Sign::Python) || self.has(Sign::Bunyan) && self.has_level_number()
                    }
                    How::Beside(sign) => self.has(sign),
                    _ => true,
                }
        })
    }

    fn has_level_number(&self) -> bool {
        let mut levels = self.candidates.iter().filter(|candidate| candidate.name == "level");
        levels.any(|candidate| self.integer(candidate.at).is_some())
    }

    fn text(&self, begin: usize) -> Option<&'s str> {
        at(self.bytes, begin).str().ok()
    }

    fn integer(&self, begin: usize) -> Option<i64> {
        match whole(&mut at(self.bytes, begin))? {
            Whole::Unsigned(value) => i64::try_from(value).ok(),
            Whole::Signed(value) => i64::try_from(value).ok(),
        }
    }

    /// A number that fits, also as digits in quotes.
    fn number(&self, begin: usize) -> Option<u32> {
        match self.text(begin) {
            Some(text) if !text.starts_with('+') => text.parse().ok(),
            Some(_) => None,
            None => u32::try_from(self.integer(begin)?).ok(),
        }
    }

    fn time(&mut self, fields: &mut Fields<'s>) -> Done {
        let read = |candidate: &Candidate<'_>, is_small| {
            let given = match candidate.known.how {
                How::Unit(unit) => Some(unit),
                _ => None,
            };
            // An unset time of OpenTelemetry.
            if given.is_some() && self.number(candidate.at) == Some(0) {
                return None;
            }
            let exact = self.scratch.decimal_at(candidate.at);
            let (ns, is_exact) = time::read(&mut at(self.bytes, candidate.at), given, exact, is_small)?;
            Some((candidate.at, ns, is_exact))
        };
        let found = self.of(Role::Time).find_map(|candidate| read(candidate, false));
        let found = found.or_else(|| self.of(Role::Time).find_map(|candidate| read(candidate, true)));
        if let Some((begin, ns, is_exact)) = found {
            fields.time = Some(ns);
            if is_exact {
                self.taken.push(begin);
            }
            return Ok(());
        }
        let expected = "a time: a date-time, or seconds, ms, µs or ns since 1970, between 1677 and 2262";
        match self.of(Role::Time).next() {
            Some(candidate) => {
                let error = mismatch(&at(self.bytes, candidate.at), candidate.at, expected);
                Err(Mismatch { path: format!(".{}", candidate.name), ..error })
            }
            None => Err(Mismatch {
                at: 0,
                path: String::new(),
                found: "a record without `time`".into(),
                expected: "a time under `time`, `timestamp`, `ts` or another name of docs/formats.md",
            }),
        }
    }

    fn level(&mut self, fields: &mut Fields<'s>) {
        let found = self.of(Role::Level).find_map(|candidate| {
            let how = match candidate.known.how {
                How::Any | How::Beside(_) if self.has(Sign::Gelf) => How::SyslogLevel,
                how => how,
            };
            let (level, is_exact) = match self.text(candidate.at) {
                Some(text) => level::word(text, how)?,
                None => level::number(self.integer(candidate.at)?, how)?,
            };
            Some((candidate.at, level, is_exact))
        });
        let Some((begin, level, is_exact)) = found else { return };
        fields.level = Some(level);
        if is_exact {
            self.taken.push(begin);
        }
    }

    fn who_and_where(&mut self, fields: &mut Fields<'s>) {
        fields.pid = self.take_number(Role::Pid);
        fields.tid = self.take_number(Role::Tid);
        fields.process = self.take_text(Role::Process);
        fields.thread = self.take_text(Role::Thread);
        // Python's `process` and `thread` are numbers.
        if fields.pid == 0 {
            fields.pid = self.take_number(Role::Process);
        }
        if fields.tid == 0 {
            fields.tid = self.take_number(Role::Thread);
        }
        fields.category = self.take_text(Role::Category);
        fields.function = self.take_text(Role::Function);
        fields.line = self.take_number(Role::Line);
        fields.file = self.take_text(Role::File);
        // `pump.go:88`.
        if fields.line == 0
            && let Some((file, line)) = fields.file.rsplit_once(':')
            && let Some(line) = line.parse().ok().filter(|_| line.bytes().all(|b| b.is_ascii_digit()))
        {
            (fields.file, fields.line) = (file, line);
        }
    }

    /// The preferred text of a role; empty where there is none.
    fn take_text(&mut self, role: Role) -> &'s str {
        let found = self.of(role).find_map(|candidate| {
            let text = self.text(candidate.at).filter(|text| !text.is_empty() && text.len() <= 4096)?;
            Some((candidate.at, text))
        });
        let Some((begin, text)) = found else { return "" };
        self.taken.push(begin);
        text
    }

    /// The preferred number of a role; 0 where there is none.
    fn take_number(&mut self, role: Role) -> u32 {
        let is_name = matches!(role, Role::Process | Role::Thread);
        let found = self.of(role).find_map(|candidate| {
            if is_name && self.text(candidate.at).is_some() {
                return None;
            }
            Some((candidate.at, self.number(candidate.at).filter(|number| *number > 0)?))
        });
        let Some((begin, number)) = found else { return 0 };
        self.taken.push(begin);
        number
    }

    fn context(&mut self) -> Option<Vec<u8>> {
        let mut item = vec![0xBF];
        for (role, name) in [(Role::TraceId, "trace_id"), (Role::SpanId, "span_id")] {
            let found = self.of(role).find_map(|candidate| {
                let text = self.text(candidate.at)?;
                let is_id = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                is_id.then_some((candidate.at, text))
            });
            let Some((begin, text)) = found else { continue };
            self.taken.push(begin);
            for text in [name, text] {
                push_head(&mut item, 3, text.len() as u64);
                item.extend_from_slice(text.as_bytes());
            }
        }
        item.push(0xFF);
        (item.len() > 2).then_some(item)
    }

    fn message(&mut self, top: &[Member<'s>], foreign: &mut Foreign<'s>) {
        let found = self.of(Role::Message).find_map(|candidate| {
            let text = self.text(candidate.at);
            match candidate.known.how {
                How::Text => text.map(|_| (candidate.at, Value::At(candidate.at), true)),
                // The template stays an argument: the message does not give it back.
                How::Template => {
                    let filled = message::filled(self.bytes, text?, top);
                    Some((candidate.at, Value::Made(message::item(&filled)), false))
                }
                _ if self.has(Sign::Journal) => {
                    let value = message::of_journal(self.bytes, candidate.at);
                    Some((candidate.at, value.map_or(Value::At(candidate.at), Value::Made), true))
                }
                // A map of that name is none, unless nothing else is.
                _ => Some((candidate.at, Value::At(candidate.at), true)),
            }
        });
        let Some((begin, value, is_whole)) = found else { return };
        if is_whole {
            self.taken.push(begin);
        }
        foreign.has_message = true;
        foreign.arguments.push((Some(Cow::Borrowed("message")), value));
    }

    /// What has no other meaning, in the order of the record.
    fn arguments(&self, top: &[Member<'s>], foreign: &mut Foreign<'s>) {
        for &(name, begin) in top {
            if self.taken.contains(&begin) {
                continue;
            }
            let end = item_at(self.bytes, begin).map_or(begin, |item| begin + item.len());
            let is_opened = self.taken.iter().any(|taken| (begin..end).contains(taken));
            // A map that only holds the record's own members.
            let holds_fields = match name {
                "fields" | "jsonPayload" => is_opened,
                "attributes" => self.has(Sign::Otlp),
                _ => false,
            };
            if holds_fields && let Ok(inner) = members(self.bytes, begin) {
                let left = inner.into_iter().filter(|(_, begin)| !self.taken.contains(begin));
                let left = left.map(|(name, begin)| (Some(Cow::Borrowed(name)), Value::At(begin)));
                foreign.arguments.extend(left);
                continue;
            }
            let value = if is_opened {
                let mut rest = Vec::new();
                if !self.rest(begin, &mut rest) {
                    continue;
                }
                Value::Made(rest)
            } else {
                Value::At(begin)
            };
            foreign.arguments.push((Some(Cow::Borrowed(name)), value));
        }
        one_name_each(&mut foreign.arguments);
        if foreign.arguments.len() > ARGS_MAX {
            let mut item = vec![0xBF];
            for (name, value) in foreign.arguments.drain(ARGS_MAX - 1..) {
                let name = name.as_deref().unwrap_or_default();
                push_head(&mut item, 3, name.len() as u64);
                item.extend_from_slice(name.as_bytes());
                item.extend_from_slice(match &value {
                    Value::At(begin) => item_at(self.bytes, *begin).unwrap_or(&[0xF6]),
                    Value::Made(made) => made,
                });
            }
            item.push(0xFF);
            foreign.arguments.push((Some(Cow::Borrowed("more")), Value::Made(item)));
            one_name_each(&mut foreign.arguments);
        }
    }

    /// A map without what was taken out of it; false when nothing is left.
    fn rest(&self, begin: usize, out: &mut Vec<u8>) -> bool {
        let Ok(inner) = members(self.bytes, begin) else { return false };
        out.push(0xBF);
        let mut is_something = false;
        for (name, begin) in inner {
            if self.taken.contains(&begin) {
                continue;
            }
            let Some(item) = item_at(self.bytes, begin) else { continue };
            let start = out.len();
            push_head(out, 3, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
            let is_left = if self.taken.iter().any(|taken| (begin..begin + item.len()).contains(taken)) {
                self.rest(begin, out)
            } else {
                out.extend_from_slice(item);
                true
            };
            if !is_left {
                out.truncate(start);
            }
            is_something |= is_left;
        }
        out.push(0xFF);
        is_something
    }
}

/// Readers look for arguments by name: a name that is taken gets a number.
fn one_name_each(arguments: &mut [Argument<'_>]) {
    let mut names = Names::default();
    for (name, _) in arguments {
        let Some(known) = name.as_deref() else { continue };
        if let Cow::Owned(other) = names.add(known) {
            *name = Some(Cow::Owned(other));
        }
    }
}

/// A decoder of an argument.
pub(crate) fn decoder<'v>(bytes: &'v [u8], value: &'v Value) -> Decoder<'v> {
    match value {
        Value::At(begin) => at(bytes, *begin),
        Value::Made(made) => at(made, 0),
    }
}

/// Bytes of a name that may be known.
const NAME_MOST: usize = 64;

/// Whether a member of this name may be the time.
pub(crate) fn is_time(name: &str) -> bool {
    // (A name may be as long as its input: none of those that are known is.)
    name.len() <= NAME_MOST
        && names::known(&name.to_ascii_lowercase()).is_some_and(|known| known.role == Role::Time)
}
