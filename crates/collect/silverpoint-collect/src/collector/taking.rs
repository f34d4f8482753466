//! Which sessions a collector has: those that it finds and takes, and those that it loses.

use silverpoint_shm::observer::{ObserveError, ObservedSession, SessionName};
use silverpoint_wire::layout::collector_state;

use super::{Collector, MAX_SESSIONS};
use crate::attach::{announce, attach};
use crate::keep::kept::Keep;
use crate::session::Session;
use crate::takeover::take_over;

impl Collector {
    /// Takes the sessions that appeared since the last look.
    pub(super) fn discover(&mut self) {
        for index in 0..self.watched.len() {
            let mut names = self.watched[index].look();
            if self.watched[index].root().is_some() {
                names.extend(self.lost.iter().filter(|(root, _)| *root == index).map(|(_, name)| *name));
            }
            for name in names {
                let is_known =
                    self.sessions.iter().any(|session| session.root == index && session.name() == name);
                if is_known || self.sessions.len() >= MAX_SESSIONS || !self.filter.accepts(name) {
                    continue;
                }
                let taken = self.take(index, name);
                // Another collector may have it by now, or it is gone.
                if !matches!(taken, Err(ObserveError::Io { .. })) {
                    self.lost.remove(&(index, name));
                }
                match taken {
                    Ok(true) => {}
                    Ok(false) => self.watched[index].refuse(name),
                    // Or half of it is there: the process that had stored it completely was killed while it
                    // removed it.
                    Err(ObserveError::Gone) => self.finish_removal(index, name),
                    Err(error) => {
                        // What the system refuses (descriptors, memory) may be had later; what is wrong with a session stays wrong.
                        let may_pass = matches!(error, ObserveError::Io { .. });
                        if self.watched[index].refuse_and_tell(name, may_pass) {
                            let again = if may_pass {
                                "; no records are lost, and the collector tries again"
                            } else {
                                ""
                            };
                            self.sink.messages.say(Some(name), format!("{error}{again}"));
                        }
                    }
                }
            }
            if let Some(text) = self.watched[index].complaint.take() {
                self.sink.messages.say(None, text);
            }
        }
    }

    fn finish_removal(&self, root: usize, name: SessionName) {
        if let Some(root) = self.watched[root].root().filter(|_| self.remove_dead) {
            ObservedSession::finish_removal(root, name);
        }
    }

    /// Becomes the collector of a session. False: another is.
    fn take(&mut self, root: usize, name: SessionName) -> Result<bool, ObserveError> {
        let Some(directory) = self.watched[root].root() else { return Ok(false) };
        let observed = ObservedSession::open(directory, name)?;
        if !observed.lock_collector()? {
            return Ok(false);
        }
        let before = observed.counters()?;
        if before.collector_pid != 0 {
            self.sink.stats.takeovers += 1;
        }
        // Before anything is learnt from the session's mode: the one who changed it may have died. Who attaches
        // inherits what was kept: sites that were on, and shall be, are not off in between.
        let inherited = match &self.attach {
            Some(_) => observed.kept_mode()?,
            None => observed.restore_kept_mode().map(|_| None)?,
        };
        let remark = take_over(&observed, &self.sink.trace)?;
        let id = observed.header().session_id;
        let number = *self.numbers.entry(id).or_insert_with(|| {
            self.last_number += 1;
            self.last_number
        });
        let mut session = Session::new(observed, root, number, self.sink.trace.encoding())?;
        // It stays known: what follows may fail, and the session is then taken another time.
        session.declared.watermark = self.watermarks.get(&id).copied().unwrap_or(0);
        session.keep = self.backtrace.map(Keep::new);
        if let Some(keep) = session.keep.as_mut().filter(|_| before.collector_pid != 0) {
            keep.stored_before = Some(self.positions.get(&id).cloned().unwrap_or_default());
        }
        session.is_sleeping = false;
        session.prepared.is_eager = self.is_eager;
        if let Some(mode) = &self.attach {
            session.saved = Some(attach(&session.observed, mode, inherited)?);
        }
        let state =
            if self.failing.is_some() { collector_state::SINK_FULL } else { collector_state::COLLECTING };
        // Even if this one is killed before anything is stored, its successor finds where that would have
        // been.
        let taken = session.write_intent(&self.sink.trace.intent());
        if let Err(error) = taken.and_then(|()| announce(&mut session, state)) {
            // Nothing of a session that is not taken may stay changed.
            if let Some(saved) = &session.saved {
                let _ = session.observed.restore_mode(saved);
            }
            return Err(error);
        }
        if let Some(remark) = remark {
            self.sink.messages.say(Some(name), remark);
        }
        self.sink.stats.sessions += 1;
        self.sessions.push(session);
        Ok(true)
    }

    /// The program may have closed our descriptors, and opened files of its own under their numbers. Nothing is written to those: everything is opened again, and each session is taken as if its
    /// collector had died.
    pub(super) fn check_descriptors(&mut self) {
        if let Err(error) = self.sink.trace.reopen_if_closed() {
            self.fail(&error);
        }
        let is_lost = |session: &Session| !session.observed.is_intact();
        while let Some(index) = self.sessions.iter().position(is_lost) {
            let session = self.sessions.remove(index);
            self.retake(session);
        }
    }

    /// Lets go of a session whose descriptors the program has closed. The next look finds it again.
    pub(super) fn retake(&mut self, session: Session) {
        self.watermarks.insert(session.observed.header().session_id, session.declared.watermark);
        self.watched[session.root].look_anew();
        self.lost.insert((session.root, session.name()));
    }

    /// A session that cannot be read any more is left where it is.
    pub(super) fn lose(&mut self, session: Session, error: &ObserveError) {
        self.sink.clear();
        self.watched[session.root].refuse_for_ever(session.name());
        // Its producers must not wait for somebody who does not come.
        let _ = session.observed.set_collector_state(collector_state::NONE);
        let _ = session.observed.set_collector_pid(0);
        let text = format!("it is not collected any more: {error}");
        self.sink.note(session.who(), 0, &text);
        if let Err(error) = self.sink.flush_notes() {
            self.fail(&error);
        }
    }
}
