//! Android's ATrace, for Rust on Linux and Android: the same calls, tags and properties, two outputs.
//!
//! **The invariant.** An end goes to the outputs in which its interval was begun, even if tags were switched
//! meanwhile. A tag that is off costs a load and a comparison.
//!
//! ```
//! use silverpoint_atrace::{self as atrace, Tag};
//!
//! fn draw(frame: i64) {
//!     let _draw = atrace::scope(Tag::APP, "draw");         // until the end of the block
//!     atrace::int64(Tag::APP, "frame", frame);
//!     atrace::async_begin(Tag::APP, "upload", 7);          // ends in whatever thread
//!     atrace::async_end(Tag::APP, "upload", 7);
//! }
//!
//! let capture = silverpoint_testing::Capture::start();     // switches the rings on
//! draw(1);
//! capture.expect_counter("frame").value(1).within("draw").once();
//! capture.expect("upload").within("draw").times(2);
//! ```
//!
//! ```text
//!  call ─▶ state: the outputs of its tag ─┬─ none: nothing is done
//!           ▲ properties, directives      ├─ ring: a site for each kind of call, tag and name ─▶ rings
//!                                         └─ kernel: message ─▶ marker, the file trace_marker
//! ```
//!
//! **Outputs**, also all at once. One is the kernel's `trace_marker`, written as Android writes it, for
//! Perfetto, systrace and `atrace`. The other is Silverpoint's rings. A call there costs a hundredth of that,
//! survives the death of the process, and lies on one timeline with all other records. System tracers that the
//! program is asked to feed (LTTng, user_events) get what the ring would get.
//!
//! **What is enabled.** Properties of Android's names ([`enabled_tags`]) enable the kernel's output. They are
//! variables of the environment, or lines of the file that `SILVERPOINT_ATRACE_PROPERTIES` names, which is
//! read again when it changes. Silverpoint's directives enable the rings: category `atrace::app` and the
//! like; where properties are set, only tags that they enable.
//!
//! **USDT.** With the feature `usdt` of the crate `silverpoint`, each kind of call is a probe (`silverpoint:atrace_begin`
//! and the like). It is hit while a tracer is attached, whether the tag is enabled or not.
#![forbid(unsafe_code)]

pub mod kernel;
mod marker;
mod message;
mod properties;
mod ring;
mod state;
mod tag;

use silverpoint::dynamic::{self, AtraceCall};
use state::Outputs;
pub use state::on_change;
pub use tag::Tag;

/// Whether any of these tags is enabled for any output, or a tracer is attached to a USDT probe.
#[inline(always)]
pub fn is_tag_enabled(tag: Tag) -> bool {
    dynamic::is_usdt_attached() || state::outputs(tag.bits()).any()
}

/// Hits the USDT probe of a call while a tracer is attached. Gives whether one is.
#[inline(always)]
fn probe(call: AtraceCall, tag: Tag, name: &str, number: i64, track: &str) -> bool {
    let is_attached = dynamic::is_usdt_attached();
    if is_attached {
        dynamic::hit_usdt_atrace(call, tag.bits(), name, number, track);
    }
    is_attached
}

/// Whether any of these tags goes to the kernel.
#[inline]
pub fn is_in_marker(tag: Tag) -> bool {
    state::outputs(tag.bits()).marker()
}

/// Whether these tags go into the ring: the category of the lowest must be on there.
#[inline]
pub fn is_in_ring(tag: Tag) -> bool {
    state::outputs(tag.bits()).ring()
        && (tag.bits().is_power_of_two() && !dynamic::feeds_tracer() || state::is_category_on(tag.category()))
}

/// All tags that are enabled, as bits.
///
/// `debug.atrace.tags.enableflags` is the mask. The programs in `debug.atrace.app_0` and so on,
/// `debug.atrace.app_number` of them, also have the tag [`Tag::APP`]. They are compared with the name that
/// the program was called by, its last part, or `*`.
pub fn enabled_tags() -> u64 {
    state::enabled()
}

/// Reads properties again, now. (A file is followed by itself; the environment is not.)
pub fn update_tags() {
    state::update();
}

/// Begins a stretch of time of the calling thread; [`end`] ends it. They may be nested.
#[inline]
pub fn begin(tag: Tag, name: &str) {
    probe(AtraceCall::Begin, tag, name, 0, "");
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        begin_enabled(outputs, tag, name);
    }
}

#[inline(never)]
fn begin_enabled(outputs: Outputs, tag: Tag, name: &str) {
    if outputs.marker() {
        return begin_marked(outputs, tag, name);
    }
    ring::begin(tag, name);
}

/// Where the kernel has it, too. (Apart: so what only the ring has saves nothing for the calls.)
#[inline(never)]
fn begin_marked(outputs: Outputs, tag: Tag, name: &str) {
    kernel::write(b'B', &[name], None);
    let begun = if outputs.ring() { ring::record_words(&ring::SPAN, tag, name, []) } else { (0, 0) };
    ring::open_marked(begun);
}

/// Ends the last interval that the calling thread has begun, in the outputs in which it was begun. A tag that
/// goes to the kernel only since then ends no other interval there. (As on Android nothing is done while the
/// tag is off: for an unconditional end use a [`scope`].)
#[inline]
pub fn end(tag: Tag) {
    probe(AtraceCall::End, tag, "", 0, "");
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        end_enabled(outputs);
    }
}

#[inline(never)]
fn end_enabled(outputs: Outputs) {
    if outputs.marker() {
        return end_marked();
    }
    let _ = ring::end();
}

/// Where nothing was begun, the kernel gets the end as on Android.
#[inline(never)]
fn end_marked() {
    if !ring::end() {
        kernel::end();
    }
}

/// Begins a stretch of time that may end in another thread: begin and end belong together by tag, name and cookie.
#[inline]
pub fn async_begin(tag: Tag, name: &str, cookie: i32) {
    probe(AtraceCall::AsyncBegin, tag, name, cookie.into(), "");
    both(tag, b'S', &[name], Some(cookie.into()), || {
        ring::record_words(&ring::ASYNC_BEGIN, tag, name, [id(cookie)]);
    });
}

/// Ends it.
#[inline]
pub fn async_end(tag: Tag, name: &str, cookie: i32) {
    probe(AtraceCall::AsyncEnd, tag, name, cookie.into(), "");
    both(tag, b'F', &[name], Some(cookie.into()), || {
        ring::record_words(&ring::ASYNC_END, tag, name, [id(cookie)]);
    });
}

/// Begins a stretch of time on a track of its own: begin and end belong together by tag, track and cookie.
#[inline]
pub fn track_begin(tag: Tag, track: &str, name: &str, cookie: i32) {
    probe(AtraceCall::TrackBegin, tag, name, cookie.into(), track);
    both(tag, b'G', &[track, name], Some(cookie.into()), || {
        ring::record(&ring::TRACK_BEGIN, tag, track, |encoder| {
            encoder.u64(id(cookie));
            encoder.text(name);
        });
    });
}

/// Ends it.
#[inline]
pub fn track_end(tag: Tag, track: &str, cookie: i32) {
    probe(AtraceCall::TrackEnd, tag, "", cookie.into(), track);
    both(tag, b'H', &[track], Some(cookie.into()), || {
        ring::record_words(&ring::ASYNC_END, tag, track, [id(cookie)]);
    });
}

/// A point in time of the calling thread.
#[inline]
pub fn instant(tag: Tag, name: &str) {
    probe(AtraceCall::Instant, tag, name, 0, "");
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        instant_enabled(outputs, tag, name);
    }
}

#[inline(never)]
fn instant_enabled(outputs: Outputs, tag: Tag, name: &str) {
    if outputs.marker() {
        return instant_marked(outputs, tag, name);
    }
    ring::record_words(&ring::INSTANT, tag, name, []);
}

#[inline(never)]
fn instant_marked(outputs: Outputs, tag: Tag, name: &str) {
    kernel::write(b'I', &[name], None);
    if outputs.ring() {
        ring::record_words(&ring::INSTANT, tag, name, []);
    }
}

/// A point in time on a track.
#[inline]
pub fn track_instant(tag: Tag, track: &str, name: &str) {
    probe(AtraceCall::TrackInstant, tag, name, 0, track);
    both(tag, b'N', &[track, name], None, || {
        ring::record(&ring::TRACK_INSTANT, tag, name, |encoder| encoder.text(track));
    });
}

/// The value of a counter, of 32 bits.
#[inline]
pub fn int(tag: Tag, name: &str, value: i32) {
    int64(tag, name, value.into());
}

/// The value of a counter, of 64 bits.
#[inline]
pub fn int64(tag: Tag, name: &str, value: i64) {
    probe(AtraceCall::Counter, tag, name, value, "");
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        int64_enabled(outputs, tag, name, value);
    }
}

#[inline(never)]
fn int64_enabled(outputs: Outputs, tag: Tag, name: &str, value: i64) {
    if outputs.marker() {
        return int64_marked(outputs, tag, name, value);
    }
    ring::record_words(&ring::COUNTER, tag, name, [value as u64]);
}

#[inline(never)]
fn int64_marked(outputs: Outputs, tag: Tag, name: &str, value: i64) {
    kernel::write(b'C', &[name], Some(value));
    if outputs.ring() {
        ring::record_words(&ring::COUNTER, tag, name, [value as u64]);
    }
}

#[inline(always)]
fn both(tag: Tag, letter: u8, names: &[&str], number: Option<i64>, ring: impl FnOnce()) {
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        enabled(outputs, letter, names, number, ring);
    }
}

#[inline(never)]
fn enabled(outputs: Outputs, letter: u8, names: &[&str], number: Option<i64>, ring: impl FnOnce()) {
    if outputs.marker() {
        kernel::write(letter, names, number);
    }
    if outputs.ring() {
        ring();
    }
}

/// A cookie as an id.
fn id(cookie: i32) -> u64 {
    u64::from(cookie as u32)
}

/// A stretch of time until it is dropped: made by [`scope`].
#[must_use = "a scope ends when its guard is dropped: `let _scope = scope(…)`"]
#[derive(Debug)]
pub struct Scope {
    tag: Tag,
    /// It is to end, for it was begun; the same of the probes.
    is_begun: bool,
    is_hit: bool,
    not_send: std::marker::PhantomData<*const ()>,
}

/// Begins a stretch of time that ends when its guard is dropped.
#[inline]
pub fn scope(tag: Tag, name: &str) -> Scope {
    let is_hit = probe(AtraceCall::Begin, tag, name, 0, "");
    let outputs = state::outputs(tag.bits());
    if outputs.any() {
        begin_enabled(outputs, tag, name);
    }
    Scope { tag, is_begun: outputs.any(), is_hit, not_send: std::marker::PhantomData }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if self.is_hit {
            probe(AtraceCall::End, self.tag, "", 0, "");
        }
        if self.is_begun {
            end_enabled(state::outputs(self.tag.bits()));
        }
    }
}

/// A stretch of time that may end in another thread, until it is dropped: made by [`async_scope`].
#[must_use = "a scope ends when its guard is dropped: `let _scope = async_scope(…)`"]
#[derive(Debug)]
pub struct AsyncScope {
    tag: Tag,
    name: &'static str,
    cookie: i32,
    /// Where it was begun.
    in_marker: bool,
    in_ring: bool,
    in_tracer: bool,
    in_probe: bool,
}

/// Begins an asynchronous interval, with a cookie of its own. It ends when its guard is dropped, in any
/// thread, even if tags were switched since.
#[inline]
pub fn async_scope(tag: Tag, name: &'static str) -> AsyncScope {
    let outputs = state::outputs(tag.bits());
    if outputs.any() || dynamic::is_usdt_attached() {
        return AsyncScope::begin(outputs, tag, name);
    }
    AsyncScope { tag, name, cookie: 0, in_marker: false, in_ring: false, in_tracer: false, in_probe: false }
}

impl AsyncScope {
    #[inline(never)]
    fn begin(outputs: Outputs, tag: Tag, name: &'static str) -> Self {
        let cookie = kernel::new_cookie();
        let in_probe = probe(AtraceCall::AsyncBegin, tag, name, cookie.into(), "");
        let in_marker = outputs.marker();
        if in_marker {
            kernel::write(b'S', &[name], Some(cookie.into()));
        }
        let made = if outputs.ring() {
            ring::record_words(&ring::ASYNC_BEGIN, tag, name, [id(cookie)])
        } else {
            (0, 0)
        };
        let in_ring = ring::is_in_ring(made);
        Self { tag, name, cookie, in_marker, in_ring, in_tracer: made.1 != 0 && !in_ring, in_probe }
    }

    #[inline(never)]
    fn end(&self) {
        if self.in_probe {
            probe(AtraceCall::AsyncEnd, self.tag, self.name, self.cookie.into(), "");
        }
        if self.in_marker {
            kernel::async_end(self.name, self.cookie);
        }
        if self.in_ring || self.in_tracer {
            ring::end_async(self.tag, self.name, id(self.cookie), self.in_ring);
        }
    }
}

impl Drop for AsyncScope {
    #[inline]
    fn drop(&mut self) {
        if self.in_marker || self.in_ring || self.in_tracer || self.in_probe {
            self.end();
        }
    }
}

/// A stretch of time around a function: `#[traced]` with [`Tag::APP`] and the function's name, `#[traced("draw")]`, `#[traced(Tag::VIEW)]`, `#[traced(Tag::VIEW, "draw")]`.
///
/// ```
/// use silverpoint_atrace::{Tag, traced};
///
/// #[traced(Tag::VIEW)]
/// fn draw(frame: i64) -> i64 {
///     frame + 1
/// }
/// #[traced("fetching")]
/// async fn fetch() {}
/// assert_eq!(draw(1), 2);
/// ```
///
/// An `async fn` has an asynchronous stretch ([`async_scope`]), from its first poll until it is done or dropped. `crate = path` says where this crate is, when it has been renamed.
pub use silverpoint_derive::traced;

/// A stretch of time until the end of the block: `atrace!("draw")` with [`Tag::APP`], `atrace!(Tag::GRAPHICS, "draw")`. A literal is a format as of `println!`: `atrace!("frame {frame}")`,
/// `atrace!(Tag::GRAPHICS, "frame {}", n)`. Its arguments are evaluated only when the tag is enabled.
#[macro_export]
macro_rules! atrace {
    ($format:literal $(,)?) => {
        let _atrace = $crate::__text($crate::Tag::APP, ::std::format_args!($format));
    };
    ($format:literal, $($arguments:tt)+) => {
        let _atrace = $crate::__formatted($crate::Tag::APP, || ::std::format!($format, $($arguments)+));
    };
    ($tag:expr, $format:literal $(,)?) => {
        let _atrace = $crate::__text($tag, ::std::format_args!($format));
    };
    ($tag:expr, $format:literal, $($arguments:tt)+) => {
        let _atrace = $crate::__formatted($tag, || ::std::format!($format, $($arguments)+));
    };
    ($tag:expr, $name:expr $(,)?) => {
        let _atrace = $crate::scope($tag, $name);
    };
}

/// What the macro calls. No part of the interface.
#[doc(hidden)]
pub fn __text(tag: Tag, name: std::fmt::Arguments<'_>) -> Scope {
    match name.as_str() {
        Some(name) => scope(tag, name),
        None => __formatted(tag, || name.to_string()),
    }
}

/// What the macro calls. No part of the interface.
#[doc(hidden)]
pub fn __formatted(tag: Tag, name: impl FnOnce() -> String) -> Scope {
    if is_tag_enabled(tag) {
        scope(tag, &name())
    } else {
        Scope { tag, is_begun: false, is_hit: false, not_send: std::marker::PhantomData }
    }
}
