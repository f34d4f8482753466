//! What a collector says about its own work.

use std::fmt;

use silverpoint_shm::observer::SessionName;

/// Sums since the collector began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Looks at all sessions.
    pub passes: u64,
    /// Passes that stored nothing.
    pub idle_passes: u64,
    /// Records stored, pads not counted.
    pub records: u64,
    /// Bytes of rings stored.
    pub ring_bytes: u64,
    /// Bytes written to trace files.
    pub file_bytes: u64,
    /// Writes to trace files.
    pub batches: u64,
    /// Producers that waited for room and were woken.
    pub wakes: u64,
    /// Bytes of rings that could not be stored: overwritten, or contradictory.
    pub gap_bytes: u64,
    /// Records that were kept back, forgotten, and reported as such.
    pub forgotten: u64,
    /// Rings that contradicted the rules.
    pub broken_rings: u64,
    /// Failed attempts to write.
    pub write_errors: u64,
    /// Milliseconds in which nothing could be written.
    pub sink_full_ms: u64,
    /// New parts begun.
    pub rotations: u64,
    /// Parts deleted for the quota.
    pub parts_deleted: u64,
    /// Sessions taken.
    pub sessions: u64,
    /// Sessions that ended and are stored whole.
    pub sessions_ended: u64,
    /// Sessions taken over from a collector that died.
    pub takeovers: u64,
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The session concerned.
    pub session: Option<SessionName>,
    /// What happened.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.session {
            Some(session) => write!(f, "session {session}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Messages kept until somebody takes them; what comes beyond is counted.
const MAX_MESSAGES: usize = 1000;

/// Messages on their way out.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    kept: Vec<Message>,
    dropped: u64,
}

impl Messages {
    pub(crate) fn say(&mut self, session: Option<SessionName>, text: impl Into<String>) {
        if self.kept.len() < MAX_MESSAGES {
            self.kept.push(Message { session, text: text.into() });
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Message> {
        if self.dropped > 0 {
            let text = format!("{} further messages were left out", self.dropped);
            self.kept.push(Message { session: None, text });
            self.dropped = 0;
        }
        std::mem::take(&mut self.kept)
    }
}
