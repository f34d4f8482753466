//! Spans that are open: what their ends will need, by thread and, of async spans, by id. Bounded: beyond that the oldest are given out as they are.

use std::collections::{BTreeMap, HashMap};

use silverpoint_wire::site::fnv1a64;

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
    /// Items of lists, as they will be written.
    pub attributes: Vec<u8>,
    pub events: Vec<u8>,
    site: usize,
    thread: Option<(usize, u32)>,
    /// How often its thread had lost records when it began.
    losses: u64,
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
            attributes: Vec::new(),
            events: Vec::new(),
            site,
            thread: None,
            losses: 0,
        }
    }

    fn bytes(&self) -> usize {
        self.attributes.len() + self.events.len()
    }
}

/// What joins the records of an async span: process, category, name and id.
pub(super) type Key = (usize, String, String, String);

#[derive(Default)]
struct Thread {
    open: Vec<u64>,
    losses: u64,
}

/// Those that are open, by numbers that ascend.
#[derive(Default)]
pub(super) struct Spans {
    all: BTreeMap<u64, Span>,
    next: u64,
    bytes: usize,
    threads: HashMap<(usize, u32), Thread>,
    by_key: HashMap<Key, Vec<u64>>,
    keys: HashMap<u64, Key>,
}

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

    /// One begins in a thread.
    pub(super) fn begin(&mut self, thread: (usize, u32), mut span: Span) {
        let losses = self.threads.entry(thread).or_default().losses;
        (span.thread, span.losses) = (Some(thread), losses);
        let number = self.add(span);
        self.threads.entry(thread).or_default().open.push(number);
    }

    /// An async one begins.
    pub(super) fn begin_async(&mut self, key: Key, span: Span) {
        let number = self.add(span);
        self.by_key.entry(key.clone()).or_default().push(number);
        self.keys.insert(number, key);
    }

    /// The innermost one of a thread.
    pub(super) fn innermost(&mut self, thread: (usize, u32)) -> Option<&mut Span> {
        let number = self.threads.get(&thread)?.open.last()?;
        self.all.get_mut(number)
    }

    /// The async one of a key that began last.
    pub(super) fn of_key(&mut self, key: &Key) -> Option<&mut Span> {
        let number = self.by_key.get(key)?.last()?;
        self.all.get_mut(number)
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

    /// The span of this site that ends in a thread. Where records were lost, the ends of spans within it may be among them: such spans are `unfinished`.
    pub(super) fn end(
        &mut self,
        thread: (usize, u32),
        site: usize,
        unfinished: &mut Vec<Span>,
    ) -> Option<Span> {
        let state = self.threads.get_mut(&thread)?;
        let losses = state.losses;
        let all = &self.all;
        let is_it = |number: &u64| all.get(number).is_some_and(|span| span.site == site);
        let at = state.open.iter().rposition(is_it)?;
        let number = state.open[at];
        let lost: Vec<u64> = state.open[at + 1..]
            .iter()
            .copied()
            .filter(|number| all.get(number).is_some_and(|span| span.losses != losses))
            .collect();
        for number in lost {
            unfinished.extend(self.remove(number));
        }
        self.remove(number)
    }

    /// The async one that ends.
    pub(super) fn end_async(&mut self, key: &Key) -> Option<Span> {
        let number = *self.by_key.get(key)?.last()?;
        self.remove(number)
    }

    /// Records of a thread were lost.
    pub(super) fn lost(&mut self, thread: (usize, u32)) {
        // A thread without open spans has nothing to lose.
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.losses += 1;
        }
    }

    fn remove(&mut self, number: u64) -> Option<Span> {
        let span = self.all.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(span.bytes());
        if let Some(thread) = span.thread
            && let Some(state) = self.threads.get_mut(&thread)
        {
            state.open.retain(|open| *open != number);
            if state.open.is_empty() {
                self.threads.remove(&thread);
            }
        }
        if let Some(key) = self.keys.remove(&number)
            && let Some(numbers) = self.by_key.get_mut(&key)
        {
            numbers.retain(|open| *open != number);
            if numbers.is_empty() {
                self.by_key.remove(&key);
            }
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

    const THREAD: (usize, u32) = (0, 7);

    fn span(site: usize) -> Span {
        Span::new(Ids::of(&site.to_string()), 0, site, "c", "n", site as u64)
    }

    #[test]
    fn too_many_open_spans_are_given_out_oldest_first() {
        let mut spans = Spans::default();
        for site in 0..MOST {
            spans.begin(THREAD, span(site));
            assert!(spans.too_many().is_none());
        }
        spans.begin(THREAD, span(MOST));
        assert_eq!(spans.too_many().map(|span| span.site), Some(0));
        assert!(spans.too_many().is_none());
        spans.add_event(|spans| spans.innermost(THREAD), |events| events.resize(MOST_BYTES + 1, 0));
        assert_eq!(spans.too_many().map(|span| span.site), Some(1));
        assert_eq!(spans.end(THREAD, MOST, &mut Vec::new()).map(|span| span.site), Some(MOST));
        assert!(spans.too_many().is_none());
    }

    #[test]
    fn ends_that_may_be_lost_are_not_waited_for() {
        let mut spans = Spans::default();
        let mut unfinished = Vec::new();
        for round in 0..2 {
            spans.begin(THREAD, span(1));
            spans.begin(THREAD, span(2));
            if round == 1 {
                spans.lost(THREAD);
            }
            spans.begin(THREAD, span(3));
            assert_eq!(spans.end(THREAD, 1, &mut unfinished).map(|span| span.site), Some(1));
            // Without a loss they may end in another order; so may one that began after it.
            let left: Vec<usize> = unfinished.drain(..).map(|span: Span| span.site).collect();
            assert_eq!(left, if round == 1 { vec![2] } else { vec![] });
            assert_eq!(spans.end(THREAD, 2, &mut unfinished).is_some(), round == 0);
            assert!(spans.end(THREAD, 3, &mut unfinished).is_some());
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
