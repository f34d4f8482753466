//! The monitor in a thread of its own: senders wait for its copy, and for nobody else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::monitor::Monitor;
use crate::objects::{Refused, WindowsObjects};
use crate::process::{self, Names};
use crate::queue::{Queue, Taken};

/// Messages that wait at most. What comes beyond these is counted.
const WAITING: usize = 1 << 14;

/// A message that was copied.
pub struct Copied {
    /// The process, as the sender states it.
    pub pid: u32,
    /// The name of its program; `?` when it is not known.
    pub name: Arc<str>,
    /// See [`crate::Message::recorded`].
    pub recorded: Option<u64>,
    text: Vec<u8>,
}

impl Copied {
    /// The text, which comes in the code page of the system.
    pub fn text(&self) -> String {
        process::text(&self.text)
    }
}

/// Takes messages until it is stopped, or dropped.
pub struct Listening {
    queue: Arc<Queue<Copied>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Listening {
    /// Begins.
    ///
    /// # Errors
    /// Another monitor runs, or the system refuses.
    pub fn begin() -> Result<Self, Refused> {
        let monitor = Monitor::new(WindowsObjects::create()?).map_err(Refused::Failed)?;
        let (queue, ends) = (Arc::new(Queue::new(WAITING)), Arc::new(AtomicBool::new(false)));
        let (of_thread, until) = (Arc::clone(&queue), Arc::clone(&ends));
        let thread = thread::Builder::new().name("dbwin".into());
        let thread = thread.spawn(move || listen(monitor, &of_thread, &until)).map_err(Refused::Failed)?;
        Ok(Self { queue, ends, thread: Some(thread) })
    }

    /// The messages since the last call.
    ///
    /// # Errors
    /// Of the system: nothing comes any more.
    pub fn take(&mut self) -> io::Result<Taken<Copied>> {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            self.stop()?;
        }
        Ok(self.queue.take())
    }

    /// Lets another monitor begin. What has come until now is still to be taken.
    ///
    /// # Errors
    /// What has ended it before.
    pub fn stop(&mut self) -> io::Result<()> {
        self.ends.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(io::Error::other("the thread that takes messages has failed")),
            None => Ok(()),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn listen(mut monitor: Monitor<WindowsObjects>, queue: &Queue<Copied>, ends: &AtomicBool) -> io::Result<()> {
    let mut names = Names::default();
    while !ends.load(Ordering::Relaxed) {
        let Some(message) = monitor.next_message()? else { continue };
        // The sender may end at any time: its name is looked up before the message waits to be shown.
        let name = names.of(message.pid);
        queue.push(Copied {
            pid: message.pid,
            name,
            recorded: message.recorded,
            text: message.text.to_vec(),
        });
    }
    Ok(())
}
