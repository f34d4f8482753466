//! Finishing a session that nobody collected: what it held goes into a trace file, with an account of what is missing.

use std::path::Path;

use silverpoint_shm::observer::{ObserveError, ObservedSession, SessionName};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::{CAUSE_NAMES, collector_state};

use crate::config::OutputConfig;
use crate::drain;
use crate::error::{CollectError, SYNCING};
use crate::session::Session;
use crate::sink::{PassError, Sink};
use crate::stats::Message;
use crate::store;
use crate::takeover::take_over;
use crate::trace::{Opened, TraceFile, is_or_was_part};

/// Looks until a session must be empty: each stores something, so that more mean a file that grows under the reader.
const MAX_LOOKS: usize = 10_000;

/// What to recover, and into what.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// Sessions; several go into one file.
    pub sessions: Vec<SessionName>,
    /// The file.
    pub output: OutputConfig,
    /// Whether the sessions' directories are removed afterwards. Otherwise they are left as they were (but for what a dead collector is proved to have stored),
    /// and can be recovered again.
    pub remove: bool,
}

/// Records that were lost for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the cause (spec/wire.md, section 6).
    pub cause: &'static str,
    /// How many.
    pub records: u64,
}

/// What became of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Records stored.
    pub records: u64,
    /// Records that the program could not keep, by cause: those that are not zero, of all streams that are still there and of the session.
    pub losses: Vec<Loss>,
    /// Bytes that the program had overwritten before anybody came (a flight recorder's past).
    pub overwritten_bytes: u64,
    /// Bytes of rings that contradicted the rules.
    pub broken_bytes: u64,
    /// One remark for each such ring.
    pub broken_rings: Vec<String>,
    /// Other remarks.
    pub messages: Vec<Message>,
}

impl Account {
    /// Whether anything that was accepted, or was to be, is not in the file.
    pub fn is_whole(&self) -> bool {
        self.losses.is_empty() && self.overwritten_bytes == 0 && self.broken_rings.is_empty()
    }
}

/// Whether records of one of these sessions were stored in this trace, or in a part that was rotated away
/// from it. The last collector may have stored them, or an interrupted recovery. They were released when they
/// were stored, and exist nowhere else. So a recovery of the rest into the same file must continue it
/// ([`crate::Existing::Continue`]), not replace it.
pub fn has_stored_in(root: &Root, sessions: &[SessionName], path: &Path) -> bool {
    let intents = sessions.iter().filter_map(|name| {
        let session = ObservedSession::open_read_only(root, *name).ok()?;
        session.intent().ok().flatten()
    });
    let files: std::collections::HashSet<_> = intents.map(|intent| (intent.dev, intent.ino)).collect();
    !files.is_empty() && is_or_was_part(path, |file| files.contains(&file))
}

/// Recovers dead sessions of a root. Gives an account of each. An error means that nothing, or not
/// everything, could be stored. Then all sessions stay, and the file holds what was released
/// ([`has_stored_in`]).
pub fn recover(root: &Root, recovery: Recovery) -> Result<Vec<Account>, CollectError> {
    let Opened { trace, held, .. } = TraceFile::open(recovery.output)?;
    let mut sink = Sink::new(trace);
    let mut last = held.last_session;
    let mut accounts = Vec::new();
    for name in &recovery.sessions {
        let name = *name;
        let fail = |source| CollectError::Session { name: name.to_string(), source };
        let observed = ObservedSession::open(root, name).map_err(fail)?;
        if !observed.lock_collector().map_err(fail)? || observed.lives_on().map_err(fail)? {
            return Err(CollectError::InUse(name.to_string()));
        }
        let remark = take_over(&observed, &sink.trace).map_err(fail)?;
        let number = held.sessions.get(&observed.header().session_id).copied().unwrap_or_else(|| {
            last += 1;
            last
        });
        let mut session = Session::new(observed, 0, number, sink.trace.encoding()).map_err(fail)?;
        session.keeps = !recovery.remove;
        session.declared.watermark =
            held.watermarks.get(&session.observed.header().session_id).copied().unwrap_or(0);
        if let Some(remark) = remark {
            sink.note(session.who(), 0, &remark);
        }
        store(&mut session, &mut sink).map_err(|error| match error {
            PassError::Sink(error) => CollectError::output(sink.trace.path(), "writing to it", error),
            PassError::Session(source) => fail(source),
        })?;
        let mut account = account(&session);
        account.messages = sink.messages.take();
        accounts.push(account);
    }
    // A caller that asked for durability gets the error before anything is removed. (The records are in the
    // file, and released.)
    sink.trace.close().map_err(|error| CollectError::output(sink.trace.path(), SYNCING, error))?;
    let removed = sink.trace.removed_records();
    if removed > 0 {
        return Err(CollectError::Removed { path: sink.trace.path().to_owned(), records: removed });
    }
    if recovery.remove {
        // Not before all are stored: those that are left tell the next recovery which file it must not replace.
        for name in recovery.sessions {
            remove(root, name).map_err(|source| CollectError::Session { name: name.to_string(), source })?;
        }
    }
    Ok(accounts)
}

fn remove(root: &Root, name: SessionName) -> Result<(), ObserveError> {
    let observed = match ObservedSession::open(root, name) {
        Ok(observed) => observed,
        // Somebody has swept: it holds nothing any more.
        Err(ObserveError::Gone) => return Ok(()),
        Err(error) => return Err(error),
    };
    // Else somebody collects what is empty, and removes it.
    if observed.lock_collector()? {
        // What a dead collector said about itself goes with the directory; when it cannot be removed, nobody collects it.
        let _ = observed.set_collector_state(collector_state::NONE);
        observed.remove(root)?;
    }
    Ok(())
}

fn store(session: &mut Session, sink: &mut Sink) -> Result<(), PassError> {
    session.has_died();
    for _ in 0..MAX_LOOKS {
        if drain::drain(session, sink)?.is_final {
            break;
        }
        sink.rotate_if_due();
    }
    // Also of a session that never recorded: that it was there is worth a line.
    session.declare(sink)?;
    session.push_end(sink)?;
    store::flush(session, sink)
}

fn account(session: &Session) -> Account {
    let losses = session.declared.total_losses(&session.rings);
    Account {
        records: session.records,
        losses: CAUSE_NAMES
            .iter()
            .zip(losses)
            .filter(|(_, records)| *records > 0)
            .map(|(cause, records)| Loss { cause, records })
            .collect(),
        overwritten_bytes: session.overwritten_bytes,
        broken_bytes: session.broken_bytes,
        broken_rings: session.broken_rings.clone(),
        messages: Vec::new(),
    }
}
