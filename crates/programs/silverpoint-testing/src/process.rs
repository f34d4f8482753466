//! What all captures of the process share: its own session, the sites, the directives, and what may be given up.
//!
//! ```text
//!  first capture ─▶ keep directives and states ─▶ write those wanted ─▶ … ─▶ last capture ends ─▶ put them back
//! ```
//!
//! One lock around all of it: captures of parallel tests take turns for microseconds. Tracepoints never take it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use silverpoint_shm::observer::{Look, ObserveError, ObservedSession, SavedMode, Slice};
use silverpoint_shm::owner;
use silverpoint_shm::root::Root;
use silverpoint_trace::Site;
use silverpoint_wire::layout::control::FLAG_EXPECTED;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::site::SiteDescription;

/// The directives with which every site records.
pub(crate) const EVERYTHING: &str = "trace";

static PROCESS: Mutex<Option<Process>> = Mutex::new(None);

/// The process's own session, as its captures see it.
pub(crate) struct Process {
    directory: PathBuf,
    pub(crate) session: ObservedSession,
    sites: HashMap<u32, Arc<Site>>,
    /// Entry of the site table to go on from.
    next_site: u32,
    captures: BTreeMap<u64, Wanted>,
    /// Directives and states before the first capture, and the text that captures have put in their place.
    changed: Option<(SavedMode, String)>,
    /// Streams that held records before the first capture: those of others.
    held_before: HashSet<u32>,
    slices: Vec<Slice>,
}

/// What a living capture wants.
struct Wanted {
    directives: Arc<str>,
    /// Whose records; `None`: of all threads.
    thread: Option<u32>,
}

/// Lets `work` at the process's session, which is made if there is none. The error says why there is none.
pub(crate) fn with<R>(work: impl FnOnce(&mut Process) -> Result<R, String>) -> Result<R, String> {
    if !owner::start() {
        return Err(NO_SESSION.to_owned());
    }
    let (directory, _) = owner::session_name().ok_or_else(|| NO_SESSION.to_owned())?;
    // A test that panicked in here has left nothing half-done that the next one would trip over.
    let mut guard = PROCESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // After a fork the child has a session of its own.
    if guard.as_ref().is_none_or(|process| process.directory != directory) {
        *guard = Some(Process::open(directory)?);
    }
    match guard.as_mut() {
        Some(process) => work(process),
        None => Err(NO_SESSION.to_owned()),
    }
}

const NO_SESSION: &str =
    "there is no session, so nothing can be recorded (is SILVERPOINT_OFF set? see `silverpoint doctor`)";

impl Process {
    fn open(directory: PathBuf) -> Result<Self, String> {
        let fail = |why: String| format!("the session {} cannot be opened: {why}", directory.display());
        let (Some(root), Some(name)) = (directory.parent(), directory.file_name().and_then(|n| n.to_str()))
        else {
            return Err(fail("that is no session's name".to_owned()));
        };
        let root = Root::open_directory(root).map_err(|error| fail(error.to_string()))?;
        let session = name
            .parse()
            .and_then(|name| ObservedSession::open(&root, name))
            .map_err(|error| fail(error.to_string()))?;
        Ok(Self {
            directory,
            session,
            sites: HashMap::new(),
            next_site: 0,
            captures: BTreeMap::new(),
            changed: None,
            held_before: HashSet::new(),
            slices: Vec::new(),
        })
    }

    /// Where the session is: tells a forked child's from its parent's.
    pub(crate) fn directory(&self) -> &PathBuf {
        &self.directory
    }

    /// Whether somebody collects, or is expected to: then directives are not the captures' business.
    pub(crate) fn is_collected(&self) -> Result<bool, ObserveError> {
        let expected = self.session.header().flags & FLAG_EXPECTED != 0;
        Ok(expected || self.session.counters()?.collector_pid != 0)
    }

    /// A capture begins. Gives its number.
    pub(crate) fn begin(&mut self, directives: Arc<str>, thread: Option<u32>) -> Result<u64, String> {
        // Not counted in here: after a fork those of the parent are still about.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.captures.insert(number, Wanted { directives, thread });
        match self.direct() {
            Ok(()) => Ok(number),
            Err(error) => {
                self.captures.remove(&number);
                Err(error.to_string())
            }
        }
    }

    /// A capture ends.
    pub(crate) fn end(&mut self, number: u64) -> Result<(), String> {
        if self.captures.remove(&number).is_none() {
            return Ok(()); // begun before a fork, in the parent
        }
        let ended = self.is_for_captures_alone().and_then(|is_for_captures| {
            self.direct()?;
            if is_for_captures { self.give_up() } else { Ok(()) }
        });
        ended.map_err(|error| error.to_string())
    }

    /// Whether all that is recorded now is recorded because of captures.
    fn is_for_captures_alone(&self) -> Result<bool, ObserveError> {
        Ok(match &self.changed {
            Some((before, written)) => {
                before.directives_text().is_empty() && self.session.directives()? == written.as_bytes()
            }
            None => false,
        })
    }

    /// Writes the directives that the living captures want together: those of all when they agree, else everything (each looks at what its own let
    /// through). Puts back those of before when there is no capture.
    fn direct(&mut self) -> Result<(), ObserveError> {
        let mut texts = self.captures.values().map(|wanted| &wanted.directives);
        let wanted = texts.next().map(|first| {
            if texts.all(|other| other == first) { first.to_string() } else { EVERYTHING.to_owned() }
        });
        // A controller or a collector that has come meanwhile has the say.
        let is_ours = match &self.changed {
            Some((_, written)) => self.session.directives()? == written.as_bytes(),
            None => true,
        };
        if self.is_collected()? || !is_ours {
            if wanted.is_none() {
                self.changed = None;
            }
            return Ok(());
        }
        match (wanted, &self.changed) {
            (None, None) => {}
            (None, Some((before, _))) => {
                self.session.restore_directives(before)?;
                self.changed = None;
            }
            (Some(wanted), Some((_, written))) if wanted == *written => {}
            (Some(wanted), _) => {
                if self.changed.is_none() {
                    self.held_before = self.held()?;
                    self.changed = Some((self.session.save_mode()?, wanted.clone()));
                }
                self.session.write_directives(&wanted)?;
                if let Some((_, written)) = &mut self.changed {
                    *written = wanted;
                }
            }
        }
        Ok(())
    }

    /// Releases the records that only captures wanted, and no living capture needs. Otherwise the rings of
    /// finished tests would use up the memory, and those of the next ones could not grow.
    fn give_up(&mut self) -> Result<(), ObserveError> {
        if self.captures.values().any(|wanted| wanted.thread.is_none())
            || self.is_collected()?
            || !self.session.lock_collector()?
        {
            return Ok(());
        }
        let held_before = std::mem::take(&mut self.held_before);
        let wanted: HashSet<u32> = self.captures.values().filter_map(|capture| capture.thread).collect();
        let done = self.each_ring(|session, slice, look| match look {
            Look::Ring(ring) if wanted.contains(&ring.owner_tid) || held_before.contains(&ring.stream) => {
                Ok(())
            }
            Look::Ring(ring) => match ring.valid_range(slice.size as usize) {
                Ok((from, to)) if from < to => session.set_consumed(slice, to),
                _ => Ok(()),
            },
            Look::Free | Look::Claiming => Ok(()),
        });
        self.held_before = held_before;
        self.session.unlock_collector()?;
        done
    }

    /// Streams that hold records.
    fn held(&mut self) -> Result<HashSet<u32>, ObserveError> {
        let mut held = HashSet::new();
        self.each_ring(|_, slice, look| {
            if let Look::Ring(ring) = look {
                if ring.valid_range(slice.size as usize).is_ok_and(|(from, to)| from < to) {
                    held.insert(ring.stream);
                }
            }
            Ok(())
        })?;
        Ok(held)
    }

    fn each_ring(
        &mut self,
        mut visit: impl FnMut(&ObservedSession, Slice, Look) -> Result<(), ObserveError>,
    ) -> Result<(), ObserveError> {
        let mut slices = std::mem::take(&mut self.slices);
        let slabs_next = self.session.counters()?.slabs_next;
        self.session.slices(slabs_next, &mut slices, |_| {})?;
        for slice in &slices {
            let look = self.session.look(*slice)?;
            visit(&self.session, *slice, look)?;
        }
        self.slices = slices;
        Ok(())
    }

    /// The site with this id; `None` when it has no sound description.
    pub(crate) fn site(&mut self, id: u32) -> Result<Option<Arc<Site>>, ObserveError> {
        if let Some(site) = self.sites.get(&id) {
            return Ok(Some(site.clone()));
        }
        let sites_next = self.session.counters()?.sites_next;
        let (sites, wanted) = (&mut self.sites, id.saturating_sub(FIRST_ID));
        let mut found = Vec::new();
        self.next_site = self.session.sites_since(
            self.next_site.min(wanted),
            sites_next,
            |_| true,
            |site| {
                if site.is_complete && !sites.contains_key(&site.id()) {
                    if let Some(Ok((description, _))) = site.description.map(SiteDescription::decode) {
                        found.push((site.id(), Arc::new(Site::new(description))));
                    }
                }
            },
        )?;
        self.sites.extend(found);
        Ok(self.sites.get(&id).cloned())
    }
}
