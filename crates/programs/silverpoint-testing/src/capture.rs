//! A capture: what was recorded since it began.

use std::fmt;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use silverpoint_wire::directive;
use silverpoint_wire::level::{Kind, Level};

use crate::expectation::Expectation;
use crate::process::{self, EVERYTHING};
use crate::record::VALUE;
use crate::report;
use crate::tail::Tail;
use crate::view::{Span, View};
use crate::{Losses, Record, Value};

/// How a capture begins: [`Capture::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    directives: Arc<str>,
    all_threads: bool,
}

impl Builder {
    /// What is recorded, in the words of `SILVERPOINT_FILTER` (`debug`, `net=trace,info`). Without it everything is: `trace`.
    #[must_use]
    pub fn directives(mut self, directives: &str) -> Self {
        self.directives = directives.into();
        self
    }

    /// Sees what all threads of the process record: also those of other tests that run meanwhile.
    #[must_use]
    pub fn all_threads(mut self) -> Self {
        self.all_threads = true;
        self
    }

    /// Begins.
    ///
    /// # Panics
    /// When the directives are malformed. (When nothing can be recorded, what is expected of the capture fails, and says why.)
    #[track_caller]
    #[must_use = "a capture sees what is recorded while it lives"]
    pub fn start(self) -> Capture {
        if let Err(error) = directive::check(&self.directives) {
            panic!("the capture's directives: {error}");
        }
        let thread =
            (!self.all_threads).then(|| rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
        let begun = process::with(|process| {
            // Where the rings stand, before anything is switched on for it.
            let tail = Tail::begin(process, thread, self.directives.clone());
            let tail = tail.map_err(|error| format!("the process's own session: {error}"))?;
            Ok((process.begin(self.directives.clone(), thread)?, tail))
        });
        let (number, tail, trouble) = match begun {
            Ok((number, tail)) => (Some(number), Some(tail), None),
            Err(trouble) => (None, None, Some(trouble)),
        };
        let state = State { tail, trouble, collected_by: None, ticks_per_second: 0 };
        Capture { number, is_of_thread: thread.is_some(), state: Mutex::new(state) }
    }
}

/// Sees what is recorded while it lives: see the [crate's page](crate).
///
/// Each method that tells what was recorded looks into the rings then, and keeps what it finds.
pub struct Capture {
    number: Option<u64>,
    is_of_thread: bool,
    state: Mutex<State>,
}

struct State {
    tail: Option<Tail>,
    /// Why nothing (more) can be seen.
    trouble: Option<String>,
    /// The directives of the process's collector.
    collected_by: Option<String>,
    ticks_per_second: u64,
}

impl Capture {
    /// Captures what the calling thread records from now on, at every level and in every category, until it is dropped. The same as
    /// `Capture::builder().start()`.
    #[must_use = "a capture sees what is recorded while it lives: `let capture = Capture::start();`"]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// For captures of other threads too, or with directives.
    pub fn builder() -> Builder {
        Builder { directives: EVERYTHING.into(), all_threads: false }
    }

    /// Everything that was recorded, in order of time. Of a span its begin; [`Capture::spans`] knows of the ends.
    pub fn records(&self) -> Vec<Record> {
        self.view().records
    }

    /// The events.
    pub fn events(&self) -> Vec<Record> {
        self.of_kinds(&[Kind::Event])
    }

    /// The messages of logs, as `silverpoint cat` shows them.
    pub fn messages(&self) -> Vec<String> {
        let logs = self.of_kinds(&[Kind::Log, Kind::Stream]);
        logs.iter().map(|record| record.message().to_owned()).collect()
    }

    /// The values that a counter had, in order.
    pub fn counter(&self, name: &str) -> Vec<Value> {
        let counters = self.of_kinds(&[Kind::Counter]);
        let of_name = counters.iter().filter(|record| record.name() == name);
        of_name.filter_map(|record| record.value(VALUE).cloned()).collect()
    }

    /// The spans, in the order in which they began.
    pub fn spans(&self) -> Vec<Span> {
        self.view().spans
    }

    /// What could not be seen.
    pub fn losses(&self) -> Losses {
        self.look().tail.as_ref().map(|tail| tail.losses).unwrap_or_default()
    }

    /// Forgets what was recorded so far, and what was lost.
    pub fn clear(&self) {
        if let Some(tail) = &mut self.look().tail {
            tail.clear();
        }
    }

    /// Expects a record of any kind by its name; a log by its template, with any contents of its braces.
    pub fn expect(&self, name: &str) -> Expectation<'_> {
        Expectation::new(self).name(name)
    }

    /// Expects an event by its name.
    pub fn expect_event(&self, name: &str) -> Expectation<'_> {
        self.expect(name).kind(Kind::Event)
    }

    /// Expects the begin of a span by its name. Its end: [`Capture::spans`].
    pub fn expect_span(&self, name: &str) -> Expectation<'_> {
        self.expect(name).kind(Kind::Span)
    }

    /// Expects a counter by its name; [`Expectation::value`] is what it showed.
    pub fn expect_counter(&self, name: &str) -> Expectation<'_> {
        self.expect(name).kind(Kind::Counter)
    }

    /// Expects a log by its message: the template with its values, as `silverpoint cat` shows it.
    pub fn expect_message(&self, message: &str) -> Expectation<'_> {
        Expectation::new(self).kind(Kind::Log).message(message)
    }

    /// Expects nothing at these levels: `capture.none_of(Level::Warn..)`.
    ///
    /// # Panics
    /// When there is something, or when that is uncertain because records were lost.
    #[track_caller]
    pub fn none_of(&self, levels: impl RangeBounds<Level> + fmt::Debug) {
        let view = self.view();
        if let Err(message) = report::none_of(&view, &levels) {
            panic!("{message}");
        }
    }

    fn of_kinds(&self, kinds: &[Kind]) -> Vec<Record> {
        let mut records = self.view().records;
        records.retain(|record| kinds.contains(&record.kind()));
        records
    }

    /// Looks into the rings.
    fn look(&self) -> MutexGuard<'_, State> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { tail: Some(tail), trouble, collected_by, ticks_per_second } = &mut *guard else {
            return guard;
        };
        let looked = process::with(|process| {
            tail.read_on(process)?;
            *ticks_per_second = process.session.ticks_per_second();
            *collected_by = None;
            if tail.losses.is_collected {
                let directives = process.session.directives().unwrap_or_default();
                *collected_by = Some(String::from_utf8_lossy(&directives).into_owned());
            }
            Ok(())
        });
        if let Err(error) = looked {
            trouble.get_or_insert(error);
        }
        guard
    }

    /// Looks into the rings, and makes sense of all that was found.
    pub(crate) fn view(&self) -> View {
        let mut state = self.look();
        let mut view = View {
            records: Vec::new(),
            spans: Vec::new(),
            losses: Losses::default(),
            trouble: state.trouble.clone(),
            others_recorded: false,
            collected_by: state.collected_by.clone(),
        };
        let ticks_per_second = state.ticks_per_second;
        if let Some(tail) = &mut state.tail {
            view.losses = tail.losses;
            view.others_recorded = self.is_of_thread && tail.others_recorded;
            // Of equal ticks the stream that began earlier, and within it the order of the ring.
            tail.items.sort_by_key(|item| (item.ticks, item.stream));
            view.fill(tail, ticks_per_second);
        }
        view
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // Not reported here: what is off or on afterwards shows in the next capture.
            let _ = process::with(|process| process.end(number));
        }
    }
}

impl fmt::Debug for Capture {
    /// Lists what was recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.records()).finish()
    }
}
