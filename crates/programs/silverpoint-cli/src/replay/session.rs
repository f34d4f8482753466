//! Records again in a living session of this process: `tail`, `top`, `attach` and every collector see them as they come.
//!
//! Each thread of the trace is a thread here, of the same name, so that each has a ring of its own. Times are
//! those of the session's clock now. Each record is given to its thread, which must finish before the next
//! one: so the session has the order of the trace.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use silverpoint_query::spans::OpenSpans;
use silverpoint_shm::owner::{self, Description, Registered};
use silverpoint_trace::{Event, Trace, What};
use silverpoint_wire::site::SiteDescription;

use super::sink::Sink;
use crate::exit::{Exit, Failed, failure, note};
use crate::sessions;
use crate::units::show_count;

/// Threads at most; those beyond share one.
const THREADS_MAX: usize = 256;
/// Spans that may be open at the same time, of all threads together; the ends of others have only their duration.
const SPANS_MAX: usize = 1 << 16;

/// See the module.
pub struct Session {
    has_many_processes: bool,
    sites: HashMap<usize, Registered>,
    threads: HashMap<(usize, u32), Thread>,
    /// Those that are open: when they began here.
    spans: OpenSpans<u32, u64>,
    recorded: u64,
    /// Records of sites that are off, or for which there was no room.
    not_recorded: u64,
    /// Events for which a session has no record: losses, waits, records without a site.
    untold: u64,
}

struct Thread {
    jobs: SyncSender<Job>,
    ticks: Receiver<Option<u64>>,
    handle: JoinHandle<()>,
    /// As its thread has it.
    context: Vec<u8>,
}

struct Job {
    site: Registered,
    level: u8,
    /// `None`: as before; else the fields from now on, pairs of CBOR items.
    context: Option<Vec<u8>>,
    what: Kind,
}

enum Kind {
    Record {
        args: Vec<u8>,
        is_truncated: bool,
    },
    /// When it began here; `None`: now.
    End {
        begun: Option<u64>,
    },
}

impl Session {
    /// Makes the session. One that is not collected records everything.
    pub fn open(trace: &Trace) -> Result<Self, Failed> {
        let pid = std::process::id();
        if !owner::start() {
            return Err(Failed::new(
                Exit::NoSession,
                "this process has no session: `silverpoint doctor` says what is wrong",
            ));
        }
        for place in sessions::living(pid)? {
            let session = place.open()?;
            let has_none = session.directives().is_ok_and(|text| text.iter().all(u8::is_ascii_whitespace));
            if has_none && !session.is_collected().map_err(|error| place.failed(error))? {
                session.write_directives("trace").map_err(|error| place.failed(error))?;
            }
        }
        note(format_args!("process {pid} has the records: `silverpoint tail -f {pid}` shows them"));
        Ok(Self {
            has_many_processes: trace.sessions.len() > 1,
            sites: HashMap::new(),
            threads: HashMap::new(),
            spans: OpenSpans::default(),
            recorded: 0,
            not_recorded: 0,
            untold: 0,
        })
    }

    fn site(&mut self, number: usize, description: &SiteDescription) -> Registered {
        *self.sites.entry(number).or_insert_with(|| register(description))
    }

    fn thread(&mut self, event: &Event<'_>) -> Result<&mut Thread, Failed> {
        let mut key = (event.session_number, event.tid);
        let is_new = !self.threads.contains_key(&key);
        let mut name = match event.thread_name {
            "" => event.tid.to_string(),
            name => name.to_owned(),
        };
        if self.has_many_processes {
            name = format!("{}/{name}", event.session.name);
        }
        if is_new && self.threads.len() >= THREADS_MAX {
            (key, name) = ((usize::MAX, 0), "others".into());
        }
        Ok(match self.threads.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Thread::start(&name)?),
        })
    }

    fn give(
        &mut self,
        event: &Event<'_>,
        site: Registered,
        level: u8,
        what: Kind,
    ) -> Result<Option<u64>, Failed> {
        let context = event.context.map(|context| pairs(context.fields())).unwrap_or_default();
        let thread = self.thread(event)?;
        let context = (thread.context != context).then(|| {
            thread.context.clone_from(&context);
            context
        });
        let gone = |_| failure("a thread of the replay has ended");
        thread.jobs.send(Job { site, level, context, what }).map_err(|_| gone(()))?;
        thread.ticks.recv().map_err(|_| gone(()))
    }
}

impl Sink for Session {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Failed> {
        let ticks = match event.what {
            What::Record { site, site_number, args, truncated } => {
                let level = site.level() as u8;
                let registered = self.site(site_number, &site.description);
                let what = Kind::Record { args: args.to_owned(), is_truncated: truncated };
                let ticks = self.give(event, registered, level, what)?;
                let is_span = site.description.kind == silverpoint_wire::level::Kind::Span;
                if let Some(ticks) = ticks.filter(|_| is_span && self.spans.count() < SPANS_MAX) {
                    let thread = (event.session_number, event.tid);
                    self.spans.begin(thread, site_number, event.ticks, ticks);
                }
                ticks
            }
            What::SpanEnd { site: Some(site), site_number: Some(number), begin_ticks, .. } => {
                let registered = self.site(number, &site.description);
                let begun = self.spans.end((event.session_number, event.tid), number, begin_ticks);
                self.give(event, registered, site.level() as u8, Kind::End { begun })?
            }
            _ => {
                self.untold += 1;
                return Ok(());
            }
        };
        match ticks {
            Some(_) => self.recorded += 1,
            None => self.not_recorded += 1,
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<String>, Failed> {
        for (_, thread) in self.threads.drain() {
            drop(thread.jobs);
            // A thread that panicked has reported it.
            let _ = thread.handle.join();
        }
        owner::leave();
        let mut said = vec![format!("{} records are in the session", show_count(self.recorded))];
        if self.not_recorded > 0 {
            said.push(format!(
                "{} were not recorded: their sites are off, or found no room",
                show_count(self.not_recorded)
            ));
        }
        if self.untold > 0 {
            said.push(format!(
                "{} losses, waits and records without a site were left out",
                show_count(self.untold)
            ));
        }
        Ok(said)
    }
}

impl Thread {
    fn start(name: &str) -> Result<Self, Failed> {
        let (jobs, waiting) = sync_channel::<Job>(1);
        let (answer, ticks) = sync_channel(1);
        // Without zero bytes; the kernel keeps the first 15.
        let builder = std::thread::Builder::new().name(name.replace('\0', " "));
        let run = move || {
            let mut scope = 0;
            for job in waiting {
                if let Some(pairs) = job.context {
                    owner::leave_context(scope);
                    scope = if pairs.is_empty() { 0 } else { owner::enter_context(&pairs, false) };
                }
                let ticks = match job.what {
                    Kind::Record { args, is_truncated } => {
                        owner::record_packed(job.site, job.level, &args, is_truncated)
                    }
                    Kind::End { begun: Some(begun) } => owner::end_span(job.site, job.level, begun),
                    // Its begin was not recorded here: neither is its end.
                    Kind::End { begun: None } => None,
                };
                if answer.send(ticks).is_err() {
                    break;
                }
            }
        };
        let handle =
            builder.spawn(run).map_err(|error| failure(format!("a thread for '{name}': {error}")))?;
        Ok(Self { jobs, ticks, handle, context: Vec::new() })
    }
}

fn register(site: &SiteDescription) -> Registered {
    owner::register(&Description {
        kind: site.kind as u8,
        level: site.level as u8,
        line: site.line,
        language: site.language,
        category: &site.category,
        file: &site.file,
        function: &site.function,
        names: &|give| give(site.names.as_bytes()),
        template: &|give| give(site.template.as_bytes()),
        signature: &|give| give(site.signature.as_bytes()),
    })
}

/// Names as items of CBOR, each with its value.
fn pairs<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        let len = name.len();
        match len {
            0..24 => out.push(0x60 | len as u8),
            24..256 => out.extend_from_slice(&[0x78, len as u8]),
            _ => {
                out.push(0x7A);
                out.extend_from_slice(&(len as u32).to_be_bytes());
            }
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn names_are_items_of_cbor() {
        let long = "n".repeat(30);
        let longer = "n".repeat(300);
        let all = pairs([("a", &[1_u8][..]), (&long, &[2]), (&longer, &[3])].into_iter());
        assert_eq!(all[..3], [0x61, b'a', 1]);
        assert_eq!(all[3..5], [0x78, 30]);
        assert_eq!(all[36..41], [0x7A, 0, 0, 1, 44]);
        assert_eq!(all.len(), 3 + 33 + 306);
    }
}
