//! What a collector changes in a session while it has it, and how the session gets that back.

use silverpoint_shm::observer::{ObserveError, ObservedSession, SavedMode};
use silverpoint_wire::layout::collector_state;

use crate::config::AttachMode;
use crate::session::Session;

/// Says to a session's producers that it has a collector, and what that does.
pub(crate) fn announce(session: &mut Session, state: u32) -> Result<(), ObserveError> {
    session.observed.set_sleeping(false)?;
    session.observed.set_collector_state(state)?;
    session.beat()?;
    session.observed.set_collector_pid(std::process::id())
}

/// Saves a session's mode and changes it.
pub(crate) fn attach(
    observed: &ObservedSession,
    mode: &AttachMode,
    inherited: Option<SavedMode>,
) -> Result<SavedMode, ObserveError> {
    let is_inherited = inherited.is_some();
    let saved = match inherited {
        Some(kept) => kept,
        None => {
            // What a collector that died says about itself is not how the session was.
            let saved = observed.save_mode()?.without_collector();
            // For those who come after a death of this process.
            observed.keep_mode(&saved)?;
            saved
        }
    };
    let change = || {
        if let Some(policy) = mode.policy {
            let mut bytes = [0; 8];
            bytes[..policy.len()].copy_from_slice(&policy);
            observed.set_policy(bytes)?;
        } else if is_inherited {
            observed.set_policy(saved.policy())?;
        }
        if let Some(block_max_ms) = mode.block_max_ms {
            observed.set_block_max_ms(block_max_ms)?;
        } else if is_inherited {
            observed.set_block_max_ms(saved.block_max_ms())?;
        }
        match &mode.directives {
            Some(text) => observed.write_directives(text).map(drop),
            None if is_inherited => observed.restore_directives(&saved),
            None => Ok(()),
        }
    };
    if let Err(error) = change() {
        // Half a mode is none.
        let _ = observed.restore_mode(&saved);
        return Err(error);
    }
    Ok(saved)
}

/// Restores the session's bytes and wakes all waiters.
pub(crate) fn give_back(session: &Session, is_stored: bool) -> Result<(), ObserveError> {
    let observed = &session.observed;
    match &session.saved {
        Some(saved) => observed.restore_mode(saved)?,
        None => {
            observed.set_sleeping(false)?;
            observed.set_collector_state(collector_state::NONE)?;
            observed.set_collector_pid(0)?;
        }
    }
    session.unused.finish(observed)?;
    // Otherwise the next collector reads what this one had stored.
    if is_stored {
        observed.clear_intent()?;
    }
    for slice in session.rings.slices() {
        observed.wake(*slice)?;
    }
    observed.unlock_collector()
}
