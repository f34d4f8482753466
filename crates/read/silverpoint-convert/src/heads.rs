//! What a writer writes of each thread and each site again and again, made once.

use silverpoint_trace::{Site, What};
use silverpoint_wire::value::{Visitor, WalkError};

use crate::{Interned, Record, exact};

/// Threads that are kept; another one takes the place of the first.
const THREADS_MAX: usize = 64;

/// Pieces of output: text or bytes.
pub(crate) struct Heads<P> {
    who: Vec<Who<P>>,
    last: usize,
    next: usize,
    sites: Interned<SitePieces<P>>,
}

struct Who<P> {
    process: usize,
    tid: u32,
    level: u8,
    thread: String,
    piece: P,
}

/// The pieces of a site's records.
pub(crate) struct SitePieces<P> {
    /// The members that describe the site.
    pub place: P,
    /// What stands before each argument; that of the first begins with what stands before all.
    pub before: Vec<P>,
    /// What stands behind the last; without arguments, all of them.
    pub after: P,
}

impl<P> Default for Heads<P> {
    fn default() -> Self {
        Self { who: Vec::new(), last: 0, next: 0, sites: Interned::default() }
    }
}

/// A record that consists of such pieces and of arguments: its site, the site's number, and its packed arguments.
pub(crate) fn plain<'r>(record: &Record<'r>) -> Option<(&'r Site, usize, &'r [u8])> {
    match record.what {
        What::Record { site, site_number, args, truncated: false }
            if !record.is_backtrace && record.context.is_none() =>
        {
            Some((site, site_number, args))
        }
        _ => None,
    }
}

impl<P> Heads<P> {
    /// Who it was and how grave, from the level to the thread's name.
    #[inline]
    pub fn who(&mut self, record: &Record<'_>, make: impl FnOnce() -> P) -> &P {
        let level = record.what.level() as u8;
        let is_it = |who: &Who<P>| {
            who.tid == record.tid
                && who.level == level
                && who.process == record.process_number
                && who.thread == record.thread
        };
        if !self.who.get(self.last).is_some_and(is_it) {
            self.last = match self.who.iter().position(is_it) {
                Some(at) => at,
                None => self.add(record, level, make()),
            };
        }
        &self.who[self.last].piece
    }

    fn add(&mut self, record: &Record<'_>, level: u8, piece: P) -> usize {
        let (process, tid, thread) = (record.process_number, record.tid, record.thread.to_owned());
        let who = Who { process, tid, level, thread, piece };
        if self.who.len() < THREADS_MAX {
            self.who.push(who);
            return self.who.len() - 1;
        }
        self.next = (self.next + 1) % THREADS_MAX;
        self.who[self.next] = who;
        self.next
    }

    /// The pieces of a site.
    #[inline]
    pub fn site(&mut self, number: usize, make: impl FnOnce() -> SitePieces<P>) -> &SitePieces<P> {
        self.sites.get(number, make)
    }
}

impl<P> SitePieces<P> {
    /// Of the way that a format writes arguments (`fast::Dialect`).
    pub fn new<D: crate::fast::Dialect>(site: &Site, place: P, make: impl Fn(Vec<u8>) -> P) -> Self {
        let is_named = site.has_distinct_names();
        let (mut ahead, end) = D::around(is_named, site.types.len());
        let mut before = Vec::new();
        for index in 0..site.types.len() {
            let name = if is_named { site.names.get(index).map(String::as_str) } else { None };
            ahead.extend(D::beside(index, name, crate::fast::Simple::Bool).0);
            before.push(make(std::mem::take(&mut ahead)));
        }
        ahead.extend(end);
        Self { place, before, after: make(ahead) }
    }
}

/// Whether what follows the arguments is padding.
#[inline]
pub(crate) fn is_rest(args: &[u8], at: usize) -> bool {
    args.get(at..).is_some_and(|rest| rest.len() < 8 && rest.iter().all(|byte| *byte == 0))
}

/// Drives the visitor with an argument; gives the offset after it, `None` where the bytes contradict the type.
#[inline]
pub(crate) fn argument<V: Visitor<Error = std::convert::Infallible>>(
    ty: &silverpoint_wire::signature::Type,
    args: &[u8],
    at: usize,
    visitor: &mut V,
) -> Option<usize> {
    match exact::visit(ty, args, at, visitor) {
        Ok(end) => Some(end),
        Err(WalkError::Visitor(never)) => match never {},
        Err(WalkError::Decode(_)) => None,
    }
}
