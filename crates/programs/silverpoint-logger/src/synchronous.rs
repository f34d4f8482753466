//! Functions of the program that are given records by the thread that makes them, before the tracepoint
//! returns.
//!
//! ```text
//!  frontend ──▶ chain of functions (silverpoint_shm::synchronous) ──▶ here: bytes to an event ──▶ the program's function
//! ```
//!
//! Each thread has its own data for reading records (parsed sites, the context of the thread), so that no
//! thread waits for another.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_query::filter::{self, Filter};
use silverpoint_shm::synchronous::{self, Made};
use silverpoint_trace::{Context, Event, Session, Site, What};
use silverpoint_wire::layout::record::SPAN_END;
use silverpoint_wire::record::{Record, Records};
use silverpoint_wire::site::SiteDescription;

/// A function of the program that gets each record from the thread that makes it, before its tracepoint
/// returns; until this is dropped.
///
/// ```
/// use silverpoint_logger::{SynchronousHandler, What};
///
/// let handler = SynchronousHandler::add("net=warn", |event| {
///     if let What::Record { site, .. } = event.what {
///         println!("{} has {} arguments", site.description.template, site.types.len());
///     }
/// })?;
/// # Ok::<(), String>(())
/// ```
#[must_use = "when it is dropped, the function gets no more records"]
pub struct SynchronousHandler(synchronous::Added);

impl SynchronousHandler {
    /// Adds a function after the existing ones. It gets each record of the category that any thread of the
    /// process begins to make from the return on. The category includes those below it; `=LEVEL` after it
    /// selects that level and above; an empty one selects all. It gets only what is recorded: not sites that
    /// are off, and not lost records. The directives decide what is recorded
    /// ([`Config::record_also`](crate::Config::record_also)). No logger has to run if another collector does.
    ///
    /// Several threads may call it at once, and each waits for its own call. Records that it makes itself are
    /// recorded, but no such function gets them. Of the events of [`Sink::handler`](crate::Sink::handler) it
    /// gets those of sites and the ends of spans, with the same arguments. Their time is that of the call,
    /// and there is neither stream nor file to examine. It must not be called in a signal handler: while it
    /// exists, the program's signal handlers record nothing. A panic is reported on standard error, and ends
    /// it.
    ///
    /// # Errors
    /// The text after the category's `=` is no level.
    pub fn add(category: &str, handler: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Result<Self, String> {
        let mut filter = Filter::default();
        if !category.is_empty() {
            filter.categories.push(filter::category(category)?);
        }
        Ok(Self(synchronous::add(Box::new(move |made| give(made, &filter, &handler)))))
    }

    /// Keeps it as long as the process lives.
    pub fn keep(self) {
        self.0.keep();
    }
}

/// Data of one thread.
#[derive(Default)]
struct Known {
    sites: HashMap<u32, Rc<Site>>,
    /// Of the process with this id.
    session: Option<(u32, Rc<Session>)>,
    /// Its context at the last record.
    context: Option<(Vec<u8>, Option<Arc<Context>>)>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

impl Known {
    /// `None`: it cannot be read, so no frontend has made it.
    fn site(&mut self, made: &Made<'_>) -> Option<Rc<Site>> {
        if let Some(site) = self.sites.get(&made.site) {
            return Some(Rc::clone(site));
        }
        let mut bytes = Vec::new();
        (made.describe)(&mut bytes);
        let (description, _) = SiteDescription::decode(&bytes).ok()?;
        let site = Rc::new(Site::new(description));
        self.sites.insert(made.site, Rc::clone(&site));
        Some(site)
    }

    fn session(&mut self) -> Rc<Session> {
        let pid = std::process::id();
        match &self.session {
            Some((of, session)) if *of == pid => Rc::clone(session),
            _ => {
                let path = std::env::current_exe().unwrap_or_default();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let session = Rc::new(Session::of_no_file(pid, &name));
                self.session = Some((pid, Rc::clone(&session)));
                session
            }
        }
    }

    fn context(&mut self, pairs: &[u8]) -> Option<Arc<Context>> {
        if pairs.is_empty() {
            return None;
        }
        match &self.context {
            Some((known, context)) if known == pairs => context.clone(),
            _ => {
                let context = Context::from_item(&[&[0xBF], pairs, &[0xFF]].concat()).map(Arc::new);
                self.context = Some((pairs.to_vec(), context.clone()));
                context
            }
        }
    }
}

fn give(made: &Made<'_>, filter: &Filter, handler: &impl Fn(&Event<'_>)) {
    let Some(Ok(Record { header, args, .. })) = Records::new(made.record).next() else { return };
    let find = |known: &mut Known| {
        let site = known.site(made).filter(|site| filter.site(site))?;
        Some((site, known.session(), known.context(made.context)))
    };
    // At the very end of a thread its data is gone: it is read again each time.
    let found =
        KNOWN.try_with(|known| find(&mut known.borrow_mut())).unwrap_or_else(|_| find(&mut Known::default()));
    let Some((site, session, context)) = found else { return };
    let name = rustix::thread::name().unwrap_or_default();
    let name = name.to_string_lossy();
    let what = if header.site == SPAN_END {
        let begin = args.get(4..12).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
        let duration_ns = made.duration_ns;
        What::SpanEnd { site: Some(&site), site_number: None, begin_ticks: begin, duration_ns }
    } else {
        What::Record { site: &site, site_number: 0, args, truncated: header.is_truncated() }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    handler(&Event {
        session: &session,
        session_number: 0,
        stream: &session.streams[0],
        tid: made.tid,
        thread_name: &name,
        ticks: header.ticks,
        wall_ns: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
        context: context.as_ref(),
        file: 0,
        position: 0,
        raw: made.record,
        is_backtrace: false,
        what,
    });
}
