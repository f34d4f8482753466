//! Spans that are open in each thread: the innermost apart, those around it in a stack.
//!
//! ```text
//!  innermost ◀── near (no call to get there) ◀── far (allocated)
//! ```

use std::cell::{Cell, RefCell};

use silverpoint::dynamic::{self, Lasting, Wanted};

use crate::slots::{NOBODY, Slot};
use crate::thread;

/// A span that is open in a thread.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) id: u64,
    pub(crate) slot: &'static Slot,
    pub(crate) begun: u64,
    pub(crate) what: What,
}

impl Frame {
    /// One of which nothing is recorded.
    pub(crate) fn silent(id: u64, slot: &'static Slot) -> Self {
        Self { id, slot, begun: 0, what: What::NOTHING }
    }
}

/// Its record: the site in the low half (0: nothing was recorded) with two marks of system tracers, then the
/// level. One flag says whether the
/// span was made in this thread and entered for the first time. Another says whether its fields are few
/// numbers; then their bytes follow. It is one word, as is all of a frame: the processor stalls when data is
/// stored in smaller pieces than it is loaded.
#[derive(Clone, Copy)]
pub(crate) struct What(u64);

/// Mark at the site: a system tracer may want the span. One comparison of the site then tells this case, and
/// that of nothing, from all others.
const TRACED: u64 = 1 << 31;
/// Mark at the site, beside [`TRACED`]: it is not in the ring.
const UNRECORDED: u64 = 1 << 30;

/// The span was made in this thread, and entered for the first time. No other span was made in it, which may ask for it from any thread.
const FIRST: u64 = 1 << 40;
/// The same, but another span was made in it. (The next bit, so that an addition makes the one of the other.)
const PARENT: u64 = 2 * FIRST;
/// Its fields are no more than [`silverpoint::dynamic::FEW_WORDS`], of 64 bits each, and its site is known.
const WORDS: u64 = 1 << 42;
/// The same, and there are none: nothing else of this need be asked, and no mark is at the site.
const BARE: u64 = 1 << 43;
const LEN_AT: u32 = 48;

impl What {
    pub(crate) const NOTHING: Self = Self(0);

    /// A stretch of a span that has an id.
    #[inline(always)]
    pub(crate) fn segment(site: u32, level: u8) -> Self {
        Self(u64::from(site) | u64::from(level) << 32)
    }

    /// The begin of a span with `len` bytes of fields.
    #[inline(always)]
    pub(crate) fn begin(site: u32, level: u8, len: usize, is_words: bool) -> Self {
        let words = match (is_words, len) {
            (true, 0) => WORDS | BARE,
            (true, _) => WORDS,
            _ => 0,
        };
        Self(Self::segment(site, level).0 | FIRST | words | (len as u64 & 0xFFFF) << LEN_AT)
    }

    #[inline(always)]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline(always)]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) fn site(self) -> u32 {
        (self.0 & !(TRACED | UNRECORDED)) as u32
    }

    /// The same, where no mark is at it.
    #[inline(always)]
    pub(crate) fn plain_site(self) -> u32 {
        self.0 as u32
    }

    /// Whether its records go into the ring, and nowhere else. Then no mark is at the site.
    #[inline(always)]
    pub(crate) fn is_for_ring_alone(self) -> bool {
        self.0 as i32 > 0
    }

    /// The same for those who want it.
    #[inline]
    pub(crate) fn for_wanted(self, wanted: Wanted) -> Self {
        if wanted.by_ring_alone() {
            return self;
        }
        Self(self.0 & !BARE | TRACED | if wanted.by_ring() { 0 } else { UNRECORDED })
    }

    /// Who may want its records.
    #[inline]
    pub(crate) fn wanted(self) -> Wanted {
        Wanted::by(self.0 & UNRECORDED == 0, self.0 & TRACED != 0)
    }

    #[inline(always)]
    pub(crate) fn level(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// Whether it was entered for the first time, where it was made.
    #[inline(always)]
    pub(crate) fn is_first(self) -> bool {
        self.0 & (FIRST | PARENT) != 0
    }

    /// The same; and no other span was made in it.
    #[inline(always)]
    pub(crate) fn is_first_alone(self) -> bool {
        self.0 & FIRST != 0
    }

    /// The same, where one was.
    #[inline(always)]
    fn with_child(self) -> Self {
        Self(self.0 + (self.0 & FIRST))
    }

    #[inline(always)]
    pub(crate) fn is_words(self) -> bool {
        self.0 & WORDS != 0
    }

    #[inline(always)]
    pub(crate) fn is_bare(self) -> bool {
        self.0 & BARE != 0
    }

    /// Bytes of the fields.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        (self.0 >> LEN_AT) as usize
    }
}

/// A frame, each part for itself.
struct Place {
    id: Cell<u64>,
    slot: Cell<Lasting<Slot>>,
    begun: Cell<u64>,
    what: Cell<What>,
}

impl Place {
    const fn new() -> Self {
        Self {
            id: Cell::new(0),
            slot: Cell::new(Lasting::new(&NOBODY)),
            begun: Cell::new(0),
            what: Cell::new(What::NOTHING),
        }
    }

    #[inline(always)]
    fn get(&self) -> Frame {
        Frame {
            id: self.id.get(),
            slot: self.slot.get().get(),
            begun: self.begun.get(),
            what: self.what.get(),
        }
    }

    #[inline(always)]
    fn set(&self, frame: Frame) {
        self.id.set(frame.id);
        self.slot.set(Lasting::new(frame.slot));
        self.begun.set(frame.begun);
        self.what.set(frame.what);
    }
}

/// Spans around the innermost that are kept without an allocation. A power of two.
const NEAR: usize = 8;

/// Spans that are open in one thread.
pub(crate) struct Open {
    /// Its id is 0 where there is none.
    innermost: Place,
    /// How many are around it.
    depth: Cell<usize>,
    /// The outermost of these.
    near: [Place; NEAR],
}

thread_local! {
    /// Those within [`NEAR`] others.
    static FAR: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

impl Open {
    pub(crate) const fn new() -> Self {
        Self { innermost: Place::new(), depth: Cell::new(0), near: [const { Place::new() }; NEAR] }
    }

    /// The innermost span; 0: none.
    #[inline(always)]
    pub(crate) fn id(&self) -> u64 {
        self.innermost.id.get()
    }

    /// Its frame, which means something only where there is one.
    #[inline(always)]
    pub(crate) fn innermost(&self) -> Frame {
        self.innermost.get()
    }

    /// A span is made in the innermost.
    #[inline(always)]
    pub(crate) fn make_parent(&self) {
        self.innermost.what.set(self.innermost.what.get().with_child());
    }

    /// Whether a span is open: some are entered again within themselves.
    #[inline(never)]
    pub(crate) fn has(&self, id: u64) -> bool {
        let depth = self.depth.get();
        self.innermost.id.get() == id
            || self.near[..depth.min(NEAR)].iter().any(|place| place.id.get() == id)
            || depth > NEAR
                && FAR.try_with(|far| far.borrow().iter().any(|frame| frame.id == id)).unwrap_or(false)
    }

    /// Whether one more takes no allocation, and one less takes none back.
    #[inline(always)]
    pub(crate) fn is_near(&self) -> bool {
        self.depth.get() < NEAR
    }

    /// A span is open from here on, within `outer`, the innermost open one (0: none). Where [`Open::is_near`], as it is.
    #[inline(always)]
    pub(crate) fn enter_near(&self, outer: u64, frame: Frame) {
        if outer != 0 {
            let depth = self.depth.get();
            self.near[depth % NEAR].set(self.innermost.get());
            self.depth.set(depth + 1);
        }
        self.innermost.set(frame);
    }

    /// The innermost is open no longer; gives it, if none of those around it is [far](Open::is_near).
    #[inline(always)]
    pub(crate) fn leave_near(&self) -> Option<Frame> {
        let (depth, frame) = (self.depth.get(), self.innermost.get());
        if depth == 0 {
            self.innermost.id.set(0);
        } else if depth < NEAR {
            self.innermost.set(self.near[(depth - 1) % NEAR].get());
            self.depth.set(depth - 1);
        } else {
            return None;
        }
        Some(frame)
    }

    pub(crate) fn enter(&self, frame: Frame) {
        if self.is_near() {
            return self.enter_near(self.id(), frame);
        }
        // (There is an innermost one, or there would be none around it.) A thread that is at its end keeps none.
        let kept = FAR.try_with(|far| {
            // Room first, while nothing is borrowed: the program's allocator may come here again.
            if far.borrow().len() == far.borrow().capacity() {
                dynamic::prepare(|| make_room(far))?;
            }
            far.borrow_mut().push(self.innermost.get());
            Some(())
        });
        match kept {
            Ok(None) => return,
            Ok(Some(())) => self.depth.set(self.depth.get() + 1),
            Err(_) => {}
        }
        self.innermost.set(frame);
    }

    /// The frame of a span that is open, which is so no longer. Spans are mostly left in the order in which they were entered, but need not be.
    pub(crate) fn leave(&self, id: u64) -> Option<Frame> {
        if self.innermost.id.get() == id {
            let frame = self.innermost.get();
            match self.outer_end() {
                Some(outer) => self.innermost.set(outer),
                None => self.innermost.id.set(0),
            }
            return Some(frame);
        }
        let depth = self.depth.get();
        let in_far = FAR.try_with(|far| {
            let mut far = far.borrow_mut();
            let place = far.iter().rposition(|frame| frame.id == id)?;
            Some(far.remove(place))
        });
        let found = in_far.ok().flatten().or_else(|| {
            let near = depth.min(NEAR);
            let place = self.near[..near].iter().rposition(|frame| frame.id.get() == id)?;
            let frame = self.near[place].get();
            for at in place + 1..near {
                self.near[at - 1].set(self.near[at].get());
            }
            // The outermost of the far ones is near now.
            let outermost = FAR.try_with(|far| {
                let mut far = far.borrow_mut();
                (depth > NEAR && !far.is_empty()).then(|| far.remove(0))
            });
            if let Ok(Some(outermost)) = outermost {
                self.near[NEAR - 1].set(outermost);
            }
            Some(frame)
        })?;
        self.depth.set(depth - 1);
        Some(found)
    }

    /// Takes the innermost of those around.
    fn outer_end(&self) -> Option<Frame> {
        let depth = self.depth.get();
        let outer = match depth {
            0 => return None,
            1..=NEAR => Some(self.near[depth - 1].get()),
            _ => FAR.try_with(|far| far.borrow_mut().pop()).ok().flatten(),
        };
        self.depth.set(depth - 1);
        outer
    }
}

fn make_room(far: &RefCell<Vec<Frame>>) {
    // (Nothing is borrowed while this allocates.)
    let len = far.borrow().len();
    let mut larger = Vec::with_capacity(2 * len + 16);
    larger.extend_from_slice(&far.borrow());
    let smaller = far.replace(larger);
    drop(smaller);
}

/// The innermost span that is open in this thread; 0: none.
#[inline(always)]
pub(crate) fn current() -> u64 {
    thread::with(|thread| thread.open.id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: u64) -> Frame {
        Frame { id, slot: &NOBODY, begun: id * 10, what: What::segment(id as u32, 2) }
    }

    #[test]
    fn spans_are_left_in_any_order_near_and_far() {
        let count = NEAR as u64 * 3;
        for step in [1, 5, 7, 11] {
            let open = Open::new();
            (1..=count).for_each(|id| open.enter(frame(id)));
            let mut left: Vec<u64> = (1..=count).collect();
            // (24 and each of the steps have no common divisor.)
            for n in 0..count {
                let id = n * step % count + 1;
                assert!(open.has(id));
                let gone = open.leave(id).unwrap();
                assert!(!open.has(id));
                assert_eq!((gone.id, gone.begun, gone.what.site()), (id, id * 10, id as u32));
                assert!(open.leave(id).is_none());
                left.retain(|other| *other != id);
                assert_eq!(open.id(), left.last().copied().unwrap_or(0));
            }
            assert!(open.is_near());
        }
    }

    #[test]
    fn what_has_all_its_parts() {
        let largest = (1 << 30) - 1;
        let what = What::begin(largest, 5, 96, true);
        assert_eq!((what.site(), what.level(), what.len()), (largest, 5, 96));
        assert!(what.is_first() && what.is_words() && what.is_first_alone());
        let parent = what.with_child();
        assert!(parent.is_first() && !parent.is_first_alone() && parent.is_words());
        assert_eq!(parent.with_child().bits(), parent.bits());
        assert_eq!((parent.site(), parent.level(), parent.len()), (largest, 5, 96));
        assert_eq!(What::segment(9, 3).with_child().bits(), What::segment(9, 3).bits());
        let what = What::begin(7, 4, 0, false);
        assert_eq!((what.site(), what.level(), what.len()), (7, 4, 0));
        assert!(what.is_first() && !what.is_words());
        for wanted in [Wanted::by(true, true), Wanted::by(false, true), Wanted::by(true, false)] {
            let what = What::begin(7, 4, 24, true).for_wanted(wanted);
            assert_eq!((what.site(), what.wanted()), (7, wanted));
            assert_eq!(what.is_for_ring_alone(), wanted.by_ring_alone());
        }
        assert!(!What::NOTHING.is_for_ring_alone());
        let what = What::segment(9, 3);
        assert_eq!((what.site(), what.level(), what.is_first(), what.is_words()), (9, 3, false, false));
        assert_eq!(What::NOTHING.site(), 0);
    }
}
