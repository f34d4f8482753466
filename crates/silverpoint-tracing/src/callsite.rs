//! Callsites of `tracing` and what they are to Silverpoint: one state byte, and a site for each shape of record that they have made.
//!
//! ```text
//!  metadata ──▶ TABLE (open addressing by address, lock-free) ──▶ Callsite: state byte, shapes ─▶ ids of sites
//! ```
//!
//! A callsite is known before its types are: it is registered without arguments, so that directives and `silverpoint ctl` find it; the site of its records is
//! registered when the first of them comes, and another one for each other shape.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use silverpoint::dynamic::{self, Registered, Shapes};
use tracing_core::{Level, LevelFilter, Metadata};

use crate::fields::{Describe, Description, Plan, Shape};
use crate::open::What;

/// What a record of a callsite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An event.
    Event,
    /// An event whose parent is said: its id comes first.
    EventOf,
    /// A span that begins in this thread, with its fields.
    Begin,
    /// A stretch of a span that has an id: `id`.
    Segment,
    /// A span begins that has an id: `id`, fields.
    AsyncBegin,
    /// It has ended: `id`, `busy`, `idle`.
    AsyncEnd,
    /// Fields that come later: `id`, fields.
    AsyncInstant,
    /// One is a part of another: `from`, `to`.
    Parent,
    /// One came from another: the same.
    FollowsFrom,
}

/// Names of arguments that are no fields. Readers know by them what a stretch is, and what an event is of: fields of the program have others ([`field_name`]).
const ID: &str = "span.id";
const BEGUN: &str = "span.begun";
const PARENT: &str = "span.parent";

/// What a field is called in a record.
pub(crate) fn field_name(name: &str) -> Cow<'_, str> {
    if [ID, BEGUN, PARENT].contains(&name) { format!("field.{name}").into() } else { name.into() }
}

impl Role {
    /// The empty shape of such a record.
    pub(crate) const fn shape(self) -> Shape {
        Shape::new((self as u64 + 1) << 40)
    }

    /// Number of the site's kind (spec/wire.md, section 7).
    fn kind(self, has_name: bool) -> u8 {
        match self {
            Self::Event | Self::EventOf => 2 * u8::from(has_name),
            Self::Begin | Self::Segment => 3,
            Self::AsyncBegin => 6,
            Self::AsyncEnd => 7,
            Self::AsyncInstant => 8,
            Self::Parent | Self::FollowsFrom => 12,
        }
    }

    /// The arguments before the fields, with their codes.
    fn arguments(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Event | Self::Begin => &[],
            Self::EventOf => &[(PARENT, "L")],
            Self::Segment | Self::AsyncBegin | Self::AsyncInstant => &[(ID, "L")],
            Self::AsyncEnd => &[(ID, "L"), ("busy", "T"), ("idle", "T")],
            Self::Parent | Self::FollowsFrom => &[("from", "L"), ("to", "L")],
        }
    }
}

/// What is known of a callsite.
pub(crate) struct Callsite {
    pub(crate) meta: &'static Metadata<'static>,
    /// Where [`numbered`] finds it.
    pub(crate) number: u32,
    /// 0 trace to 4 error.
    pub(crate) level: u8,
    /// The site that stands for the callsite: its state byte is asked.
    asked: Registered,
    /// What its events, or beginnings of its spans, are expected to be.
    plan: OnceLock<Plan>,
    /// The same of spans that begin with an id.
    async_plan: OnceLock<Plan>,
    /// Sites of its records.
    shapes: Shapes,
    /// Names and signatures of spans that have begun without an id, by the id of the site: for those that need one later.
    begun: Mutex<Vec<(u32, Description)>>,
    /// Its spans are entered more than once, or elsewhere than they were made: they begin with an id.
    is_async: AtomicBool,
    /// How its spans begin, as [`What`], where they can have no fields and are not async; 0: that is not known.
    bare: AtomicU64,
}

impl Callsite {
    fn new(meta: &'static Metadata<'static>, number: u32) -> Self {
        let level = level_of(meta);
        Self {
            meta,
            number,
            level,
            asked: with_question(meta, dynamic::register),
            plan: OnceLock::new(),
            async_plan: OnceLock::new(),
            shapes: Shapes::new(),
            begun: Mutex::new(Vec::new()),
            is_async: AtomicBool::new(false),
            bare: AtomicU64::new(0),
        }
    }

    /// Whether it records now. One load.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        dynamic::is_on(&self.asked)
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
    pub(crate) fn plan(&self, role: Role) -> Option<&Plan> {
        self.plan_of(role)?.get()
    }

    #[inline(always)]
    fn plan_of(&self, role: Role) -> Option<&OnceLock<Plan>> {
        match role {
            Role::Event | Role::Begin => Some(&self.plan),
            Role::AsyncBegin => Some(&self.async_plan),
            _ => None,
        }
    }

    /// The site of a shape that was registered.
    #[inline(always)]
    pub(crate) fn site(&self, hash: u32) -> Option<u32> {
        self.shapes.find(hash)
    }

    /// Registers the site of a shape: `visit` shows its fields. Gives the shape's hash, and the id; 0: there is no room for it.
    #[cold]
    pub(crate) fn learn(&self, role: Role, visit: &dyn Fn(&mut Describe<'_>)) -> (u32, u32) {
        let mut description = Description::default();
        for (name, code) in role.arguments() {
            description.argument(name, code);
        }
        let is_event = matches!(role, Role::Event | Role::EventOf);
        let mut describe = Describe {
            description: &mut description,
            is_event: is_event && !self.has_name(),
            shape: role.shape(),
        };
        visit(&mut describe);
        let hash = describe.shape.hash();
        let id = self.register(role, &description);
        self.shapes.add(hash, id);
        if let Some(expected) = self.plan_of(role)
            && id != 0
            && let Some(plan) = Plan::new(&description.planned, id)
        {
            let _ = expected.set(plan);
        }
        if role == Role::Begin {
            if self.meta.fields().is_empty() && id != 0 && !self.is_async() {
                self.bare.store(What::begin(id, self.level, 0, true).bits(), Ordering::Relaxed);
            }
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            if begun.iter().all(|(known, _)| *known != id) {
                begun.push((id, description));
            }
        }
        (hash, id)
    }

    /// The site of a span with an id that has the fields of the site `begin`; where it begins late, with the ticks of its first stretch behind the id. 0: there is none.
    #[cold]
    pub(crate) fn with_id(&self, begin: u32, is_late: bool) -> u32 {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, fields)) = begun.iter().find(|(known, _)| *known == begin) else { return 0 };
        let mut description = Description::default();
        description.argument(ID, "L");
        if is_late {
            description.argument(BEGUN, "L");
        }
        description.names.push_str(&fields.names);
        description.signature.push_str(&fields.signature);
        description.count += fields.count;
        self.register(Role::AsyncBegin, &description)
    }

    /// The site of a role that has no fields.
    pub(crate) fn plain(&self, role: Role) -> u32 {
        self.site(role.shape().hash()).unwrap_or_else(|| self.learn(role, &|_| {}).1)
    }

    fn register(&self, role: Role, described: &Description) -> u32 {
        let template = match role {
            Role::Parent => "parent".to_owned(),
            Role::FollowsFrom => "follows_from".to_owned(),
            Role::Event | Role::EventOf if !self.has_name() => match described.message {
                Some(0) => "{}".to_owned(),
                Some(number) => format!("{{{number}}}"),
                None => String::new(),
            },
            _ => self.meta.name().to_owned(),
        };
        dynamic::register(&dynamic::Description {
            kind: role.kind(self.has_name()),
            level: self.level,
            line: self.meta.line().unwrap_or(0),
            language: RUST,
            category: self.meta.target(),
            file: self.meta.file().unwrap_or(""),
            function: "",
            names: &|give| give(described.names.as_bytes()),
            template: &|give| give(template.as_bytes()),
            signature: &|give| give(described.signature.as_bytes()),
        })
        .id
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
fn with_question<R>(meta: &Metadata<'_>, ask: impl FnOnce(&dynamic::Description<'_>) -> R) -> R {
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

/// What the directives say of a callsite now, whether it is known or not.
pub(crate) fn would_record(meta: &Metadata<'_>) -> bool {
    with_question(meta, dynamic::would_record)
}

/// The most verbose level that any callsite may be on at, by the directives as they are now. What is more verbose costs `tracing` one comparison.
pub(crate) fn most_verbose() -> LevelFilter {
    match dynamic::most_verbose() {
        None => LevelFilter::OFF,
        Some(0) => LevelFilter::TRACE,
        Some(1) => LevelFilter::DEBUG,
        Some(2) => LevelFilter::INFO,
        Some(3) => LevelFilter::WARN,
        Some(_) => LevelFilter::ERROR,
    }
}

/// Callsites that are found by their address alone: a power of two. Others take a lock.
const PLACES: usize = 1 << 14;
/// Places that are looked at.
const PROBES: usize = 32;

static TABLE: [OnceLock<&'static Callsite>; PLACES] = [const { OnceLock::new() }; PLACES];
static OTHERS: RwLock<Vec<&'static Callsite>> = RwLock::new(Vec::new());

/// What is known of the callsite of this metadata: registered at the first call, found by one or two loads afterwards.
#[inline(always)]
pub(crate) fn of(meta: &'static Metadata<'static>) -> &'static Callsite {
    find(meta).unwrap_or_else(|| enter(meta))
}

/// The same, where it is in the first place that is looked at: nearly all are.
#[inline(always)]
pub(crate) fn find(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    let callsite = TABLE[place_of(meta)].get()?;
    std::ptr::eq(callsite.meta, meta).then_some(*callsite)
}

#[inline(always)]
fn place_of(meta: &'static Metadata<'static>) -> usize {
    let address = std::ptr::from_ref(meta).addr() as u64;
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES.trailing_zeros())) as usize
}

#[inline(never)]
fn enter(meta: &'static Metadata<'static>) -> &'static Callsite {
    let mut place = place_of(meta);
    for _ in 0..PROBES {
        let callsite = TABLE[place].get_or_init(|| Box::leak(Box::new(Callsite::new(meta, place as u32))));
        if std::ptr::eq(callsite.meta, meta) {
            return callsite;
        }
        place = (place + 1) % PLACES;
    }
    let find = |all: &[&'static Callsite]| all.iter().copied().find(|known| std::ptr::eq(known.meta, meta));
    if let Some(known) = find(&OTHERS.read().unwrap_or_else(PoisonError::into_inner)) {
        return known;
    }
    let mut all = OTHERS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = find(&all) {
        return known;
    }
    let callsite = Box::leak(Box::new(Callsite::new(meta, (PLACES + all.len()) as u32)));
    all.push(callsite);
    callsite
}

/// The callsite with this number.
#[inline]
pub(crate) fn numbered(number: u32) -> Option<&'static Callsite> {
    match TABLE.get(number as usize) {
        Some(place) => place.get().copied(),
        None => OTHERS.read().unwrap_or_else(PoisonError::into_inner).get(number as usize - PLACES).copied(),
    }
}
