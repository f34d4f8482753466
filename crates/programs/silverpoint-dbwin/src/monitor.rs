//! The state machine of a monitor. It sees the protocol's objects through [`Objects`], so tests run it with simulated
//! ones on any system.

use std::time::Duration;

/// Bytes of the shared buffer: the sender's process id, then its text.
pub const BUFFER_BYTES: usize = 4096;

/// Where the text begins.
const TEXT_AT: usize = 4;

/// Where Silverpoint's own senders say that a text is in their session, too (`dbwin.hpp`). There stand the word below,
/// the process, the bytes of the text, and when the process began.
pub const NOTE_AT: usize = BUFFER_BYTES - 24;

/// How it begins.
const NOTE: &[u8; 8] = b"SPrecord";

/// How often an idle monitor checks whether a sender has died.
const CHECK: Duration = Duration::from_millis(100);

/// Checks in a row that find a sender which neither finishes nor leaves, before a wait for the buffer is ended: a
/// second. (A sender that stood still for a second, and just then waits for its second turn, would lose the first one.)
const STALLED_CHECKS: u32 = 10;

/// The objects of the protocol, as the monitor uses them. A sender
///
/// 1. waits for the mutex `DBWinMutex`;
/// 2. waits for the event `DBWIN_BUFFER_READY`, which resets it;
/// 3. writes into the mapping `DBWIN_BUFFER`, and sets the event `DBWIN_DATA_READY`;
/// 4. repeats 2 and 3 for the rest of a longer text, and releases the mutex.
pub trait Objects {
    /// What can fail.
    type Error;

    /// Waits for `DBWIN_DATA_READY` and resets it. False: it was not set in this time.
    ///
    /// # Errors
    /// Those of the system.
    fn wait_for_data(&mut self, timeout: Duration) -> Result<bool, Self::Error>;

    /// Copies `DBWIN_BUFFER`, and fills its end from [`NOTE_AT`] with zeros: another sender does not write there.
    fn copy(&mut self, to: &mut [u8; BUFFER_BYTES]);

    /// Sets `DBWIN_BUFFER_READY`.
    ///
    /// # Errors
    /// Those of the system.
    fn set_buffer_ready(&mut self) -> Result<(), Self::Error>;

    /// Waits for `DBWIN_BUFFER_READY` and resets it. False: it was not set in this time.
    ///
    /// # Errors
    /// Those of the system.
    fn reset_buffer_ready(&mut self, timeout: Duration) -> Result<bool, Self::Error>;

    /// Lets one sender that waits for `DBWIN_BUFFER_READY` at this moment go on. Without one, it does nothing.
    ///
    /// # Errors
    /// Those of the system.
    fn pulse_buffer_ready(&mut self) -> Result<(), Self::Error>;

    /// Acquires `DBWinMutex`. False: living senders have had it all this time.
    ///
    /// # Errors
    /// Those of the system.
    fn try_lock(&mut self, timeout: Duration) -> Result<bool, Self::Error>;

    /// Releases `DBWinMutex`.
    ///
    /// # Errors
    /// Those of the system.
    fn unlock(&mut self) -> Result<(), Self::Error>;
}

/// How long the mutex is waited for. Beside a monitor that lives each sender has it for a moment only.
const A_TURN: Duration = Duration::from_secs(1);

/// In this time a monitor that lives lets a sender go on. (Ours does so after a second, if a sender has died.)
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);

/// Whether a monitor serves these objects. Senders that wait keep them in being after the monitor has ended.
///
/// Once it may be true after the monitor's end: it has left the buffer free. The next sender uses that up.
///
/// # Errors
/// Those of the system.
pub fn is_served<O: Objects>(objects: &mut O) -> Result<bool, O::Error> {
    // Who has the mutex is in the place of a sender. If others keep it, they wait for a monitor in vain, one after another.
    let is_locked = objects.try_lock(A_TURN)?;
    let is_served = objects.reset_buffer_ready(SIGN_OF_LIFE)?;
    if is_served {
        objects.set_buffer_ready()?;
    }
    if is_locked {
        objects.unlock()?;
    }
    Ok(is_served)
}

/// What one sender wrote into the buffer: a text, or 4,091 bytes of a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The process, as the sender states it. Nothing proves it.
    pub pid: u32,
    /// The text without the zero that ends it, in the code page of the system.
    pub text: &'a [u8],
    /// When the process began, in 100 ns since 1601, as it states it: its session has the text, too.
    pub recorded: Option<u64>,
}

/// Takes messages.
pub struct Monitor<O> {
    objects: O,
    buffer: Box<[u8; BUFFER_BYTES]>,
    stalled: u32,
    /// Whether the buffer has a message that was there at the begin.
    has_first: bool,
}

impl<O: Objects> Monitor<O> {
    /// Begins: takes what an earlier monitor has left, and lets the first sender write.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(objects: O) -> Result<Self, O::Error> {
        let buffer = Box::new([0; BUFFER_BYTES]);
        let mut monitor = Self { objects, buffer, stalled: 0, has_first: false };
        monitor.has_first = monitor.start_over()?;
        Ok(monitor)
    }

    /// Waits a moment for the next message. The sender has been let go on when this returns.
    ///
    /// # Errors
    /// Those of the system.
    pub fn next_message(&mut self) -> Result<Option<Message<'_>>, O::Error> {
        let has_come = if std::mem::take(&mut self.has_first) {
            true
        } else if self.objects.wait_for_data(CHECK)? {
            self.take()?;
            true
        } else {
            self.check()?
        };
        Ok(has_come.then(|| message(&self.buffer)))
    }

    fn take(&mut self) -> Result<(), O::Error> {
        self.stalled = 0;
        self.objects.copy(&mut self.buffer);
        self.objects.set_buffer_ready()
    }

    /// A sender may have died between the steps of the protocol. Gives whether a message was found.
    fn check(&mut self) -> Result<bool, O::Error> {
        if self.objects.try_lock(Duration::ZERO)? {
            let found = self.start_over();
            self.objects.unlock()?;
            return found;
        }
        // Somebody sends. The event must be set again at once, so that a sender which is just coming finds it.
        if self.objects.reset_buffer_ready(Duration::ZERO)? {
            self.objects.set_buffer_ready()?;
            self.stalled = 0;
            return Ok(false);
        }
        // It writes; or it waits for an event that a sender which died has used up.
        self.stalled += 1;
        if self.stalled >= STALLED_CHECKS {
            self.stalled = 0;
            self.objects.pulse_buffer_ready()?;
        }
        Ok(false)
    }

    /// While nobody sends: what the last sender finished is taken, and the next one may write.
    fn start_over(&mut self) -> Result<bool, O::Error> {
        let has_come = self.objects.wait_for_data(Duration::ZERO)?;
        if has_come {
            self.objects.copy(&mut self.buffer);
        }
        self.stalled = 0;
        self.objects.set_buffer_ready()?;
        Ok(has_come)
    }

    /// The objects.
    pub fn objects(&mut self) -> &mut O {
        &mut self.objects
    }
}

/// Reads the buffer. A text without an end fills it.
pub fn message(buffer: &[u8; BUFFER_BYTES]) -> Message<'_> {
    let (pid, text) = buffer.split_at(TEXT_AT);
    let pid = u32::from_le_bytes([pid[0], pid[1], pid[2], pid[3]]);
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Message { pid, text: &text[..end], recorded: recorded(&buffer[NOTE_AT..], pid, end) }
}

/// What stands at the end of the buffer, if it is of this text.
fn recorded(note: &[u8], pid: u32, bytes: usize) -> Option<u64> {
    let rest = note.strip_prefix(NOTE)?;
    let (of_pid, rest) = rest.split_first_chunk()?;
    let (of_bytes, start) = rest.split_first_chunk()?;
    let is_of_this = u32::from_le_bytes(*of_pid) == pid && u32::from_le_bytes(*of_bytes) as usize == bytes;
    is_of_this.then(|| Some(u64::from_le_bytes(start.try_into().ok()?))).flatten()
}
