//! `silverpoint top`: which sites and threads record how much, now.
//!
//! ```text
//!  live   files and copies ──▶ Tally ──▶ model   counts by site and thread ──▶ screen   a terminal, and its keys
//!                                                                          └─▶ plain    text and JSON
//! ```

mod model;
mod plain;
mod screen;
mod shown;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyEventKind};

use silverpoint_trace::{Note, Tally, Trace, worst};

use crate::exit::{Exit, Failed, Outcome, failure, note};
use crate::input::{Output, exit, tell};
use crate::live::{Live, Targets};
use crate::tail::stop_at_signals;
use crate::terminal;
use model::{Column, Model, View};
use screen::{Screen, Wish};

/// Show which sites record how much, how long threads waited, and what was lost, as it happens
///
/// Reading changes nothing, as with `tail`. Waits and losses are shown at the site of the thread's next
/// record. Files are counted completely, then as they grow. Processes are counted from now on; those that
/// begin later, from their beginning.
///
/// Exit status 0: done. 1: something cannot be read. 2: wrong usage. 3: a file is damaged. 4: a file is not a
/// trace file. 6: no such session.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Process ids, names of processes (`*` and `?` match), or trace files [default: all living sessions, also those that begin later]
    #[arg(value_name = "PID|NAME|FILE")]
    targets: Vec<String>,
    /// Interval between two tables
    #[arg(short, long, value_name = "DURATION", default_value = "1s", value_parser = crate::units::duration)]
    interval: Duration,
    /// What each row stands for
    #[arg(long, value_name = "VIEW", value_enum, default_value_t = View::Sites)]
    view: View,
    /// The column to sort by
    #[arg(long, value_name = "COLUMN", value_enum, default_value_t = Column::Rate)]
    sort: Column,
    /// Show only rows that contain this text, in upper or lower case
    #[arg(long = "match", value_name = "TEXT", default_value = "")]
    pattern: String,
    /// Print text instead of a screen, one table for each interval; the default without a terminal
    #[arg(short, long)]
    batch: bool,
    /// Print one JSON object for each table
    #[arg(long)]
    json: bool,
    /// End after this number of tables
    #[arg(short = 'n', long, value_name = "N")]
    tables: Option<u64>,
    /// The most rows in text and JSON; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    rows: usize,
}

/// Interval between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// Intervals that keys can choose.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let targets = Targets::parse(&args.targets)?;
    let of_files = !targets.files.is_empty();
    let mut feed = Feed {
        live: Live::new(targets.clone()),
        tally: Tally::new(),
        of_files,
        has_looked: false,
        notes: Vec::new(),
    };
    for file in &targets.files {
        feed.tally.add(file, false).map_err(failure)?;
    }
    if feed.tally.trace().is_foreign() {
        feed.end();
        return Ok(Exit::NotATraceFile);
    }
    // Only after the files are open: opening a pipe waits for its writer, and a signal must be able to end
    // that.
    let stop = stop_at_signals()?;
    let mut model = Model::new(args.view, args.sort, Instant::now());
    model.pattern.clone_from(&args.pattern);
    feed.look(&mut model)?;
    feed.live.expect_some()?;
    model.begin(Instant::now());
    if args.batch || args.json || args.tables.is_some() || !io::stdout().is_terminal() {
        batch(&args, feed, model, &stop)
    } else {
        on_screen(args.interval, feed, model, &stop)
    }
}

/// Where counts come from.
struct Feed {
    live: Live,
    tally: Tally,
    of_files: bool,
    /// Whether there was a first look. What a session recorded before it is not counted; a later session is
    /// counted from its beginning.
    has_looked: bool,
    /// What could not be read.
    notes: Vec<Note>,
}

/// Most notes that are kept.
const NOTES_MAX: usize = 1000;

impl Feed {
    /// Counts what is new.
    fn look(&mut self, model: &mut Model) -> Result<(), Failed> {
        for file in self.live.look()? {
            // A collector's file may be inaccessible (another user's, or in another mount namespace): the
            // others are still read.
            if let Err(error) = self.tally.add_regular(&file, !self.has_looked) {
                note(error);
            }
        }
        self.has_looked = true;
        let notes = self
            .tally
            .poll(|_, session, stream, found| model.count(session, stream, found))
            .map_err(failure)?;
        let room = NOTES_MAX - self.notes.len();
        self.notes.extend(notes.into_iter().take(room));
        self.live.forget_read();
        Ok(())
    }

    fn trace(&self) -> &Trace {
        self.tally.trace()
    }

    /// Reports what is missing.
    fn end(&self) -> Exit {
        tell(self.trace().notes().iter().chain(&self.notes));
        exit(worst(&self.notes).max(self.trace().verdict()))
    }

    /// Whether no more records can come.
    fn is_over(&self) -> bool {
        if self.of_files { self.tally.is_closed() } else { self.live.is_over() }
    }
}

fn batch(args: &Args, mut feed: Feed, mut model: Model, stop: &Arc<AtomicBool>) -> Outcome {
    let mut out = Output::new();
    let mut left = args.tables.unwrap_or(u64::MAX);
    let interval = args.interval.max(INTERVALS.0);
    let most = if args.rows == 0 { usize::MAX } else { args.rows };
    while left > 0 && !out.is_gone() && !stop.load(Ordering::Relaxed) {
        let until = Instant::now() + interval;
        while !stop.load(Ordering::Relaxed) && !feed.is_over() && Instant::now() < until {
            thread::sleep(LOOK.min(until - Instant::now()));
            feed.look(&mut model)?;
        }
        // Once more: it is over when nothing can come after what this look finds.
        let is_over = feed.is_over();
        feed.look(&mut model)?;
        model.sample(Instant::now(), feed.live.missed_bytes());
        if args.json {
            plain::push_json(&mut out.text, &model, feed.trace(), most);
        } else {
            plain::push_text(&mut out.text, &model, feed.trace(), most);
        }
        out.flush()?;
        left -= 1;
        if is_over {
            break;
        }
    }
    Ok(feed.end())
}

fn on_screen(mut interval: Duration, mut feed: Feed, mut model: Model, stop: &Arc<AtomicBool>) -> Outcome {
    // It puts the terminal back when the program panics, too.
    let mut terminal =
        ratatui::try_init().map_err(|error| failure(format!("the terminal cannot be used: {error}")))?;
    let mut screen = Screen::new(terminal::colour());
    let mut run = || -> Result<(), Failed> {
        let failed = |error: io::Error| failure(format!("cannot draw on the terminal: {error}"));
        let mut due = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            feed.look(&mut model)?;
            let mut draws = false;
            if Instant::now() >= due {
                if !screen.is_paused {
                    model.sample(Instant::now(), feed.live.missed_bytes());
                }
                due = Instant::now() + interval;
                draws = true;
            }
            let wait = LOOK.min(due.saturating_duration_since(Instant::now()));
            let mut key = event::poll(if draws { Duration::ZERO } else { wait }).map_err(failed)?;
            while key {
                match event::read().map_err(failed)? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => match screen.key(key, &mut model)
                    {
                        Wish::Draw => {}
                        Wish::Quit => return Ok(()),
                        Wish::Faster => interval = (interval / 2).max(INTERVALS.0),
                        Wish::Slower => interval = (interval * 2).min(INTERVALS.1),
                    },
                    _ => {}
                }
                draws = true;
                key = event::poll(Duration::ZERO).map_err(failed)?;
            }
            if draws {
                terminal.draw(|frame| screen.draw(frame, &model, feed.trace())).map_err(failed)?;
            }
        }
        Ok(())
    };
    let result = run();
    ratatui::restore();
    result.map(|()| feed.end())
}
