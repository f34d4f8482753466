//! Copies living sessions into a trace file without collecting them.
//!
//! The sessions are not affected: their files are opened for reading only, no lock is taken, no position
//! moves, no doorbell is answered. So it suits sessions without a collector (flight recorders, programs that
//! record for later). Records that a collector releases meanwhile are missing here, and are in the
//! collector's file. Records that the program overwrites before they are copied are counted, and the file
//! says where they are missing.

use silverpoint_shm::observer::{ObserveError, ObservedSession, SessionName};
use silverpoint_shm::root::Root;

use crate::config::OutputConfig;
use crate::drain;
use crate::error::CollectError;
use crate::session::Session;
use crate::sink::{PassError, Sink};
use crate::stats::Message;
use crate::store;
use crate::trace::{Opened, TraceFile};

/// Copies from sessions into a trace file of its own. Used by one thread.
#[derive(Debug)]
pub struct Onlooker {
    sink: Sink,
    sessions: Vec<Looked>,
    last_number: u32,
    missed_bytes: u64,
}

#[derive(Debug)]
struct Looked {
    session: Session,
    /// Bytes overwritten before its first look, which nobody could have seen, and so far.
    missed: Option<(u64, u64)>,
}

/// Why a session is no longer looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A collector has it: what it stores is in its file.
    Collected,
    /// Its program has ended, and what it held was copied.
    Ended,
    /// It cannot be read any more; a message says why.
    Lost,
}

impl Onlooker {
    /// Opens the file into which is copied.
    pub fn new(output: OutputConfig) -> Result<Self, CollectError> {
        let Opened { trace, held, .. } = TraceFile::open(output)?;
        Ok(Self {
            sink: Sink::new(trace),
            sessions: Vec::new(),
            last_number: held.last_session,
            missed_bytes: 0,
        })
    }

    /// Looks at one more session.
    pub fn add(&mut self, root: &Root, name: SessionName) -> Result<(), ObserveError> {
        let observed = ObservedSession::open_read_only(root, name)?;
        self.last_number += 1;
        let mut session = Session::new(observed, 0, self.last_number, self.sink.trace.encoding())?;
        session.keeps = true;
        session.onlooked_since = Some(session.observed.ticks_now().unwrap_or(u64::MAX));
        self.sessions.push(Looked { session, missed: None });
        Ok(())
    }

    /// Copies what is new. Gives the sessions that are left now.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn pass(&mut self) -> Result<Vec<(SessionName, Left)>, CollectError> {
        let mut gone = Vec::new();
        let mut at = 0;
        while at < self.sessions.len() {
            let name = self.sessions[at].session.name();
            match look(&mut self.sessions[at], &mut self.sink) {
                Ok(None) => at += 1,
                Ok(Some(left)) => gone.push((name, left)),
                Err(PassError::Session(error)) => {
                    self.sink.clear();
                    if !matches!(error, ObserveError::Gone) {
                        self.sink.messages.say(Some(name), format!("it cannot be read: {error}"));
                    }
                    gone.push((name, Left::Lost));
                }
                Err(PassError::Sink(error)) => {
                    self.sink.clear();
                    return Err(CollectError::output(self.sink.trace.path(), "writing to it", error));
                }
            }
            if gone.last().is_some_and(|(left, _)| *left == name) {
                self.missed_bytes += missed(&self.sessions[at]);
                self.sessions.remove(at);
            }
            self.sink.rotate_if_due();
        }
        Ok(gone)
    }

    /// Bytes of records that programs had overwritten since they were first looked at, before they could be copied.
    pub fn missed_bytes(&self) -> u64 {
        self.missed_bytes + self.sessions.iter().map(missed).sum::<u64>()
    }

    /// Sessions that are looked at.
    pub fn sessions(&self) -> Vec<SessionName> {
        self.sessions.iter().map(|looked| looked.session.name()).collect()
    }

    /// What happened since the last call and should be known.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.sink.messages.take()
    }

    /// Path of the current part.
    pub fn path(&self) -> &std::path::Path {
        self.sink.trace.path()
    }
}

fn missed(looked: &Looked) -> u64 {
    looked.missed.map_or(0, |(first, now)| now - first)
}

/// One look at one session; why it is the last, if it is.
fn look(looked: &mut Looked, sink: &mut Sink) -> Result<Option<Left>, PassError> {
    let session = &mut looked.session;
    // Before the look, so that nothing can come behind it.
    if !session.is_dead && !session.observed.is_alive()? {
        session.has_died();
    }
    let is_collected = session.observed.is_collected()?;
    let is_final = drain::drain(session, sink)?.is_final;
    let is_collected = is_collected || session.is_taken;
    let overwritten = session.overwritten_bytes;
    looked.missed = Some((looked.missed.map_or(overwritten, |(first, _)| first), overwritten));
    if !is_final && !is_collected {
        return Ok(None);
    }
    if is_final {
        session.push_end(sink)?;
    } else {
        session.push_losses(sink, true)?;
        session.declared.push_watermark(sink, u64::MAX);
    }
    store::flush(session, sink)?;
    Ok(Some(if is_collected { Left::Collected } else { Left::Ended }))
}
