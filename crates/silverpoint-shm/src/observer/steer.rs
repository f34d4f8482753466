//! What a collector or controller writes: its own fields, directives, policies.

use std::os::fd::AsFd;

use silverpoint_wire::directive::{SiteFacts, decide};
use silverpoint_wire::layout::collector_state;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::site::SiteDescription;

use super::error::{ObserveError, ObserveErrorKind};
use super::session::ObservedSession;
use crate::ofd::{self, Lock};

/// What attaching changes and letting go restores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The text of directives.
    pub directives: String,
    /// Policy by level.
    pub policy: [u8; 8],
    /// Longest wait of a producer.
    pub block_max_ms: u32,
}

impl ObservedSession {
    /// The steering as it is.
    pub fn steering(&self) -> Result<Steering, ObserveError> {
        let mut policy = [0; 8];
        self.read_control(&mut policy, at::POLICY as u64)?;
        Ok(Steering {
            directives: self.directives()?,
            policy,
            block_max_ms: self.control_u32(at::BLOCK_MAX_MS)?,
        })
    }

    /// Sets policies and longest wait.
    pub fn set_policy(&self, policy: [u8; 8], block_max_ms: u32) -> Result<(), ObserveError> {
        self.write_control(&policy, at::POLICY as u64)?;
        self.write_control(&block_max_ms.to_le_bytes(), at::BLOCK_MAX_MS as u64)
    }

    /// The directives as they are; bytes that are not UTF-8 are replaced.
    pub fn directives(&self) -> Result<String, ObserveError> {
        let len = self.control_u32(at::DIRECTIVES_LEN)?.min(self.header().directives_cap);
        let mut text = vec![0; len as usize];
        self.read_control(&mut text, self.header().directives_at)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Puts new directives into force in the living process, without its help; gives how many sites changed. The text must have been checked
    /// ([`silverpoint_wire::directive::check`]).
    pub fn set_directives(&self, text: &str) -> Result<u32, ObserveError> {
        if text.len() > self.header().directives_cap as usize {
            return Err(self.fail("control", ObserveErrorKind::Header("directives_len", text.len() as u64)));
        }
        self.lock_controller()?;
        let result = self.write_directives(text);
        let _ = ofd::unlock(self.collector.as_fd(), 1);
        result
    }

    fn write_directives(&self, text: &str) -> Result<u32, ObserveError> {
        let set_generation =
            |generation: u32| self.write_control(&generation.to_le_bytes(), at::GENERATION as u64);
        // A controller that died left an odd number: this one ends its work.
        let odd = self.control_u32(at::GENERATION)? | 1;
        set_generation(odd)?;
        self.write_control(text.as_bytes(), self.header().directives_at)?;
        self.write_control(&(text.len() as u32).to_le_bytes(), at::DIRECTIVES_LEN as u64)?;
        set_generation(odd.wrapping_add(1))?;
        // From here on whoever registers uses the new text: all others are visited.
        let count = self.site_count()?;
        let mut states = vec![0; count as usize];
        self.read_control(&mut states, self.header().states_at)?;
        let mut changed = 0;
        for (entry, state) in states.iter().enumerate() {
            let Some((bytes, _)) = self.site(FIRST_ID + entry as u32)? else { continue };
            let Ok((site, _)) = SiteDescription::decode(&bytes) else { continue };
            let facts = SiteFacts {
                level: site.level,
                category: &site.category,
                file: &site.file,
                line: site.line,
                function: &site.function,
            };
            let wanted = state & !1 | u8::from(decide(text, &facts));
            if wanted != *state {
                self.write_control(&[wanted], self.header().states_at + entry as u64)?;
                changed += 1;
            }
        }
        self.control_map.wake(at::GENERATION as u64);
        Ok(changed)
    }

    /// The state byte of a site.
    pub fn state(&self, id: u32) -> Result<u8, ObserveError> {
        let entry = id.saturating_sub(FIRST_ID).min(self.header().sites_cap.saturating_sub(1));
        let mut state = [0];
        self.read_control(&mut state, self.header().states_at + u64::from(entry))?;
        Ok(state[0])
    }

    /// Says who collects and in which state (see [`collector_state`]); `pid` 0 with [`collector_state::NONE`] when letting go.
    pub fn announce_collector(&self, pid: u32, state: u32) -> Result<(), ObserveError> {
        self.write_control(&state.to_le_bytes(), at::COLLECTOR_STATE as u64)?;
        self.write_control(&pid.to_le_bytes(), at::COLLECTOR_PID as u64)?;
        if state == collector_state::NONE {
            self.write_control(&0_u32.to_le_bytes(), at::COLLECTOR_SLEEPING as u64)?;
        }
        Ok(())
    }

    /// The state that a collector announced, and its pid.
    pub fn collector(&self) -> Result<(u32, u32), ObserveError> {
        Ok((self.control_u32(at::COLLECTOR_PID)?, self.control_u32(at::COLLECTOR_STATE)?))
    }

    /// Shows producers that the collector is alive.
    pub fn beat(&self, heartbeat: u64) -> Result<(), ObserveError> {
        self.write_control(&heartbeat.to_le_bytes(), at::HEARTBEAT as u64)
    }

    fn lock_controller(&self) -> Result<(), ObserveError> {
        // Another controller needs microseconds; one that is stopped in the middle must not stop all others for ever.
        for _ in 0..200 {
            match ofd::try_lock(self.collector.as_fd(), 1, Lock::Exclusive) {
                Ok(true) => return Ok(()),
                Ok(false) => std::thread::sleep(std::time::Duration::from_millis(5)),
                Err(error) => return Err(self.fail("collector", ObserveErrorKind::Io(error))),
            }
        }
        Err(self.fail("collector", ObserveErrorKind::Locked("another controller is changing the directives")))
    }
}
