//! What was taken and waits to be shown. The side that takes never waits for the other: what finds the queue full is
//! counted.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// See the module.
pub struct Queue<T> {
    room: usize,
    waiting: Mutex<Waiting<T>>,
}

struct Waiting<T> {
    all: Vec<(SystemTime, T)>,
    missed: u64,
}

/// What one look finds.
pub struct Taken<T> {
    /// Each with the time at which it came, in the order in which they came.
    pub all: Vec<(SystemTime, T)>,
    /// How many found no room since the look before.
    pub missed: u64,
    /// What comes later has a later time.
    pub until: SystemTime,
}

impl<T> Queue<T> {
    /// For so many.
    pub fn new(room: usize) -> Self {
        Self { room, waiting: Mutex::new(Waiting { all: Vec::new(), missed: 0 }) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts one in, or counts it.
    pub fn push(&self, one: T) {
        let mut waiting = self.lock();
        if waiting.all.len() < self.room {
            // The lock is held: the order is that of the times, and none is before a look that has ended.
            waiting.all.push((SystemTime::now(), one));
        } else {
            waiting.missed += 1;
        }
    }

    /// All that wait.
    pub fn take(&self) -> Taken<T> {
        let mut waiting = self.lock();
        let all = std::mem::take(&mut waiting.all);
        Taken { all, missed: std::mem::take(&mut waiting.missed), until: SystemTime::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let queue = Queue::new(3);
        (0..10).for_each(|number| queue.push(number));
        let taken = queue.take();
        let numbers: Vec<i32> = taken.all.iter().map(|(_, number)| *number).collect();
        assert_eq!((numbers, taken.missed), (vec![0, 1, 2], 7));
        assert!(taken.all.iter().all(|(time, _)| *time <= taken.until));
        queue.push(10);
        let next = queue.take();
        assert!(next.missed == 0 && next.all.len() == 1 && next.all[0].1 == 10);
        assert!(next.all[0].0 >= taken.until);
        assert!(queue.take().all.is_empty());
    }
}
