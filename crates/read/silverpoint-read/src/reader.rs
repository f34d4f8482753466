//! Records by their numbers: of trace files as they are, of files that grow, and of programs that live.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use silverpoint_query::filter::Filter;
use silverpoint_render::time::{local_zone, utc_zone};
use silverpoint_render::units::show_bytes;
use silverpoint_trace::{Event, Note, Rows, Trace, Verdict, with_parts};

use crate::batch::Batch;
use crate::{Live, ReadError, Targets};

/// What a session that brings nothing holds up what others bring.
const PATIENCE: Duration = Duration::from_millis(300);
/// Messages that wait at most; more are counted.
const MESSAGES_MAX: usize = 1000;

/// How files are opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Exactly the files named, not the other parts of a rotated trace.
    pub only: bool,
    /// They may grow and be rotated while they are read.
    pub follow: bool,
    /// Times of day in filters are UTC, not local.
    pub utc: bool,
}

/// Whether there is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// At once.
    More,
    /// Perhaps later.
    Waiting,
    /// No more will come.
    Finished,
}

/// What growing has brought.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Records that have numbers.
    pub count: u64,
    /// Whether there is more.
    pub state: State,
}

/// See the module.
pub struct Reader {
    rows: Rows,
    live: Option<Live>,
    /// The processes that were asked for.
    targets: Targets,
    is_utc: bool,
    missed: u64,
    messages: Vec<String>,
    untold: u64,
}

impl Reader {
    /// Opens files: with the other parts of rotated traces, unless exactly those named are wanted.
    ///
    /// # Errors
    /// No file, one that cannot be read, or one that is no trace file.
    pub fn open(paths: &[PathBuf], options: OpenOptions) -> Result<Self, ReadError> {
        if paths.is_empty() {
            return Err(ReadError::Usage("no file was named".into()));
        }
        let all = if options.only { paths.to_vec() } else { with_parts(paths) };
        let trace = Trace::open(&all).map_err(ReadError::failed)?;
        let foreign = trace.is_foreign() || !options.follow && trace.verdict() == Verdict::NotATraceFile;
        if foreign {
            let is_it = |note: &&Note| note.matter.verdict() == Verdict::NotATraceFile;
            let note = trace.notes().iter().find(is_it).or(trace.notes().first());
            let text = note.map_or_else(|| "no trace file".into(), Note::to_string);
            return Err(ReadError::NotATraceFile(text));
        }
        let newest = |path: &PathBuf| with_parts(std::slice::from_ref(path)).pop();
        let head = |path| newest(path).filter(|_| !options.only).unwrap_or_else(|| path.clone());
        let heads: Vec<PathBuf> = paths.iter().map(head).collect();
        let rows = Rows::new(trace, &heads, &Filter::default(), options.follow);
        Ok(Self::new(rows, None, Targets::default(), options.utc))
    }

    /// Looks at living sessions: each text is a process id, or a pattern of processes' names; none: all.
    ///
    /// # Errors
    /// When a process that was named has no session, or nothing can be looked at.
    pub fn live(targets: &[String], is_utc: bool) -> Result<Self, ReadError> {
        let targets = Targets::parse(targets)?;
        if let Some(file) = targets.files.first() {
            return Err(ReadError::Usage(format!("{}: a file is no living session", file.display())));
        }
        let mut reader = Self::new(Rows::nothing(), Some(Live::new(targets.clone())), targets, is_utc);
        reader.look()?;
        if let Some(live) = &reader.live {
            live.expect_some()?;
        }
        // What lies in rings is copied whole by the second look.
        reader.look()?;
        reader.filter("")?;
        Ok(reader)
    }

    fn new(mut rows: Rows, live: Option<Live>, targets: Targets, is_utc: bool) -> Self {
        rows.set_patience(PATIENCE);
        Self { rows, live, targets, is_utc, missed: 0, messages: Vec::new(), untold: 0 }
    }

    /// Whether a text is a filter, without any reader.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn check_filter(line: &str) -> Result<(), ReadError> {
        Filter::from_line(line, &utc_zone()).map(|_| ()).map_err(|error| ReadError::Usage(error.to_string()))
    }

    /// Numbers the records that a filter selects, from the beginning: with the options of `silverpoint cat`
    /// (`-l warn -c net`), or an expression (`id=7`). Relative times are counted from now.
    ///
    /// # Errors
    /// What is wrong with the text, and where. Then everything is as before.
    pub fn filter(&mut self, line: &str) -> Result<(), ReadError> {
        let zone = if self.is_utc { utc_zone() } else { local_zone() };
        let mut filter =
            Filter::from_line(line, &zone).map_err(|error| ReadError::Usage(error.to_string()))?;
        if filter.processes.is_empty() {
            // A collector's file has other processes, too.
            filter.processes = self.targets.patterns();
        }
        self.rows.set_filter(&filter);
        Ok(())
    }

    /// Gives numbers to what comes next, for about so long.
    ///
    /// # Errors
    /// What cannot be read any more. What has numbers keeps them.
    pub fn grow(&mut self, most: Duration) -> Result<Growth, ReadError> {
        let begin = Instant::now();
        self.grow_with(|| begin.elapsed() >= most, |_, _, _| {})
    }

    /// The same until it is enough, and gives the event behind each record as it gets its number.
    ///
    /// # Errors
    /// As of [`Reader::grow`].
    pub fn grow_with(
        &mut self,
        is_enough: impl Fn() -> bool,
        take: impl FnMut(&Trace, u64, &Event<'_>),
    ) -> Result<Growth, ReadError> {
        self.look()?;
        let grown = self.rows.grow_with(is_enough, take).map_err(ReadError::failed)?;
        if let Some(live) = &mut self.live {
            // Everything copied so far has been opened: only its names go.
            live.forget_read();
        }
        grown.notes.iter().for_each(|note| self.tell(note.to_string()));
        let is_over = match &self.live {
            Some(live) => live.is_over() && self.rows.is_drained(),
            None => self.rows.is_finished(),
        };
        let state = match (grown.has_more, is_over) {
            (true, _) => State::More,
            (false, false) => State::Waiting,
            (false, true) => State::Finished,
        };
        Ok(Growth { count: grown.count, state })
    }

    /// Records that have numbers: from 0.
    pub fn count(&self) -> u64 {
        self.rows.count()
    }

    /// Puts records into `batch`, from a number on, at most so many, and fewer where they are large: at least one, if it is there.
    ///
    /// # Errors
    /// When a file has lost what it had.
    pub fn read(&mut self, from: u64, most: usize, batch: &mut Batch) -> Result<(), ReadError> {
        batch.clear();
        if most == 0 || from >= self.rows.count() {
            return Ok(());
        }
        let given = self.rows.read(from, |trace, number, event| {
            batch.add(trace, number, event);
            batch.rows().len() < most && !batch.is_full()
        });
        if given == 0 {
            let files = &self.rows.trace().files;
            let name = files.first().map_or_else(Default::default, |file| file.path.display().to_string());
            return Err(ReadError::Failed(format!(
                "{name}: record {from} is not there any more: the file has changed; open it again"
            )));
        }
        Ok(())
    }

    /// Gives the events behind records from a number on, without making texts of them, until `take` wants no more. Gives how many.
    pub fn visit(&mut self, from: u64, take: impl FnMut(&Trace, u64, &Event<'_>) -> bool) -> u64 {
        self.rows.read(from, take)
    }

    /// The files as they are indexed so far.
    pub fn trace(&self) -> &Trace {
        self.rows.trace()
    }

    /// What was found to be missing or damaged, and what people should know, since the last time.
    pub fn take_messages(&mut self) -> Vec<String> {
        let mut messages = std::mem::take(&mut self.messages);
        let untold = std::mem::take(&mut self.untold);
        if untold > 0 {
            messages.push(format!("… and {untold} more like these"));
        }
        messages
    }

    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.rows.trace().files.iter().map(|file| file.path.as_path())
    }

    fn tell(&mut self, message: String) {
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(message);
        } else {
            self.untold += 1;
        }
    }

    fn look(&mut self) -> Result<(), ReadError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let files = live.look()?;
        let mut messages = live.take_messages();
        for file in files {
            // A collector's file may be inaccessible (another user's, or in another mount namespace): the
            // others are still read.
            if let Err(error) = self.rows.add(&file) {
                messages.push(error.to_string());
            }
        }
        let missed = live.missed_bytes();
        if missed > self.missed {
            let bytes = show_bytes(missed - self.missed);
            messages.push(format!("{bytes} were overwritten before they could be copied"));
            self.missed = missed;
        }
        messages.into_iter().for_each(|message| self.tell(message));
        Ok(())
    }
}
