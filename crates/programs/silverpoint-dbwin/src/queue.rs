//! What was taken and waits to be printed. The side that takes never waits: what finds the queue full is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// The side that takes.
pub struct Entrance<T> {
    sender: SyncSender<T>,
    missed: Arc<AtomicU64>,
}

/// The side that prints.
pub struct Exit<T> {
    receiver: Receiver<T>,
    missed: Arc<AtomicU64>,
}

/// A queue for so many.
pub fn queue<T>(room: usize) -> (Entrance<T>, Exit<T>) {
    let (sender, receiver) = sync_channel(room);
    let missed = Arc::new(AtomicU64::new(0));
    (Entrance { sender, missed: missed.clone() }, Exit { receiver, missed })
}

impl<T> Entrance<T> {
    /// Puts one in, or counts it.
    pub fn push(&self, one: T) {
        // (Whether nobody prints any more is known by the printer's thread.)
        if let Err(TrySendError::Full(_)) = self.sender.try_send(one) {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<T> Exit<T> {
    /// Waits for the next one. None: the other side is gone.
    pub fn wait(&self) -> Option<T> {
        self.receiver.recv().ok()
    }

    /// The next one, if it is there.
    pub fn next(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// How many found no room since the last call.
    pub fn missed(&self) -> u64 {
        self.missed.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let (entrance, exit) = queue(3);
        for number in 0..10 {
            entrance.push(number);
        }
        let got: Vec<i32> = std::iter::from_fn(|| exit.next()).collect();
        assert_eq!((got, exit.missed()), (vec![0, 1, 2], 7));
        entrance.push(10);
        assert_eq!((exit.wait(), exit.missed()), (Some(10), 0));
        drop(entrance);
        assert_eq!(exit.wait(), None);
    }

    #[test]
    fn without_a_printer_nobody_waits() {
        let (entrance, exit) = queue(1);
        drop(exit);
        entrance.push(1);
        entrance.push(2);
        assert_eq!(entrance.missed.load(Ordering::Relaxed), 0);
    }
}
