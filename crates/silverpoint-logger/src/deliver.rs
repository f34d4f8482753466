//! One sink: reads the spool with a cursor of its own, makes lines, and writes them.

use std::io::{self, Write};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use silverpoint_formats::tracefile::{Event, Follow, Note, Trace, Watcher};
use silverpoint_formats::{json, text};

use crate::config::{Handler, Sink, To};
use crate::error::{LoggerError, say};
use crate::file::LogFile;
use crate::shared::Shared;
use crate::spool::Spool;

/// How long a record waits for earlier ones of other threads that may still come.
const WINDOW: Duration = Duration::from_millis(25);
/// Most bytes that are written at once, but for the last line.
const BATCH: usize = 256 << 10;
/// Of a file that is rotated at some size, at most this part.
const ROTATED_PART: u64 = 8;
/// Between two attempts to write when the last failed: at first, and at most.
const RETRY: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// A sink with its place in the spool. Runs in a thread of its own.
pub(crate) struct Delivery {
    /// Which sink it is.
    number: usize,
    label: String,
    follow: Follow,
    lines: Lines,
    target: Target,
    shared: Arc<Shared>,
    is_failing: bool,
    /// Its lock is held as long as anybody may write a log.
    _spool: Arc<Spool>,
}

enum Target {
    Stderr,
    Stdout,
    File(LogFile),
    /// It gets its records where lines are made of others' (see [`Lines`]).
    Handler,
}

/// Lines that wait to be written.
struct Lines {
    text: String,
    /// They are written when there are so many bytes.
    limit: usize,
    writer: Writer,
}

enum Writer {
    Text(Box<text::Writer>),
    Json(Box<json::Writer>),
    Handler(Handler),
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
        follow.set_filter(&sink.filter);
        let writer = match (&sink.to, sink.json) {
            (To::Handler(handler), _) => Writer::Handler(handler.clone()),
            (_, true) => {
                Writer::Json(Box::new(json::Writer::new(json::Options { ticks: false }, follow.trace())))
            }
            (_, false) => Writer::Text(Box::new(text::Writer::new(&sink.text, follow.trace()))),
        };
        let label = sink.label();
        let mut limit = BATCH;
        let target = match sink.to {
            To::Stderr => Target::Stderr,
            To::Stdout => Target::Stdout,
            To::Handler(_) => Target::Handler,
            To::File(config) => {
                let path = config.path.clone();
                if let Some(bytes) = config.rotate_bytes {
                    limit = limit.min((bytes / ROTATED_PART) as usize);
                }
                let cursor = spool.cursor(&path);
                let (file, positions) =
                    LogFile::open(config, &cursor).map_err(LoggerError::io(path, "opening it"))?;
                follow.resume(&positions);
                Target::File(file)
            }
        };
        let lines = Lines { text: String::new(), limit, writer };
        Ok(Self {
            number,
            label,
            follow,
            lines,
            target,
            shared,
            is_failing: false,
            _spool: Arc::clone(spool),
        })
    }

    /// Delivers until the collector has ended and everything is out, or the logger gives up.
    pub(crate) fn run(mut self) {
        let (mut seen, mut flushed) = (0, 0);
        loop {
            // Between records it sleeps; after them it looks once more when nothing earlier can come.
            let until = (!self.follow.is_drained()).then(|| Instant::now() + WINDOW / 2);
            self.shared.wait_for(until, |state| {
                state.stored != seen
                    || state.flush_collected > flushed
                    || state.has_collected
                    || state.is_given_up
            });
            let (is_last, is_given_up, wanted);
            {
                let state = self.shared.lock();
                seen = state.stored;
                (is_last, is_given_up, wanted) =
                    (state.has_collected, state.is_given_up, state.flush_collected);
            }
            if is_given_up || !self.deliver(wanted > flushed || is_last) {
                return;
            }
            flushed = wanted;
            let (number, oldest) = (self.number, self.follow.oldest_part());
            self.shared.change(|state| {
                state.flushed[number] = flushed;
                state.oldest_parts[number] = oldest;
                state.finished[number] |= is_last;
            });
            if is_last {
                return;
            }
        }
    }

    /// Writes what can be written now; with `all` everything that is in the spool. False when the logger gives up.
    fn deliver(&mut self, all: bool) -> bool {
        loop {
            let polled =
                if all { self.follow.poll_all(&mut self.lines) } else { self.follow.poll(&mut self.lines) };
            let is_full = self.lines.is_full();
            match polled {
                Ok(notes) => self.tell(&notes),
                // The spool cannot be read: what it holds is not given up because of that.
                Err(error) => {
                    self.fail(&error);
                    if !self.pause(RETRY) {
                        return false;
                    }
                    continue;
                }
            }
            if !self.write() {
                return false;
            }
            if !is_full {
                return true;
            }
        }
    }

    /// Writes the lines, as often as it takes. False when the logger gives up.
    fn write(&mut self) -> bool {
        let mut pause = RETRY;
        while !self.lines.text.is_empty() {
            // The next logger delivers it.
            if self.shared.lock().is_given_up {
                return false;
            }
            let lines = self.lines.text.as_bytes();
            let written = match &mut self.target {
                // One call under the lock of the standard library's stream: no line of the program's own stands within one of these.
                Target::Stderr => io::stderr().lock().write_all(lines),
                Target::Stdout => {
                    let mut out = io::stdout().lock();
                    out.write_all(lines).and_then(|()| out.flush())
                }
                Target::File(file) => file.append(lines, self.follow.positions().collect()),
                // It makes no lines.
                Target::Handler => Ok(()),
            };
            match written {
                Ok(()) => {
                    self.lines.text.clear();
                    if std::mem::take(&mut self.is_failing) {
                        say(format_args!("{}: it can be written again", self.label));
                    }
                }
                // Nobody reads any more: nothing is owed to a console.
                Err(error)
                    if error.kind() == io::ErrorKind::BrokenPipe
                        && !matches!(self.target, Target::File(_)) =>
                {
                    self.lines.text.clear();
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

    /// Says once that something fails.
    fn fail(&mut self, error: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.is_failing, true) {
            say(format_args!(
                "{}: {error}; what is not written waits in the spool, and is tried again",
                self.label
            ));
        }
    }

    /// Sleeps; false when the logger gives up meanwhile.
    fn pause(&self, time: Duration) -> bool {
        !self.shared.wait_for(Some(Instant::now() + time), |state| state.is_given_up)
    }

    fn tell(&self, notes: &[Note]) {
        for note in notes {
            say(format_args!("{}: {note}", self.label));
        }
    }
}

impl Lines {
    fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }
}

impl Watcher for Lines {
    fn begin(&mut self, trace: &Trace) {
        match &mut self.writer {
            Writer::Text(writer) => writer.update(trace),
            Writer::Json(writer) => writer.update(trace),
            Writer::Handler(_) => {}
        }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if event.is_shown() {
            match &mut self.writer {
                Writer::Text(writer) => writer.line(&mut self.text, event),
                Writer::Json(writer) => writer.line(&mut self.text, event),
                Writer::Handler(Handler(call)) => {
                    (call.lock().unwrap_or_else(PoisonError::into_inner))(event)
                }
            }
        }
        !self.is_full()
    }
}
