//! Passes over all sessions: take new ones (`taking`), drain, finish the dead, sleep.

mod taking;

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use silverpoint_shm::observer::{Nudge, ObserveError, SessionName, TableSite, sleep_until_rung};
use silverpoint_wire::directive;
use silverpoint_wire::layout::collector_state;
use silverpoint_wire::site::SiteDescription;

use crate::attach::give_back;
use crate::config::{AttachMode, Backtrace, Config, Filter};
use crate::discover::Watched;
use crate::drain;
use crate::error::{CollectError, SYNCING};
use crate::keep;
use crate::look::Looked;
use crate::pace::{Pace, Rest};
use crate::platform;
use crate::session::Session;
use crate::sink::{PassError, Sink};
use crate::stats::{Message, Stats};
use crate::store;
use crate::trace::{Missing, Opened, TraceFile};

/// Sessions that one collector has at a time; others wait.
const MAX_SESSIONS: usize = 4096;
/// Between two attempts to write when the last failed: at first, and at most.
const RETRY: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// Between two heartbeats while nothing can be written, and two attempts to take a session again that was lost.
const BEAT: Duration = Duration::from_millis(100);
/// Without any session.
const IDLE: Duration = Duration::from_millis(100);
/// Rounds in which all rings had their turn, after which it leaves.
const LAST_WHOLE: u32 = 3;
/// Rounds in which a leaving collector drains what producers still write.
const LAST_ROUNDS: usize = 64;

/// Drains sessions into a trace file. One thread uses it; dropping it without [`Collector::leave`] is like a death: everything stored is stored, and another
/// collector can go on.
#[derive(Debug)]
pub struct Collector {
    watched: Vec<Watched>,
    filter: Filter,
    attach: Option<AttachMode>,
    backtrace: Option<Backtrace>,
    remove_dead: bool,
    is_eager: bool,
    sessions: Vec<Session>,
    /// Sessions whose descriptors the program has closed, with their roots, until they are taken again or gone.
    lost: HashSet<(usize, SessionName)>,
    sink: Sink,
    /// Numbers of sessions in the file, also of those that are gone.
    numbers: HashMap<[u8; 16], u32>,
    last_number: u32,
    /// Watermarks that a collector before this one has written.
    watermarks: HashMap<[u8; 16], u64>,
    /// Up to where it has stored each stream of each session.
    positions: HashMap<[u8; 16], HashMap<u32, u64>>,
    pace: Pace,
    rest: Rest,
    /// Since when nothing can be written, and when to try again.
    failing: Option<Failing>,
    /// This thread's short sleeps are not rounded up.
    is_punctual: bool,
    /// What is looked for among the sites of sessions that end ([`Collector::look_for`]), each with whether it was found.
    looked_for: Vec<(String, bool)>,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    retry_at: Instant,
    pause: Duration,
    text: String,
}

/// What one pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Bytes of rings stored.
    pub bytes: u64,
    /// Sessions that the collector has now.
    pub sessions: usize,
    /// Nothing can be written at the moment.
    pub is_failing: bool,
    /// A session was lost with its descriptors, which the program has closed, and is not taken again yet: what
    /// it holds is not stored.
    pub has_lost: bool,
    /// All rings have had their turn, and nothing has to be looked at again soon.
    pub is_settled: bool,
}

impl Collector {
    /// Opens the trace file. Sessions are looked for in the first pass.
    pub fn new(config: Config) -> Result<Self, CollectError> {
        let Opened { trace, held, cut } = TraceFile::open(config.output)?;
        let mut sink = Sink::new(trace);
        if cut > 0 {
            sink.note(
                None,
                0,
                &format!("{cut} bytes of an incomplete block were cut off: its writer had died"),
            );
            // Whether it can be written shows soon enough.
            let _ = sink.flush_notes();
        }
        Ok(Self {
            watched: config.roots.into_iter().map(Watched::new).collect(),
            filter: config.filter,
            attach: config.attach,
            backtrace: config.backtrace,
            remove_dead: config.remove_dead,
            is_eager: config.is_eager,
            sessions: Vec::new(),
            lost: HashSet::new(),
            sink,
            numbers: held.sessions,
            last_number: held.last_session,
            watermarks: held.watermarks,
            positions: held.positions,
            pace: Pace::new(),
            rest: Rest::None,
            failing: None,
            is_punctual: false,
            looked_for: Vec::new(),
        })
    }

    /// Adds a root that the caller has opened (another user's, for root).
    pub fn add_root(&mut self, root: silverpoint_shm::root::Root) {
        self.watched.push(Watched::opened(root));
    }

    /// Names of the sessions that it has.
    pub fn sessions(&self) -> Vec<SessionName> {
        self.sessions.iter().map(Session::name).collect()
    }

    /// For ending its sleep ([`Collector::rest`]) from another thread: one for each session that it has now.
    pub fn nudges(&self) -> Vec<Nudge> {
        self.sessions.iter().filter_map(|session| session.observed.nudge()).collect()
    }

    /// Changes the directives of [`AttachMode`], for present and future sessions. The directives from before
    /// the collector are restored all the same.
    ///
    /// # Errors
    /// The first session that cannot be changed; the others are.
    pub fn set_directives(&mut self, text: &str) -> Result<(), ObserveError> {
        let Some(mode) = &mut self.attach else { return Ok(()) };
        mode.directives = Some(text.to_owned());
        let attached = self.sessions.iter().filter(|session| session.saved.is_some());
        let written: Vec<_> = attached.map(|session| session.observed.write_directives(text)).collect();
        written.into_iter().find_map(Result::err).map_or(Ok(()), Err)
    }

    /// From now on the sites of sessions that end, or are let go, are looked through for what these directives select.
    pub fn look_for(&mut self, directives: &str) {
        let targets = directive::matched(directives, &[]).into_iter();
        self.looked_for = targets.map(|(target, found)| (target.to_owned(), found)).collect();
    }

    /// Directives of [`Collector::look_for`] that select none of the sites that were looked through.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.looked_for.iter().filter(|(_, found)| !found).map(|(directive, _)| directive.as_str())
    }

    /// What it has done.
    pub fn stats(&self) -> Stats {
        let mut stats = self.sink.stats;
        if let Some(failing) = &self.failing {
            stats.sink_full_ms += failing.since.elapsed().as_millis() as u64;
        }
        stats
    }

    /// Whether the trace file cannot be written at the moment: what the rings hold is neither stored nor released.
    pub fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// What happened since the last call and should be known.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.sink.messages.take()
    }

    /// Path of the current part.
    pub fn path(&self) -> &std::path::Path {
        self.sink.trace.path()
    }

    /// Looks at everything once: takes new sessions, stores what rings hold, finishes dead sessions.
    pub fn pass(&mut self) -> Pass {
        self.sink.stats.passes += 1;
        self.check_descriptors();
        self.discover();
        if self.may_write() {
            if let Err(error) = self.sink.check_place() {
                self.fail(&error);
            }
        }
        if !self.may_write() {
            for session in &mut self.sessions {
                let _ = session.beat();
            }
            self.rest = Rest::Nap(BEAT);
            return Pass { sessions: self.sessions.len(), is_failing: true, ..Pass::default() };
        }
        let total = self.look_at_all();
        if self.failing.as_ref().is_some_and(|failing| failing.retry_at <= Instant::now()) {
            self.resume();
        }
        let is_triggered = |session: &Session| session.keep.as_ref().is_some_and(|keep| keep.is_triggered);
        if self.sessions.iter().any(is_triggered) {
            self.write_kept_back();
        }
        if let Err(error) = self.sink.trace.sync_if_due() {
            self.fail(&error);
        }
        if total.bytes == 0 {
            self.sink.stats.idle_passes += 1;
        }
        self.rest = self.rest_after(&total);
        Pass {
            bytes: total.bytes,
            sessions: self.sessions.len(),
            is_failing: self.failing.is_some(),
            has_lost: !self.lost.is_empty(),
            is_settled: !total.is_unsettled
                && self.sessions.iter().all(|session| session.rings.sweep.next == 0),
        }
    }

    /// Looks at each session once, until the trace file cannot be written.
    fn look_at_all(&mut self) -> Looked {
        let mut total = Looked::default();
        let mut index = 0;
        while index < self.sessions.len() {
            match self.look_at(index, &mut total) {
                Ok(true) => index += 1,
                Ok(false) => drop(self.sessions.remove(index)),
                Err(PassError::Sink(error)) => {
                    self.fail(&error);
                    break;
                }
                // The program has closed its descriptors: the session itself may be in order.
                Err(PassError::Session(_)) if !self.sessions[index].observed.is_intact() => {
                    let session = self.sessions.remove(index);
                    self.sink.clear();
                    self.retake(session);
                }
                Err(PassError::Session(error)) => {
                    let session = self.sessions.remove(index);
                    self.lose(session, &error);
                }
            }
            self.sink.rotate_if_due();
        }
        total
    }

    /// What to do until the next pass, after one that found this.
    fn rest_after(&mut self, found: &Looked) -> Rest {
        if self.failing.is_some() || !self.lost.is_empty() {
            Rest::Nap(BEAT)
        } else if self.is_writing_kept_back() {
            Rest::None
        } else {
            self.pace.rest(found.fullest, found.bytes > 0, found.is_unsettled || found.is_preparing)
        }
    }

    /// The next pass begins with the first ring of each session, wherever the last one stopped. Then
    /// everything that exists now is stored when a pass finds nothing, and is settled.
    pub fn begin_anew(&mut self) {
        for session in &mut self.sessions {
            (session.rings.sweep.next, session.is_idle) = (0, false);
            // All that was read is stored between passes.
            session.rings.iter_mut().for_each(|ring| ring.is_ahead = false);
        }
    }

    /// Stores what is kept back ([`Config::backtrace`]) in the passes to come, as after a bad record. Without keeping back there is nothing to do.
    pub fn write_kept_back(&mut self) {
        for session in &mut self.sessions {
            session.write_kept_back();
        }
        self.rest = Rest::None;
    }

    /// Whether it is not yet stored.
    pub fn is_writing_kept_back(&self) -> bool {
        self.sessions.iter().any(|session| session.keep.as_ref().is_some_and(|keep| keep.is_writing))
    }

    /// Sleeps as long as the last pass suggests, or until a producer rings or a session appears.
    pub fn rest(&mut self) {
        let (asleep, time) = match self.rest {
            Rest::None => (false, Duration::ZERO),
            Rest::Nap(time) => (false, time),
            Rest::Doze(time) => (true, time),
        };
        let mut newly = false;
        for session in &mut self.sessions {
            if session.is_sleeping != asleep {
                session.is_sleeping = asleep;
                newly |= asleep;
                // The next pass finds a session for which this fails.
                let _ = session.observed.set_sleeping(asleep);
            }
        }
        // Between the last look and the announcement nobody rang: one more look.
        if newly || time.is_zero() {
            return;
        }
        if self.sessions.is_empty() {
            self.wait_for_sessions(time.max(IDLE));
        } else if asleep {
            let sleeps: Vec<_> =
                self.sessions.iter().map(|s| s.observed.sleep_on(s.counters.doorbell)).collect();
            sleep_until_rung(&sleeps, time);
        } else {
            self.be_punctual();
            std::thread::sleep(time);
        }
    }

    /// Short sleeps end when they should: by default the system adds 50 us to each, in which a fast thread fills half a ring.
    fn be_punctual(&mut self) {
        if !std::mem::replace(&mut self.is_punctual, true) {
            // Where the system refuses, rings are a little larger.
            platform::be_punctual();
        }
    }

    /// Passes and rests until `stop` says so (it is asked after each pass), then leaves.
    pub fn run_until(mut self, mut stop: impl FnMut(&mut Self, Pass) -> bool) -> Stats {
        loop {
            let pass = self.pass();
            if stop(&mut self, pass) {
                return self.leave();
            }
            self.rest();
        }
    }

    /// Stores what there is, gives every session back as it was found (bytes, mode, waiters), and closes the file.
    pub fn leave(mut self) -> Stats {
        self.let_go();
        let stats = self.stats();
        let _ = self.close();
        stats
    }

    /// What it has stored and is not there any more.
    pub fn missing(&self) -> Missing {
        self.sink.trace.missing()
    }

    /// Closes the file, after [`Collector::let_go`].
    ///
    /// # Errors
    /// Everything is stored, but what was to be durable by now ([`crate::Fsync`]) may not be. Or somebody has removed what was stored ([`Collector::missing`]).
    pub fn close(mut self) -> Result<(), CollectError> {
        let closed = self.sink.trace.close();
        let removed = self.sink.trace.removed_records();
        if removed > 0 {
            return Err(CollectError::Removed { path: self.sink.trace.path().to_owned(), records: removed });
        }
        closed.map_err(|error| CollectError::output(self.sink.trace.path(), SYNCING, error))
    }

    /// As [`Collector::leave`], but the file stays open and messages can still be taken.
    pub fn let_go(&mut self) {
        self.check_descriptors();
        if !self.lost.is_empty() {
            self.discover();
        }
        for session in &self.sessions {
            let _ = session.observed.set_collector_state(collector_state::LEAVING);
        }
        for mut session in std::mem::take(&mut self.sessions) {
            // Before the last look: a record that it would miss is then one of the program's own wish. (Giving back does it again, and says if it fails.)
            if let Some(saved) = &session.saved {
                let _ = session.observed.restore_directives(saved);
            }
            let mut left = look_through(&mut self.looked_for, &session).map_err(PassError::from);
            if self.failing.is_none() && left.is_ok() {
                left = self.drain_last(&mut session);
            }
            match &left {
                Err(PassError::Sink(error)) => self.fail(error),
                // What was not stored of it must not be released in the next one's rings.
                Err(PassError::Session(_)) => self.sink.clear(),
                Ok(()) => {}
            }
            if let Err(error) = give_back(&session, left.is_ok() && self.failing.is_none()) {
                self.sink.messages.say(Some(session.name()), format!("it could not be released: {error}"));
            }
        }
    }

    /// One session's turn. False: it is dead and stored whole.
    fn look_at(&mut self, index: usize, total: &mut Looked) -> Result<bool, PassError> {
        let session = &mut self.sessions[index];
        // Before the look, so that nothing can come behind it.
        if !session.is_dead && !session.observed.is_alive()? {
            session.has_died();
            // Not by its own will: what came before is of interest.
            if session.keep.is_some() && session.observed.counters()?.copies_joined != 0 {
                session.write_kept_back();
            }
        }
        let looked = drain::drain(session, &mut self.sink)?;
        total.bytes += looked.bytes;
        total.fullest = total.fullest.max(looked.fullest);
        total.is_unsettled |= looked.is_unsettled || session.is_dead;
        total.is_preparing |= looked.is_preparing;
        if !looked.is_final {
            return Ok(true);
        }
        look_through(&mut self.looked_for, session)?;
        keep::finish(session, &mut self.sink)?;
        session.push_end(&mut self.sink)?;
        store::flush(session, &mut self.sink)?;
        self.sink.stats.sessions_ended += 1;
        if self.remove_dead {
            if let Some(root) = self.watched[session.root].root() {
                match session.observed.remove(root) {
                    Ok(_) | Err(ObserveError::Gone) => {}
                    Err(error) => {
                        let text = format!("it could not be removed: {error}");
                        self.sink.messages.say(Some(session.name()), text);
                    }
                }
            }
        } else {
            session.observed.clear_intent()?;
            session.observed.set_collector_pid(0)?;
            session.observed.set_collector_state(collector_state::NONE)?;
            self.watched[session.root].refuse_for_ever(session.name());
        }
        Ok(false)
    }

    fn may_write(&self) -> bool {
        self.failing.as_ref().is_none_or(|failing| failing.retry_at <= Instant::now())
    }

    /// Nothing can be written: says so, once, to people and producers.
    fn fail(&mut self, error: &io::Error) {
        self.sink.clear();
        self.sessions.iter_mut().for_each(Session::forget_batch);
        let now = Instant::now();
        match &mut self.failing {
            Some(failing) => {
                failing.pause = (failing.pause * 2).min(RETRY_MAX);
                failing.retry_at = now + failing.pause;
            }
            None => {
                let text = format!("{}: {error}", self.sink.trace.path().display());
                self.sink.messages.say(
                    None,
                    format!("{text}; records stay in the rings until the file can be written again"),
                );
                self.failing = Some(Failing { since: now, retry_at: now + RETRY, pause: RETRY, text });
                for session in &self.sessions {
                    let _ = session.observed.set_collector_state(collector_state::SINK_FULL);
                }
            }
        }
    }

    /// A pass has written again.
    fn resume(&mut self) {
        let Some(failing) = self.failing.take() else { return };
        let ms = failing.since.elapsed().as_millis() as u64;
        self.sink.note(None, 0, &format!("resumed: for {ms} ms nothing could be written ({})", failing.text));
        if let Err(error) = self.sink.flush_notes() {
            self.failing = Some(failing);
            self.fail(&error);
            return;
        }
        self.sink.stats.sink_full_ms += ms;
        for session in &self.sessions {
            let _ = session.observed.set_collector_state(collector_state::COLLECTING);
        }
    }

    /// What a session holds when the collector leaves.
    fn drain_last(&mut self, session: &mut Session) -> Result<(), PassError> {
        // From the first ring on, even if a sweep was under way.
        (session.rings.sweep.next, session.rings.sweep.all_wanted, session.is_idle) = (0, true, false);
        session.write_kept_back();
        let mut whole = 0;
        for _ in 0..LAST_ROUNDS {
            // What a living program records meanwhile is kept back by nobody any more.
            if let Some(keep) = &mut session.keep {
                keep.is_writing = true;
            }
            let looked = drain::drain(session, &mut self.sink)?;
            // All rings had their turn: what a program records on and on has no end.
            let is_whole = !looked.is_unsettled && session.rings.sweep.next == 0;
            whole += u32::from(is_whole);
            if is_whole && (looked.bytes == 0 || whole >= LAST_WHOLE) {
                break;
            }
        }
        keep::finish(session, &mut self.sink)?;
        session.push_losses(&mut self.sink, true)?;
        store::flush(session, &mut self.sink)
    }

    fn wait_for_sessions(&self, time: Duration) {
        platform::watch::wait(self.watched.iter().filter_map(Watched::watch_of), time);
    }
}

/// Notes which of the directives select a site of the session.
fn look_through(looked_for: &mut [(String, bool)], session: &Session) -> Result<(), ObserveError> {
    if looked_for.iter().all(|(_, found)| *found) {
        return Ok(());
    }
    let visit = |site: TableSite<'_>| {
        let facts = site.description.and_then(|bytes| SiteDescription::facts(bytes).ok());
        let Some(facts) = facts else { return };
        for (directive, found) in looked_for.iter_mut().filter(|(_, found)| !*found) {
            *found = directive::matched(directive, &[facts]).iter().any(|(_, any)| *any);
        }
    };
    let sites_next = session.observed.counters()?.sites_next;
    session.observed.sites_since(0, sites_next, |_| true, visit).map(drop)
}
