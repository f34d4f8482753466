//! Spans that are open: what their ends will need, by thread and, of async spans, by id. Bounded: beyond that the oldest are given out as they are.
//!
//! A thread may be in a stretch of an async span: what happens there belongs to that span. One that begins late takes over the span that its first stretch was or, where that has
//! ended already, its place in the tree.

use std::collections::{BTreeMap, HashMap};

use silverpoint_query::spans::{AsyncSpans, OpenSpans, RecentBegins};
use silverpoint_wire::site::fnv1a64;

use crate::begun::{Begin, Begun, Thread};

/// Spans that are open at once, and bytes of their attributes and events.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 64 << 20;

/// A trace and a span in it. Ids are never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    pub trace: [u8; 16],
    pub span: [u8; 8],
}

impl Ids {
    /// Ids that W3C Trace Context states as hexadecimal digits.
    pub(super) fn parse(trace: &str, span: &str) -> Option<Self> {
        Some(Self { trace: hex(trace)?, span: hex(span)? })
    }

    /// Ids of something that has none: the same whenever the same trace is converted.
    pub(super) fn of(what: &str) -> Self {
        let words: Vec<u64> = ["span", "one", "two"]
            .iter()
            .map(|word| fnv1a64(format!("{word} {what}").as_bytes()).max(1))
            .collect();
        let mut trace = [0; 16];
        trace[..8].copy_from_slice(&words[1].to_be_bytes());
        trace[8..].copy_from_slice(&words[2].to_be_bytes());
        Self { trace, span: words[0].to_be_bytes() }
    }
}

fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let mut bytes = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    (bytes != [0; N]).then_some(bytes)
}

/// One that has begun.
pub(super) struct Span {
    pub ids: Ids,
    pub parent: Option<[u8; 8]>,
    pub process: usize,
    pub category: String,
    pub name: String,
    pub begin_ns: u64,
    /// Its arguments by their keys, each as an item of the attributes.
    pub fields: Vec<(String, Vec<u8>)>,
    /// Items of lists, as they will be written: attributes before its arguments, those behind them, and so on.
    pub attributes: Vec<u8>,
    pub last_attributes: Vec<u8>,
    pub events: Vec<u8>,
    pub links: Vec<u8>,
    /// The trace that it would begin.
    own_trace: [u8; 16],
    site: usize,
    thread: Option<Thread>,
    /// When it began, as its thread's spans are ordered.
    order: u64,
}

impl Span {
    pub(super) fn new(
        ids: Ids,
        process: usize,
        site: usize,
        category: &str,
        name: &str,
        begin_ns: u64,
    ) -> Self {
        Self {
            ids,
            parent: None,
            process,
            category: category.to_owned(),
            name: name.to_owned(),
            begin_ns,
            fields: Vec::new(),
            attributes: Vec::new(),
            last_attributes: Vec::new(),
            events: Vec::new(),
            links: Vec::new(),
            own_trace: ids.trace,
            site,
            thread: None,
            order: 0,
        }
    }

    /// It lies in another, or where a request has begun.
    pub(super) fn put_into(&mut self, around: Option<Ids>) {
        self.ids.trace = around.map_or(self.own_trace, |around| around.trace);
        self.parent = around.map(|around| around.span);
    }

    fn bytes(&self) -> usize {
        let fields: usize = self.fields.iter().map(|(key, item)| key.len() + item.len()).sum();
        fields + self.attributes.len() + self.last_attributes.len() + self.events.len() + self.links.len()
    }
}

/// What joins the records of an async span: process, category, name and id.
pub(super) type Key = (usize, String, String, String);

/// The begin of a span of a thread: process, a hash of category and name, ticks.
pub(super) type NamedBegin = (usize, u64, u64);

/// The begin of a span of a category and a name at these ticks.
pub(super) fn begin_of(process: usize, category: &str, name: &str, ticks: u64) -> NamedBegin {
    (process, fnv1a64(format!("{category}\n{name}").as_bytes()), ticks)
}

/// What a thread is in.
struct Open {
    number: u64,
    /// Of its begin.
    ticks: Option<u64>,
    /// A stretch of an async span, which does not end with it.
    is_stretch: bool,
}

/// What has ended in a thread.
pub(super) enum Ended {
    Span(Box<Span>),
    Stretch,
    Unknown,
}

/// Those that are open, by numbers that ascend.
#[derive(Default)]
pub(super) struct Spans {
    all: BTreeMap<u64, Span>,
    next: u64,
    bytes: usize,
    /// In the order in which threads entered them.
    threads: OpenSpans<u32, Open>,
    by_key: AsyncSpans<Key, u64>,
    keys: HashMap<u64, Key>,
    /// Async ones by process and id.
    by_id: AsyncSpans<(usize, String), u64>,
    /// Stretches that threads are in.
    stretches: usize,
    /// Of spans of threads: where they lie.
    recent: RecentBegins<NamedBegin, (u64, Place)>,
}

/// Ids of a span, and its parent.
type Place = (Ids, Option<[u8; 8]>);

impl Spans {
    /// The number of the next one.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    fn add(&mut self, span: Span) -> u64 {
        let number = self.next;
        self.next += 1;
        self.bytes += span.bytes();
        self.all.insert(number, span);
        number
    }

    fn open(&mut self, begin: Begin, number: u64, site: usize, is_stretch: bool) {
        let open = Open { number, ticks: begin.ticks, is_stretch };
        self.threads.begin(begin.thread, site, begin.order, open);
    }

    /// One begins in a thread. `named`: if it may turn out to be an async one.
    pub(super) fn begin(&mut self, begin: Begin, mut span: Span, named: Option<NamedBegin>) {
        (span.thread, span.order) = (Some(begin.thread), begin.order);
        let (site, place) = (span.site, (span.ids, span.parent));
        let number = self.add(span);
        self.open(begin, number, site, false);
        if let Some(named) = named {
            self.recent.begin(named, (number, place));
        }
    }

    /// A span that is open gets fields; of equal keys the last counts. False: it is not open.
    pub(super) fn add_fields(&mut self, key: &Key, fields: Vec<(String, Vec<u8>)>) -> bool {
        let Some(span) = self.of_key(key) else { return false };
        let before = span.bytes();
        for (key, item) in fields {
            match span.fields.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = item,
                None => span.fields.push((key, item)),
            }
        }
        let after = span.bytes();
        self.bytes = self.bytes + after - before;
        true
    }

    /// An async one begins.
    pub(super) fn begin_async(&mut self, key: Key, span: Span) {
        let number = self.add(span);
        self.name_async(key, number);
    }

    fn name_async(&mut self, key: Key, number: u64) {
        self.by_key.begin_in_order(key.clone(), number);
        self.by_id.begin_in_order((key.0, key.3.clone()), number);
        self.keys.insert(number, key);
    }

    /// The span of a thread that began there, and is open, is an async one; true. Else says where it was, if that is known: `span` is its other part.
    pub(super) fn begin_late(&mut self, key: Key, begin: NamedBegin, mut span: Span) -> bool {
        let known = self.recent.get(&begin).copied();
        let open = known.and_then(|(number, _)| Some((number, self.all.get_mut(&number)?.thread.take()?)));
        if let Some((number, thread)) = open {
            let place = self.threads.last(thread, |_, open| open.number == number);
            if let Some(open) = place.and_then(|place| self.threads.get_mut(place)) {
                open.is_stretch = true;
                self.stretches += 1;
            }
            self.name_async(key, number);
            return true;
        }
        if let Some((_, (first, parent))) = known {
            // Beside its first stretch, or within it where there is nothing around.
            (span.ids.trace, span.parent) = (first.trace, Some(parent.unwrap_or(first.span)));
        }
        self.begin_async(key, span);
        false
    }

    /// A thread enters an async span; false: there is none, or threads are in too many.
    pub(super) fn enter(&mut self, begin: Begin, site: usize, key: &Key) -> bool {
        let number = self.by_key.last(key).copied();
        let Some(number) = number.filter(|_| self.stretches < MOST) else { return false };
        self.stretches += 1;
        self.open(begin, number, site, true);
        true
    }

    /// The innermost one of a thread.
    pub(super) fn innermost(&mut self, thread: Thread) -> Option<&mut Span> {
        let all = &self.all;
        let is_there = |open: &&Open| all.contains_key(&open.number);
        let number = self.threads.of(thread).rev().find(is_there)?.number;
        self.all.get_mut(&number)
    }

    /// The async one of a key that began last.
    pub(super) fn of_key(&mut self, key: &Key) -> Option<&mut Span> {
        self.all.get_mut(self.by_key.last(key)?)
    }

    /// The async one with an id.
    pub(super) fn of_id(&mut self, process: usize, id: u64) -> Option<&mut Span> {
        self.all.get_mut(self.by_id.last(&(process, id.to_string()))?)
    }

    /// Adds an event to the span that is found.
    pub(super) fn add_event(
        &mut self,
        find: impl FnOnce(&mut Self) -> Option<&mut Span>,
        add: impl FnOnce(&mut Vec<u8>),
    ) {
        if let Some(span) = find(self) {
            let before = span.events.len();
            add(&mut span.events);
            let grown = span.events.len() - before;
            self.bytes += grown;
        }
    }

    /// Adds a link to the async span with an id; false: there is none.
    pub(super) fn add_link(&mut self, process: usize, id: u64, add: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Some(span) = self.of_id(process, id) else { return false };
        let before = span.links.len();
        add(&mut span.links);
        let grown = span.links.len() - before;
        self.bytes += grown;
        true
    }

    /// What ends at this site in a thread; `begun` is what the end says of its begin. Where records were lost, the ends of spans within it may be among them: such spans are `unfinished`.
    pub(super) fn end(
        &mut self,
        thread: Thread,
        site: usize,
        begun: Option<Begun>,
        unfinished: &mut Vec<Span>,
    ) -> Ended {
        let is_it = |of: usize, _: &Open| of == site;
        let known = begun.and_then(|begun| begun.find(&self.threads, thread, is_it, |open| open.ticks));
        let last = || self.threads.last(thread, is_it).filter(|_| !begun.is_some_and(Begun::is_exact));
        let Some(place) = known.or_else(last) else { return Ended::Unknown };
        let mut lost = Vec::new();
        let ended = self.threads.end_with(place, |open, may_have_ended| {
            if may_have_ended {
                lost.push((open.number, open.is_stretch));
            }
            !may_have_ended
        });
        let Some(ended) = ended else { return Ended::Unknown };
        for (number, is_stretch) in lost {
            if is_stretch {
                self.stretches -= 1;
            } else {
                unfinished.extend(self.remove(number));
            }
        }
        if ended.is_stretch {
            self.stretches -= 1;
            return Ended::Stretch;
        }
        self.remove(ended.number).map_or(Ended::Unknown, |span| Ended::Span(Box::new(span)))
    }

    /// The async one that ends.
    pub(super) fn end_async(&mut self, key: &Key) -> Option<Span> {
        let number = *self.by_key.last(key)?;
        self.remove(number)
    }

    /// Records of a thread were lost.
    pub(super) fn lost(&mut self, thread: Thread) {
        self.threads.lost(thread);
    }

    fn remove(&mut self, number: u64) -> Option<Span> {
        let span = self.all.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(span.bytes());
        if let Some(thread) = span.thread {
            let open = self.threads.first_at(thread, span.order, |open| open.number < number);
            if let Some(place) = open.filter(|(_, open)| open.number == number).map(|(place, _)| place) {
                self.threads.remove(place);
            }
        }
        if let Some(key) = self.keys.remove(&number) {
            self.by_key.remove(&key, &number);
            self.by_id.remove(&(key.0, key.3), &number);
        }
        Some(span)
    }

    /// The oldest, when there are too many.
    pub(super) fn too_many(&mut self) -> Option<Span> {
        if self.all.len() <= MOST && self.bytes <= MOST_BYTES {
            return None;
        }
        self.oldest()
    }

    /// The oldest.
    pub(super) fn oldest(&mut self) -> Option<Span> {
        let number = *self.all.keys().next()?;
        self.remove(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: Thread = (0, 7);
    const BEGIN: Begin = Begin { thread: THREAD, order: 1, ticks: None };

    fn span(site: usize) -> Span {
        Span::new(Ids::of(&site.to_string()), 0, site, "c", "n", site as u64)
    }

    /// The site of the span that ends.
    fn end(spans: &mut Spans, site: usize, unfinished: &mut Vec<Span>) -> Option<usize> {
        match spans.end(THREAD, site, None, unfinished) {
            Ended::Span(span) => Some(span.site),
            Ended::Stretch | Ended::Unknown => None,
        }
    }

    fn key() -> Key {
        (0, "c".into(), "n".into(), "9".into())
    }

    #[test]
    fn stretches_are_bounded_and_end_whatever_has_become_of_their_span() {
        let mut spans = Spans::default();
        spans.begin_async(key(), span(1));
        for _ in 0..MOST {
            assert!(spans.enter(BEGIN, 2, &key()));
        }
        assert!(!spans.enter(BEGIN, 2, &key()));
        assert_eq!(spans.innermost(THREAD).map(|span| span.site), Some(1));
        assert_eq!(spans.end_async(&key()).map(|span| span.site), Some(1));
        assert!(spans.innermost(THREAD).is_none() && spans.of_id(0, 9).is_none());
        for _ in 0..MOST {
            assert!(matches!(spans.end(THREAD, 2, None, &mut Vec::new()), Ended::Stretch));
        }
        assert!(matches!(spans.end(THREAD, 2, None, &mut Vec::new()), Ended::Unknown));
        assert!(spans.threads.is_empty() && spans.all.is_empty() && spans.stretches == 0);
        assert!(spans.by_id.is_empty() && spans.by_key.is_empty());
    }

    #[test]
    fn what_begins_late_takes_over_what_is_open_or_its_place() {
        let mut spans = Spans::default();
        let begin = begin_of(0, "c", "n", 5);
        for is_open in [true, false] {
            let mut first = span(1);
            first.put_into(Some(Ids::of("outer")));
            let ids = first.ids;
            spans.begin(BEGIN, first, Some(begin));
            if !is_open {
                assert!(matches!(spans.end(THREAD, 1, None, &mut Vec::new()), Ended::Span(_)));
            }
            assert_eq!(spans.begin_late(key(), begin, span(2)), is_open);
            if is_open {
                assert!(matches!(spans.end(THREAD, 1, None, &mut Vec::new()), Ended::Stretch));
            }
            let late = spans.end_async(&key()).unwrap();
            assert_eq!(late.site, if is_open { 1 } else { 2 });
            assert_eq!((late.ids.trace, late.parent), (ids.trace, Some(Ids::of("outer").span)));
            assert!(spans.threads.is_empty() && spans.all.is_empty() && spans.stretches == 0);
        }
    }

    #[test]
    fn too_many_open_spans_are_given_out_oldest_first() {
        let mut spans = Spans::default();
        for site in 0..MOST {
            spans.begin(BEGIN, span(site), None);
            assert!(spans.too_many().is_none());
        }
        spans.begin(BEGIN, span(MOST), None);
        assert_eq!(spans.too_many().map(|span| span.site), Some(0));
        assert!(spans.too_many().is_none());
        spans.add_event(|spans| spans.innermost(THREAD), |events| events.resize(MOST_BYTES + 1, 0));
        assert_eq!(spans.too_many().map(|span| span.site), Some(1));
        assert_eq!(end(&mut spans, MOST, &mut Vec::new()), Some(MOST));
        assert!(spans.too_many().is_none());
    }

    #[test]
    fn ends_that_may_be_lost_are_not_waited_for() {
        let mut spans = Spans::default();
        let mut unfinished = Vec::new();
        for round in 0..2 {
            spans.begin(BEGIN, span(1), None);
            spans.begin(BEGIN, span(2), None);
            if round == 1 {
                spans.lost(THREAD);
            }
            spans.begin(BEGIN, span(3), None);
            assert_eq!(end(&mut spans, 1, &mut unfinished), Some(1));
            // Without a loss they may end in another order; so may one that began after it.
            let left: Vec<usize> = unfinished.drain(..).map(|span: Span| span.site).collect();
            assert_eq!(left, if round == 1 { vec![2] } else { vec![] });
            assert_eq!(end(&mut spans, 2, &mut unfinished).is_some(), round == 0);
            assert!(end(&mut spans, 3, &mut unfinished).is_some());
            assert!(spans.threads.is_empty() && spans.all.is_empty() && spans.bytes == 0);
        }
    }

    #[test]
    fn ids_are_those_of_w3c_and_never_zero() {
        let ids = Ids::parse("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7").unwrap();
        assert_eq!((ids.trace[0], ids.span[7]), (0x4B, 0xB7));
        assert!(Ids::parse(&"0".repeat(32), "00f067aa0ba902b7").is_none());
        assert!(Ids::parse("4bf92f3577b34da6a3ce929d0e0e47", "00f067aa0ba902b7").is_none());
        assert!(Ids::parse("4bf92f3577b34da6a3ce929d0e0e473é", "00f067aa0ba902b7").is_none());
    }
}
