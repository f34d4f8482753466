//! Records as they are kept for Python: nothing borrowed, made without the interpreter's lock.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::Py;
use pyo3::sync::PyOnceLock;
use silverpoint_convert::{Process, Record};
use silverpoint_trace::{Context, Event, What};

use crate::site::Site;

/// A site, with its object in Python once somebody has asked for it.
pub(crate) struct SiteData {
    pub(crate) site: silverpoint_trace::Site,
    pub(crate) object: PyOnceLock<Py<Site>>,
}

/// One record.
pub(crate) struct Row {
    pub(crate) wall_ns: i64,
    /// Of a trace file the ticks, else the nanoseconds: by this the end of a span finds its begin.
    pub(crate) mark: u64,
    pub(crate) process: Arc<Process>,
    pub(crate) tid: u32,
    pub(crate) thread: Arc<str>,
    pub(crate) context: Option<Arc<Context>>,
    pub(crate) is_backtrace: bool,
    pub(crate) what: Kept,
}

/// What happened.
pub(crate) enum Kept {
    Record { site: Arc<SiteData>, args: Box<[u8]>, truncated: bool },
    Unknown { site_id: u32, args: Box<[u8]> },
    SpanEnd { site: Option<Arc<SiteData>>, begin_mark: u64, duration_ns: Option<u64> },
    Loss { cause: u8, count: u64, span_ns: u64 },
    Stall { cause: u8, duration_ns: u64 },
}

impl Row {
    /// Bytes of memory that are its alone, about.
    pub(crate) fn bytes(&self) -> usize {
        let args = match &self.what {
            Kept::Record { args, .. } | Kept::Unknown { args, .. } => args.len(),
            _ => 0,
        };
        size_of::<Self>() + args
    }

    /// As the renderer and filters take it.
    pub(crate) fn what(&self) -> What<'_> {
        match &self.what {
            Kept::Record { site, args, truncated } => {
                What::Record { site: &site.site, site_number: 0, args, truncated: *truncated }
            }
            Kept::Unknown { site_id, args } => What::Unknown { site_id: *site_id, args },
            Kept::SpanEnd { site, duration_ns, .. } => What::SpanEnd {
                site: site.as_ref().map(|site| &site.site),
                site_number: None,
                begin_ticks: 0,
                duration_ns: *duration_ns,
            },
            Kept::Loss { cause, count, span_ns } => {
                What::Loss { cause: *cause, count: *count, span_ns: *span_ns }
            }
            Kept::Stall { cause, duration_ns } => What::Stall { cause: *cause, duration_ns: *duration_ns },
        }
    }

    /// What it is, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.what {
            Kept::Record { site, .. } => site.site.kind().name(),
            Kept::SpanEnd { .. } => "span_end",
            Kept::Loss { .. } => "loss",
            Kept::Stall { .. } => "stall",
            Kept::Unknown { .. } => "unknown",
        }
    }

    /// The site that it belongs to.
    pub(crate) fn site(&self) -> Option<&Arc<SiteData>> {
        match &self.what {
            Kept::Record { site, .. } | Kept::SpanEnd { site: Some(site), .. } => Some(site),
            _ => None,
        }
    }

    /// How long it took: of the end of a span, and of a wait.
    pub(crate) fn duration_ns(&self) -> Option<u64> {
        match self.what {
            Kept::SpanEnd { duration_ns, .. } => duration_ns,
            Kept::Stall { duration_ns, .. } => Some(duration_ns),
            _ => None,
        }
    }
}

/// Makes rows; what many have in common exists once.
#[derive(Default)]
pub(crate) struct Keeper {
    sites: HashMap<usize, Arc<SiteData>>,
    processes: HashMap<usize, Arc<Process>>,
    /// By process and thread: the name of the moment.
    threads: HashMap<(usize, u32), Arc<str>>,
    context: Option<Arc<Context>>,
}

impl Keeper {
    /// What a reader of any format gives; `None` for what no line is written of.
    pub(crate) fn record(&mut self, record: &Record<'_>) -> Option<Row> {
        let mut what = self.kept(&record.what)?;
        let mark = record.wall_ns.cast_unsigned();
        if let Kept::SpanEnd { begin_mark, duration_ns, .. } = &mut what {
            // Ticks mean nothing here.
            *begin_mark = mark.wrapping_sub(duration_ns.unwrap_or(0));
        }
        let context = record.context.and_then(|context| self.same_context(context));
        Some(Row {
            wall_ns: record.wall_ns,
            mark,
            process: self.process(record.process_number, || Process {
                name: record.process.to_owned(),
                pid: record.pid,
            }),
            tid: record.tid,
            thread: self.thread(record.process_number, record.tid, record.thread),
            context,
            is_backtrace: record.is_backtrace,
            what,
        })
    }

    /// An event of a trace file.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Option<Row> {
        let what = self.kept(&event.what)?;
        let number = event.session_number;
        let process = || Process { name: event.session.name.clone(), pid: event.session.pid };
        Some(Row {
            wall_ns: event.wall_ns,
            mark: event.ticks,
            process: self.process(number, process),
            tid: event.tid,
            thread: self.thread(number, event.tid, event.thread_name),
            context: event.context.cloned(),
            is_backtrace: event.is_backtrace,
            what,
        })
    }

    fn kept(&mut self, what: &What<'_>) -> Option<Kept> {
        Some(match *what {
            What::Record { site, site_number, args, truncated } => {
                Kept::Record { site: self.site(site_number, site), args: args.into(), truncated }
            }
            What::Unknown { site_id, args } => Kept::Unknown { site_id, args: args.into() },
            What::SpanEnd { site, site_number, begin_ticks, duration_ns } => Kept::SpanEnd {
                site: site.zip(site_number).map(|(site, number)| self.site(number, site)),
                begin_mark: begin_ticks,
                duration_ns,
            },
            What::Loss { cause, count, span_ns } => Kept::Loss { cause, count, span_ns },
            What::Stall { cause, duration_ns } => Kept::Stall { cause, duration_ns },
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => return None,
        })
    }

    /// The same number is always the same site.
    fn site(&mut self, number: usize, site: &silverpoint_trace::Site) -> Arc<SiteData> {
        let new = || Arc::new(SiteData { site: site.clone(), object: PyOnceLock::new() });
        Arc::clone(self.sites.entry(number).or_insert_with(new))
    }

    fn process(&mut self, number: usize, new: impl FnOnce() -> Process) -> Arc<Process> {
        Arc::clone(self.processes.entry(number).or_insert_with(|| Arc::new(new())))
    }

    fn thread(&mut self, process: usize, tid: u32, name: &str) -> Arc<str> {
        let known = self.threads.entry((process, tid)).or_insert_with(|| name.into());
        if **known != *name {
            *known = name.into();
        }
        Arc::clone(known)
    }

    /// Of a reader that lends contexts: one that is the same as the last is kept once.
    fn same_context(&mut self, context: &Context) -> Option<Arc<Context>> {
        if self.context.as_ref().is_none_or(|known| known.item() != context.item()) {
            self.context = Context::from_item(context.item()).map(Arc::new);
        }
        self.context.clone()
    }
}
