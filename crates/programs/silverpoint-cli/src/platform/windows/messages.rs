//! What programs give to `OutputDebugString`, as records beside those of sessions. They are written into a trace file
//! of our own. It is followed as others are.
//!
//! A program of ours gives its debug output to monitors, too. It says whether its session has the text. Such a text is
//! left out if the session is read here. One that has just begun may not be found yet, so the text waits for a moment.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use silverpoint_convert::Writer;
use silverpoint_convert::silver::SilverWriter;
use silverpoint_dbwin::{Copied, Listening};
use silverpoint_read::{Scratch, Targets};
use silverpoint_trace::{Record, Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use super::processes::is_alive;
use crate::debug::{CATEGORY, wall_ns};
use crate::exit::{Failed, at, failure, inform, note};
use crate::live::Following;

/// How long a text waits for the session that has it.
const FOUND_WITHIN: Duration = Duration::from_secs(1);
/// So long after a text readers wait for what comes before that of others.
const AWAITED: Duration = Duration::from_secs(2);
/// Bytes and processes of one file. Those that were read are removed.
const PART_BYTES: usize = 64 << 20;
const PART_PROCESSES: usize = 256;
/// Processes of one file of which nothing but their number is known: a sender may state any.
const UNKNOWN_PROCESSES: usize = 64;
/// Texts that wait for sessions.
const HELD_MAX: usize = 1 << 14;

/// Which debug output is shown.
#[derive(clap::Args, Debug)]
pub struct Choice {
    /// Only debug output of programs that use Silverpoint, not what others give to OutputDebugString; several may run at once
    #[arg(long)]
    sessions: bool,
}

impl Choice {
    /// Takes the texts from now on, if that is wanted.
    pub fn begin(&self) -> Result<Option<Messages>, Failed> {
        if self.sessions {
            return Ok(None);
        }
        let listening = Listening::begin().map_err(|refused| {
            failure(format!("{refused}; --sessions shows programs that use Silverpoint without it"))
        })?;
        let scratch = Scratch::new().map_err(at("no directory for messages can be made"))?;
        let part = Part::new(&scratch, 0)?;
        inform("listens to OutputDebugString");
        Ok(Some(Messages { listening, scratch, part, site: site(), held: Vec::new(), came: None }))
    }
}

/// See the module.
pub struct Messages {
    listening: Listening,
    scratch: Scratch,
    part: Part,
    site: Site,
    /// Those that wait for their session.
    held: Vec<(SystemTime, Copied)>,
    /// When the last one came.
    came: Option<Instant>,
}

/// A file that is written.
struct Part {
    writer: SilverWriter<BufWriter<File>>,
    path: PathBuf,
    number: u32,
    bytes: usize,
    /// With their numbers in the file.
    processes: HashMap<(u32, Arc<str>), usize>,
    unknown: usize,
}

/// Where all texts come from.
fn site() -> Site {
    Site::new(SiteDescription {
        kind: Kind::Log,
        level: Level::Debug,
        flags: 0,
        line: 0,
        language: 0,
        category: CATEGORY.into(),
        file: String::new(),
        function: String::new(),
        names: String::new(),
        template: "{}".into(),
        signature: "s".into(),
    })
}

impl Messages {
    /// Whether texts of these processes may still come. (A name may be that of a process to come.)
    pub fn may_come(&self, targets: &Targets) -> bool {
        let has_names = targets.patterns().len() > targets.pids().len();
        targets.is_everything() || has_names || targets.pids().iter().any(|pid| is_alive(*pid))
    }

    /// They are followed from now on.
    pub fn follow(&mut self, following: &mut Following) -> Result<(), Failed> {
        following.add(&self.part.path)
    }

    /// Writes what has come since the last look.
    pub fn look(&mut self, following: &mut Following) -> Result<(), Failed> {
        self.write(following, FOUND_WITHIN)
    }

    /// Lets another monitor begin, and writes what has come until then.
    pub fn end(&mut self, following: &mut Following) -> Result<(), Failed> {
        self.listening.stop().map_err(at("OutputDebugString"))?;
        following.open_new()?;
        self.write(following, Duration::ZERO)
    }

    fn write(&mut self, following: &mut Following, patience: Duration) -> Result<(), Failed> {
        let taken = self.listening.take().map_err(at("OutputDebugString"))?;
        if taken.missed > 0 {
            let missed = taken.missed;
            note(format_args!("{missed} messages are not shown: they came faster than they could be shown"));
        }
        if !taken.all.is_empty() {
            self.came = Some(Instant::now());
        }
        for (time, copied) in std::mem::take(&mut self.held).into_iter().chain(taken.all) {
            let is_read = copied.recorded.is_some_and(|start| following.reads(copied.pid, start));
            let age = taken.until.duration_since(time).unwrap_or_default();
            if is_read {
                continue;
            }
            if copied.recorded.is_some() && age < patience && self.held.len() < HELD_MAX {
                self.held.push((time, copied));
            } else {
                self.part.write(&self.site, time, &copied)?;
            }
        }
        if self.came.is_some_and(|came| came.elapsed() < AWAITED) {
            let until = u64::try_from(wall_ns(taken.until)).unwrap_or(0);
            self.part.writer.flush_until(until).map_err(at(self.part.path.display()))?;
        }
        if self.part.is_full() {
            let next = Part::new(&self.scratch, self.part.number + 1)?;
            let mut full = std::mem::replace(&mut self.part, next);
            full.writer.finish().map_err(at(full.path.display()))?;
            following.add(&self.part.path)?;
            // Its reader has it open. What cannot be removed now goes with the directory.
            let _ = fs::remove_file(full.path);
        }
        Ok(())
    }
}

impl Part {
    fn new(scratch: &Scratch, number: u32) -> Result<Self, Failed> {
        let path = scratch.path().join(format!("messages-{number}.silver"));
        let file = File::create_new(&path).map_err(at(path.display()))?;
        let mut writer = SilverWriter::new(BufWriter::new(file)).map_err(at(path.display()))?;
        // A reader finds a trace file from the first.
        writer.flush_until(0).map_err(at(path.display()))?;
        Ok(Self { writer, path, number, bytes: 0, processes: HashMap::new(), unknown: 0 })
    }

    fn is_full(&self) -> bool {
        self.bytes >= PART_BYTES || self.processes.len() >= PART_PROCESSES
    }

    fn write(&mut self, site: &Site, time: SystemTime, copied: &Copied) -> Result<(), Failed> {
        let text = copied.text();
        let mut args = (text.len() as u32).to_le_bytes().to_vec();
        args.extend_from_slice(text.as_bytes());
        self.bytes += 64 + args.len();
        let (process, pid, process_number) = self.process(copied);
        let record = Record {
            wall_ns: wall_ns(time),
            ticks: None,
            process: &process,
            pid,
            process_number,
            tid: 0,
            thread: "",
            context: None,
            is_backtrace: false,
            what: What::Record { site, site_number: 0, args: &args, truncated: false },
        };
        self.writer.write(&record).map_err(at(self.path.display()))
    }

    /// Its name, process id and number.
    fn process(&mut self, copied: &Copied) -> (Arc<str>, u32, usize) {
        let mut key = (copied.pid, Arc::clone(&copied.name));
        if &*copied.name == "?" && !self.processes.contains_key(&key) {
            if self.unknown < UNKNOWN_PROCESSES {
                self.unknown += 1;
            } else {
                key.0 = 0;
            }
        }
        let next = self.processes.len();
        let number = *self.processes.entry(key.clone()).or_insert(next);
        (key.1, key.0, number)
    }
}
