//! Sinks: destinations, the records for them, and their form.

use std::fmt;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use silverpoint_query::filter::Filter;
use silverpoint_render::{text, time::Boundary};
use silverpoint_trace::Event;
use silverpoint_wire::level::Level;

use super::keep::{Compression, Keep, Naming};
use super::place::Place;
use crate::flushing::{Flush, Sync};
use crate::syslog::Syslog;

/// Where the journal listens.
const JOURNAL: &str = "/run/systemd/journal/socket";

/// A destination, the records for it, and their form.
#[derive(Clone, Debug)]
pub struct Sink {
    pub(crate) to: To,
    pub(crate) json: bool,
    pub(crate) filter: Filter,
    pub(crate) text: text::Options,
    pub(crate) flush: Option<Flush>,
    pub(crate) sync: Sync,
    pub(crate) backtrace: Option<Backtrace>,
    /// Where the text of the configuration states it.
    pub(crate) place: Option<Place>,
    /// It comes from the configuration file, and is removed when the file no longer has it.
    pub(crate) is_of_file: bool,
}

/// What a sink keeps back in memory, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backtrace {
    /// This many of the last records.
    pub records: usize,
    /// They are written before a record of this level or above; none: only on demand.
    pub trigger: Option<Level>,
}

#[derive(Clone, Debug)]
pub(crate) enum To {
    Stderr,
    Stdout,
    File(FileSink),
    Handler(Handler),
    Journald(JournaldSink),
    Syslog(Syslog),
}

type Call = dyn FnMut(Option<&Event<'_>>) + Send;

/// A function of the program.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) call: Arc<Mutex<Call>>,
    /// It was given a record, and not yet notified that no more wait.
    pub(crate) has_told: bool,
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FileSink {
    pub(crate) path: PathBuf,
    /// A new file begins when one has this many bytes.
    pub(crate) rotate_bytes: Option<u64>,
    /// A new file begins when one is this old.
    pub(crate) rotate_after: Option<Duration>,
    /// A new file begins at these moments.
    pub(crate) rotate_at: Option<Boundary>,
    /// What is kept of old ones.
    pub(crate) keep: Keep,
    /// It is a trace file.
    pub(crate) is_trace: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct JournaldSink {
    /// Its socket.
    pub(crate) path: PathBuf,
    /// Instead of the process's name.
    pub(crate) identity: Option<String>,
}

impl Sink {
    fn new(to: To, colour: bool) -> Self {
        let is_file = matches!(to, To::File(_));
        let text = text::Options {
            process: false,
            colour,
            digits: 6,
            time: if is_file {
                silverpoint_render::time::Style::Full
            } else {
                silverpoint_render::time::Style::TimeOfDay
            },
            ..text::Options::default()
        };
        Self {
            to,
            json: false,
            filter: Filter::default(),
            text,
            flush: None,
            sync: Sync::Never,
            backtrace: None,
            place: None,
            is_of_file: false,
        }
    }

    /// Standard error, in colours when it is a terminal and `NO_COLOR` is not set.
    pub fn stderr() -> Self {
        Self::new(To::Stderr, std::io::stderr().is_terminal() && may_colour())
    }

    /// Standard output, as above.
    pub fn stdout() -> Self {
        Self::new(To::Stdout, std::io::stdout().is_terminal() && may_colour())
    }

    /// A file of text, appended to.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let keep = Keep { count: 0, bytes: u64::MAX, compress: None, naming: Naming::Numbers };
        let (rotate_bytes, rotate_after, rotate_at) = (None, None, None);
        let path = path.into();
        let file = FileSink { path, rotate_bytes, rotate_after, rotate_at, keep, is_trace: false };
        Self::new(To::File(file), false)
    }

    /// A trace file, appended to: the records as they were recorded, which `silverpoint cat` and all other
    /// tools read. It holds what the sink's filter selects, and states that (`trimmed`). It supports no
    /// [`Sink::backtrace`], and old files stay uncompressed.
    pub fn trace_file(path: impl Into<PathBuf>) -> Self {
        let mut sink = Self::file(path);
        if let To::File(file) = &mut sink.to {
            file.is_trace = true;
        }
        sink
    }

    /// Whether it writes a trace file.
    pub(crate) fn is_trace(&self) -> bool {
        matches!(&self.to, To::File(file) if file.is_trace)
    }

    /// The journal of systemd, by its own protocol. The message, level, thread, site and each named argument
    /// have fields of their own (`journalctl USER=7`). While the journal cannot be reached, records wait in
    /// the spool.
    pub fn journald() -> Self {
        Self::journald_at(JOURNAL)
    }

    /// As [`Sink::journald`], at another socket.
    pub fn journald_at(socket: impl Into<PathBuf>) -> Self {
        Self::new(To::Journald(JournaldSink { path: socket.into(), identity: None }), false)
    }

    /// A syslog receiver, here or elsewhere.
    pub fn syslog(syslog: Syslog) -> Self {
        Self::new(To::Syslog(syslog), false)
    }

    /// What journal and syslog call the program, instead of its file's name.
    #[must_use]
    pub fn identity(mut self, name: impl Into<String>) -> Self {
        match &mut self.to {
            To::Journald(config) => config.identity = Some(name.into()),
            To::Syslog(config) => config.messages.identity = Some(name.into()),
            To::Stderr | To::Stdout | To::File(_) | To::Handler(_) => {}
        }
        self
    }

    /// A function of the program. It gets each record with its site and its arguments as they were recorded,
    /// unformatted, in the sink's thread, in order of time. A slow function holds up this sink alone. A
    /// record is given at most once: records that a killed process left are not given. A panic ends the sink,
    /// and flushes report that.
    ///
    /// ```
    /// use silverpoint_logger::{Config, Logger, Sink, What};
    ///
    /// let sink = Sink::handler(|event| {
    ///     if let What::Record { site, .. } = event.what {
    ///         println!("{} has {} arguments", site.description.template, site.types.len());
    ///     }
    /// });
    /// let logger = Logger::start(Config::new("info").sink(sink))?;
    /// # Ok::<(), silverpoint_logger::LoggerError>(())
    /// ```
    pub fn handler(mut handler: impl FnMut(&Event<'_>) + Send + 'static) -> Self {
        Self::batch_handler(move |event| {
            if let Some(event) = event {
                handler(event);
            }
        })
    }

    /// As [`Sink::handler`], and it is called with `None` when no more records wait for the moment: then it
    /// may write what it has buffered. Flushes wait for that too.
    pub fn batch_handler(handler: impl FnMut(Option<&Event<'_>>) + Send + 'static) -> Self {
        Self::new(To::Handler(Handler { call: Arc::new(Mutex::new(handler)), has_told: false }), false)
    }

    /// Only records of this level and above.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.filter.level = Some(level);
        self
    }

    /// Only what a filter selects; it replaces the level too.
    #[must_use]
    pub fn only(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// The last `records` records below the sink's level (info, if none is set) are kept back in memory, at
    /// most 4 MiB. They are written, marked, before a record of level `trigger` or above (`None`: never), or
    /// by [`Logger::dump_backtrace`](crate::Logger::dump_backtrace). They must also be recorded:
    /// `Config::new("debug")`. After a kill the next logger with the same file keeps them back again; a clean
    /// end drops them.
    #[must_use]
    pub fn backtrace(mut self, records: usize, trigger: impl Into<Option<Level>>) -> Self {
        let trigger = trigger.into();
        self.backtrace = (!self.is_trace()).then_some(Backtrace { records, trigger });
        self
    }

    /// One JSON object a line instead of text.
    #[must_use]
    pub fn json(mut self) -> Self {
        self.json = true;
        self
    }

    /// How lines of text look.
    #[must_use]
    pub fn text(mut self, options: text::Options) -> Self {
        self.text = options;
        self
    }

    /// A file that has grown to `bytes` (at least 4 KiB) becomes `app.1.log`, that one `app.2.log` and so on;
    /// the newest `keep` old files stay. Lines are never split. It has no effect on the console.
    #[must_use]
    pub fn rotate(mut self, bytes: u64, keep: u32) -> Self {
        if let To::File(file) = &mut self.to {
            file.rotate_bytes = Some(bytes.max(4096));
            file.keep.count = keep;
        }
        self
    }

    /// As [`Sink::rotate`], when this process has had the file open for this long.
    #[must_use]
    pub fn rotate_after(mut self, age: Duration, keep: u32) -> Self {
        if let To::File(file) = &mut self.to {
            file.rotate_after = Some(age);
            file.keep.count = keep;
        }
        self
    }

    /// As [`Sink::rotate`], with the first line after each full hour or midnight, in the zone of the sink's
    /// text. The time when the file was last written decides: today's first line rotates a file of yesterday,
    /// no matter which process wrote it.
    #[must_use]
    pub fn rotate_at(mut self, boundary: Boundary, keep: u32) -> Self {
        if let To::File(file) = &mut self.to {
            file.rotate_at = Some(boundary);
            file.keep.count = keep;
        }
        self
    }

    /// The oldest of the old files are removed while all old files together take more bytes than this on the
    /// disk. The newest always stays.
    #[must_use]
    pub fn keep_bytes(mut self, bytes: u64) -> Self {
        if let To::File(file) = &mut self.to {
            file.keep.bytes = bytes;
        }
        self
    }

    /// Old files are compressed by zstd (levels 1 to 22; 3 is usual) in a thread of low priority:
    /// `app.1.log.zst`. Files that are not compressed when the logger ends are compressed by the next one
    /// with this log.
    #[must_use]
    pub fn compress(mut self, level: i32) -> Self {
        if let To::File(file) = &mut self.to {
            if !file.is_trace {
                file.keep.compress = Some(Compression::Zstd(level.clamp(1, 22)));
            }
        }
        self
    }

    /// As [`Sink::compress`], by gzip (levels 1 to 9; 6 is usual): `app.1.log.gz`, for tools that support
    /// nothing else. Zstd is several times as fast, and its files are smaller.
    #[must_use]
    pub fn gzip(mut self, level: u32) -> Self {
        if let To::File(file) = &mut self.to {
            if !file.is_trace {
                file.keep.compress = Some(Compression::Gzip(level.clamp(1, 9)));
            }
        }
        self
    }

    /// Old files are named after the date of their last line, in the zone of the sink's text, and keep that
    /// name: `app.2026-11-20.log`, then `app.2026-11-20.1.log`. With [`Boundary::Hour`] it is
    /// `app.2026-11-20T13.log`. For files of text and JSON.
    #[must_use]
    pub fn name_by_date(mut self) -> Self {
        if let To::File(file) = &mut self.to {
            if !file.is_trace {
                file.keep.naming = Naming::Dates;
            }
        }
        self
    }

    /// Lines are buffered until one of the triggers applies, or a flush: fewer writes, each of them later. No
    /// line is lost when the program dies: unwritten ones are still in the spool. For files and the console.
    /// Without it lines are written at once.
    #[must_use]
    pub fn flush(mut self, flush: Flush) -> Self {
        self.flush = Some(flush);
        self
    }

    /// When the data of a file is made to survive a loss of power. A flush of the logger does it too, unless
    /// this is [`Sync::Never`].
    #[must_use]
    pub fn sync(mut self, sync: Sync) -> Self {
        self.sync = sync;
        self
    }

    /// The name in messages.
    pub(crate) fn label(&self) -> String {
        match &self.to {
            To::Stderr => "standard error".into(),
            To::Stdout => "standard output".into(),
            To::File(file) => file.path.display().to_string(),
            To::Handler(_) => "a handler".into(),
            To::Journald(config) => format!("journald at {}", config.path.display()),
            To::Syslog(config) => format!("syslog at {}", config.address),
        }
    }
}

/// As in <https://no-color.org>.
fn may_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
