//! A filter for single records in sequence, whose sites and end are not known beforehand.

use std::collections::HashMap;

use silverpoint_render::time::When;
use silverpoint_trace::{Context, What};

use super::compiled::Compiled;
use super::{Filter, any_matches};

/// See the module.
pub struct RecordFilter {
    filter: Filter,
    from_ns: Option<i64>,
    until_ns: Option<i64>,
    begun: bool,
    expression: Option<Compiled>,
    /// By the number of a site: whether it is wanted, and a number used here.
    sites: HashMap<usize, (bool, usize)>,
}

/// The properties of a record that a filter uses.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// Process id.
    pub pid: u32,
    /// Name of the process.
    pub process: &'a str,
    /// Thread id.
    pub tid: u32,
    /// Name of the thread.
    pub thread: &'a str,
    /// Fields of its scopes.
    pub context: Option<&'a Context>,
    /// What happened; numbers of sites are always the same site.
    pub what: What<'a>,
}

impl RecordFilter {
    /// `None` when a time counts from the end, which only whole trace files know.
    pub fn new(filter: &Filter) -> Option<Self> {
        let is_known = |when: &Option<When>| !matches!(when, Some(When::BeforeEnd(_) | When::TimeOfDay(_)));
        if !is_known(&filter.since) || !is_known(&filter.until) {
            return None;
        }
        Some(Self {
            from_ns: None,
            until_ns: None,
            begun: false,
            expression: filter.expression.as_ref().map(|expression| Compiled::new(expression, 0)),
            sites: HashMap::new(),
            filter: filter.clone(),
        })
    }

    /// Whether a record is wanted. The first one that is passed is the beginning of the trace.
    pub fn takes(&mut self, facts: &Facts<'_>) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            let zone = self.filter.zone();
            let resolve = |when: &Option<When>| {
                when.as_ref().map(|when| when.resolve(facts.wall_ns, facts.wall_ns, &zone))
            };
            (self.from_ns, self.until_ns) = (resolve(&self.filter.since), resolve(&self.filter.until));
        }
        let filter = &self.filter;
        if self.from_ns.is_some_and(|from| facts.wall_ns < from)
            || self.until_ns.is_some_and(|until| facts.wall_ns > until)
            || filter.level.is_some_and(|least| facts.what.level() < least)
            || !filter.process(facts.pid, facts.process)
            || !any_matches(&filter.threads, facts.tid, facts.thread)
        {
            return false;
        }
        let (site, number, args) = match facts.what {
            What::Record { site, site_number, args, .. } => (site, site_number, Some(args)),
            What::SpanEnd { site: Some(site), site_number: Some(number), .. } => (site, number, None),
            _ => return !filter.concerns_sites(),
        };
        let ours = self.sites.len();
        let (wanted, ours) = *self.sites.entry(number).or_insert_with(|| (filter.site(site), ours));
        match (&mut self.expression, args) {
            _ if !wanted => false,
            (None, _) => true,
            (Some(expression), Some(args)) => expression.passes(site, ours, facts.context, args),
            // The end of a span has no arguments.
            (Some(_), None) => false,
        }
    }
}
