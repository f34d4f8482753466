//! Sites whose records the ring wants, while the one system tracer that is asked for does not want their events (spec/wire.md, section 3.7).

use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU8, Ordering};

use super::at::{site_entry, state};
use super::local;
use super::session::Session;
use super::tracer_libraries::{asked, state_of};
use super::tracers::{ProbeEvent, Traced};

/// What a site keeps of this: its state byte then, and the word that is not 0 while the tracer wants the event. Of a span it keeps the event. A tracer
/// stores its wish in that word, in the memory of the process, and tells nobody: so each execution reads it.
pub struct Quiet {
    state: AtomicU8,
    of: AtomicPtr<()>,
}

static NOT_QUIET: AtomicI32 = AtomicI32::new(1);

impl Quiet {
    /// Of a site that is new.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(0), of: AtomicPtr::new(ptr::from_ref(&NOT_QUIET).cast_mut().cast()) }
    }

    /// Whether it was begun for this state of the site, and the tracer still does not want the event. Of a site that is no span's.
    #[inline(always)]
    pub fn holds(&self, state: u8) -> bool {
        // SAFETY: NOT_QUIET, or the state of an event, by `begin`. It lies there for ever, in a forked child, too. (Where an event itself would lie
        // there it begins with such a word.)
        state == self.state.load(Ordering::Acquire)
            && unsafe { (*self.of.load(Ordering::Relaxed).cast::<AtomicI32>()).load(Ordering::Relaxed) } == 0
    }

    /// The same of a span: neither the event of its begin nor that of its end is wanted. A span that begins so has no events.
    ///
    /// # Safety
    /// The state is not 0, and the site a span's whenever [`Quiet::begin`] is called.
    #[inline(always)]
    pub unsafe fn holds_of_span(&self, state: u8) -> bool {
        state == self.state.load(Ordering::Acquire) && {
            // SAFETY: an event that has one of its end, by `begin`, since the state was stored behind it.
            unsafe { !(*self.of.load(Ordering::Relaxed).cast::<ProbeEvent>()).is_span_wanted() }
        }
    }

    /// From now on the site is quiet, if one tracer alone is asked for and has its event. Of a span it must have that of the end, too. `id`: the
    /// site's; `traced`: what the ring wants, and no tracer.
    #[cold]
    pub fn begin(&self, id: u32, traced: &Traced, is_span: bool) {
        let Some(event) = traced.alone().filter(|event| !is_span || event.has_end()) else { return };
        let tracer = event.tracer;
        let Some((session, entry)) = place(id) else { return };
        let (byte, quiet) = (state_of(session, entry), state::quiet(tracer));
        let plain = state::RING | state::PROBED;
        match byte.compare_exchange(plain, quiet, Ordering::SeqCst, Ordering::SeqCst) {
            Err(other) if other != quiet => return self.end(id),
            _ => {}
        }
        // Who asks for another tracer clears the bits after that: here or there they are cleared.
        if asked(session) != tracer {
            return self.end(id);
        }
        let of: *const () = if is_span { ptr::from_ref(event).cast() } else { event.state.cast() };
        self.of.store(of.cast_mut(), Ordering::Relaxed);
        self.state.store(quiet, Ordering::SeqCst);
    }

    /// It is not quiet any more. (Other copies of the site find out for themselves.)
    pub fn end(&self, id: u32) {
        if self.state.load(Ordering::Relaxed) != 0 {
            self.state.store(0, Ordering::SeqCst);
        }
        if let Some((session, entry)) = place(id) {
            let byte = state_of(session, entry);
            if byte.load(Ordering::Relaxed) & state::QUIET != 0 {
                byte.fetch_and(!state::QUIET, Ordering::SeqCst);
            }
        }
    }
}

/// The session, and the site's entry in its table.
fn place(id: u32) -> Option<(&'static Session, u32)> {
    let session = local::existing()?;
    let entry = id.wrapping_sub(site_entry::FIRST_ID);
    (entry < session.layout.sites_cap).then_some((session, entry))
}
