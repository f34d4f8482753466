//! Tracepoints' static part: state, registration, and what a template's placeholders ask of their arguments.

use std::any::type_name;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::platform::owner::{self, Description, Event, Mark, Quiet, Registered};
use silverpoint_wire::layout::state;
use silverpoint_wire::level;
use silverpoint_wire::marker;

use crate::args::{Args, Types};
use crate::platform::RECORDS;
use crate::section;
use crate::sig::{Class, decimal};

/// What a site is for (spec/wire.md, section 7): the kinds that the macros make, and three that descriptions do not have.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Text with placeholders.
    Log = level::Kind::Log as u8,
    /// A name and values.
    Event = level::Kind::Event as u8,
    /// The begin of a stretch of time.
    Span = level::Kind::Span as u8,
    /// A value that changes in time.
    Counter = level::Kind::Counter as u8,
    /// A point in time.
    Instant = level::Kind::Instant as u8,
    /// The begin of a stretch of time that may end in another thread.
    AsyncBegin = level::Kind::AsyncBegin as u8,
    /// Its end.
    AsyncEnd = level::Kind::AsyncEnd as u8,
    /// A point within it.
    AsyncInstant = level::Kind::AsyncInstant as u8,
    /// The begin of a way through threads.
    FlowBegin = level::Kind::FlowBegin as u8,
    /// A station of it.
    FlowStep = level::Kind::FlowStep as u8,
    /// Its end.
    FlowEnd = level::Kind::FlowEnd as u8,
    /// One id came from another.
    Link = level::Kind::Link as u8,
    /// The begin of an async span, which knows of its end.
    AsyncSpan = 253,
    /// A span that has the name of its function.
    Scope = 254,
    /// Nothing is recorded: somebody asks whether it would be.
    Enabled = 255,
}

impl Kind {
    /// What the site's description says.
    pub(crate) const fn of_description(self) -> u8 {
        match self {
            Self::Enabled => Self::Log as u8,
            Self::Scope => Self::Span as u8,
            Self::AsyncSpan => Self::AsyncBegin as u8,
            other => other as u8,
        }
    }

    /// A begin and an end that are one, in one thread.
    #[inline]
    pub(crate) const fn is_span(self) -> bool {
        matches!(self, Self::Span | Self::Scope)
    }

    /// While a system tracer is asked for, it may want what follows: the end of an async span, what stands
    /// behind a question.
    const fn is_always_asked(self) -> bool {
        matches!(self, Self::AsyncSpan | Self::Enabled)
    }
}

/// A placeholder of a template, and the literal before it. Made by the macros.
pub struct Piece {
    /// Literal, braces doubled.
    pub before: &'static str,
    /// Which argument.
    pub argument: usize,
    /// What stands after the colon.
    pub spec: &'static str,
    /// A sign is asked for.
    pub sign: bool,
    /// `#` is asked for.
    pub alternate: bool,
    /// Zeros before numbers are asked for.
    pub zero: bool,
    /// A precision is given.
    pub precision: bool,
    /// The type's letter, or 0.
    pub kind: u8,
}

/// The constants of one tracepoint, as a type.
pub trait Meta {
    /// What it is for.
    const KIND: Kind;
    /// Level (spec/wire.md, section 7).
    const LEVEL: u8;
    /// Category.
    const CATEGORY: &'static str;
    /// Source file.
    const FILE: &'static str;
    /// Line in it.
    const LINE: u32;
    /// Placeholders.
    const PIECES: &'static [Piece];
    /// Literal after the last placeholder; the name of events and their like.
    const TAIL: &'static str;
    /// One line an argument, or nothing.
    const NAMES: &'static str;
    /// Placeholder n means argument n, for all.
    const IN_ORDER: bool;
    /// An execution is wanted whenever the site is on, has no arguments and gives nothing.
    const IS_ALONE: bool = false;

    /// The static part. The symbol of this function names the function that the tracepoint stands in (see the module `section`).
    fn site() -> &'static Site;
}

/// State byte of a site that is not registered (spec/wire.md, section 3.3): leads to the cold path.
const UNREGISTERED: u8 = owner::AGAIN;
/// What is in a state byte other than off and on. (Without bit 6, which nobody sets: else the hot path compares
/// with 0 and 1, which costs it another instruction.)
const OTHERWISE: u8 = !(state::RING | 1 << 6);
static NOT_YET: AtomicU8 = AtomicU8::new(UNREGISTERED);

/// Instantiations of a generic function whose arguments have other types than the first; more of them look theirs up at each record.
const OTHERS: usize = 3;

/// A tracepoint's static part.
pub struct Site {
    /// Points to [`NOT_YET`], then to the site's byte in shared memory for good.
    state: AtomicPtr<AtomicU8>,
    /// Id; 0: not registered, or no room. A static within a generic function is shared by all its
    /// instantiations. Each of these has a signature, and so an id, of its own: this is the id of the first.
    id: AtomicU32,
    /// Hash of the signature that `id` is for; stored after it. 0 while a system tracer wants the events of
    /// that instantiation: so each comes to [`Site::other_id`].
    hash: AtomicU32,
    /// Hash in the high half, id in the low one: the first; 0: none yet. Stored last.
    whole: AtomicU64,
    /// Hash in the high half, id in the low one: other instantiations.
    others: [AtomicU64; OTHERS],
    /// Of the first: its event, while a system tracer wants it.
    mark: Mark,
    /// Of the first: that the ring alone wants it, while a tracer is asked for.
    quiet: Quiet,
}

impl Site {
    /// Not registered yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            state: AtomicPtr::new(ptr::from_ref(&NOT_YET).cast_mut()),
            id: AtomicU32::new(0),
            hash: AtomicU32::new(0),
            whole: AtomicU64::new(0),
            others: [const { AtomicU64::new(0) }; OTHERS],
            mark: Mark::new(),
            quiet: Quiet::new(),
        }
    }

    /// The state byte: 0 is off. Two loads.
    #[inline(always)]
    pub fn state(&self) -> u8 {
        // SAFETY: points to NOT_YET, or to a byte that stays mapped as long as the process lives.
        unsafe { (*self.state.load(Ordering::Acquire)).load(Ordering::Relaxed) }
    }

    /// Whether these arguments have the types of the site's first registration: always, but in generic functions.
    #[inline(always)]
    pub(crate) fn is_first<A: Args>(&self) -> bool {
        self.hash.load(Ordering::Acquire) == const { A::HASH }
    }

    /// The id of the first registration.
    #[inline(always)]
    pub(crate) fn first_id(&self) -> u32 {
        self.id.load(Ordering::Relaxed)
    }

    /// The id for other arguments than the first, or where a system tracer may want the event: then it is an
    /// error. 0 when there is no room for it in the session: its record is lost, and counted.
    #[cold]
    #[inline(never)]
    pub(crate) fn other_id<M: Meta, A: Args>(&self) -> Result<u32, u32> {
        match self.alone_id::<A>() {
            0 => {}
            id if self.mark.holds(self.state()) => return Err(id),
            _ => {}
        }
        match self.known_id::<M, A>() {
            0 => Err(0),
            id if self.state() & state::PROBED != 0 => Err(id),
            id => {
                self.go_straight::<A>(id, true);
                Ok(id)
            }
        }
    }

    /// Whether executions with the arguments of this id, if it is the first, come to [`Site::other_id`].
    fn go_straight<A: Args>(&self, id: u32, straight: bool) {
        let hash = if straight { A::HASH } else { 0 };
        if self.whole.load(Ordering::Acquire) == word_of::<A>(id) && self.hash.load(Ordering::Relaxed) != hash
        {
            self.hash.store(hash, Ordering::Release);
        }
    }

    /// The id for these arguments, registered if need be; 0 when there is no room for it in the session. A record that is lost by that is counted.
    fn known_id<M: Meta, A: Args>(&self) -> u32 {
        let known = std::iter::once(&self.whole)
            .chain(&self.others)
            .map(|word| word.load(Ordering::Acquire))
            .find(|word| (word >> 32) as u32 == A::HASH);
        if let Some(word) = known {
            return word as u32;
        }
        let registered = register::<M, A>();
        if Registered::awaits_memory(self.state.load(Ordering::Relaxed)) {
            // It was on and found no room: now it has a byte of its own, or is off, or still goes without.
            self.state.store(ptr::from_ref(registered.state).cast_mut(), Ordering::Release);
        }
        if registered.id == 0 {
            if registered.state.load(Ordering::Relaxed) & state::RING != 0 {
                owner::lose_without_site();
            }
            return 0;
        }
        if !self.is_now_first::<A>(registered.id) {
            let word = word_of::<A>(registered.id);
            let _ = self
                .others
                .iter()
                .find(|other| other.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_ok());
        }
        registered.id
    }

    /// The id for these arguments, if a system tracer or the ring wants this execution; else 0.
    #[cfg(usdt)]
    pub(crate) fn wanted_id<M: Meta, A: Args>(&'static self) -> u32 {
        if is_on_otherwise::<M, A>(self) { self.known_id::<M, A>() } else { 0 }
    }

    /// Gives the id the place of the first, if nobody has it. The id before its hash.
    fn is_now_first<A: Args>(&self, id: u32) -> bool {
        let is_first = self.id.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_first {
            self.hash.store(A::HASH, Ordering::Release);
            self.whole.store(word_of::<A>(id), Ordering::Release);
        }
        is_first
    }

    /// The event of an id that [`Site::other_id`] has given as an error, if a tracer wanted it when it was asked last.
    /// And whether the ring wanted the record, too.
    #[inline(always)]
    pub(crate) fn marked(&self, id: u32) -> Option<(Event, bool)> {
        if self.whole.load(Ordering::Acquire) as u32 == id { self.mark.event() } else { None }
    }

    /// The id for these arguments, if they are the first; else 0.
    #[inline(always)]
    fn alone_id<A: Args>(&self) -> u32 {
        let whole = self.whole.load(Ordering::Acquire);
        if (whole >> 32) as u32 == A::HASH { whole as u32 } else { 0 }
    }

    /// Whether these arguments are the first, if there is a mark: without a first there is none.
    #[inline(always)]
    fn is_marked_for<A: Args>(&self) -> bool {
        (self.whole.load(Ordering::Acquire) >> 32) as u32 == A::HASH
    }

    /// Whether a system tracer or the ring wants this execution, and which way it takes. Another thread may
    /// decide otherwise meanwhile, if a tracer or a directive has just changed: either is right.
    #[inline(never)]
    fn is_wanted<M: Meta, A: Args>(&self) -> bool {
        let id = self.known_id::<M, A>();
        if id == 0 {
            return false;
        }
        let traced = owner::traced(id);
        let is_wanted = traced.is_wanted();
        let is_for_ring = traced.is_on && !is_wanted;
        self.go_straight::<A>(id, is_for_ring);
        if self.alone_id::<A>() == id {
            self.mark.set(&traced);
            if is_for_ring {
                self.quiet.begin(id, &traced, const { M::KIND.is_span() });
            }
            // Another thread, which takes another way meanwhile, stores the hash first.
            if !is_for_ring || self.hash.load(Ordering::SeqCst) != A::HASH {
                self.quiet.end(id);
            }
        }
        is_wanted || traced.is_on || M::KIND.is_always_asked()
    }
}

fn register<M: Meta, A: Args>() -> Registered {
    let mut buffer = [0u8; marker::MAX];
    let function = marker::of_marker(type_name::<M>(), &mut buffer);
    owner::register(&Description {
        kind: M::KIND.of_description(),
        level: M::LEVEL,
        line: M::LINE,
        language: 2,
        category: M::CATEGORY,
        file: M::FILE,
        function,
        names: &|give| give(M::NAMES.as_bytes()),
        template: &|give| match M::KIND {
            Kind::Scope => give(function.as_bytes()),
            _ => template::<M, A>(give),
        },
        signature: &|give| A::SIGNATURE.each(give),
    })
}

fn word_of<A: Args>(id: u32) -> u64 {
    u64::from(A::HASH) << 32 | u64::from(id)
}

/// The first half of the question whether a site is on: its state byte, 0 when it is off. While a tracer is
/// attached to a USDT probe it is not 0.
#[inline(always)]
pub fn state(site: &'static Site) -> u8 {
    if !RECORDS {
        return 0;
    }
    #[cfg(usdt)]
    return crate::usdt::marked(site.state());
    #[cfg(not(usdt))]
    site.state()
}

/// Whether a tracer was attached to a USDT probe when the state was read.
#[inline(always)]
pub(crate) const fn is_attached(state: u8) -> bool {
    #[cfg(usdt)]
    return state & crate::usdt::ATTACHED != 0;
    #[cfg(not(usdt))]
    {
        let _ = state;
        false
    }
}

/// The second half of the question whether a site is on, or a system tracer wants its event: `state` is not 0.
#[inline(always)]
pub fn is_on<M: Meta, A: Args>(site: &'static Site, state: u8, _types: &Types<A>) -> bool {
    const {
        if let Err(message) = check::<M, A>() {
            panic!("{}", message);
        }
    };
    state & OTHERWISE == 0
        || is_attached(state)
        || is_quiet::<M>(site, state)
        || is_on_otherwise::<M, A>(site)
}

/// Whether the ring wants this execution, and the one system tracer that is asked for does not. `state` is not 0.
#[inline(always)]
fn is_quiet<M: Meta>(site: &'static Site, state: u8) -> bool {
    if const { M::KIND.is_span() } {
        // SAFETY: the state is not 0; and a site has one kind, which is that of its constants.
        unsafe { site.quiet.holds_of_span(state) }
    } else {
        site.quiet.holds(state)
    }
}

/// States other than off and on: not registered yet, or a system tracer is asked for. (It reads the state
/// again: an argument would cost the hot path an instruction.)
#[cold]
#[inline(never)]
fn is_on_otherwise<M: Meta, A: Args>(site: &'static Site) -> bool {
    // (While no tracer was asked for, the site may have gone straight again, and kept its mark.)
    if site.hash.load(Ordering::Relaxed) == 0 && site.is_marked_for::<A>() {
        let state = site.state();
        if const { M::IS_ALONE } {
            if let Some(is_done) = site.mark.gives_alone(state) {
                return !is_done;
            }
        } else if site.mark.is_wanted(state) {
            return true;
        }
    }
    is_on_seldom::<M, A>(site)
}

/// The same where the event is not what a tracer wanted just now. (A function of its own: so the other needs no stack.)
#[inline(never)]
fn is_on_seldom<M: Meta, A: Args>(site: &'static Site) -> bool {
    let mut state = site.state();
    if state & UNREGISTERED != 0 {
        state = first::<M, A>(site);
    }
    if state & state::PROBED != 0 { site.is_wanted::<M, A>() } else { state & state::RING != 0 }
}

/// The first time that the site is reached: registers it. Gives its state.
#[cold]
#[inline(never)]
pub(crate) fn first<M: Meta, A: Args>(site: &'static Site) -> u8 {
    section::list::<M, A>();
    let registered = register::<M, A>();
    // Both before the state. Of two instantiations that come at once, one has the place; the other finds its own elsewhere.
    if registered.id != 0 {
        site.is_now_first::<A>(registered.id);
    }
    site.state.store(ptr::from_ref(registered.state).cast_mut(), Ordering::Release);
    registered.state.load(Ordering::Relaxed)
}

/// The template as it is stored: `{}` where placeholders are in order, else numbered.
///
/// In Rust `{:.2}` of a float means two digits after the point. In the stored grammar, which is that of C++,
/// it means two digits altogether, and `{:.2f}` is Rust's meaning. So the letter is added.
fn template<M: Meta, A: Args>(give: &mut dyn FnMut(&[u8])) {
    for piece in M::PIECES {
        give(piece.before.as_bytes());
        give(b"{");
        if !M::IN_ORDER {
            give(decimal(piece.argument as i128).text());
        }
        if !piece.spec.is_empty() {
            give(b":");
            give(piece.spec.as_bytes());
            if wants_f::<A>(piece) {
                give(b"f");
            }
        }
        give(b"}");
    }
    give(M::TAIL.as_bytes());
}

/// Whether a precision means digits after the point.
pub(crate) const fn wants_f<A: Args>(piece: &Piece) -> bool {
    piece.precision && piece.kind == 0 && matches!(A::CLASSES.at(piece.argument), Class::Float)
}

/// What is wrong with the placeholders' specifications for their arguments' types. Evaluated when the program is compiled.
const fn check<M: Meta, A: Args>() -> Result<(), &'static str> {
    let mut i = 0;
    while i < M::PIECES.len() {
        let piece = &M::PIECES[i];
        if let Err(message) = fits(piece, A::CLASSES.at(piece.argument)) {
            return Err(message);
        }
        i += 1;
    }
    Ok(())
}

const fn fits(piece: &Piece, class: Class) -> Result<(), &'static str> {
    let integer = matches!(class, Class::Integer | Class::Enumeration);
    let float = matches!(class, Class::Float);
    let as_integer = integer || matches!(class, Class::Boolean | Class::Character);
    let numeric = match piece.kind {
        b'b' | b'B' | b'd' | b'o' | b'x' | b'X' if !as_integer => {
            return Err(
                "silverpoint: a placeholder of type b B d o x X wants an integer, bool, char or enum",
            );
        }
        b'b' | b'B' | b'd' | b'o' | b'x' | b'X' => true,
        b'c' if !integer && !matches!(class, Class::Character) => {
            return Err("silverpoint: a placeholder of type c wants a char or an integer");
        }
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if !float => {
            return Err("silverpoint: a placeholder of type a A e E f F g G wants a floating point number");
        }
        b's' if !matches!(class, Class::Text | Class::Boolean | Class::Enumeration) => {
            return Err("silverpoint: a placeholder of type s wants a text, bool or enum");
        }
        b'p' if !matches!(class, Class::Pointer) => {
            return Err("silverpoint: a placeholder of type p wants a pointer");
        }
        _ => integer || float,
    };
    if piece.precision && !float && !matches!(class, Class::Text) {
        return Err("silverpoint: a precision wants a floating point number or a text");
    }
    if (piece.sign || piece.alternate) && !numeric {
        return Err("silverpoint: a sign or # wants a number");
    }
    if piece.zero && !numeric && !matches!(class, Class::Pointer) {
        return Err("silverpoint: zeros before a value want a number or a pointer");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Piece = Piece {
        before: "",
        argument: 0,
        spec: "",
        sign: false,
        alternate: false,
        zero: false,
        precision: false,
        kind: 0,
    };

    #[test]
    fn specifications_fit_their_arguments() {
        use Class::*;
        let of = |kind: char| Piece { kind: kind as u8, ..PLAIN };
        for class in [Integer, Float, Text, Boolean, Character, Pointer, Enumeration, Other] {
            assert_eq!(fits(&PLAIN, class), Ok(()));
            assert_eq!(fits(&of('?'), class), Ok(()));
            let admits = |kind| fits(&of(kind), class).is_ok();
            let as_integer = matches!(class, Integer | Boolean | Character | Enumeration);
            assert!("bBdoxX".chars().all(|kind| admits(kind) == as_integer), "{class:?}");
            assert!("aAeEfFgG".chars().all(|kind| admits(kind) == (class == Float)), "{class:?}");
            assert_eq!(admits('c'), matches!(class, Integer | Character | Enumeration), "{class:?}");
            assert_eq!(admits('s'), matches!(class, Text | Boolean | Enumeration), "{class:?}");
            assert_eq!(admits('p'), class == Pointer, "{class:?}");
            let precision = fits(&Piece { precision: true, ..PLAIN }, class);
            assert_eq!(precision.is_ok(), matches!(class, Float | Text), "{class:?}");
            for piece in [Piece { sign: true, ..PLAIN }, Piece { alternate: true, ..PLAIN }] {
                assert_eq!(
                    fits(&piece, class).is_ok(),
                    matches!(class, Integer | Float | Enumeration),
                    "{class:?}"
                );
            }
        }
        assert_eq!(fits(&Piece { alternate: true, ..of('x') }, Boolean), Ok(()));
        assert_eq!(fits(&Piece { zero: true, ..PLAIN }, Pointer), Ok(()));
        assert!(fits(&Piece { zero: true, ..PLAIN }, Text).is_err());
    }

    #[test]
    fn the_whole_template_is_checked() {
        struct Second;
        impl Meta for Second {
            const KIND: Kind = Kind::Log;
            const LEVEL: u8 = 2;
            const CATEGORY: &'static str = "";
            const FILE: &'static str = "";
            const LINE: u32 = 1;
            const PIECES: &'static [Piece] = &[PLAIN, Piece { argument: 1, kind: b'x', ..PLAIN }];
            const TAIL: &'static str = "";
            const NAMES: &'static str = "";
            const IN_ORDER: bool = true;
            fn site() -> &'static Site {
                static SITE: Site = Site::new();
                &SITE
            }
        }
        assert_eq!(check::<Second, (&f64, (&u8, ()))>(), Ok(()));
        assert!(check::<Second, (&u8, (&f64, ()))>().is_err());
        // Elements of containers are what a specification is for.
        assert_eq!(check::<Second, (&f64, (&Vec<Option<u8>>, ()))>(), Ok(()));
    }
}
