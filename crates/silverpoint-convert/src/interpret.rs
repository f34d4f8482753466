//! What a parser put into the scratch, as a record: the way back of `document`. Records of other programs are taken as far as they go:
//! a date-time, a level, a message, and all other fields as arguments.

use std::collections::HashMap;

use minicbor::Decoder;
use minicbor::data::Type as Item;
use silverpoint_formats::Context;
use silverpoint_formats::site::Site;
use silverpoint_formats::tracefile::Kept;
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::fast::{Cursor, Dialect, Happened, Memo, Outcome};
use crate::pack::{Mismatch, Whole, goes_on, mismatch, octets, pack, skip, time, whole};
use crate::scratch::Scratch;
use crate::{Input, Process, ReadError, Record};

/// Bytes of descriptions of sites and processes that one input may have.
const DESCRIBED_MAX: usize = 256 << 20;

/// The record that was read last, and the sites and processes of all. A reader of somebody's own format needs this, a [`Scratch`], and a parser that fills it.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Number of the input: the upper half of the numbers of its sites and processes.
    input: usize,
    sites: Vec<Site>,
    by_key: HashMap<Vec<u8>, usize>,
    processes: Vec<Process>,
    by_process: HashMap<Process, usize>,
    described: usize,
    key: Vec<u8>,
    process: Process,
    /// Records accepted or refused.
    count: u64,
    current: Option<Current>,
    thread: String,
    args: Vec<u8>,
    context: Option<Context>,
    signature: String,
    /// The level of the record, as its site has it.
    level: Option<Level>,
    memo: Memo,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    wall_ns: i64,
    ticks: Option<u64>,
    process: usize,
    tid: u32,
    is_backtrace: bool,
    what: Kept,
}

/// The fields of a record, as they stand in the scratch.
#[derive(Default)]
struct Fields<'s> {
    time: Option<i64>,
    ticks: Option<u64>,
    level: Option<Level>,
    process: &'s str,
    pid: u32,
    tid: u32,
    thread: &'s str,
    category: &'s str,
    file: &'s str,
    line: u32,
    function: &'s str,
    kind: Option<&'s str>,
    of: Option<&'s str>,
    template: Option<&'s str>,
    signature: Option<&'s str>,
    names: Option<&'s str>,
    flags: u16,
    language: u16,
    message: Option<usize>,
    args: Option<usize>,
    raw: Option<Vec<u8>>,
    context: Option<usize>,
    truncated: bool,
    is_backtrace: bool,
    duration_ns: Option<u64>,
    span_ns: u64,
    cause: u8,
    count: u64,
    site: u32,
    /// Names and places of fields that have no meaning here.
    others: Vec<(&'s str, usize)>,
}

type Done<T = ()> = Result<T, Mismatch>;

impl Parsed {
    /// For the input of this number.
    pub fn new(input: u32) -> Self {
        Self { input: (input as usize) << 32, ..Self::default() }
    }

    /// The record that was accepted last.
    pub fn record(&self) -> Option<Record<'_>> {
        let current = self.current.as_ref()?;
        let what = current.what.what(&self.sites, self.input, &self.args)?;
        Some(Record {
            wall_ns: current.wall_ns,
            ticks: current.ticks,
            process: &self.processes[current.process],
            process_number: self.input | current.process,
            tid: current.tid,
            thread: &self.thread,
            context: self.context.as_ref(),
            is_backtrace: current.is_backtrace,
            what,
        })
    }

    /// There is no record any more.
    pub fn clear(&mut self) {
        self.current = None;
    }

    /// Number of the next record, from 0.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A record was passed over.
    pub fn pass_over(&mut self) {
        self.count += 1;
        self.current = None;
    }

    /// Reads a record that looks like earlier ones from what is at hand of the input; false when it must go the long way, from where the input still stands.
    #[inline]
    pub(crate) fn read_known<D: Dialect>(&mut self, input: &mut Input) -> bool {
        let mut cursor = Cursor { bytes: input.at_hand(), at: 0 };
        let Some(outcome) = self.memo.read::<D>(&mut cursor, &mut self.args, &mut self.thread) else {
            return false;
        };
        input.pass(cursor.at);
        self.count += 1;
        self.context = None;
        self.current = Some(Current {
            wall_ns: outcome.wall_ns,
            ticks: outcome.ticks,
            process: outcome.process,
            tid: outcome.tid,
            is_backtrace: false,
            what: match outcome.what {
                Happened::Record { site } => Kept::Record { site, truncated: false },
                Happened::SpanEnd { site, duration_ns } => {
                    Kept::SpanEnd { site, begin_ticks: 0, duration_ns: Some(duration_ns) }
                }
            },
        });
        true
    }

    /// Learns from the record that was accepted last, which the input has had since this offset.
    pub(crate) fn learn<D: Dialect>(&mut self, input: &Input, from: u64) {
        let Some(current) = self.current.filter(|_| self.memo.is_willing()) else { return };
        let what = match current.what {
            Kept::Record { site, truncated: false } => Happened::Record { site },
            Kept::SpanEnd { site, duration_ns: Some(duration_ns), .. } => {
                Happened::SpanEnd { site, duration_ns }
            }
            _ => return,
        };
        let site = match what {
            Happened::Record { site } => Some(site),
            Happened::SpanEnd { site, .. } => site,
        };
        let Some(bytes) = input.since(from) else { return };
        let outcome = Outcome {
            wall_ns: current.wall_ns,
            ticks: current.ticks,
            process: current.process,
            tid: current.tid,
            level: self.level.unwrap_or(Level::Info),
            what,
        };
        self.memo.learn::<D>(bytes, &outcome, &self.thread, site.map(|site| &self.sites[site]));
    }

    /// Takes what the scratch holds as the next record.
    ///
    /// # Errors
    /// What is not as it should be; it may be passed over.
    pub fn accept(&mut self, scratch: &Scratch) -> Result<(), ReadError> {
        self.current = None;
        self.count += 1;
        self.interpret(scratch.bytes()).map_err(|error| {
            let place = scratch.place_of(error.at);
            let path = format!("[{}]{}", self.count - 1, error.path);
            ReadError { path, ..ReadError::new(place, error.found, error.expected) }.passable()
        })
    }

    fn interpret(&mut self, bytes: &[u8]) -> Done {
        let mut items = Decoder::new(bytes);
        let fields = fields(&mut items)?;
        let Some(wall_ns) = fields.time else {
            return Err(Mismatch {
                at: 0,
                path: String::new(),
                found: "a record without `time`".into(),
                expected: "a date-time of RFC 3339 under `time`",
            });
        };
        self.args.clear();
        self.level = fields.level;
        let what = match fields.kind {
            Some("loss") => Kept::Loss { cause: fields.cause, count: fields.count, span_ns: fields.span_ns },
            Some("stall") => {
                Kept::Stall { cause: fields.cause, duration_ns: fields.duration_ns.unwrap_or(0) }
            }
            Some("unknown") => {
                self.args.extend_from_slice(fields.raw.as_deref().unwrap_or_default());
                Kept::Unknown { site_id: fields.site }
            }
            Some("span_end") => {
                let is_described = fields.template.is_some();
                let site = match is_described {
                    true => Some(self.site(
                        &fields,
                        Kind::Span,
                        fields.names.unwrap_or(""),
                        fields.signature.unwrap_or(""),
                    )?),
                    false => None,
                };
                Kept::SpanEnd { site, begin_ticks: 0, duration_ns: fields.duration_ns }
            }
            _ => Kept::Record { site: self.arguments(&fields, bytes)?, truncated: fields.truncated },
        };
        self.context = fields.context.and_then(|at| context(bytes, at));
        self.thread.clear();
        self.thread.push_str(fields.thread);
        self.process.name.clear();
        self.process.name.push_str(if fields.process.is_empty() { "?" } else { fields.process });
        self.process.pid = fields.pid;
        let process = match self.by_process.get(&self.process) {
            Some(process) => *process,
            None => {
                self.describe(self.process.name.len() + 64)?;
                self.processes.push(self.process.clone());
                self.by_process.insert(self.process.clone(), self.processes.len() - 1);
                self.processes.len() - 1
            }
        };
        self.current = Some(Current {
            wall_ns,
            ticks: fields.ticks,
            process,
            tid: fields.tid,
            is_backtrace: fields.is_backtrace,
            what,
        });
        Ok(())
    }

    fn describe(&mut self, bytes: usize) -> Done {
        self.described = self.described.saturating_add(bytes);
        if self.described <= DESCRIBED_MAX {
            return Ok(());
        }
        Err(Mismatch {
            at: 0,
            path: String::new(),
            found: "more than 256 MiB of different sites and processes".into(),
            expected: "a trace, whose records come from few sites",
        })
    }

    /// The site of a record, its arguments packed.
    fn arguments(&mut self, fields: &Fields<'_>, bytes: &[u8]) -> Done<usize> {
        let kind = match fields.kind {
            Some(name) => Kind::from_name(name).ok_or_else(|| Mismatch {
                at: 0,
                path: ".kind".into(),
                found: format!("the text {name:?}"),
                expected: "the kind of a record",
            })?,
            None => Kind::Log,
        };
        let mut names = String::new();
        let mut starts: Vec<usize> = Vec::new();
        if let Some(at) = fields.args {
            argument_starts(bytes, at, &mut names, &mut starts)?;
        } else if fields.template.is_none() && fields.raw.is_none() {
            // Another program's record.
            if let Some(at) = fields.message {
                names.push_str("message\n");
                starts.push(at);
            }
            for (name, at) in &fields.others {
                names.extend(name.chars().map(|c| if c == '\n' { ' ' } else { c }));
                names.push('\n');
                starts.push(*at);
            }
            if starts.len() > silverpoint_wire::layout::signature::ARGS_MAX {
                return Err(mismatch(&Decoder::new(bytes), 0, "at most 255 fields"));
            }
        }
        let names = fields.names.unwrap_or(&names);
        let mut inferred = std::mem::take(&mut self.signature);
        let signature = match fields.signature {
            Some(signature) => signature,
            None => {
                inferred.clear();
                starts.iter().for_each(|at| inferred.push(infer(bytes, *at)));
                &inferred
            }
        };
        let site = self.site(fields, kind, names, signature);
        let packed = site.and_then(|site| {
            match &fields.raw {
                Some(raw) => self.args.extend_from_slice(raw),
                None => self.pack(site, bytes, &starts, fields.signature.is_none())?,
            }
            Ok(site)
        });
        self.signature = inferred;
        packed
    }

    fn pack(&mut self, site: usize, bytes: &[u8], starts: &[usize], is_inferred: bool) -> Done {
        let site = &self.sites[site];
        if site.types.len() != starts.len() {
            return Err(Mismatch {
                at: starts.first().copied().unwrap_or(0),
                path: ".args".into(),
                found: format!("{} arguments", starts.len()),
                expected: "as many as the signature has",
            });
        }
        for (index, (ty, at)) in site.types.iter().zip(starts).enumerate() {
            let mut items = Decoder::new(bytes);
            items.set_position(*at);
            let packed = if is_inferred && *ty == silverpoint_wire::signature::Type::Any {
                let item = item_at(bytes, *at).unwrap_or(&[0xF6]);
                self.args.extend_from_slice(&(item.len() as u32).to_le_bytes());
                self.args.extend_from_slice(item);
                Ok(())
            } else {
                pack(ty, &mut items, &mut self.args)
            };
            packed.map_err(|mut error| {
                let step = match site.names.get(index) {
                    Some(name) => format!(".args.{name}"),
                    None => format!(".args[{index}]"),
                };
                error.path.insert_str(0, &step);
                error
            })?;
        }
        self.args.resize(self.args.len().next_multiple_of(8), 0);
        Ok(())
    }

    /// The number of the site that the fields describe.
    fn site(&mut self, fields: &Fields<'_>, kind: Kind, names: &str, signature: &str) -> Done<usize> {
        let kind = fields.of.and_then(Kind::from_name).unwrap_or(kind);
        let level = fields.level.unwrap_or(Level::Info);
        let template = fields.template.unwrap_or(if fields.message.is_some() { "{message}" } else { "" });
        self.key.clear();
        self.key.extend_from_slice(&[kind as u8, level as u8]);
        self.key.extend_from_slice(&fields.flags.to_le_bytes());
        self.key.extend_from_slice(&fields.language.to_le_bytes());
        self.key.extend_from_slice(&fields.line.to_le_bytes());
        for text in [fields.category, fields.file, fields.function, names, template, signature] {
            self.key.extend_from_slice(text.as_bytes());
            self.key.push(0xFF);
        }
        if let Some(site) = self.by_key.get(&self.key) {
            return Ok(*site);
        }
        self.describe(self.key.len() * 4 + 512)?;
        self.sites.push(Site::new(SiteDescription {
            kind,
            level,
            flags: fields.flags,
            line: fields.line,
            language: fields.language,
            category: fields.category.to_owned(),
            file: fields.file.to_owned(),
            function: fields.function.to_owned(),
            names: names.to_owned(),
            template: template.to_owned(),
            signature: signature.to_owned(),
        }));
        self.by_key.insert(self.key.clone(), self.sites.len() - 1);
        Ok(self.sites.len() - 1)
    }
}

/// Takes the map apart.
fn fields<'s>(items: &mut Decoder<'s>) -> Done<Fields<'s>> {
    let mut fields = Fields::default();
    let stated = items.map().map_err(|_| mismatch(items, 0, "a record: a map of names to values"))?;
    let mut seen = 0;
    while goes_on(items, stated, seen) {
        seen += 1;
        let at = items.position();
        let name = items.str().map_err(|_| mismatch(items, at, "a name"))?;
        field(&mut fields, name, items).map_err(|mut error| {
            error.path = format!(".{name}{}", error.path);
            error
        })?;
    }
    Ok(fields)
}

fn field<'s>(fields: &mut Fields<'s>, name: &'s str, items: &mut Decoder<'s>) -> Done {
    let at = items.position();
    let wrong = |items: &Decoder<'_>, expected| mismatch(items, at, expected);
    let is_null = matches!(items.datatype(), Ok(Item::Null));
    macro_rules! text {
        () => {
            items.str().map_err(|_| wrong(items, "text"))?
        };
    }
    macro_rules! unsigned {
        ($type:ty) => {
            match whole(items) {
                Some(Whole::Unsigned(value)) => <$type>::try_from(value).ok(),
                _ => None,
            }
            .ok_or_else(|| wrong(items, "an unsigned integer that fits"))?
        };
    }
    if is_null && name != "args" {
        return skip(items).ok_or_else(|| wrong(items, "a value"));
    }
    match name {
        "time" | "timestamp" | "@timestamp" | "ts" if fields.time.is_none() => {
            fields.time = Some(time(items).ok_or_else(|| wrong(items, "a date-time of RFC 3339"))?);
        }
        "ticks" => fields.ticks = Some(unsigned!(u64)),
        "level" => {
            let level = text!().parse();
            fields.level = Some(level.map_err(|_| wrong(items, "trace, debug, info, warn, error or fatal"))?);
        }
        "process" => fields.process = text!(),
        "pid" => fields.pid = unsigned!(u32),
        "tid" => fields.tid = unsigned!(u32),
        "thread" => fields.thread = text!(),
        "category" => fields.category = text!(),
        "file" => fields.file = text!(),
        "line" => fields.line = unsigned!(u32),
        "function" => fields.function = text!(),
        "kind" => fields.kind = Some(text!()),
        "of" => fields.of = Some(text!()),
        "template" => fields.template = Some(text!()),
        "signature" => fields.signature = Some(text!()),
        "names" => fields.names = Some(text!()),
        "flags" => fields.flags = unsigned!(u16),
        "language" => fields.language = unsigned!(u16),
        "duration_ns" => fields.duration_ns = Some(unsigned!(u64)),
        "span_ns" => fields.span_ns = unsigned!(u64),
        "count" => fields.count = unsigned!(u64),
        "site" => fields.site = unsigned!(u32),
        "truncated" => fields.truncated = items.bool().map_err(|_| wrong(items, "true or false"))?,
        "backtrace" => fields.is_backtrace = items.bool().map_err(|_| wrong(items, "true or false"))?,
        "raw" => fields.raw = Some(octets(items).ok_or_else(|| wrong(items, "bytes"))?),
        "cause" => {
            fields.cause = if matches!(items.datatype(), Ok(Item::String)) {
                let name = text!();
                let cause = CAUSE_NAMES.iter().position(|known| *known == name);
                cause.ok_or_else(|| wrong(items, "the cause of a loss"))? as u8
            } else {
                unsigned!(u8)
            };
        }
        "message" | "msg" if fields.message.is_none() => {
            fields.message = Some(at);
            skip(items).ok_or_else(|| wrong(items, "a value"))?;
        }
        "args" | "context" => {
            *if name == "args" { &mut fields.args } else { &mut fields.context } = Some(at);
            skip(items).ok_or_else(|| wrong(items, "a value"))?;
        }
        // They stand in the context too.
        "trace_id" | "span_id" | "damaged" => skip(items).ok_or_else(|| wrong(items, "a value"))?,
        _ => {
            fields.others.push((name, at));
            skip(items).ok_or_else(|| wrong(items, "a value"))?;
        }
    }
    Ok(())
}

/// Where the arguments begin, and their names.
fn argument_starts(bytes: &[u8], at: usize, names: &mut String, starts: &mut Vec<usize>) -> Done {
    let mut items = Decoder::new(bytes);
    items.set_position(at);
    let is_map = matches!(items.datatype(), Ok(Item::Map | Item::MapIndef));
    let wrong = |items: &Decoder<'_>| {
        let mut error = mismatch(items, at, "a sequence or a map of arguments");
        error.path = ".args".into();
        error
    };
    let stated = if is_map { items.map() } else { items.array() }.map_err(|_| wrong(&items))?;
    while goes_on(&mut items, stated, starts.len() as u64) {
        if starts.len() == silverpoint_wire::layout::signature::ARGS_MAX {
            return Err(mismatch(&items, at, "at most 255 arguments"));
        }
        if is_map {
            names.push_str(items.str().map_err(|_| wrong(&items))?);
            names.push('\n');
        }
        starts.push(items.position());
        skip(&mut items).ok_or_else(|| wrong(&items))?;
    }
    Ok(())
}

/// The type of a value that no signature describes.
fn infer(bytes: &[u8], at: usize) -> char {
    let mut items = Decoder::new(bytes);
    items.set_position(at);
    match items.datatype() {
        Ok(Item::Null) => 'n',
        Ok(Item::Bool) => 'b',
        Ok(Item::U8 | Item::U16 | Item::U32) => 'l',
        Ok(Item::U64) => match items.u64() {
            Ok(value) if i64::try_from(value).is_ok() => 'l',
            _ => 'L',
        },
        Ok(Item::I8 | Item::I16 | Item::I32 | Item::I64) => 'l',
        Ok(Item::F16 | Item::F32 | Item::F64) => 'd',
        Ok(Item::String) => 's',
        Ok(Item::Bytes) => 'y',
        Ok(Item::Tag) => match items.tag().map(|tag| tag.as_u64()) {
            Ok(0) => 't',
            Ok(37) => 'u',
            _ => 'v',
        },
        _ => 'v',
    }
}

fn item_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let mut items = Decoder::new(bytes);
    items.set_position(at);
    skip(&mut items)?;
    bytes.get(at..items.position())
}

/// Fields of a context: a map, or the bytes of an item of CBOR that is one.
fn context(bytes: &[u8], at: usize) -> Option<Context> {
    let item = item_at(bytes, at)?;
    let mut items = Decoder::new(item);
    match items.datatype().ok()? {
        Item::Map | Item::MapIndef => Context::from_item(item),
        _ => Context::from_item(&octets(&mut items)?),
    }
}
