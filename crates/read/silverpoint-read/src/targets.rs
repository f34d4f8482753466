//! What is to be looked at: files, or processes by id or name, or everything that lives.

use std::fmt;
use std::path::{Path, PathBuf};

use silverpoint_query::filter::WhoPattern;

use crate::ReadError;
use crate::sessions::{self, Place};

/// What the command line names.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Trace files.
    pub files: Vec<PathBuf>,
    pids: Vec<u32>,
    names: Vec<String>,
    all: bool,
}

impl Targets {
    /// Each text is a process id, a file (there is one, or it contains `/` or ends with `.silver`), or a pattern of processes' names. None: all living
    /// sessions.
    pub fn parse(texts: &[String]) -> Result<Self, ReadError> {
        let mut targets = Self { all: texts.is_empty(), ..Self::default() };
        for text in texts {
            if let Ok(pid) = text.parse() {
                targets.pids.push(pid);
            } else if text.contains('/') || text.ends_with(".silver") || Path::new(text).exists() {
                targets.files.push(text.into());
            } else {
                targets.names.push(text.clone());
            }
        }
        if !targets.files.is_empty() && targets.watches_processes() {
            let file = targets.files[0].display();
            return Err(ReadError::Usage(format!(
                "either files ({file}) or processes ({targets}), not both together"
            )));
        }
        Ok(targets)
    }

    /// Whether living sessions are looked at.
    pub fn watches_processes(&self) -> bool {
        self.all || !self.pids.is_empty() || !self.names.is_empty()
    }

    /// Whether everything that lives is looked at.
    pub fn is_everything(&self) -> bool {
        self.all
    }

    /// Process ids that were named.
    pub fn pids(&self) -> &[u32] {
        &self.pids
    }

    /// Processes, as a filter takes them.
    pub fn patterns(&self) -> Vec<WhoPattern> {
        let pids = self.pids.iter().map(|pid| WhoPattern::parse(&pid.to_string()));
        pids.chain(self.names.iter().map(|name| WhoPattern::parse(name))).collect()
    }

    /// Whether a process is selected; its name is requested only when it matters.
    pub fn takes(&self, pid: u32, name: impl FnOnce() -> String) -> bool {
        if self.all || self.pids.contains(&pid) {
            return true;
        }
        if self.names.is_empty() {
            return false;
        }
        let name = name();
        self.names.iter().any(|pattern| WhoPattern::parse(pattern).matches(pid, &name))
    }

    /// Where their sessions may be. Of other users' processes only those that were named by id.
    pub fn places(&self) -> Result<Vec<Place>, ReadError> {
        let mut places = Vec::new();
        for pid in &self.pids {
            places.extend(sessions::all(Some(*pid))?);
        }
        if self.all || !self.names.is_empty() {
            places.extend(sessions::all(None)?);
        }
        places.sort_by_key(|place| place.name);
        places.dedup_by_key(|place| place.name);
        Ok(places)
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pids = self.pids.iter().map(ToString::to_string);
        let all: Vec<String> = pids.chain(self.names.iter().cloned()).collect();
        f.write_str(&all.join(", "))
    }
}
