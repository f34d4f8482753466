//! Callsites of `tracing` and what they are to Silverpoint: one state byte, and a site for each shape of record that they have made.
//!
//! ```text
//!  metadata ──▶ table ──▶ Callsite: state byte, shapes ─▶ ids of sites
//! ```
//!
//! A callsite is known before its types are. It is registered without arguments, so that directives and
//! `silverpoint ctl` find it. The site of its records is registered with the first of them, and another one
//! for each other shape.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use silverpoint::dynamic::{self, Arguments, Marks, Published, Registered, Shapes, Wanted};
use tracing_core::{Interest, Level, LevelFilter, Metadata};

use crate::fields::{Description, Plan, name_of};
use crate::open::What;
use crate::role::{BEGUN, ID, ROLES, Role};

/// What is known of a callsite.
pub(crate) struct Callsite {
    pub(crate) meta: &'static Metadata<'static>,
    /// Where [`numbered`](crate::table::numbered) finds it.
    pub(crate) number: u32,
    /// 0 trace to 4 error.
    pub(crate) level: u8,
    /// The site that stands for the callsite: its state byte is asked.
    asked: Registered,
    /// What its events, or beginnings of its spans, are expected to be.
    plan: Published<Plan>,
    /// The same of spans that begin with an id.
    async_plan: Published<Plan>,
    /// Sites of its records.
    shapes: Shapes<u32>,
    /// Sites of each role without fields, and with all fields as one argument, since they have too many shapes: without a text and with one. 0: not yet.
    fixed: [[AtomicU32; 3]; ROLES],
    /// Names and signatures of spans that have begun without an id: for those that need one later.
    begun: Published<Begun>,
    /// Its spans are entered more than once, or elsewhere than they were made: they begin with an id.
    is_async: AtomicBool,
    /// Sites of spans that began late: for the question whether a system tracer wants any of it. The rest is 0.
    late: [AtomicU32; LATE],
    /// How its spans begin, as [`What`], where they can have no fields and are not async; 0: that is not known.
    bare: AtomicU64,
}

/// Sites of spans that began late which are asked whether a system tracer wants them. What else a span records is
/// asked, too: so more of them decide only if LTTng is to have these alone.
const LATE: usize = 8;

/// What spans that have begun without an id have recorded.
struct Begun {
    site: u32,
    names: Box<str>,
    signature: Box<str>,
    next: Published<Begun>,
}

/// What stands behind the arguments of a role.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Fields,
    TextAndFields,
}

/// Of a record whose fields are one argument: its name.
const FIELDS: &str = "fields";

impl Callsite {
    fn describe<'d>(
        &'d self,
        role: Role,
        names: dynamic::Pieces<'d>,
        template: dynamic::Pieces<'d>,
        signature: dynamic::Pieces<'d>,
    ) -> dynamic::Description<'d> {
        dynamic::Description {
            kind: role.kind(self.has_name()),
            level: self.level,
            line: self.meta.line().unwrap_or(0),
            language: RUST,
            category: self.meta.target(),
            file: self.meta.file().unwrap_or(""),
            function: "",
            names,
            template,
            signature,
        }
    }

    pub(crate) fn new(meta: &'static Metadata<'static>, number: u32) -> Self {
        let level = level_of(meta);
        Self {
            meta,
            number,
            level,
            asked: with_question(meta, register_asked(meta)),
            plan: Published::new(),
            async_plan: Published::new(),
            shapes: Shapes::new(),
            fixed: [const { [const { AtomicU32::new(0) }; 3] }; ROLES],
            begun: Published::new(),
            is_async: AtomicBool::new(false),
            late: [const { AtomicU32::new(0) }; LATE],
            bare: AtomicU64::new(0),
        }
    }

    /// Who may want its records now. One load.
    #[inline(always)]
    pub(crate) fn wanted(&self) -> Wanted {
        dynamic::wanted(&self.asked)
    }

    /// Whether a system tracer wants anything of it, as far as that is known; true of one that has recorded
    /// nothing.
    #[cold]
    pub(crate) fn has_wanted(&self) -> bool {
        let mut has_any = false;
        let mut is_wanted = |id: u32| {
            has_any |= id != 0;
            id != 0 && dynamic::tracer_wants(id)
        };
        let fixed = self.fixed.iter().flatten().chain(&self.late);
        self.shapes.any(&mut is_wanted)
            || fixed.map(|id| id.load(Ordering::Relaxed)).any(&mut is_wanted)
            || !has_any
    }

    fn note_late(&self, id: u32) {
        for place in &self.late {
            let there = place.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
            if there.is_ok() || there == Err(id) {
                return;
            }
        }
    }

    /// Whether its spans begin with an id.
    #[inline(always)]
    pub(crate) fn is_async(&self) -> bool {
        self.is_async.load(Ordering::Relaxed)
    }

    /// They do from now on.
    pub(crate) fn make_async(&self) {
        self.is_async.store(true, Ordering::Relaxed);
        self.bare.store(0, Ordering::Relaxed);
    }

    /// How a span of it begins, of which nothing else need be asked.
    #[inline(always)]
    pub(crate) fn bare(&self) -> Option<What> {
        let bits = self.bare.load(Ordering::Relaxed);
        (bits != 0).then_some(What::from_bits(bits))
    }

    /// What a record of it is expected to be, when there has been one.
    #[inline(always)]
    pub(crate) fn plan(&self, role: Role) -> Option<&'static Plan> {
        self.plan_of(role)?.get()
    }

    #[inline(always)]
    fn plan_of(&self, role: Role) -> Option<&Published<Plan>> {
        match role {
            Role::Event | Role::Begin => Some(&self.plan),
            Role::AsyncBegin => Some(&self.async_plan),
            _ => None,
        }
    }

    /// The site of a record with these fields behind its role: registered, when it is the first. 0: there are too many shapes ([`Callsite::record_general`]).
    #[inline(never)]
    pub(crate) fn site(&self, role: Role, marks: &Marks) -> u32 {
        let marks = marks.all();
        if let Some(id) = self.shapes.find(marks) {
            return id;
        }
        if !self.shapes.has_room() {
            return 0;
        }
        dynamic::prepare(|| self.learn(role, marks)).flatten().unwrap_or(0)
    }

    /// Registers the site of a shape. `None`: there is no room for it.
    #[cold]
    fn learn(&self, role: Role, marks: &[u32]) -> Option<u32> {
        let mut description = Description::default();
        for (name, code) in role.arguments() {
            description.argument(name, code);
        }
        let fields = &marks[1..];
        description.fields(self.meta, fields, role.is_event() && !self.has_name());
        // A callsite's first shape stands in the program's source; others are made by what is there and what is not.
        let is_first = fields.is_empty() || self.plan_of(role).is_some_and(|plan| plan.get().is_none());
        let id = Some(self.register(role, &description, is_first)).filter(|id| *id != 0)?;
        // Once others find the shape, they also ask how its spans begin with an id.
        if role == Role::Begin {
            self.note_begun(id, &description);
        }
        let id = self.shapes.add(marks, id)?;
        if let Some(expected) = self.plan_of(role) {
            if let Some(plan) = Plan::new(self.meta, fields, id) {
                let _ = expected.get_or(|| plan);
            }
        }
        if role == Role::Begin && self.meta.fields().is_empty() && !self.is_async() {
            self.bare.store(What::begin(id, self.level, 0, true).bits(), Ordering::Relaxed);
        }
        Some(id)
    }

    fn note_begun(&self, site: u32, description: &Description) {
        let mut place = &self.begun;
        while let Some(begun) = place.get_or(|| Begun {
            site,
            names: description.names.as_str().into(),
            signature: description.signature.as_str().into(),
            next: Published::new(),
        }) {
            if begun.site == site {
                return;
            }
            place = &begun.next;
        }
    }

    /// Records what has no site of its own: its fields are one argument, a map. The text of an event is another.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_general(
        &self,
        role: Role,
        marks: &Marks,
        arguments: &mut Arguments,
        before: Option<u64>,
        wanted: Wanted,
    ) -> u64 {
        let fields = &marks.all()[1..];
        let text = self.text_of(role, fields);
        let site = self.general(role, marks);
        let (Some(bytes), 1..) = (arguments.bytes(), site) else {
            if site != 0 {
                return arguments.give(self.level, site, None, wanted).ticks;
            }
            if wanted.by_ring() {
                dynamic::lose_without_site();
            }
            return 0;
        };
        let named = |give: &mut dyn FnMut(&str, u8)| {
            for (number, mark) in fields.iter().enumerate() {
                let name = if Some(number) == text { "" } else { name_of(self.meta, *mark) };
                give(name, *mark as u8);
            }
        };
        let mut whole = Arguments::new();
        whole.encode(|encoder| {
            before.into_iter().for_each(|number| encoder.u64(number));
            text.into_iter().for_each(|number| encoder.text_of(bytes, &named, number));
            encoder.map_of(bytes, &named);
        });
        whole.give(self.level, site, None, wanted).ticks
    }

    /// Which of an event's fields is its text.
    fn text_of(&self, role: Role, fields: &[u32]) -> Option<usize> {
        let has_text = role.is_event() && !self.has_name();
        let is_text = |mark: &u32| has_text && *mark as u8 == b's' && name_of(self.meta, *mark) == "message";
        fields.iter().position(is_text)
    }

    /// The site of what has no site of its own.
    #[cold]
    pub(crate) fn general(&self, role: Role, marks: &Marks) -> u32 {
        let has_text = self.text_of(role, &marks.all()[1..]).is_some();
        self.fixed(role, if has_text { Form::TextAndFields } else { Form::Fields })
    }

    /// The site of a role that has no fields.
    pub(crate) fn plain(&self, role: Role) -> u32 {
        self.fixed(role, Form::Plain)
    }

    /// The site of records whose arguments do not depend on their fields. Registered without an allocation: the program's allocator may be what records.
    fn fixed(&self, role: Role, form: Form) -> u32 {
        let known = &self.fixed[role as usize][form as usize];
        if let id @ 1.. = known.load(Ordering::Relaxed) {
            return id;
        }
        let has_text = form == Form::TextAndFields;
        let more = [(has_text, ("", "s")), (form != Form::Plain, (FIELDS, "v"))];
        let arguments = || {
            let more = more.iter().filter_map(|(is_there, argument)| is_there.then_some(argument));
            role.arguments().iter().chain(more)
        };
        let names = |give: &mut dyn FnMut(&[u8])| {
            arguments().for_each(|(name, _)| {
                give(name.as_bytes());
                give(b"\n");
            });
        };
        let signature = |give: &mut dyn FnMut(&[u8])| arguments().for_each(|(_, code)| give(code.as_bytes()));
        let template = match (has_text, role) {
            (_, Role::Parent) => "parent",
            (_, Role::FollowsFrom) => "follows_from",
            (true, Role::EventOf) => "{1}",
            (true, _) => "{}",
            (false, _) if role.is_event() && !self.has_name() => "",
            (false, _) => self.meta.name(),
        };
        let template = |give: &mut dyn FnMut(&[u8])| give(template.as_bytes());
        let id = dynamic::register(&self.describe(role, &names, &template, &signature)).id;
        known.store(id, Ordering::Relaxed);
        id
    }

    /// The site of a span with an id that has the fields of the site `begin`. Where it begins late, the ticks
    /// of its first part follow the id. 0: there is none.
    #[cold]
    pub(crate) fn with_id(&self, begin: u32, is_late: bool) -> u32 {
        dynamic::prepare(|| {
            let (mut names, mut signature) = ("fields\n", "v");
            if begin != self.fixed[Role::Begin as usize][Form::Fields as usize].load(Ordering::Relaxed) {
                let mut place = self.begun.get();
                while let Some(begun) = place.filter(|begun| begun.site != begin) {
                    place = begun.next.get();
                }
                let begun = place?;
                (names, signature) = (&begun.names, &begun.signature);
            }
            let mut description = Description::default();
            description.argument(ID, "L");
            if is_late {
                description.argument(BEGUN, "L");
            }
            description.names.push_str(names);
            description.signature.push_str(signature);
            let id = self.register(Role::AsyncBegin, &description, false);
            self.note_late(id);
            Some(id)
        })
        .flatten()
        .unwrap_or(0)
    }

    fn register(&self, role: Role, described: &Description, is_first: bool) -> u32 {
        let template = match role {
            _ if role.is_event() && !self.has_name() => match described.message {
                Some(0) => "{}".to_owned(),
                Some(number) => format!("{{{number}}}"),
                None => String::new(),
            },
            _ => self.meta.name().to_owned(),
        };
        let names = |give: &mut dyn FnMut(&[u8])| give(described.names.as_bytes());
        let template = |give: &mut dyn FnMut(&[u8])| give(template.as_bytes());
        let signature = |give: &mut dyn FnMut(&[u8])| give(described.signature.as_bytes());
        let description = self.describe(role, &names, &template, &signature);
        if is_first { dynamic::register(&description).id } else { dynamic::register_variety(&description).id }
    }

    /// Whether it is an event that was given a name.
    fn has_name(&self) -> bool {
        has_name(self.meta)
    }
}

/// Language of a site's description.
const RUST: u16 = 2;

/// Those that have none are called `event FILE:LINE` by the macros.
fn has_name(meta: &Metadata<'_>) -> bool {
    if !meta.is_event() || meta.name().is_empty() {
        return !meta.is_event();
    }
    let place = meta.name().strip_prefix("event ").and_then(|place| place.strip_prefix(meta.file()?));
    let line = place.and_then(|place| place.strip_prefix(':'));
    line.is_none_or(|line| line.parse().ok() != meta.line())
}

pub(crate) fn level_of(meta: &Metadata<'_>) -> u8 {
    match *meta.level() {
        Level::TRACE => 0,
        Level::DEBUG => 1,
        Level::INFO => 2,
        Level::WARN => 3,
        Level::ERROR => 4,
    }
}

/// The description of the site that is asked whether a callsite records.
pub(crate) fn with_question<R>(meta: &Metadata<'_>, ask: impl FnOnce(&dynamic::Description<'_>) -> R) -> R {
    let is_event = meta.is_event();
    let name = if has_name(meta) { meta.name() } else { "" };
    ask(&dynamic::Description {
        kind: if is_event { Role::Event } else { Role::Begin }.kind(has_name(meta)),
        level: level_of(meta),
        line: meta.line().unwrap_or(0),
        language: RUST,
        category: meta.target(),
        file: meta.file().unwrap_or(""),
        function: "",
        names: &|_| {},
        template: &|give| give(name.as_bytes()),
        signature: &|_| {},
    })
}

/// How the site is registered that is asked. One that has no fields is the site of its records, too.
fn register_asked(meta: &Metadata<'_>) -> fn(&dynamic::Description<'_>) -> Registered {
    if meta.fields().is_empty() { dynamic::register } else { dynamic::register_question }
}

/// What the directives say of a callsite now, whether it is known or not. While LTTng is asked for, it may
/// want all.
pub(crate) fn would_record(meta: &Metadata<'_>) -> bool {
    dynamic::feeds_tracer() || with_question(meta, dynamic::would_record)
}

/// What `tracing` is to do at the callsite. In a program with USDT probes it asks each time
/// ([`would_record_now`](crate::table::would_record_now)):
/// nobody reports that a tracer comes.
pub(crate) fn interest(meta: &Metadata<'_>) -> Interest {
    match would_record(meta) {
        true => Interest::always(),
        false if dynamic::HAS_USDT => Interest::sometimes(),
        false => Interest::never(),
    }
}

/// The most verbose level that any callsite may be on at, by the directives as they are now. What is more verbose costs `tracing` one comparison.
pub(crate) fn most_verbose() -> LevelFilter {
    if dynamic::HAS_USDT || dynamic::feeds_tracer() {
        return LevelFilter::TRACE;
    }
    match dynamic::most_verbose() {
        None => LevelFilter::OFF,
        Some(0) => LevelFilter::TRACE,
        Some(1) => LevelFilter::DEBUG,
        Some(2) => LevelFilter::INFO,
        Some(3) => LevelFilter::WARN,
        Some(_) => LevelFilter::ERROR,
    }
}
