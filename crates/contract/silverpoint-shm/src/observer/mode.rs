//! What a session records and what it does when a ring is full: change, save, put back (spec/wire.md, section 8).

use std::time::{Duration, Instant};

use silverpoint_wire::directive::{self, Directives};
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::state;
use silverpoint_wire::site::SiteDescription;

use super::files::{read_exact, read_u32, write_all};
use super::session::CONTROL;
use super::{ObserveError, ObservedSession};

/// How long another controller is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bit of a state: record into the ring. The others are not a directive's business.
const RING_BIT: u8 = 1;

/// A session's mode as it was: directives, states, policies, and the collector's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedMode {
    /// The whole region, so that what lies beyond the text comes back too.
    pub(super) directives: Vec<u8>,
    pub(super) directives_len: u32,
    pub(super) states: Vec<u8>,
    pub(super) block_max_ms: u32,
    pub(super) policy: [u8; 8],
    pub(super) collector_pid: u32,
    pub(super) collector_sleeping: u32,
    pub(super) heartbeat: u64,
    pub(super) collector_state: u32,
}

impl SavedMode {
    /// As if nobody had collected: for what a collector that died had left.
    #[must_use]
    pub fn without_collector(mut self) -> Self {
        (self.collector_pid, self.collector_sleeping, self.collector_state) = (0, 0, 0);
        self
    }

    /// By level, trace to fatal; two unused.
    pub fn policy(&self) -> [u8; 8] {
        self.policy
    }

    /// How long a producer may wait for room.
    pub fn block_max_ms(&self) -> u32 {
        self.block_max_ms
    }

    /// The text of the directives.
    pub fn directives_text(&self) -> &[u8] {
        self.directives.get(..self.directives_len as usize).unwrap_or(&[])
    }
}

/// Holds the controller's lock.
struct Controller<'a>(&'a ObservedSession);

impl Drop for Controller<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock_control();
    }
}

impl ObservedSession {
    /// The text of the directives.
    pub fn directives(&self) -> Result<Vec<u8>, ObserveError> {
        let len =
            read_u32(&self.control, CONTROL, at::DIRECTIVES_LEN as u64)?.min(self.header.directives_cap);
        let mut text = vec![0; len as usize];
        read_exact(&self.control, CONTROL, &mut text, self.header.directives_at)?;
        Ok(text)
    }

    /// Makes `text` the session's directives and switches every registered site by them. Gives how many sites are on. Refuses a text that is malformed
    /// or too long; takes some microseconds a site.
    pub fn write_directives(&self, text: &str) -> Result<u32, ObserveError> {
        self.change_directives(|_| text.to_owned())
    }

    /// The same with a text made of the present one. No other program changes the directives in between.
    pub fn change_directives(&self, change: impl FnOnce(&str) -> String) -> Result<u32, ObserveError> {
        let controller = self.controller()?;
        let text = change(&String::from_utf8_lossy(&self.directives()?));
        if let Err(error) = directive::check(&text) {
            return Err(ObserveError::refused("directives", error.to_string()));
        }
        if text.len() > self.header.directives_cap as usize {
            let why =
                format!("{} bytes are more than the session's {}", text.len(), self.header.directives_cap);
            return Err(ObserveError::refused("directives", why));
        }
        self.replace_directives(text.as_bytes(), text.len() as u32)?;
        let on = self.switch_sites(0, &text)?;
        self.wake_watchers();
        drop(controller);
        self.await_own_followers();
        Ok(on)
    }

    /// Asks the process to feed these system tracers, too (bits of [`silverpoint_wire::layout::probes`]), or no longer. It follows at the
    /// next executions of its tracepoints.
    pub fn ask_for_probes(&self, probes: u32, is_on: bool) -> Result<(), ObserveError> {
        let controller = self.controller()?;
        let before = read_u32(&self.control, CONTROL, at::PROBES_ASKED as u64)?;
        let probes = if is_on { before | probes } else { before & !probes };
        self.put(at::PROBES_ASKED, &probes.to_le_bytes())?;
        // With another generation: a site that is being registered evaluates again.
        let text = self.directives()?;
        self.replace_directives(&text, text.len() as u32)?;
        let bit = if probes == 0 { 0 } else { state::PROBED };
        for (entry, now) in self.states(self.counters()?.sites_next)?.iter().enumerate() {
            let state = now.0 & !(state::PROBED | state::QUIET) | bit;
            if now.0 != state {
                self.put_state(entry as u32, state)?;
            }
        }
        self.wake_watchers();
        drop(controller);
        self.await_own_followers();
        Ok(())
    }

    /// Everything that [`Self::restore_mode`] puts back.
    pub fn save_mode(&self) -> Result<SavedMode, ObserveError> {
        let _controller = self.controller()?;
        let counters = self.counters()?;
        let mut directives = vec![0; self.header.directives_cap as usize];
        read_exact(&self.control, CONTROL, &mut directives, self.header.directives_at)?;
        Ok(SavedMode {
            directives,
            directives_len: counters.directives_len,
            states: self.states(counters.sites_next)?.into_iter().map(|state| state.0).collect(),
            block_max_ms: counters.block_max_ms,
            policy: counters.policy,
            collector_pid: counters.collector_pid,
            collector_sleeping: counters.collector_sleeping,
            heartbeat: counters.heartbeat,
            collector_state: counters.collector_state,
        })
    }

    /// Puts the mode back, byte for byte; only the generation has moved on. Sites registered since are switched by the old directives. What
    /// [`Self::keep_mode`] kept is forgotten.
    pub fn restore_mode(&self, saved: &SavedMode) -> Result<(), ObserveError> {
        let controller = self.controller()?;
        // If one of them fails, the others are restored all the same; the mode is kept for the successor.
        let restored = [
            self.put_back(saved),
            self.set_block_max_ms(saved.block_max_ms),
            self.set_policy(saved.policy),
            self.restore_collector_fields(saved),
        ];
        self.wake_watchers();
        drop(controller);
        self.await_own_followers();
        restored.into_iter().collect::<Result<(), _>>()?;
        self.forget_mode()
    }

    /// Puts back only the directives and the states.
    pub fn restore_directives(&self, saved: &SavedMode) -> Result<(), ObserveError> {
        let controller = self.controller()?;
        self.put_back(saved)?;
        self.wake_watchers();
        drop(controller);
        self.await_own_followers();
        Ok(())
    }

    fn put_back(&self, saved: &SavedMode) -> Result<(), ObserveError> {
        self.replace_directives(&saved.directives, saved.directives_len)?;
        let now = self.states(saved.states.len() as u32)?;
        for (entry, (now, before)) in now.iter().zip(&saved.states).enumerate() {
            let state = now.0 & !RING_BIT | before & RING_BIT;
            if now.0 != state {
                self.put_state(entry as u32, state)?;
            }
        }
        let text = std::str::from_utf8(saved.directives_text()).unwrap_or("");
        self.switch_sites(saved.states.len() as u32, text).map(drop)
    }

    /// Puts back only what a collector says about itself.
    pub fn restore_collector_fields(&self, saved: &SavedMode) -> Result<(), ObserveError> {
        let restored = [
            self.put(at::COLLECTOR_SLEEPING, &saved.collector_sleeping.to_le_bytes()),
            self.put(at::HEARTBEAT, &saved.heartbeat.to_le_bytes()),
            self.put(at::COLLECTOR_STATE, &saved.collector_state.to_le_bytes()),
            self.put(at::COLLECTOR_PID, &saved.collector_pid.to_le_bytes()),
        ];
        restored.into_iter().collect()
    }

    /// By level, trace to fatal (numbers of [`silverpoint_wire::policy::WhenFull`]); two unused.
    pub fn set_policy(&self, policy: [u8; 8]) -> Result<(), ObserveError> {
        self.put(at::POLICY, &policy)
    }

    /// How long a producer may wait for room.
    pub fn set_block_max_ms(&self, block_max_ms: u32) -> Result<(), ObserveError> {
        self.put(at::BLOCK_MAX_MS, &block_max_ms.to_le_bytes())
    }

    fn controller(&self) -> Result<Controller<'_>, ObserveError> {
        let start = Instant::now();
        while !self.lock_control()? {
            if start.elapsed() >= PATIENCE {
                return Err(ObserveError::refused("directives", "another program is changing them"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Controller(self))
    }

    /// Writes text and length with the generation odd, then even.
    fn replace_directives(&self, bytes: &[u8], len: u32) -> Result<(), ObserveError> {
        // A writer that died has left it odd: the next even number is still ahead.
        let odd = read_u32(&self.control, CONTROL, at::GENERATION as u64)? | 1;
        self.put(at::GENERATION, &odd.to_le_bytes())?;
        let written = write_all(&self.control, CONTROL, bytes, self.header.directives_at)
            .and_then(|()| self.put(at::DIRECTIVES_LEN, &len.to_le_bytes()));
        // Also when there was no room for the text: it must not stay odd.
        self.put(at::GENERATION, &odd.wrapping_add(1).to_le_bytes())?;
        written
    }

    /// Evaluates the directives for every site from entry `first` on. Gives how many are on.
    fn switch_sites(&self, first: u32, text: &str) -> Result<u32, ObserveError> {
        let sites_next = self.counters()?.sites_next;
        let states = self.states(sites_next)?;
        let mut on = 0;
        let mut failed = None;
        // Once for all sites; of a text with mistakes, which another program may have left, what is right in it counts.
        let parsed = Directives::parse(text).ok();
        self.sites_since(
            first,
            sites_next,
            |_| true,
            |site| {
                let Some(facts) = site.description.and_then(|bytes| SiteDescription::facts(bytes).ok())
                else {
                    return;
                };
                let is_on = parsed
                    .as_ref()
                    .map_or_else(|| directive::decide(text, &facts), |directives| directives.matches(&facts));
                let bit = if is_on { RING_BIT } else { 0 };
                on += u32::from(bit);
                let before = states.get(site.entry as usize).map_or(0, |state| state.0);
                if before & RING_BIT != bit {
                    if let Err(error) = self.put_state(site.entry, before & !RING_BIT | bit) {
                        failed.get_or_insert(error);
                    }
                }
            },
        )?;
        failed.map_or(Ok(on), Err)
    }

    fn put_state(&self, entry: u32, state: u8) -> Result<(), ObserveError> {
        write_all(&self.control, CONTROL, &[state], self.header.states_at + u64::from(entry))
    }
}
