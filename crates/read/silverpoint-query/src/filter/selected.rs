//! A filter applied to one trace: what it decides by sites, sessions, threads and times.

use silverpoint_render::time::When;
use silverpoint_trace::{Select, ThreadTest, Trace, ValueTest, Wanted};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{LOSS, SPAN_END, STALL, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::{Kind, Level};

use super::compiled::Compiled;
use super::{Filter, any_matches};

impl Select for Filter {
    fn is_everything(&self) -> bool {
        self.is_empty()
    }

    fn wanted(&self, trace: &Trace) -> Wanted {
        let resolve = |when: &Option<When>| when.as_ref().map(|when| self.resolve(when, trace));
        let least = self.level.unwrap_or(Level::Trace);
        let sites: Vec<bool> = trace.sites.iter().map(|site| self.site(site)).collect();
        let of_no_site = !self.concerns_sites();
        let mut controls = [false; FIRST_ID as usize];
        controls[LOSS as usize] = of_no_site && least <= Level::Warn;
        controls[STALL as usize] = of_no_site && least <= Level::Info;
        let unknown = of_no_site && least <= Level::Info;
        let mut wanted = sites.iter().zip(&trace.sites).filter(|(wanted, _)| **wanted);
        controls[SPAN_END as usize] = self.expression.is_none()
            && (unknown || wanted.any(|(_, site)| of_no_site || site.kind() == Kind::Span));
        for other in THREAD_NAME..FIRST_ID {
            controls[other as usize] = of_no_site && least == Level::Trace;
        }
        let levels = Level::ALL.into_iter().filter(|level| *level >= least || unknown);
        Wanted {
            sites,
            sessions: trace.sessions.iter().map(|s| self.process(s.pid, &s.name)).collect(),
            tids: None,
            threads: (!self.threads.is_empty()).then(|| self.thread_test()),
            controls,
            unknown,
            levels: levels.fold(LEVELS_CONTROL, |bits, level| bits | 1 << level as u32),
            from_ns: resolve(&self.since).unwrap_or(i64::MIN),
            until_ns: resolve(&self.until).unwrap_or(i64::MAX),
            values: self.value_test(trace.sites.len()),
        }
    }

    fn absolute(&self, trace: &Trace) -> Box<dyn Select> {
        let mut filter = self.clone();
        for when in [&mut filter.since, &mut filter.until].into_iter().flatten() {
            *when = When::Absolute(self.resolve(when, trace));
        }
        Box::new(filter)
    }
}

impl Filter {
    /// Whether it begins before `ns` in a trace.
    pub fn starts_before(&self, trace: &Trace, ns: i64) -> bool {
        self.since.as_ref().is_none_or(|when| self.resolve(when, trace) < ns)
    }

    fn resolve(&self, when: &When, trace: &Trace) -> i64 {
        let (begin_ns, end_ns) = trace.time_range().unwrap_or((0, 0));
        when.resolve(begin_ns, end_ns, &self.zone())
    }

    fn thread_test(&self) -> ThreadTest {
        let patterns = self.threads.clone();
        Box::new(move |tid, name| any_matches(&patterns, tid, name))
    }

    fn value_test(&self, sites: usize) -> Option<ValueTest> {
        let mut expression = Compiled::new(self.expression.as_ref()?, sites);
        Some(Box::new(move |site, number, context, args| expression.passes(site, number, context, args)))
    }
}
