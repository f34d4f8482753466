//! Data that facades prepare once and keep for ever, without a lock. No thread waits, so neither a fork nor
//! the program's own allocator can leave a thread waiting.
//!
//! A lock that another thread holds while a process forks stays held in the child, whose only thread would wait for ever. One that an allocator comes back to, which records what it
//! gives, waits for itself. So several threads may prepare the same thing at a time: the first to publish it wins, the others' are dropped.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A place for something that stays once it is there.
pub struct Published<T: 'static>(AtomicPtr<T>);

impl<T: Send + Sync + 'static> Published<T> {
    /// An empty place.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// What is there. One load.
    #[inline(always)]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: published by `get_or_try`, whole, and never freed.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// The same; if there is nothing, what `make` makes now, unless it makes nothing. Another thread may be quicker: then what was made is dropped.
    pub fn get_or_try(&self, make: impl FnOnce() -> Option<T>) -> Option<&'static T> {
        if let Some(there) = self.get() {
            return Some(there);
        }
        let made = Box::into_raw(Box::new(make()?));
        match self.0.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it is published, and so is never freed.
            Ok(_) => Some(unsafe { &*made }),
            Err(there) => {
                // SAFETY: made above, and nobody else has it; what is there was published.
                unsafe {
                    drop(Box::from_raw(made));
                    Some(&*there)
                }
            }
        }
    }

    /// As [`Published::get_or_try`] of what can always be made.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> Option<&'static T> {
        self.get_or_try(|| Some(make()))
    }
}

impl<T> std::fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Published")
    }
}

/// One of each process: a forked child begins with another, so that a lock which a thread of its parent held is not its.
pub struct PerProcess<T: Send + 'static>(Published<Of<T>>);

struct Of<T: Send + 'static> {
    process: u32,
    value: Mutex<T>,
    next: Published<Of<T>>,
}

impl<T: Default + Send + 'static> PerProcess<T> {
    /// Nothing yet, in no process.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(Published::new())
    }

    /// This process's, locked. Not to be held while something is called that may come back here.
    pub fn lock(&self) -> MutexGuard<'static, T> {
        let process = crate::platform::owner::process_id();
        let mut place = &self.0;
        loop {
            let make = || Of { process, value: Mutex::new(T::default()), next: Published::new() };
            match place.get_or(make) {
                Some(of) if of.process == process => {
                    return of.value.lock().unwrap_or_else(PoisonError::into_inner);
                }
                Some(of) => place = &of.next,
                None => std::hint::spin_loop(),
            }
        }
    }
}

thread_local! {
    static PREPARING: Cell<bool> = const { Cell::new(false) };
}

/// Runs what a facade does the first time that something is recorded somewhere. `None`: this thread is doing such a thing already, and has come back here by the program's
/// allocator, or by a signal handler. Then the record is to be counted as lost ([`lose_nested`]).
pub fn prepare<R>(work: impl FnOnce() -> R) -> Option<R> {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            PREPARING.set(false);
        }
    }
    if PREPARING.replace(true) {
        return None;
    }
    let _end = End;
    Some(work())
}

/// Counts a record that was made while its thread was within [`prepare`].
#[cold]
pub fn lose_nested() {
    crate::platform::owner::lose(crate::platform::owner::Cause::Nested);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_first_stays() {
        static PLACE: Published<String> = Published::new();
        assert!(PLACE.get().is_none() && PLACE.get_or_try(|| None).is_none());
        let all: Vec<_> = std::thread::scope(|scope| {
            let make = |n: usize| {
                scope.spawn(move || std::ptr::from_ref(PLACE.get_or(|| n.to_string()).unwrap()).addr())
            };
            (0..8).map(make).collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|address| *address == all[0]));
        // Made within the making of itself: the inner one stays.
        static WITHIN: Published<u32> = Published::new();
        assert_eq!(WITHIN.get_or(|| *WITHIN.get_or(|| 1).unwrap() + 1), Some(&1));
    }

    #[test]
    fn who_prepares_does_not_prepare_within() {
        assert_eq!(prepare(|| prepare(|| 1)), Some(None));
        assert!(std::panic::catch_unwind(|| prepare(|| panic!("within"))).is_err());
        assert_eq!(prepare(|| 1), Some(1));
    }
}
