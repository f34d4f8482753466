//! A system on which nothing is recorded. What frontends ask `silverpoint-shm` for is answered as in a process without a
//! session. Types of which there is never a value have none here.

pub(crate) mod clock {
    /// Nothing is timed.
    pub(crate) fn monotonic_ns() -> u64 {
        0
    }
}

pub(crate) mod probe {
    /// Whether this process has more privileges than its caller: that is for what the environment asks for, and it asks for nothing here.
    pub fn is_privileged() -> bool {
        false
    }
}

pub(crate) mod signal_mask {
    /// Runs it.
    pub fn with_all_blocked<T>(run: impl FnOnce() -> T) -> T {
        run()
    }

    /// Runs it.
    pub fn without_sigpipe<T>(run: impl FnOnce() -> T) -> T {
        run()
    }
}

pub(crate) mod lasting {
    /// A reference to what lasts as long as the process.
    pub struct Lasting<T: 'static>(&'static T);

    impl<T> Clone for Lasting<T> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<T> Copy for Lasting<T> {}

    impl<T> Lasting<T> {
        /// Refers to it.
        pub const fn new(to: &'static T) -> Self {
            Self(to)
        }

        /// As a plain reference.
        pub fn get(self) -> &'static T {
            self.0
        }
    }
}

pub(crate) mod crash {
    pub use silverpoint_wire::crash::Options;

    /// Installs nothing: false.
    pub fn install(_: &Options) -> bool {
        false
    }

    /// Does nothing.
    pub fn prepare_thread() {}
}

pub(crate) mod owner {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

    pub use silverpoint_wire::registration::{Description, Pieces};

    /// Why a record was lost.
    #[derive(Clone, Copy)]
    pub(crate) enum Cause {
        Nested,
        TooLarge,
        Other,
    }

    /// A registered site: off for ever.
    #[derive(Clone, Copy)]
    pub struct Registered {
        /// 0: there is no room for it.
        pub id: u32,
        /// Its state byte.
        pub state: &'static AtomicU8,
    }

    impl Registered {
        pub(crate) fn awaits_memory(_: *const AtomicU8) -> bool {
            false
        }
    }

    pub(crate) const AGAIN: u8 = 0x80;
    pub(crate) const ALWAYS_FITS: usize = 256;
    pub(crate) const CONTEXT_BYTES: usize = 0;
    static OFF: AtomicU8 = AtomicU8::new(0);

    /// Gives a site that is off.
    pub fn register(_: &Description<'_>) -> Registered {
        Registered { id: 0, state: &OFF }
    }

    /// Gives a site that is off.
    pub fn register_question(description: &Description<'_>) -> Registered {
        register(description)
    }

    /// Gives a site that is off.
    pub fn register_variety(description: &Description<'_>) -> Registered {
        register(description)
    }

    /// No directive has anything on.
    pub fn would_record(_: &Description<'_>) -> bool {
        false
    }

    /// No directive has anything on.
    pub fn most_verbose() -> Option<u8> {
        None
    }

    /// There is no room for a record.
    pub(crate) enum Reservation {}

    impl Reservation {
        pub(crate) fn at(&self) -> *mut u8 {
            match *self {}
        }

        pub(crate) fn room(&self) -> usize {
            match *self {}
        }

        pub(crate) fn ticks(&self) -> u64 {
            match *self {}
        }

        /// # Safety
        /// None is needed.
        pub(crate) unsafe fn commit(self, _: usize) {
            match self {}
        }

        /// # Safety
        /// None is needed.
        pub(crate) unsafe fn commit_ahead(self, _: usize) {
            match self {}
        }

        pub(crate) fn keep(self) -> Owned {
            match self {}
        }

        pub(crate) fn lose(self, _: Cause) {
            match self {}
        }
    }

    /// What would go on with a record.
    #[derive(Clone, Copy)]
    pub(crate) struct Owned;

    impl Owned {
        pub(crate) fn give_up(self) {}
    }

    pub(crate) fn reserve(_: usize) -> Result<Reservation, Owned> {
        Err(Owned)
    }

    /// Nothing is recorded here.
    #[derive(Clone, Copy)]
    pub struct Here(std::marker::PhantomData<*const ()>);

    impl Here {
        /// The only one.
        pub const NOWHERE: Self = Self(std::marker::PhantomData);

        /// That.
        pub fn find() -> Self {
            Self::NOWHERE
        }

        pub(crate) fn reserve(self, _: usize) -> Result<Reservation, Owned> {
            Err(Owned)
        }
    }

    pub(crate) fn reserve_up_to(_: usize, _: usize) -> Result<Reservation, Owned> {
        Err(Owned)
    }

    pub(crate) fn reserve_rest(_: usize) -> Result<Reservation, Owned> {
        Err(Owned)
    }

    pub(crate) fn reserve_slowly(_: usize, _: u8, _: Owned) -> Option<Reservation> {
        None
    }

    pub(crate) fn prepare() {}

    pub(crate) fn lose(_: Cause) {}

    /// Nothing is counted.
    pub fn lose_other() {}

    /// Nothing is counted.
    pub fn lose_without_site() {}

    pub(crate) fn largest_record() -> usize {
        ALWAYS_FITS
    }

    /// Memory of the system.
    pub(crate) enum Pages {}

    impl Pages {
        pub(crate) fn new(_: usize) -> Option<Self> {
            None
        }

        pub(crate) fn address(&self) -> *mut u8 {
            match *self {}
        }
    }

    /// The event of a system tracer.
    #[derive(Clone, Copy)]
    pub(crate) enum Event {}

    impl Event {
        pub(crate) fn is_wanted(self) -> bool {
            match self {}
        }

        pub(crate) fn end(self) -> Self {
            self
        }

        pub(crate) fn write(self, _: &[u8], _: bool, _: *const ()) {
            match self {}
        }

        pub(crate) fn write_marked(self, _: &[u8], _: *const ()) {
            match self {}
        }

        pub(crate) fn begun(self, _: u64) {
            match self {}
        }

        pub(crate) fn write_end(self, _: u64, _: u64, _: *const ()) {
            match self {}
        }
    }

    /// A site for whose event a tracer may ask.
    #[derive(Clone, Copy)]
    pub(crate) struct Traced {
        pub(crate) event: Option<Event>,
        pub(crate) is_on: bool,
    }

    impl Traced {
        pub(crate) fn is_wanted(&self) -> bool {
            false
        }
    }

    /// What a site keeps of a tracer's event: nothing.
    pub(crate) struct Mark;

    impl Mark {
        pub(crate) const fn new() -> Self {
            Self
        }
        pub(crate) fn holds(&self, _: u8) -> bool {
            false
        }
        pub(crate) fn is_wanted(&self, _: u8) -> bool {
            false
        }
        pub(crate) fn gives_alone(&self, _: u8) -> Option<bool> {
            None
        }
        pub(crate) fn event(&self) -> Option<(Event, bool)> {
            None
        }
        pub(crate) fn set(&self, _: &Traced) {}
    }

    /// What a site keeps while a tracer does not want its event: nothing.
    pub(crate) struct Quiet;

    impl Quiet {
        pub(crate) const fn new() -> Self {
            Self
        }
        pub(crate) fn holds(&self, _: u8) -> bool {
            false
        }
        pub(crate) unsafe fn holds_of_span(&self, _: u8) -> bool {
            false
        }
        pub(crate) fn begin(&self, _: u32, _: &Traced, _: bool) {}
        pub(crate) fn end(&self, _: u32) {}
    }

    pub(crate) fn traced(_: u32) -> Traced {
        Traced { event: None, is_on: false }
    }

    pub(crate) fn is_unwanted(_: u32) -> bool {
        false
    }

    /// No system tracer is fed.
    pub fn feeds_tracer() -> bool {
        false
    }

    pub(crate) fn now() -> u64 {
        0
    }

    /// There are no ticks.
    pub fn ticks_to_ns(_: u64) -> u64 {
        0
    }

    /// Directives never change.
    pub(crate) enum Follower {}

    impl Follower {
        pub(crate) fn start() -> Option<(Self, u32)> {
            None
        }

        pub(crate) fn is_this_thread(&self) {
            match *self {}
        }

        pub(crate) fn has_followed(&self, _: u32) {
            match *self {}
        }
    }

    pub(crate) fn wait_for_change(_: u32) -> Option<u32> {
        None
    }

    pub(crate) fn enter_context(_: &[u8], _: bool) -> u64 {
        0
    }

    pub(crate) fn leave_context(_: u64) {}

    pub(crate) fn context_room() -> usize {
        0
    }

    pub(crate) fn with_context<R>(take: impl FnOnce(&[u8], bool) -> R) -> R {
        take(&[], false)
    }

    /// A number that no other call in this process gives; never 0.
    pub fn new_id() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// The calling process's id; 0 where there are none.
    pub fn process_id() -> u32 {
        if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
    }

    /// Random bytes, as good as those of the standard library's hash maps.
    pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
        let mut bytes = [0; N];
        for part in bytes.chunks_mut(8) {
            let word = RandomState::new().hash_one(new_id()).to_le_bytes();
            part.copy_from_slice(&word[..part.len()]);
        }
        bytes
    }
}
