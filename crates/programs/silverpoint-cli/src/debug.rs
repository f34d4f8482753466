//! `silverpoint debug`: what programs write as debug output, while they write it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_convert::Writer;
use silverpoint_convert::silver::SilverWriter;
use silverpoint_render::time::When;
use silverpoint_trace::{Event, Trace, Watcher};

use crate::exit::{Failed, Outcome, at, failure, inform, note, usage};
use crate::input::{Output, Wanted};
use crate::live::{Following, Live, Targets};
use crate::newfile::NewFile;
use crate::platform::keys::Keys;
use crate::platform::messages::{Choice, Messages};
use crate::printing::{Printer, Printing};
use crate::tail::{fail_at_size_limit, stop_at_signals};
use crate::units::show_bytes;

/// Show the debug output of running programs as it comes (`debug_output` in C++ and Rust, `DebugOutput` in .NET)
///
/// From now on, until the processes have ended or Ctrl-C. Meanwhile the category debug_output is on in them. On Windows it is
/// a debug monitor, too: it shows what any program gives to OutputDebugString.
/// Other records that a program makes are shown with --category, such as -c '*'. On a terminal the space bar pauses: what
/// comes meanwhile is saved, and shown afterwards.
///
/// Exit status 0: done. 1: something cannot be read, or the output not be written. 2: wrong usage. 3: a
/// collector's file is damaged. 6: no such session.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Process ids, or names of processes (`*` and `?` match) [default: all living sessions, also those that begin later]
    #[arg(value_name = "PID|NAME")]
    targets: Vec<String>,
    /// Save what is shown as a trace file; it appears under this name at the end
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    printing: Printing,
}

/// The category of debug output, in all languages.
pub const CATEGORY: &str = "debug_output";
/// Text that waits during a pause, at most.
const PAUSED_BYTES: usize = 64 << 20;

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let targets = Targets::parse(&args.targets)?;
    if let Some(file) = targets.files.first() {
        return Err(usage(format!("{}: debug shows processes; `tail -f` follows files", file.display())));
    }
    let mut filter = args.wanted.filter()?;
    filter.processes.extend(targets.patterns());
    if filter.categories.is_empty() {
        filter.categories.push(CATEGORY.into());
    }
    filter.since.get_or_insert(When::Absolute(wall_ns(SystemTime::now())));
    // Before anything is switched: an interrupt puts it back.
    let stop = stop_at_signals()?;
    fail_at_size_limit()?;
    let saved = args.output.as_deref().map(|path| NewFile::create(path, &[], args.force)).transpose()?;
    let mut messages = args.choice.begin()?;
    let mut live = Live::switching(targets.clone(), CATEGORY);
    let files = live.look()?;
    if !messages.as_ref().is_some_and(|messages| messages.may_come(&targets)) {
        live.expect_some()?;
    }
    // What lies in rings is copied whole by the second look.
    live.look()?;
    let mut following = Following::begin(live, &files, false, false)?;
    messages.as_mut().map_or(Ok(()), |messages| messages.follow(&mut following))?;
    following.set_filter(&filter);
    let name = args.output.as_deref().unwrap_or_else(|| "".as_ref()).display().to_string();
    let mut monitor = Monitor {
        printer: Printer::new(&args.printing, args.wanted.zone(), Output::new(), following.trace()),
        saved: saved.map(SilverWriter::new).transpose().map_err(at(&name))?,
        failed: None,
        is_paused: false,
        unshown: 0,
        targets,
        messages,
    };
    let shown = monitor.follow(&mut following, &stop, &name);
    let shown = shown.and_then(|()| monitor.show_rest(&mut following, &name));
    // Also after an error: what was saved until then is whole.
    let saved = monitor.save(&name);
    if let (Err(_), Err(error)) = (&shown, &saved) {
        note(error);
    }
    shown.and(saved).map(|()| following.found())
}

/// Nanoseconds since 1970.
pub fn wall_ns(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Prints events, and saves them if that is wanted.
struct Monitor {
    printer: Printer,
    /// `None` too after a failure: a file that lacks records does not get its name.
    saved: Option<SilverWriter<NewFile>>,
    failed: Option<silverpoint_convert::WriteError>,
    /// The text waits in the printer.
    is_paused: bool,
    /// Events during a pause for which there was no room.
    unshown: u64,
    targets: Targets,
    /// What programs give to the system's own debug output.
    messages: Option<Messages>,
}

impl Monitor {
    /// Until the processes have ended, a signal, the key q, or a closed output.
    fn follow(&mut self, following: &mut Following, stop: &AtomicBool, name: &str) -> Result<(), Failed> {
        let keys = Keys::watch();
        while self.printer.wants_more() && !stop.load(Ordering::Relaxed) {
            let may_come = self.messages.as_ref().is_some_and(|messages| messages.may_come(&self.targets));
            let goes_on = following.read(self)? || may_come;
            self.pass_on(name)?;
            if !goes_on && !self.is_paused {
                break;
            }
            // In this order: what a program has recorded before a message is there when the message is.
            self.messages.as_mut().map_or(Ok(()), |messages| messages.look(following))?;
            following.look()?;
            match keys.as_ref().and_then(Keys::pressed) {
                Some(b' ') if self.is_paused => {
                    inform("goes on");
                    self.end_pause(name)?;
                }
                Some(b' ') => {
                    self.is_paused = true;
                    self.printer.out.hold(true);
                    inform("paused; the space bar goes on, q ends");
                }
                Some(b'q') => break,
                _ => {}
            }
        }
        Ok(())
    }

    /// What has come since the last look, or in a pause.
    fn show_rest(&mut self, following: &mut Following, name: &str) -> Result<(), Failed> {
        self.messages.as_mut().map_or(Ok(()), |messages| messages.end(following))?;
        if self.printer.wants_more() {
            following.read_all(self)?;
        }
        self.end_pause(name)
    }

    fn end_pause(&mut self, name: &str) -> Result<(), Failed> {
        self.is_paused = false;
        self.printer.out.hold(false);
        self.pass_on(name)?;
        let unshown = std::mem::take(&mut self.unshown);
        if unshown > 0 {
            let room = show_bytes(PAUSED_BYTES as u64);
            note(format_args!("{unshown} records are not shown: the pause had {room} of text already"));
        }
        Ok(())
    }

    /// Reports what went wrong since the last time. Writes the pending text, except in a pause.
    fn pass_on(&mut self, name: &str) -> Result<(), Failed> {
        if !self.is_paused {
            self.printer.pass_on()?;
        }
        self.failed.take().map_or(Ok(()), |error| Err(failure(format!("{name}: {error}"))))
    }

    /// Completes the file.
    fn save(self, name: &str) -> Result<(), Failed> {
        let Some(mut saved) = self.saved else { return Ok(()) };
        saved.finish().and_then(|()| saved.into_inner().finish()).map_err(at(name))
    }
}

impl Watcher for Monitor {
    fn begin(&mut self, trace: &Trace) {
        self.printer.begin(trace);
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        self.printer.event(event)
    }

    fn event_of(&mut self, _: &Trace, event: &Event<'_>) -> bool {
        let saved = self.saved.as_mut().filter(|_| event.is_shown());
        if let Some(Err(error)) = saved.map(|saved| saved.write(&event.record())) {
            self.failed = Some(error);
            self.saved = None;
            return false;
        }
        if self.is_paused && self.printer.out.text.len() >= PAUSED_BYTES {
            self.unshown += u64::from(event.is_shown());
            return true;
        }
        self.event(event)
    }
}
