//! Finding sessions: a directory that is watched, and looked through when something appeared in it, or now and then.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use silverpoint_shm::observer::{SessionName, list};
use silverpoint_shm::root::Root;

use crate::platform::watch::Watch;

/// A root is looked through so often even when nothing is reported: watching may be impossible.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// A root that is missing is looked for so often.
const OPEN_INTERVAL: Duration = Duration::from_millis(100);
/// A session that could not be taken is tried again so often.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Sessions that could not be taken and are remembered.
const MAX_REFUSED: usize = 10_000;

/// One root.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    root: Option<Root>,
    watch: Option<Watch>,
    scanned: Option<Instant>,
    opened: Option<Instant>,
    /// When each was last tried in vain.
    refused: HashMap<SessionName, Instant>,
    /// Those that are not tried again.
    given_up: HashSet<SessionName>,
    /// Those that were reported.
    told: HashSet<SessionName>,
    /// What was wrong with the root itself, once.
    pub(crate) complaint: Option<String>,
    complained: bool,
}

impl Watched {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            root: None,
            watch: None,
            scanned: None,
            opened: None,
            refused: HashMap::new(),
            given_up: HashSet::new(),
            told: HashSet::new(),
            complaint: None,
            complained: false,
        }
    }

    pub(crate) fn opened(root: Root) -> Self {
        let mut watched = Self::new(root.path().to_owned());
        watched.watch(&root);
        watched.root = Some(root);
        watched
    }

    pub(crate) fn root(&self) -> Option<&Root> {
        self.root.as_ref()
    }

    /// What says when something has appeared.
    pub(crate) fn watch_of(&self) -> Option<&Watch> {
        self.watch.as_ref().filter(|watch| watch.is_intact())
    }

    /// The next look goes through the whole directory, and those that were given up have another chance.
    pub(crate) fn look_anew(&mut self) {
        self.scanned = None;
        self.refused.clear();
    }

    /// Names of sessions to try, when it is time to look. Empty most of the time.
    pub(crate) fn look(&mut self) -> Vec<SessionName> {
        // The program may have closed the descriptors: what has their numbers now is not read. They are opened
        // again at once: until then records are not collected.
        let is_watch_lost = self.watch.as_ref().is_some_and(|watch| !watch.is_intact());
        if is_watch_lost || self.root.as_ref().is_some_and(|root| !root.is_intact()) {
            (self.root, self.watch, self.opened, self.scanned) = (None, None, None, None);
        }
        if self.root.is_none() && !self.open() {
            return Vec::new();
        }
        let reported = self.is_reported();
        let is_due = self.scanned.is_none_or(|at| at.elapsed() >= SCAN_INTERVAL)
            || self.refused.values().any(|at| at.elapsed() >= RETRY_INTERVAL);
        if !reported && !is_due {
            return Vec::new();
        }
        self.scanned = Some(Instant::now());
        self.refused.retain(|_, at| at.elapsed() < RETRY_INTERVAL);
        match self.root.as_ref().map(list) {
            Some(Ok(mut names)) => {
                names.retain(|name| !self.refused.contains_key(name) && !self.given_up.contains(name));
                names
            }
            Some(Err(error)) => {
                self.complain(error.to_string());
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The session could not be taken; it is tried again later.
    pub(crate) fn refuse(&mut self, name: SessionName) {
        if self.refused.len() < MAX_REFUSED {
            self.refused.insert(name, Instant::now());
        }
    }

    /// The session must not be taken again (or only later, when too many are remembered already).
    pub(crate) fn refuse_for_ever(&mut self, name: SessionName) {
        if self.given_up.len() < MAX_REFUSED {
            self.given_up.insert(name);
        } else {
            self.refuse(name);
        }
    }

    /// The session could not be taken; it is tried again if the reason `may_pass`. True when it has not been
    /// reported yet.
    pub(crate) fn refuse_and_tell(&mut self, name: SessionName, may_pass: bool) -> bool {
        if may_pass {
            self.refuse(name);
        } else {
            self.refuse_for_ever(name);
        }
        self.told.len() < MAX_REFUSED && self.told.insert(name)
    }

    fn open(&mut self) -> bool {
        if self.opened.is_some_and(|at| at.elapsed() < OPEN_INTERVAL) {
            return false;
        }
        self.opened = Some(Instant::now());
        match Root::open_directory(&self.path) {
            Ok(root) => {
                self.watch(&root);
                self.root = Some(root);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                self.complain(format!("{}: it cannot be a root of sessions: {error}", self.path.display()));
                false
            }
        }
    }

    /// Without a watch the interval must do.
    fn watch(&mut self, root: &Root) {
        self.watch = Watch::new(root);
    }

    fn is_reported(&mut self) -> bool {
        self.watch.as_mut().is_some_and(Watch::is_reported)
    }

    fn complain(&mut self, text: String) {
        if !self.complained {
            self.complained = true;
            self.complaint = Some(text);
        }
    }
}
