//! A filter applied to one trace: its sites, sessions and threads decided, its times made absolute.

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, LOSS, SPAN_END, STALL, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::record::Record;
use silverpoint_wire::value::skip;

use super::expression::{Expression, Test};
use super::{Filter, Picked, any_matches, evaluate};
use crate::context::Context;
use crate::render::Renderer;
use crate::site::Site;
use crate::tracefile::{Session, Trace};

/// Ids below this have a place in a table.
const TABLE: u32 = 1 << 16;

/// See the module.
pub(crate) struct Selection {
    filter: Filter,
    from_ns: i64,
    until_ns: i64,
    /// By the trace's session numbers.
    sessions: Vec<bool>,
    /// By the trace's site numbers.
    sites: Vec<bool>,
    /// By session and thread, by the thread's name as it is now.
    threads: Vec<Vec<bool>>,
    /// Ids of the threads that are wanted; `None`: all.
    tids: Option<Vec<u32>>,
    /// Of each session the bits of a block's `sites` that may lead to something wanted.
    site_bits: Vec<u64>,
    /// Bits of a block's `levels` that may.
    levels: u32,
    /// Contexts are followed through every block that may have one, as names of threads are.
    with_contexts: bool,
    /// Of each session, by site id: such a record cannot be wanted, and changes nothing. Ids beyond the end
    /// are examined.
    passed_over: Vec<Vec<bool>>,
    /// Control records by id.
    control: [bool; FIRST_ID as usize],
    /// Records of sites without a description.
    unknown: bool,
    expression: Option<Compiled>,
}

impl Selection {
    /// Decides what can be decided now.
    pub(crate) fn new(filter: &Filter, trace: &Trace) -> Self {
        let (begin_ns, end_ns) = trace.time_range().unwrap_or((0, 0));
        let zone = filter.zone();
        let resolve = |when: &Option<crate::time::When>| {
            when.as_ref().map(|when| when.resolve(begin_ns, end_ns, &zone))
        };
        let least = filter.level.unwrap_or(Level::Trace);
        let sites: Vec<bool> = trace.sites.iter().map(|site| filter.site(site)).collect();
        let of_no_site = !filter.concerns_sites();
        let mut control = [false; FIRST_ID as usize];
        control[LOSS as usize] = of_no_site && least <= Level::Warn;
        control[STALL as usize] = of_no_site && least <= Level::Info;
        let unknown = of_no_site && least <= Level::Info;
        let mut wanted = sites.iter().zip(&trace.sites).filter(|(wanted, _)| **wanted);
        control[SPAN_END as usize] = filter.expression.is_none()
            && (unknown || wanted.any(|(_, site)| of_no_site || site.kind() == Kind::Span));
        for other in THREAD_NAME..FIRST_ID {
            control[other as usize] = of_no_site && least == Level::Trace;
        }
        // Names of threads are followed through every block that may have one.
        let levels = Level::ALL.into_iter().filter(|level| *level >= least || unknown);
        Self {
            from_ns: resolve(&filter.since).unwrap_or(i64::MIN),
            until_ns: resolve(&filter.until).unwrap_or(i64::MAX),
            sessions: trace.sessions.iter().map(|s| filter.process(s.pid, &s.name)).collect(),
            levels: levels.fold(LEVELS_CONTROL, |bits, level| bits | 1 << level as u32),
            with_contexts: filter.expression.is_some(),
            expression: filter.expression.as_ref().map(|e| Compiled::new(e, trace.sites.len())),
            filter: filter.clone(),
            ..Self::of(trace, sites, control, unknown)
        }
    }

    /// What was picked. The numbers are those of this trace; what is beyond the end of a list is not wanted.
    pub(crate) fn picked(picked: &Picked, trace: &Trace) -> Self {
        let mut sites = picked.sites.clone();
        sites.resize(trace.sites.len(), false);
        let mut sessions = picked.sessions.clone();
        sessions.resize(trace.sessions.len(), false);
        let mut control = [false; FIRST_ID as usize];
        for id in [LOSS, STALL] {
            control[id as usize] = picked.others;
        }
        let mut wanted = sites.iter().zip(&trace.sites).filter(|(wanted, _)| **wanted);
        control[SPAN_END as usize] = picked.others || wanted.any(|(_, site)| site.kind() == Kind::Span);
        let wanted = sites.iter().zip(&trace.sites).filter(|(wanted, _)| **wanted || picked.others);
        let levels = wanted.fold(LEVELS_CONTROL, |bits, (_, site)| bits | 1 << site.level() as u32);
        Self {
            from_ns: picked.from_ns,
            until_ns: picked.until_ns,
            sessions,
            tids: picked.tids.clone(),
            // Records of unknown sites have levels of their own.
            levels: if picked.others { u32::MAX } else { levels },
            ..Self::of(trace, sites, control, picked.others)
        }
    }

    /// Derived from the sites and the control records that are wanted; everything else is.
    fn of(trace: &Trace, sites: Vec<bool>, control: [bool; FIRST_ID as usize], unknown: bool) -> Self {
        // Names of threads are followed through every block that may have one.
        let names = site_bit(THREAD_NAME);
        let control_bits =
            (1..FIRST_ID).filter(|id| control[*id as usize]).fold(names, |bits, id| bits | site_bit(id));
        let site_bits = trace.sessions.iter().map(|session| match unknown {
            true => u64::MAX,
            false => session
                .site_numbers()
                .filter(|(_, number)| sites[*number])
                .fold(control_bits, |bits, (id, _)| bits | site_bit(id)),
        });
        let passed_over = trace.sessions.iter().map(|session| {
            let mut table = vec![false; FIRST_ID as usize];
            for id in (1..FIRST_ID).filter(|id| !matches!(*id, THREAD_NAME | CONTEXT)) {
                table[id as usize] = !control[id as usize];
            }
            for (id, number) in session.site_numbers().filter(|(id, _)| *id < TABLE) {
                if table.len() <= id as usize {
                    table.resize(id as usize + 1, false);
                }
                table[id as usize] = !sites[number];
            }
            table
        });
        Self {
            filter: Filter::default(),
            from_ns: i64::MIN,
            until_ns: i64::MAX,
            sessions: vec![true; trace.sessions.len()],
            threads: trace.sessions.iter().map(|s| vec![true; s.threads.len()]).collect(),
            tids: None,
            site_bits: site_bits.collect(),
            levels: u32::MAX,
            with_contexts: false,
            passed_over: passed_over.collect(),
            control,
            unknown,
            expression: None,
            sites,
        }
    }

    /// A selection that skips no block which may have a context.
    pub(crate) fn with_contexts(mut self) -> Self {
        self.with_contexts = true;
        self
    }

    /// Whether anything of a session is wanted.
    pub(crate) fn session(&self, number: usize) -> bool {
        self.sessions[number]
    }

    /// Whether anything of a thread is wanted, as far as its id tells.
    pub(crate) fn tid(&self, tid: u32) -> bool {
        self.tids.as_ref().is_none_or(|tids| tids.contains(&tid))
    }

    /// Whether a block may hold something wanted, or a thread's name (or a context, where that decides).
    pub(crate) fn block(&self, session: &Session, number: usize, header: &BlockHeader) -> bool {
        let statements = site_bit(THREAD_NAME) | if self.with_contexts { site_bit(CONTEXT) } else { 0 };
        if header.levels & self.levels == 0 || header.sites & (self.site_bits[number] | statements) == 0 {
            return false;
        }
        if self.until_ns < i64::MAX && session.clock.wall_ns(header.first_ticks) > self.until_ns {
            return false;
        }
        if self.from_ns > i64::MIN && session.clock.wall_ns(header.last_ticks) < self.from_ns {
            return header.levels & LEVELS_CONTROL != 0 && header.sites & statements != 0;
        }
        true
    }

    /// Whether records with this id can be skipped.
    #[inline]
    pub(crate) fn passes_over(&self, session: usize, id: u32) -> bool {
        self.passed_over[session].get(id as usize).is_some_and(|passed_over| *passed_over)
    }

    /// A thread has appeared or has another name.
    pub(crate) fn thread_changed(&mut self, session: usize, thread: usize, tid: u32, name: &str) {
        self.threads[session][thread] = any_matches(&self.filter.threads, tid, name);
    }

    /// Whether records of a site may be wanted.
    pub(crate) fn site(&self, number: usize) -> bool {
        self.sites[number]
    }

    /// Whether records of sites without a description are wanted.
    pub(crate) fn unknown(&self) -> bool {
        self.unknown
    }

    /// Whether a control record is wanted, as far as its id tells.
    pub(crate) fn control(&self, id: u32) -> bool {
        self.control.get(id as usize).copied().unwrap_or(false)
    }

    /// Whether a thread is wanted under the name that it had last.
    pub(crate) fn thread(&self, tid: u32, name: &str) -> bool {
        any_matches(&self.filter.threads, tid, name)
    }

    /// The first and the last nanosecond that are wanted, when not all are.
    pub(crate) fn times(&self) -> Option<(i64, i64)> {
        (self.from_ns > i64::MIN || self.until_ns < i64::MAX).then_some((self.from_ns, self.until_ns))
    }

    /// Whether arguments must be looked at.
    pub(crate) fn has_expression(&self) -> bool {
        self.expression.is_some()
    }

    /// Whether the arguments of a record, and its context, pass the expression, if there is one.
    pub(crate) fn values(
        &mut self,
        site: &Site,
        number: usize,
        context: Option<&Context>,
        args: &[u8],
    ) -> bool {
        self.expression.as_mut().is_none_or(|expression| expression.passes(site, number, context, args))
    }

    /// Whether the end of a span is wanted, when such records are.
    pub(crate) fn span_end(&self, trace: &Trace, session: usize, args: &[u8]) -> bool {
        let id = args.first_chunk().map(|id| u32::from_le_bytes(*id));
        let site = id.and_then(|id| trace.sessions[session].site_number(id));
        site.map_or(self.unknown, |number| self.sites[number])
    }

    /// Whether a record is wanted.
    #[inline]
    pub(crate) fn record(
        &mut self,
        trace: &Trace,
        session: usize,
        thread: usize,
        wall_ns: i64,
        context: Option<&Context>,
        record: &Record<'_>,
    ) -> bool {
        if wall_ns < self.from_ns || wall_ns > self.until_ns || !self.threads[session][thread] {
            return false;
        }
        let id = record.header.site;
        let site_of = |id| trace.sessions[session].site_number(id);
        if id >= FIRST_ID {
            let Some(number) = site_of(id) else { return self.unknown };
            return self.sites[number]
                && self
                    .expression
                    .as_mut()
                    .is_none_or(|e| e.passes(&trace.sites[number], number, context, record.args));
        }
        if id == SPAN_END && self.control[SPAN_END as usize] {
            return self.span_end(trace, session, record.args);
        }
        self.control[id as usize]
    }
}

/// An expression whose paths have been looked up in the sites.
pub(super) struct Compiled {
    tree: Node,
    tests: Vec<Test>,
    /// By site number; made when the site first occurs.
    places: Vec<Option<Box<[Place]>>>,
    renderer: Renderer,
    message: String,
}

enum Node {
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Test(usize),
}

/// Where the first step of a path leads in a site.
#[derive(Clone, Copy)]
enum Place {
    Argument(usize),
    /// The rendered text, for sites without an argument called `message`.
    Message,
    /// No argument: a field of the context perhaps.
    Nowhere,
}

/// Before the name of a field of the context, when an argument has the same name.
const CONTEXT_STEP: &str = "context";

impl Compiled {
    pub(super) fn new(expression: &Expression, sites: usize) -> Self {
        let mut tests = Vec::new();
        let tree = Node::new(expression, &mut tests);
        Self { tree, tests, places: vec![None; sites], renderer: Renderer::new(), message: String::new() }
    }

    pub(super) fn passes(
        &mut self,
        site: &Site,
        number: usize,
        context: Option<&Context>,
        args: &[u8],
    ) -> bool {
        let tests = &self.tests;
        if number >= self.places.len() {
            self.places.resize(number + 1, None);
        }
        let places =
            self.places[number].get_or_insert_with(|| tests.iter().map(|test| place(test, site)).collect());
        let mut evaluation = Evaluation {
            tests,
            places,
            site,
            args,
            context,
            renderer: &mut self.renderer,
            message: &mut self.message,
        };
        evaluation.passes(&self.tree)
    }
}

impl Node {
    fn new(expression: &Expression, tests: &mut Vec<Test>) -> Self {
        let mut sub = |inner: &Expression| Box::new(Self::new(inner, tests));
        match expression {
            Expression::And(a, b) => Self::And(sub(a), sub(b)),
            Expression::Or(a, b) => Self::Or(sub(a), sub(b)),
            Expression::Not(inner) => Self::Not(sub(inner)),
            Expression::Test(test) => {
                tests.push(test.clone());
                Self::Test(tests.len() - 1)
            }
        }
    }
}

fn place(test: &Test, site: &Site) -> Place {
    let first = test.path.first().map_or("", String::as_str);
    // The id of an async span or a flow is its first argument, which may have any name. An argument that the
    // program named `id` takes precedence.
    let has_id = (Kind::AsyncBegin as u8..=Kind::FlowEnd as u8).contains(&(site.kind() as u8));
    let is_first = |name: &String| name == first;
    let own = site.names.iter().skip(1).position(is_first).filter(|_| has_id).map(|index| index + 1);
    if let Some(index) = own.or_else(|| site.names.iter().position(is_first)) {
        return Place::Argument(index);
    }
    // `arg0` is what tables call an argument without a name; `0` is left of `args[0]`.
    match first.strip_prefix("arg").unwrap_or(first).parse::<usize>() {
        Ok(index) if index < site.types.len() => Place::Argument(index),
        _ if first == "value" && site.kind() == Kind::Counter && site.types.len() == 1 => Place::Argument(0),
        _ if first == "message" && test.path.len() == 1 => Place::Message,
        _ => Place::Nowhere,
    }
}

struct Evaluation<'a> {
    tests: &'a [Test],
    places: &'a [Place],
    site: &'a Site,
    args: &'a [u8],
    context: Option<&'a Context>,
    renderer: &'a mut Renderer,
    message: &'a mut String,
}

impl Evaluation<'_> {
    fn passes(&mut self, node: &Node) -> bool {
        match node {
            Node::And(a, b) => self.passes(a) && self.passes(b),
            Node::Or(a, b) => self.passes(a) || self.passes(b),
            Node::Not(inner) => !self.passes(inner),
            Node::Test(number) => self.test(*number),
        }
    }

    fn test(&mut self, number: usize) -> bool {
        let test = &self.tests[number];
        match self.places[number] {
            Place::Nowhere => {
                let explicit = test.path.first().is_some_and(|first| first == CONTEXT_STEP);
                let path = &test.path[usize::from(explicit && test.path.len() > 1)..];
                let Some((name, rest)) = path.split_first() else { return false };
                let value = self.context.and_then(|context| context.get(name));
                value.is_some_and(|value| evaluate::item_passes(test, rest, value))
            }
            Place::Message => {
                self.message.clear();
                let _ = self.renderer.message(self.message, self.site, self.args);
                evaluate::text_passes(test, self.message)
            }
            Place::Argument(index) => {
                let types = &self.site.types;
                let at = types[..index].iter().try_fold(0, |at, ty| skip(ty, self.args, at));
                at.is_ok_and(|at| evaluate::passes(test, &test.path[1..], &types[index], self.args, at))
            }
        }
    }
}
