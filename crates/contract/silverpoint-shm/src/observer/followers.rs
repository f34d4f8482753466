//! Waits until adapters that remember directives (`tracing`, `log`, ATrace) have applied them (spec/wire.md,
//! section 8).

use std::time::{Duration, Instant};

use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::control::{FOLLOWER_ENTRY, FOLLOWER_STARTS, FOLLOWERS_CAP, at};

use super::files::{read_exact, read_u32};
use super::session::CONTROL;
use super::{ObserveError, ObservedSession};
use crate::platform::process;

/// A follower asks every place of the program again, which takes some hundred microseconds, and may have to wait for a busy processor.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks whether it lives.
const LOOK: Duration = Duration::from_millis(10);

impl ObservedSession {
    /// Waits until the program's places follow the directives that hold now, for at most a second: then its next record is treated by them. False when the time was over, as for a program that is stopped.
    pub fn await_followers(&self) -> Result<bool, ObserveError> {
        let wanted = read_u32(&self.control, CONTROL, at::GENERATION as u64)?;
        let until = Instant::now() + PATIENCE;
        while let Some((entry, followed)) = self.late_follower(wanted)? {
            if Instant::now() >= until {
                return Ok(false);
            }
            self.wait_for_word((at::FOLLOWERS + entry * FOLLOWER_ENTRY + 4) as u64, followed, LOOK);
        }
        Ok(true)
    }

    /// The same where this process is the program. Another program's directives may be changed by a collector of many, which cannot wait for each.
    pub(super) fn await_own_followers(&self) {
        if self.name().pid == std::process::id() {
            // What cannot be read now could be written a moment ago.
            let _ = self.await_followers();
        }
    }

    /// An entry whose thread has not come so far, and how far it has come. The calling thread need not wait for itself.
    fn late_follower(&self, wanted: u32) -> Result<Option<(usize, u32)>, ObserveError> {
        let mut table = [0; FOLLOWERS_CAP * FOLLOWER_ENTRY];
        read_exact(&self.control, CONTROL, &mut table, at::FOLLOWERS as u64)?;
        let entries = (0..FOLLOWERS_CAP).filter_map(|entry| {
            let from = entry * FOLLOWER_ENTRY;
            Some((entry, u32_at(&table, from)?, u32_at(&table, from + 4)?))
        });
        let mut late = entries.filter(|(_, thread, followed)| {
            let is_there = *thread == FOLLOWER_STARTS
                || *thread != process::thread_id() && process::thread_exists(*thread);
            *thread != 0 && (followed.wrapping_sub(wanted) as i32) < 0 && is_there
        });
        Ok(late.next().map(|(entry, _, followed)| (entry, followed)))
    }
}
