//! When a sink writes its buffered records, and when the data is made durable.

use std::time::{Duration, Instant};

use silverpoint_wire::level::Level;

/// What triggers the write of buffered lines: the first of these. A flush, the logger's end, and a full
/// buffer trigger it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The oldest line has waited this long.
    pub every: Duration,
    /// This many bytes wait; at most 16 MiB.
    pub bytes: usize,
    /// A record of this level or above is among them.
    pub level: Option<Level>,
}

impl Default for Flush {
    /// A second, or 256 KiB.
    fn default() -> Self {
        Self { every: Duration::from_secs(1), bytes: 256 << 10, level: None }
    }
}

/// When what was written to a file is made to survive a loss of power (`fdatasync`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// When the system does it by itself.
    #[default]
    Never,
    /// At most this long after it was written.
    Every(Duration),
    /// With each write that has a record of this level or above in it.
    Level(Level),
}

/// What waits in a sink, and since when.
#[derive(Debug, Default)]
pub(crate) struct Flushing {
    /// Without it everything is written at once.
    flush: Option<Flush>,
    sync: Sync,
    /// Of unwritten data.
    waiting_since: Option<Instant>,
    waiting_worst: Option<Level>,
    /// Of data that may not be on the disk yet.
    unsynced_since: Option<Instant>,
    unsynced_worst: Option<Level>,
}

impl Flushing {
    pub(crate) fn new(flush: Option<Flush>, sync: Sync) -> Self {
        Self { flush, sync, ..Self::default() }
    }

    /// Other rules, for waiting records too.
    pub(crate) fn set(&mut self, flush: Option<Flush>, sync: Sync) {
        (self.flush, self.sync) = (flush, sync);
    }

    /// A record waits now.
    #[inline]
    pub(crate) fn takes(&mut self, level: Level) {
        self.waiting_worst = self.waiting_worst.max(Some(level));
    }

    /// Whether waiting records must be written now.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let Some(flush) = self.flush else { return true };
        let since = *self.waiting_since.get_or_insert(now);
        let is_urgent = flush.level.is_some_and(|level| self.waiting_worst >= Some(level));
        is_urgent || now.saturating_duration_since(since) >= flush.every
    }

    /// Everything that waited is written.
    pub(crate) fn has_written(&mut self, now: Instant) {
        self.waiting_since = None;
        self.unsynced_worst = self.unsynced_worst.max(self.waiting_worst.take());
        self.unsynced_since.get_or_insert(now);
    }

    /// Whether written data must be made durable now. `all`: a caller waits for it.
    pub(crate) fn is_sync_due(&self, now: Instant, all: bool) -> bool {
        let Some(since) = self.unsynced_since else { return false };
        match self.sync {
            Sync::Never => false,
            Sync::Every(time) => all || now.saturating_duration_since(since) >= time,
            Sync::Level(level) => all || self.unsynced_worst >= Some(level),
        }
    }

    /// An attempt was made.
    pub(crate) fn has_synced(&mut self) {
        (self.unsynced_since, self.unsynced_worst) = (None, None);
    }

    /// When to check again, if nothing else happens.
    pub(crate) fn next(&self) -> Option<Instant> {
        let write =
            self.waiting_since.zip(self.flush).and_then(|(since, flush)| since.checked_add(flush.every));
        let sync = match self.sync {
            Sync::Every(time) => self.unsynced_since.and_then(|since| since.checked_add(time)),
            Sync::Never | Sync::Level(_) => None,
        };
        write.into_iter().chain(sync).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn without_rules_everything_is_written_at_once_and_nothing_synced() {
        let mut flushing = Flushing::new(None, Sync::Never);
        let now = Instant::now();
        flushing.takes(Level::Trace);
        assert!(flushing.is_due(now));
        flushing.has_written(now);
        assert!(!flushing.is_sync_due(now + HOUR, true));
        assert_eq!(flushing.next(), None);
    }

    #[test]
    fn time_and_level_end_the_wait() {
        let flush = Flush { every: HOUR, level: Some(Level::Warn), ..Flush::default() };
        let mut flushing = Flushing::new(Some(flush), Sync::Never);
        let now = Instant::now();
        flushing.takes(Level::Info);
        assert!(!flushing.is_due(now));
        assert_eq!(flushing.next(), Some(now + HOUR));
        assert!(!flushing.is_due(now + HOUR / 2));
        assert!(flushing.is_due(now + HOUR));
        flushing.takes(Level::Error);
        flushing.takes(Level::Info);
        assert!(flushing.is_due(now), "what came after a warning hides it not");
        flushing.has_written(now);
        flushing.takes(Level::Info);
        assert!(!flushing.is_due(now), "it begins again");
    }

    #[test]
    fn syncing_has_its_own_time_and_level() {
        let now = Instant::now();
        let mut flushing = Flushing::new(None, Sync::Every(HOUR));
        assert!(!flushing.is_sync_due(now, true), "there is nothing");
        flushing.takes(Level::Fatal);
        flushing.has_written(now);
        flushing.has_written(now + HOUR / 2);
        assert!(!flushing.is_sync_due(now + HOUR / 2, false));
        assert!(flushing.is_sync_due(now + HOUR, false) && flushing.is_sync_due(now, true));
        assert_eq!(flushing.next(), Some(now + HOUR));
        flushing.has_synced();
        assert_eq!(flushing.next(), None);

        let mut flushing = Flushing::new(None, Sync::Level(Level::Error));
        flushing.takes(Level::Warn);
        flushing.has_written(now);
        assert!(!flushing.is_sync_due(now + HOUR, false) && flushing.next().is_none());
        flushing.takes(Level::Error);
        flushing.has_written(now);
        assert!(flushing.is_sync_due(now, false));
    }
}
