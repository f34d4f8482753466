//! What happens now, in living sessions and in files that grow: for `tail`, `top` and other programs that
//! follow a process.
//!
//! ```text
//!  a session that is collected        its collector's trace file, which its intent names
//!  a session that nobody collects     copied into a trace file of our own (onlooker), which is removed afterwards
//!  a file                             itself
//! ```
//!
//! In all cases nothing is written into a session, so reading has no effect on it. [`Live::switching`] alone changes directives.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use silverpoint_collect::{Encoding, Existing, Left, Onlooker, OutputConfig};
use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_wire::process;

use crate::scratch::Scratch;
use crate::sessions::{self, Place};
use crate::switch::Switch;
use crate::{ReadError, Targets};

/// Between two looks for sessions that came, went, or got a collector.
const SEARCH_INTERVAL: Duration = Duration::from_millis(200);
/// A part of the copies; those that were read are removed.
const PART_BYTES: u64 = 16 << 20;
/// Sessions that are remembered after their end.
const ENDED_MAX: usize = 256;

/// The living sessions of the targets. See the module.
pub struct Live {
    targets: Targets,
    switch: Option<Switch>,
    known: HashMap<SessionName, Stage>,
    /// Those that ended last.
    ended: VecDeque<SessionName>,
    onlooker: Option<(Onlooker, Scratch)>,
    searched: Option<Instant>,
    /// Messages for people.
    messages: Vec<String>,
    /// Of all processes: whether any session was ever found.
    has_found: bool,
}

/// How a session is read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// It is collected, and the file is not known yet.
    Awaited,
    /// In this file.
    Stored(PathBuf),
    /// By copying.
    Copied,
    /// Not any more. The next search forgets it.
    Ended,
}

impl Live {
    /// Nothing is looked at before the first [`Live::look`].
    pub fn new(targets: Targets) -> Self {
        Self {
            targets,
            switch: None,
            known: HashMap::new(),
            ended: VecDeque::new(),
            onlooker: None,
            searched: None,
            messages: Vec::new(),
            has_found: false,
        }
    }

    /// As [`Live::new`]. Until it is dropped, this category is on in these sessions, from level debug on.
    pub fn switching(targets: Targets, category: &'static str) -> Self {
        Self { switch: Some(Switch::new(category)), ..Self::new(targets) }
    }

    /// Copies what is new, and looks for sessions now and then. Gives files that have to be read from now on.
    pub fn look(&mut self) -> Result<Vec<PathBuf>, ReadError> {
        let (mut files, mut due) = (Vec::new(), Vec::new());
        if !self.targets.watches_processes() {
            return Ok(files);
        }
        // A collector that has just come may go again soon: then nobody can say any more what its file was.
        let is_urgent = self.known.values().any(|stage| *stage == Stage::Awaited);
        if is_urgent || self.searched.is_none_or(|at| at.elapsed() >= SEARCH_INTERVAL) {
            due = self.search(&mut files)?;
            self.searched = Some(Instant::now());
        }
        self.copy()?;
        // Only now: rings that are open can be read to their end, even if the program ends at once.
        for place in due {
            if let Some(Err(error)) = self.switch.as_mut().map(|switch| switch.switch_on(&place)) {
                self.messages.push(format!("its directives cannot be changed: {error}"));
            }
        }
        Ok(files)
    }

    /// To be called when the reader has opened everything copied so far.
    pub fn forget_read(&mut self) {
        if let Some((onlooker, scratch)) = &self.onlooker {
            scratch.remove_parts_before(onlooker.path());
        }
    }

    /// Whether no session can come any more: all named processes have ended.
    pub fn is_over(&self) -> bool {
        !self.targets.watches_processes()
            || (!self.targets.is_everything() && self.known.values().all(|stage| *stage == Stage::Ended))
    }

    /// Whether the records of this process, which began at this time, are or were in what is read here.
    pub fn reads(&self, pid: u32, start: u64) -> bool {
        let is_it = |name: &SessionName| (name.pid, name.start) == (pid, start);
        let mut read = self.known.iter().filter(|(_, stage)| **stage != Stage::Awaited);
        read.any(|(name, _)| is_it(name)) || self.ended.iter().any(is_it)
    }

    /// Bytes that programs had overwritten before they could be copied.
    pub fn missed_bytes(&self) -> u64 {
        self.onlooker.as_ref().map_or(0, |(onlooker, _)| onlooker.missed_bytes())
    }

    /// Messages for people since the last call.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// An error when a process that was named has no session.
    pub fn expect_some(&self) -> Result<(), ReadError> {
        if self.has_found || self.targets.is_everything() || !self.targets.watches_processes() {
            return Ok(());
        }
        if let [pid] = self.targets.pids() {
            // It says why.
            sessions::living(*pid)?;
        }
        Err(ReadError::NoSession(format!(
            "{}: no living session (`silverpoint ls` lists what there is)",
            self.targets
        )))
    }

    /// Gives the sessions that are to be switched.
    fn search(&mut self, files: &mut Vec<PathBuf>) -> Result<Vec<Place>, ReadError> {
        let (mut present, mut unreadable, mut due) = (Vec::new(), Vec::new(), Vec::new());
        for place in self.targets.places()? {
            // One that has gone this moment, or is no session, is not there.
            let Ok(session) = ObservedSession::open_read_only(&place.root, place.name) else {
                unreadable.push(place.name);
                continue;
            };
            if session.is_alive().unwrap_or(false) && self.is_meant(&session) {
                present.push(place.name);
                self.register(&place, &session, files)?;
                if self.switch.as_ref().is_some_and(|switch| switch.is_due(&place, &session)) {
                    due.push(place);
                }
            }
        }
        if let Some(switch) = &mut self.switch {
            // One that cannot be opened now, for want of descriptors perhaps, still has the directive.
            switch.keep_only(|name| present.contains(name) || unreadable.contains(name));
        }
        self.known.retain(|name, stage| {
            // What is copied ends when its copy is complete.
            if present.contains(name) || *stage == Stage::Copied {
                return true;
            }
            if unreadable.contains(name) {
                *stage = Stage::Ended;
                return true;
            }
            if *stage != Stage::Awaited {
                self.ended.push_back(*name);
            }
            false
        });
        self.ended.drain(..self.ended.len().saturating_sub(ENDED_MAX));
        Ok(due)
    }

    fn is_meant(&self, session: &ObservedSession) -> bool {
        self.known.contains_key(&session.name())
            || self.targets.takes(session.name().pid, || {
                let text = process::lines(&session.process_text().unwrap_or_default());
                let exe = process::value(&text, "exe").unwrap_or_default();
                process::name_of_program(exe).to_owned()
            })
    }

    /// Decides how a living session is read.
    fn register(
        &mut self,
        place: &Place,
        session: &ObservedSession,
        files: &mut Vec<PathBuf>,
    ) -> Result<(), ReadError> {
        let stage = self.known.get(&place.name);
        let is_collected = session.is_collected().map_err(|error| place.failed(error))?;
        let next = match (stage, is_collected) {
            (Some(Stage::Stored(_)), true) | (Some(Stage::Copied), _) => return Ok(()),
            (_, true) => match session.intent().ok().flatten() {
                Some(intent) => {
                    // Opening a pipe that a session names could block. A file that cannot be found is
                    // reported when it is opened.
                    if fs::metadata(&intent.path).is_ok_and(|found| !found.is_file()) {
                        let path = intent.path.display();
                        self.messages.push(format!("{path}: is no regular file, and is not read"));
                    } else {
                        files.push(intent.path.clone());
                    }
                    Stage::Stored(intent.path)
                }
                None => Stage::Awaited,
            },
            (_, false) => {
                if stage.is_none() && self.switch.is_none() {
                    self.messages.extend(silence(place, session));
                }
                let onlooker = self.onlooker(files)?;
                match onlooker.add(&place.root, place.name) {
                    Ok(()) => Stage::Copied,
                    // Gone this moment.
                    Err(_) => return Ok(()),
                }
            }
        };
        self.has_found = true;
        self.known.insert(place.name, next);
        Ok(())
    }

    fn onlooker(&mut self, files: &mut Vec<PathBuf>) -> Result<&mut Onlooker, ReadError> {
        if self.onlooker.is_none() {
            let scratch = Scratch::new().map_err(|error| {
                #[expect(clippy::disallowed_methods, reason = "only to name it")]
                let place = std::env::temp_dir();
                ReadError::Failed(format!(
                    "no directory for copies can be made in {}: {error}",
                    place.display()
                ))
            })?;
            let output = OutputConfig {
                existing: Existing::Refuse,
                encoding: Encoding::Raw,
                rotate_bytes: Some(PART_BYTES),
                ..OutputConfig::new(scratch.file())
            };
            files.push(scratch.file());
            self.onlooker = Some((Onlooker::new(output).map_err(ReadError::failed)?, scratch));
        }
        match &mut self.onlooker {
            Some((onlooker, _)) => Ok(onlooker),
            None => Err(ReadError::failed("nothing can be copied")),
        }
    }

    fn copy(&mut self) -> Result<(), ReadError> {
        let Some((onlooker, _)) = &mut self.onlooker else { return Ok(()) };
        for (name, left) in onlooker.pass().map_err(ReadError::failed)? {
            match left {
                // The next search finds its file.
                Left::Collected => {
                    self.known.insert(name, Stage::Awaited);
                }
                Left::Ended | Left::Lost => {
                    self.known.insert(name, Stage::Ended);
                }
            }
        }
        self.messages.extend(onlooker.take_messages().into_iter().map(|message| message.to_string()));
        Ok(())
    }
}

/// A program that records nothing shows nothing, however long one looks: what to do about it.
fn silence(place: &Place, session: &ObservedSession) -> Option<String> {
    let is_silent = session.directives().is_ok_and(|text| text.iter().all(u8::is_ascii_whitespace));
    let pid = place.name.pid;
    is_silent.then(|| {
        format!(
            "process {pid} records nothing now; start it with `silverpoint ctl {pid} trace` (into its own memory) or `silverpoint attach {pid}` (into a file)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that follows all sessions for months must not keep one entry for each that ever was.
    #[test]
    fn sessions_that_ended_are_forgotten() {
        // No process has such a number.
        let mut live = Live::new(Targets::parse(&["4194304999".into()]).unwrap());
        let name = |n| SessionName { pid: 4_194_304_999, start: 1, n };
        live.known.insert(name(0), Stage::Awaited);
        live.known.insert(name(1), Stage::Stored(PathBuf::from("gone.silver")));
        live.known.insert(name(2), Stage::Ended);
        live.known.insert(name(3), Stage::Copied);
        live.search(&mut Vec::new()).unwrap();
        // Of the one that is copied the rest may still be to read.
        assert_eq!(live.known.keys().collect::<Vec<_>>(), [&name(3)]);
        assert!(!live.is_over());
        live.known.insert(name(3), Stage::Ended);
        assert!(live.is_over());
        live.search(&mut Vec::new()).unwrap();
        assert!(live.known.is_empty() && live.is_over());
        // What was read is known to have been.
        assert!(live.reads(4_194_304_999, 1) && !live.reads(4_194_304_999, 2) && !live.reads(7, 1));
        for round in 0..1000 {
            live.known.insert(name(round), Stage::Copied);
            live.known.insert(name(round), Stage::Ended);
            live.search(&mut Vec::new()).unwrap();
        }
        assert_eq!(live.ended.len(), ENDED_MAX);
    }
}
