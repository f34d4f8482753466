//! One sink: reads the spool at its own pace, and writes to its destination.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use silverpoint_trace::{Event, Follow, Matter, Note, Trace, Watcher, What};
use silverpoint_wire::layout::cause::SINK_FULL;

use crate::after_crash;
use crate::backtrace::{Fate, Holder, Reached, filter_of};
use crate::config::Sink;
use crate::error::{LoggerError, say};
use crate::flushing::Flushing;
use crate::quota::{GivenUp, Met};
use crate::shared::{Change, LogNote, Shared};
use crate::spool::Spool;
use crate::target::{self, Settings, Target};

/// How long a record waits for earlier ones of other threads that may still come.
const WINDOW: Duration = Duration::from_millis(25);
/// Between two attempts to write when the last failed: at first, and at most.
const RETRY: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// A sink with its place in the spool. Runs in a thread of its own.
pub(crate) struct Delivery {
    /// Which sink it is.
    number: usize,
    label: String,
    follow: Follow,
    target: Box<dyn Target>,
    holder: Holder,
    flushing: Flushing,
    met: Met,
    shared: Arc<Shared>,
    is_failing: bool,
    /// The last one that was reported.
    oldest_part: u64,
    /// Holds the spool's lock as long as this may write a log.
    _spool: Arc<Spool>,
}

impl Delivery {
    /// Opens the destination and finds the place in the spool.
    pub(crate) fn open(
        number: usize,
        sink: Sink,
        spool: &Arc<Spool>,
        shared: Arc<Shared>,
    ) -> Result<Self, LoggerError> {
        let mut follow = Follow::nothing();
        follow.set_patience(WINDOW);
        follow.add(&spool.file())?;
        follow.set_filter(&filter_of(&sink));
        let label = sink.label();
        let flushing = Flushing::new(sink.flush, sink.sync);
        let mut holder = Holder::new(&sink);
        let mut target = target::open(sink, spool, &mut follow)?;
        holder.has_written(target.written());
        let mut met = Met::default();
        met.skipped(follow.trace(), GivenUp::new);
        Ok(Self {
            number,
            label,
            follow,
            target,
            holder,
            flushing,
            met,
            shared,
            is_failing: false,
            oldest_part: 0,
            _spool: Arc::clone(spool),
        })
    }

    /// Which sink it is.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Answers a flush in place of the thread, which does not run yet.
    pub(crate) fn flush(&mut self) {
        let (wanted, dump, flushed) = {
            let state = self.shared.lock();
            (state.flush_collected, state.dump, state.flushed[self.number])
        };
        if wanted <= flushed || !self.deliver(true) || !self.dump_if_asked(dump, flushed, wanted) {
            return;
        }
        self.give_parts_back();
        self.shared.change(|state| state.flushed[self.number] = wanted);
    }

    /// Delivers the rest, and closes the destination.
    pub(crate) fn end(mut self) {
        let is_done = self.deliver(true);
        let (shared, number) = (Arc::clone(&self.shared), self.number);
        let flushed = self.shared.lock().flush_collected;
        self.give_parts_back();
        drop(self);
        if is_done {
            shared.change(|state| {
                state.flushed[number] = flushed;
                state.finished[number] = true;
            });
        }
    }

    /// Delivers until the collector has ended and everything is out, or the logger gives up.
    pub(crate) fn run(self) {
        let _own = after_crash::OwnThread::enter();
        self.shared.is_thread_of(self.number);
        // Dropped after the destination, which the inner function drops: nothing is written there any more
        // when others learn of the end.
        let _end =
            EndOfPanic { number: self.number, label: self.label.clone(), shared: Arc::clone(&self.shared) };
        self.run_to_end();
    }

    fn run_to_end(mut self) {
        let shared = Arc::clone(&self.shared);
        let (mut seen, mut flushed) = (0, 0);
        let (mut noted, mut reopened);
        {
            let state = self.shared.lock();
            (noted, reopened) = (state.noted, state.reopens);
        }
        loop {
            // It sleeps between records; after them it checks once more when nothing earlier can come.
            let soon = (!self.follow.is_drained()).then(|| Instant::now() + WINDOW / 2);
            let until = soon.into_iter().chain(self.flushing.next()).min();
            self.shared.wait_for(until, |state| {
                state.stored != seen
                    || state.flush_collected > flushed
                    || state.has_collected
                    || state.is_given_up
                    || state.changes[self.number].is_some()
                    || state.noted != noted
                    || state.reopens != reopened
            });
            let (change, note, reopens);
            {
                let mut state = self.shared.lock();
                change = state.changes[self.number].take();
                note = state.note.clone().filter(|_| state.noted != noted);
                (noted, reopens) = (state.noted, state.reopens);
            }
            let is_changed = change.is_some();
            let is_reopened = std::mem::replace(&mut reopened, reopens) != reopens;
            match self.follow_changes(change, note, is_reopened) {
                Next::GoOn if is_changed => {
                    self.shared.change(|state| state.has_changed(self.number));
                }
                Next::GoOn => {}
                Next::GiveUp => return,
                Next::End => {
                    let number = self.number;
                    // Nothing is written there any more when others learn of the end.
                    drop(self);
                    return shared.change(|state| state.remove_sink(number));
                }
            }
            let (is_last, is_given_up, wanted, dump);
            {
                let state = self.shared.lock();
                seen = state.stored;
                (is_last, is_given_up, wanted, dump) =
                    (state.has_collected, state.is_given_up, state.flush_collected, state.dump);
            }
            if is_given_up
                || !self.deliver(wanted > flushed || is_last)
                || !self.dump_if_asked(dump, flushed, wanted)
            {
                return;
            }
            flushed = wanted;
            self.give_parts_back();
            self.shared.change(|state| {
                state.flushed[self.number] = flushed;
                state.finished[self.number] |= is_last;
                state.is_describing_crash[self.number] = false;
            });
            if is_last {
                return;
            }
        }
    }

    /// Skips what is in the spool now.
    pub(crate) fn begin_here(&mut self) {
        struct Statements<'t>(&'t mut dyn Target);
        impl Watcher for Statements<'_> {
            fn begin(&mut self, _: &Trace) {}

            fn event(&mut self, event: &Event<'_>) -> bool {
                // Names and contexts, which stay valid.
                if !event.is_shown() {
                    self.0.statement(event);
                }
                true
            }
        }
        match self.follow.poll_all(&mut Statements(&mut *self.target)) {
            Ok(notes) => self.report(&notes, false),
            Err(error) => self.fail(&error),
        }
        // Nothing but the place to continue.
        if let Err(error) = self.target.write(&Reached { follow: &self.follow, holder: &self.holder }) {
            self.fail(&error);
        }
    }

    /// Applies requests of other threads to a running sink.
    fn follow_changes(
        &mut self,
        change: Option<Change>,
        note: Option<Arc<LogNote>>,
        is_reopened: bool,
    ) -> Next {
        if change.is_none() && note.is_none() && !is_reopened {
            return Next::GoOn;
        }
        if let Some(note) = note {
            self.target.note(&note);
        }
        // Earlier records are treated as before.
        if change.is_some() && !self.deliver(true) || !self.write() {
            return Next::GiveUp;
        }
        match change {
            Some(Change::End) => return Next::End,
            Some(Change::Settings(sink)) => {
                self.follow.set_filter(&filter_of(&sink));
                self.holder.set(&sink);
                self.flushing.set(sink.flush, sink.sync);
                self.target.set(Settings::of(&sink), self.follow.trace());
            }
            None => {}
        }
        if is_reopened {
            if let Err(error) = self.target.reopen() {
                self.fail(&error);
            }
        }
        Next::GoOn
    }

    /// Writes what is due; with `all` everything that is in the spool. False when the logger stops waiting.
    fn deliver(&mut self, all: bool) -> bool {
        loop {
            let shared = &self.shared;
            let given_up = || shared.lock().given_up.clone();
            let on_crash = &|| shared.change(|state| state.is_describing_crash[self.number] = true);
            let (target, flushing, holder) = (&mut *self.target, &mut self.flushing, &mut self.holder);
            let shown = &mut Shown {
                target,
                flushing,
                holder,
                met: &mut self.met,
                given_up: &given_up,
                on_crash,
                skipped: 0,
                is_held_up: false,
            };
            let polled = if all { self.follow.poll_all(shown) } else { self.follow.poll(shown) };
            let (skipped, is_held_up) = (shown.skipped, shown.is_held_up);
            let is_full = is_held_up || self.target.is_full();
            if skipped > 0 {
                self.shared.change(|state| state.skipped[self.number] += skipped);
                say(format_args!(
                    "{}: skipped {skipped} records: it was too slow, and the spool had grown beyond its size",
                    self.label
                ));
            }
            match polled {
                Ok(notes) => self.report(&notes, skipped > 0),
                // The spool cannot be read: its records are not dropped because of that.
                Err(error) => {
                    self.fail(&error);
                    if !self.pause(RETRY) {
                        return false;
                    }
                    continue;
                }
            }
            let is_due = all || is_full || !self.target.is_empty() && self.flushing.is_due(Instant::now());
            if is_due && !self.write() {
                return false;
            }
            // Even while there is more: otherwise the spool of a program that always logs would grow without
            // end.
            self.give_parts_back();
            if !is_full {
                self.sync(all);
                return true;
            }
        }
    }

    /// Writes what is kept back, if one of the flushes behind `flushed` up to `wanted` is number `dump`, which
    /// asks for it. False when the logger stops waiting.
    fn dump_if_asked(&mut self, dump: u64, flushed: u64, wanted: u64) -> bool {
        if dump <= flushed || dump > wanted {
            return true;
        }
        let trace = self.follow.trace();
        self.target.begin(trace);
        dump_into(&mut *self.target, &mut self.flushing, &mut self.holder, trace);
        self.write()
    }

    /// Reports which parts of the spool it still reads, when that has changed.
    fn give_parts_back(&mut self) {
        // Records of unwritten lines are still needed.
        if !self.target.is_empty() {
            return;
        }
        let oldest = self.follow.oldest_part();
        let held = self.holder.oldest_part(self.follow.trace());
        let oldest = held.map_or(oldest, |held| held.min(oldest));
        if std::mem::replace(&mut self.oldest_part, oldest) != oldest {
            self.shared.change(|state| state.oldest_parts[self.number] = oldest);
        }
    }

    /// Makes written data durable, if that is due. A failure is reported, but nothing is written twice
    /// because of it.
    fn sync(&mut self, all: bool) {
        if self.flushing.is_sync_due(Instant::now(), all) {
            if let Err(error) = self.target.sync() {
                say(format_args!(
                    "{}: {error}; what was written may not survive a loss of power",
                    self.label
                ));
            }
            self.flushing.has_synced();
        }
    }

    /// Writes the buffered records, with as many attempts as needed. False when the logger stops waiting.
    fn write(&mut self) -> bool {
        let mut pause = RETRY;
        while !self.target.is_empty() {
            // The next logger delivers it.
            if self.shared.lock().is_given_up {
                return false;
            }
            match self.target.write(&Reached { follow: &self.follow, holder: &self.holder }) {
                Ok(()) => {
                    self.flushing.has_written(Instant::now());
                    if std::mem::take(&mut self.is_failing) {
                        say(format_args!("{}: it can be written again", self.label));
                    }
                }
                Err(error) => {
                    self.fail(&error);
                    if !self.pause(pause) {
                        return false;
                    }
                    pause = (pause * 2).min(RETRY_MAX);
                }
            }
        }
        true
    }

    /// Reports a failure once.
    fn fail(&mut self, error: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.is_failing, true) {
            // The collector has reported why.
            let place = match self.shared.lock().is_spool_failing {
                true => "the spool cannot be written either now; its records wait in it",
                false => "unwritten records wait in the spool",
            };
            say(format_args!("{}: {error}; {place}; retrying", self.label));
        }
    }

    /// Sleeps; false when the logger stops waiting meanwhile.
    fn pause(&self, time: Duration) -> bool {
        !self.shared.wait_for(Some(Instant::now() + time), |state| state.is_given_up)
    }

    /// Reports what was noticed in the spool. `has_skipped`: what is missing was reported already, in records.
    fn report(&self, notes: &[Note], has_skipped: bool) {
        let is_news = |note: &&Note| !has_skipped || !matches!(note.matter, Matter::MissingBytes { .. });
        for note in notes.iter().filter(is_news) {
            say(format_args!("{}: {note}", self.label));
        }
    }
}

/// A function of the program may panic. Then its sink has ended: nothing waits for it, and the spool keeps
/// nothing for it.
struct EndOfPanic {
    number: usize,
    label: String,
    shared: Arc<Shared>,
}

impl Drop for EndOfPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            say(format_args!("{}: it has panicked, and gets no more records", self.label));
            self.shared.change(|state| state.remove_sink(self.number));
        }
    }
}

/// After a change.
enum Next {
    GoOn,
    /// The sink was removed, and has delivered everything.
    End,
    GiveUp,
}

/// What is kept back goes to the destination.
fn dump_into(target: &mut dyn Target, flushing: &mut Flushing, holder: &mut Holder, trace: &Trace) {
    holder.dump(trace, |held| {
        flushing.takes(held.what.level());
        target.event(held);
    });
}

/// What is shown goes to the destination.
struct Shown<'t> {
    target: &'t mut dyn Target,
    flushing: &'t mut Flushing,
    holder: &'t mut Holder,
    met: &'t mut Met,
    given_up: &'t dyn Fn() -> GivenUp,
    on_crash: &'t dyn Fn(),
    /// Records in parts of the spool that were dropped.
    skipped: u64,
    /// The next event is a crash, and what was taken before it must be written first.
    is_held_up: bool,
}

impl Watcher for Shown<'_> {
    fn begin(&mut self, trace: &Trace) {
        self.target.begin(trace);
        let skipped = self.met.skipped(trace, self.given_up);
        self.skipped += skipped;
        // A loss in their place, if nothing else has reported it.
        let last = trace.sessions.iter().enumerate().next_back();
        if let Some((session_number, session)) = last.filter(|_| skipped > 0) {
            if let Some(stream) = session.streams.last() {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                self.event(&Event {
                    session,
                    session_number,
                    stream,
                    tid: session.pid,
                    thread_name: "",
                    context: None,
                    ticks: 0,
                    file: 0,
                    position: 0,
                    raw: &[],
                    is_backtrace: false,
                    wall_ns: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
                    what: What::Loss { cause: SINK_FULL as u8, count: skipped, span_ns: 0 },
                });
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if event.is_shown() {
            self.flushing.takes(event.what.level());
            self.target.event(event);
        } else if self.target.statement(event) {
            self.flushing.takes(event.what.level());
        }
        !self.target.is_full()
    }

    /// A crash is described from the symbols of the program's files. Reading them may take longer than the dying process waits, so older lines are written first.
    fn holds_up(&mut self, trace: &Trace, event: &Event<'_>) -> bool {
        let is_crash = matches!(event.what, What::Record { site, .. } if site.is_crash());
        if !is_crash {
            return false;
        }
        if self.holder.is_trigger(event) {
            dump_into(self.target, self.flushing, self.holder, trace);
        }
        self.is_held_up = !self.target.is_empty();
        if !self.is_held_up {
            (self.on_crash)();
        }
        self.is_held_up
    }

    fn event_of(&mut self, trace: &Trace, event: &Event<'_>) -> bool {
        if event.is_shown() {
            match self.holder.take(event) {
                Fate::Keep => return !self.target.is_full(),
                Fate::Dump => dump_into(self.target, self.flushing, self.holder, trace),
                Fate::Deliver => {}
            }
        }
        self.event(event)
    }
}
