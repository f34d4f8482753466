//! Keeping a root small: dead sessions that hold no records go at once, others when there are too many, too large or too old.

use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_shm::observer::{ObserveError, ObservedSession, SessionName, Slice, list};
use silverpoint_shm::root::Root;

/// What dead sessions may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many stay, the youngest.
    pub sessions: usize,
    /// Bytes that they use together.
    pub bytes: u64,
    /// Age at which they go.
    pub age_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: 32, bytes: 256 << 20, age_seconds: 7 * 86_400 }
    }
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Removed because they held nothing.
    pub empty: Vec<SessionName>,
    /// Removed because of a limit, though they held records.
    pub over_limit: Vec<SessionName>,
    /// Dead sessions with records that stay.
    pub kept: Vec<SessionName>,
}

/// Sweeps a root. Sessions that have a collector or cannot be checked are left alone. Living ones get back
/// the mode that they had before a collector changed it and died.
pub fn sweep(root: &Root, limits: Limits) -> Result<Swept, ObserveError> {
    let mut swept = Swept::default();
    let mut kept = Vec::new();
    for name in list(root)? {
        let Ok(session) = ObservedSession::open(root, name) else {
            if ObservedSession::finish_removal(root, name) {
                swept.empty.push(name);
            }
            continue;
        };
        // Without the lock: a collector that comes for a living session must not find it taken for a moment.
        if session.is_alive().unwrap_or(true) {
            // Who had changed what it records may have died.
            let _ = session.restore_abandoned_mode();
            continue;
        }
        // The lock is kept until the session is judged or removed: no collector takes it meanwhile.
        if !session.lock_collector().unwrap_or(false) {
            continue;
        }
        match holds_something(&session) {
            Ok(true) => kept.push((session.changed_seconds(), session.used_bytes(), session)),
            Ok(false) => {
                if session.remove(root).is_ok() {
                    swept.empty.push(name);
                }
            }
            Err(_) => {}
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    kept.sort_unstable_by_key(|(changed, _, session)| (std::cmp::Reverse(*changed), session.name()));
    let mut total = 0u64;
    for (index, (changed, bytes, session)) in kept.iter().enumerate() {
        total = total.saturating_add(*bytes);
        let is_old = now.saturating_sub(*changed) > limits.age_seconds;
        if (index >= limits.sessions || total > limits.bytes || is_old) && session.remove(root).is_ok() {
            swept.over_limit.push(session.name());
        } else {
            swept.kept.push(session.name());
        }
    }
    Ok(swept)
}

/// Sessions of a kind, in the root that the environment names.
pub fn sessions_of(is_one: impl Fn(SessionName) -> bool) -> Vec<SessionName> {
    let names = Root::open().ok().and_then(|root| list(&root).ok()).unwrap_or_default();
    names.into_iter().filter(|name| is_one(*name)).collect()
}

/// Whether sessions of a kind, a process's, hold something that is neither stored nor collected.
///
/// # Errors
/// The root cannot be read.
pub fn has_uncollected(root: &Root, is_one: impl Fn(SessionName) -> bool) -> Result<bool, ObserveError> {
    let own = list(root)?.into_iter().filter(|name| is_one(*name));
    Ok(own
        .filter_map(|name| ObservedSession::open(root, name).ok())
        .any(|session| !session.is_collected().unwrap_or(true) && holds_something(&session).unwrap_or(false)))
}

/// Removes sessions of a kind, those of a process that is just ending, when all participants have left them
/// and nothing is in them. Sessions with a collector are left alone.
///
/// # Errors
/// The root cannot be read.
pub fn remove_left(root: &Root, is_one: impl Fn(SessionName) -> bool) -> Result<(), ObserveError> {
    for name in list(root)?.into_iter().filter(|name| is_one(*name)) {
        let Ok(session) = ObservedSession::open(root, name) else { continue };
        let is_left = session.counters().is_ok_and(|counters| counters.copies_joined == 0);
        if is_left
            && session.lock_collector().unwrap_or(false)
            && matches!(holds_something(&session), Ok(false))
        {
            let _ = session.remove(root);
        }
    }
    Ok(())
}

/// Whether there are records that are not stored, or losses that are not reported.
fn holds_something(session: &ObservedSession) -> Result<bool, ObserveError> {
    let counters = session.counters()?;
    if counters.session_losses.iter().any(|loss| *loss != 0) {
        return Ok(true);
    }
    let mut slices: Vec<Slice> = Vec::new();
    session.slices(counters.slabs_next, &mut slices, |_| {})?;
    for slice in slices {
        let Some(header) = session.ring(slice)? else { continue };
        let released = header.consumed.max(header.base).max(header.oldest);
        let sum = header.losses.iter().fold(0u64, |sum, loss| sum.wrapping_add(*loss));
        if released < header.committed || sum != session.told(slice)? {
            return Ok(true);
        }
    }
    Ok(false)
}
