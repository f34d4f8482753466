//! A filter for single records in sequence, whose sites and end are not known beforehand.

use std::collections::HashMap;

use silverpoint_render::time::When;
use silverpoint_trace::{Record, What};

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
    pub fn takes(&mut self, record: &Record<'_>) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            let zone = self.filter.zone();
            let resolve = |when: &Option<When>| {
                when.as_ref().map(|when| when.resolve(record.wall_ns, record.wall_ns, &zone))
            };
            (self.from_ns, self.until_ns) = (resolve(&self.filter.since), resolve(&self.filter.until));
        }
        let filter = &self.filter;
        if self.from_ns.is_some_and(|from| record.wall_ns < from)
            || self.until_ns.is_some_and(|until| record.wall_ns > until)
            || filter.level.is_some_and(|least| record.what.level() < least)
            || !filter.process(record.pid, record.process)
            || !any_matches(&filter.threads, record.tid, record.thread)
        {
            return false;
        }
        let (site, number, args) = match record.what {
            What::Record { site, site_number, args, .. } => (site, site_number, Some(args)),
            What::SpanEnd { site: Some(site), site_number: Some(number), .. } => (site, number, None),
            _ => return !filter.concerns_sites(),
        };
        let ours = self.sites.len();
        let (wanted, ours) = *self.sites.entry(number).or_insert_with(|| (filter.site(site), ours));
        match (&mut self.expression, args) {
            _ if !wanted => false,
            (None, _) => true,
            (Some(expression), Some(args)) => expression.passes(site, ours, record.context, args),
            // The end of a span has no arguments.
            (Some(_), None) => false,
        }
    }
}
