//! What a parser put into the scratch, as a record: the way back of `document`. Records of other programs become records by the rules of `foreign`.

use std::borrow::Cow;
use std::collections::HashMap;

use minicbor::Decoder;
use minicbor::data::Type as Item;
use silverpoint_trace::{Context, Kept, Site};
use silverpoint_wire::layout::signature::ARGS_MAX;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::signature::{self, Type};
use silverpoint_wire::site::SiteDescription;

use crate::fast::{Cursor, Dialect, Happened, Memo, Outcome};
use crate::foreign::{self, Argument, Foreign, Value, decoder};
use crate::own::{self, Done, Fields, Owner};
use crate::pack::{Mismatch, goes_on, mismatch, pack, skip};
use crate::record::Head;
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
    current: Option<Head>,
    thread: String,
    args: Vec<u8>,
    context: Option<Context>,
    signature: String,
    /// The level of the record, as its site has it.
    level: Option<Level>,
    /// It is one of Silverpoint's, so that others may look like it.
    is_own: bool,
    memo: Memo,
}

impl Parsed {
    /// For the input of this number.
    pub fn new(input: u32) -> Self {
        Self { input: (input as usize) << 32, ..Self::default() }
    }

    /// The record that was accepted last.
    pub fn record(&self) -> Option<Record<'_>> {
        let (head, context) = (self.current.as_ref()?, self.context.as_ref());
        let process = self.processes.get(head.process)?;
        let process = (process.name.as_str(), process.pid);
        head.record(&self.sites, process, self.input, &self.args, &self.thread, context)
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

    /// Reads a record that looks like earlier ones from the buffered input. False when it must take the long
    /// way, from the unchanged position of the input.
    #[inline]
    pub(crate) fn read_known<D: Dialect>(&mut self, input: &mut Input) -> bool {
        let mut cursor = Cursor { bytes: input.at_hand(), at: 0 };
        let Some(outcome) = self.memo.read::<D>(&mut cursor, &mut self.args, &mut self.thread) else {
            return false;
        };
        input.pass(cursor.at);
        self.count += 1;
        self.context = None;
        self.current = Some(Head {
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
        let Some(current) = self.current.filter(|_| self.is_own && self.memo.is_willing()) else { return };
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
        self.interpret(scratch).map_err(|error| {
            let place = scratch.place_of(error.at);
            let path = format!("[{}]{}", self.count - 1, error.path);
            ReadError { path, ..ReadError::new(place, error.found, error.expected) }.passable()
        })
    }

    fn interpret(&mut self, scratch: &Scratch) -> Done {
        let bytes = scratch.bytes();
        let members = own::members(bytes, 0)?;
        let owner = own::owner(bytes, &members);
        if owner != Owner::Foreign {
            match own::fields(bytes, &members).and_then(|fields| self.own(&fields, bytes)) {
                // Another program uses the same names for other things.
                Err(_) if owner == Owner::Usual => {}
                done => return done,
            }
        }
        self.foreign(foreign::read(scratch, &members)?, bytes)
    }

    /// A record of another program.
    fn foreign(&mut self, foreign: Foreign<'_>, bytes: &[u8]) -> Done {
        self.is_own = false;
        let Foreign { fields, arguments, has_message, context } = foreign;
        let template = if has_message { "{message}" } else { "" };
        let fields = Fields { template: Some(template), ..fields };
        self.args.clear();
        self.level = fields.level;
        let site = self.arguments(&fields, Kind::Log, arguments, bytes)?;
        self.happened(&fields, context, Kept::Record { site, truncated: false })
    }

    /// One of Silverpoint's.
    fn own(&mut self, fields: &Fields<'_>, bytes: &[u8]) -> Done {
        self.is_own = true;
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
                let names = fields.names.unwrap_or("");
                let signature = fields.signature.unwrap_or("");
                let site = match fields.template.is_some() {
                    true => Some(self.site(fields, Kind::Span, names, signature)?),
                    false => None,
                };
                Kept::SpanEnd { site, begin_ticks: 0, duration_ns: fields.duration_ns }
            }
            _ => {
                let kind = fields.kind.map_or(Some(Kind::Log), Kind::from_name).ok_or_else(|| Mismatch {
                    at: 0,
                    path: ".kind".into(),
                    found: format!("the text {:?}", fields.kind.unwrap_or_default()),
                    expected: "the kind of a record",
                })?;
                let arguments = match fields.args {
                    Some(at) => own_arguments(bytes, at)?,
                    None => Vec::new(),
                };
                let arguments = in_order(arguments, fields, bytes)?;
                let site = self.arguments(fields, kind, arguments, bytes)?;
                Kept::Record { site, truncated: fields.truncated }
            }
        };
        self.happened(fields, own::context(bytes, fields)?, what)
    }

    /// When, who, and in which context.
    fn happened(&mut self, fields: &Fields<'_>, context: Option<Vec<u8>>, what: Kept) -> Done {
        let Some(wall_ns) = fields.time else {
            return Err(Mismatch {
                at: 0,
                path: String::new(),
                found: "a record without `time`".into(),
                expected: "a date-time of RFC 3339 under `time`",
            });
        };
        self.context = context.as_deref().and_then(Context::from_item);
        let is_empty = |item: &[u8]| own::members(item, 0).map_or(item.is_empty(), |m| m.is_empty());
        if self.context.is_none() && context.as_deref().is_some_and(|item| !is_empty(item)) {
            let at = fields.context.unwrap_or(0);
            return Err(Mismatch {
                at,
                path: ".context".into(),
                found: "fields that are no context".into(),
                expected: "a map of names to values, at most 64 KiB",
            });
        }
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
        self.current = Some(Head {
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
    fn arguments(
        &mut self,
        fields: &Fields<'_>,
        kind: Kind,
        arguments: Vec<Argument<'_>>,
        bytes: &[u8],
    ) -> Done<usize> {
        let mut named = String::new();
        if arguments.first().is_some_and(|(name, _)| name.is_some()) {
            for (name, _) in &arguments {
                let name = name.as_deref().unwrap_or_default();
                named.extend(name.chars().map(|c| if c == '\n' { ' ' } else { c }));
                named.push('\n');
            }
        }
        let names = fields.names.unwrap_or(&named);
        let mut inferred = std::mem::take(&mut self.signature);
        let signature = match fields.signature {
            Some(signature) => signature,
            None => {
                inferred.clear();
                arguments.iter().for_each(|(_, value)| inferred.push(infer(decoder(bytes, value))));
                &inferred
            }
        };
        let site = self.site(fields, kind, names, signature);
        let packed = site.and_then(|site| {
            match &fields.raw {
                Some(raw) => self.args.extend_from_slice(raw),
                None => self.pack(site, bytes, &arguments, fields)?,
            }
            Ok(site)
        });
        self.signature = inferred;
        packed
    }

    fn pack(&mut self, site: usize, bytes: &[u8], arguments: &[Argument<'_>], fields: &Fields<'_>) -> Done {
        let site = &self.sites[site];
        if site.types.len() != arguments.len() {
            if let Some(signature) = fields.signature
                && let Err(error) = signature::parse(signature)
            {
                return Err(Mismatch {
                    at: fields.signature_at,
                    path: ".signature".into(),
                    found: format!("the text {signature:?} ({error})"),
                    expected: "a signature (spec/wire.md, section 10)",
                });
            }
            return Err(Mismatch {
                at: fields.args.unwrap_or(0),
                path: ".args".into(),
                found: format!("{} arguments", arguments.len()),
                expected: "as many as the signature has",
            });
        }
        for (index, (ty, (_, value))) in site.types.iter().zip(arguments).enumerate() {
            let mut items = decoder(bytes, value);
            let packed = if fields.signature.is_none() && *ty == Type::Any {
                let begin = items.position();
                let item = skip(&mut items).and_then(|()| items.input().get(begin..items.position()));
                let item = item.unwrap_or(&[0xF6]);
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
        let template = fields.template.unwrap_or_default();
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

/// The arguments of one of Silverpoint's records, with their names where they stand in a map.
fn own_arguments(bytes: &[u8], at: usize) -> Done<Vec<Argument<'_>>> {
    let mut items = own::at(bytes, at);
    let is_map = matches!(items.datatype(), Ok(Item::Map | Item::MapIndef));
    let wrong = |items: &Decoder<'_>| {
        let mut error = mismatch(items, at, "a sequence or a map of arguments");
        error.path = ".args".into();
        error
    };
    let stated = if is_map { items.map() } else { items.array() }.map_err(|_| wrong(&items))?;
    let mut arguments = Vec::new();
    while goes_on(&mut items, stated, arguments.len() as u64) {
        if arguments.len() == ARGS_MAX {
            return Err(mismatch(&items, at, "at most 255 arguments"));
        }
        let name = if is_map { Some(Cow::Borrowed(items.str().map_err(|_| wrong(&items))?)) } else { None };
        arguments.push((name, Value::At(items.position())));
        skip(&mut items).ok_or_else(|| wrong(&items))?;
    }
    Ok(arguments)
}

/// The arguments in the order of the signature. Names decide where they are known: tools that sort the members of a map change only where these stand.
fn in_order<'s>(
    mut arguments: Vec<Argument<'s>>,
    fields: &Fields<'_>,
    bytes: &[u8],
) -> Done<Vec<Argument<'s>>> {
    let is_map = arguments.first().is_some_and(|(name, _)| name.is_some());
    let wrong = |found: String, expected| Mismatch {
        at: fields.args.unwrap_or(0),
        path: ".args".into(),
        found,
        expected,
    };
    if !is_map || fields.signature.is_none() {
        return Ok(arguments);
    }
    let Some(names) = fields.names else {
        let mut types = signature::parse(fields.signature.unwrap_or_default()).unwrap_or_default();
        types.dedup();
        if fields.is_reordered && types.len() > 1 {
            let found = "a map in another order than it was written in".to_owned();
            return Err(wrong(found, "`names`, which say which argument is of which type; convert again"));
        }
        return Ok(arguments);
    };
    let names: Vec<&str> = names.split_terminator('\n').collect();
    let mut ordered = Vec::with_capacity(arguments.len());
    for name in &names {
        // Some names hold a line break, which the list of names cannot.
        let is_it = |known: &str| known == *name || known.replace('\n', " ") == *name;
        match arguments.iter().position(|(known, _)| known.as_deref().is_some_and(is_it)) {
            Some(at) => ordered.push(arguments.remove(at)),
            None => {
                return Err(wrong(format!("no argument {name:?}"), "each argument that `names` has"));
            }
        }
    }
    match arguments.first() {
        None => Ok(ordered),
        Some((name, value)) => {
            let name = name.as_deref().unwrap_or_default();
            let at = if let Value::At(at) = value { *at } else { 0 };
            let error = mismatch(&own::at(bytes, at), at, "only arguments that `names` has");
            Err(Mismatch { path: format!(".args.{name}"), ..error })
        }
    }
}

/// Whether 128 bits hold the negative number that these bytes of a bignum say.
fn negative_fits(bytes: &[u8]) -> bool {
    bytes.len() < 16 || bytes.first().is_some_and(|first| *first < 0x80)
}

/// The type of a value that no signature describes.
fn infer(mut items: Decoder<'_>) -> char {
    match items.datatype() {
        Ok(Item::Null) => 'n',
        Ok(Item::Bool) => 'b',
        Ok(Item::U8 | Item::U16 | Item::U32) => 'l',
        Ok(Item::U64) => match items.u64() {
            Ok(value) if i64::try_from(value).is_ok() => 'l',
            _ => 'L',
        },
        Ok(Item::I8 | Item::I16 | Item::I32 | Item::I64) => 'l',
        Ok(Item::Int) => 'o',
        Ok(Item::F16 | Item::F32 | Item::F64) => 'd',
        Ok(Item::String) => 's',
        Ok(Item::Bytes) => 'y',
        Ok(Item::Tag) => match items.tag().map(|tag| tag.as_u64()) {
            Ok(0) => 't',
            Ok(2) if items.bytes().is_ok_and(|bytes| bytes.len() <= 16) => 'O',
            Ok(3) if items.bytes().is_ok_and(|bytes| bytes.len() <= 16 && negative_fits(bytes)) => 'o',
            Ok(37) => 'u',
            _ => 'v',
        },
        _ => 'v',
    }
}
