//! Android's ATrace, for Rust on Linux and Android: the same calls, tags and properties, two outputs.
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
//! draw(1);
//! ```
//!
//! **Outputs**, also both at once: the kernel's `trace_marker`, written as Android writes it, for Perfetto, systrace and `atrace`; and Silverpoint's rings, where a call costs a hundredth
//! of that, survives the death of the process, and lies on one timeline with all other records.
//!
//! **What is enabled.** The kernel's output by properties of Android's names ([`enabled_tags`]): variables of the environment, or lines of the file that
//! `SILVERPOINT_ATRACE_PROPERTIES` names, which is read again when it changes. The rings' by Silverpoint's directives: category `atrace::app` and the like; where
//! properties are set, only tags that they enable. A tag that is off costs a load and a comparison.
#![forbid(unsafe_code)]

mod message;
mod properties;
mod ring;
mod state;
mod tag;

use message::Message;
use silverpoint::dynamic;
pub use tag::Tag;

/// Whether any of these tags is enabled for any output.
#[inline(always)]
pub fn is_tag_enabled(tag: Tag) -> bool {
    state::is_enabled(tag.bits())
}

/// All tags that are enabled, as bits.
///
/// `debug.atrace.tags.enableflags` is the mask; `debug.atrace.app_number` programs, `debug.atrace.app_0` and so on, have the tag [`Tag::APP`], too: by the name that they were called by, its last
/// part, or `*`.
pub fn enabled_tags() -> u64 {
    state::enabled()
}

/// Reads properties again, now. (A file is followed by itself; the environment is not.)
pub fn update_tags() {
    state::update();
}

/// Writes a message to the kernel. One write(2); what the kernel does not take is gone, as on Android.
#[cold]
fn to_marker(letter: u8, names: &[&str], number: Option<i64>) {
    let Some(marker) = state::marker() else { return };
    let message = Message::new(letter, dynamic::process_id(), names, number);
    let bytes = message.bytes();
    let _ = if marker.is_file {
        rustix::io::write(&marker.file, &[bytes, b"\n"].concat())
    } else {
        rustix::io::write(&marker.file, bytes)
    };
}

/// Begins a stretch of time of the calling thread; [`end`] ends it. They may be nested.
#[inline]
pub fn begin(tag: Tag, name: &str) {
    if is_tag_enabled(tag) {
        begin_enabled(tag, name);
    }
}

#[inline(never)]
fn begin_enabled(tag: Tag, name: &str) {
    if state::to_marker(tag.bits()) {
        to_marker(b'B', &[name], None);
    }
    if state::to_ring(tag.bits()) {
        ring::begin(tag, name);
    } else {
        ring::open((0, 0));
    }
}

/// Ends the stretch that the calling thread has begun last.
#[inline]
pub fn end(tag: Tag) {
    if is_tag_enabled(tag) {
        end_enabled(tag);
    }
}

#[inline(never)]
fn end_enabled(tag: Tag) {
    if state::to_marker(tag.bits()) {
        to_marker(b'E', &[], None);
    }
    ring::end();
}

/// Begins a stretch of time that may end in another thread: begin and end belong together by tag, name and cookie.
#[inline]
pub fn async_begin(tag: Tag, name: &str, cookie: i32) {
    if is_tag_enabled(tag) {
        both(tag, b'S', &[name], Some(cookie.into()), || {
            ring::record(ring::ASYNC_BEGIN, tag, name, |encoder| encoder.u64(id(cookie)));
        });
    }
}

/// Ends it.
#[inline]
pub fn async_end(tag: Tag, name: &str, cookie: i32) {
    if is_tag_enabled(tag) {
        both(tag, b'F', &[name], Some(cookie.into()), || {
            ring::record(ring::ASYNC_END, tag, name, |encoder| encoder.u64(id(cookie)));
        });
    }
}

/// Begins a stretch of time on a track of its own: begin and end belong together by tag, track and cookie.
#[inline]
pub fn track_begin(tag: Tag, track: &str, name: &str, cookie: i32) {
    if is_tag_enabled(tag) {
        both(tag, b'G', &[track, name], Some(cookie.into()), || {
            ring::record(ring::TRACK_BEGIN, tag, track, |encoder| {
                encoder.u64(id(cookie));
                encoder.text(name);
            });
        });
    }
}

/// Ends it.
#[inline]
pub fn track_end(tag: Tag, track: &str, cookie: i32) {
    if is_tag_enabled(tag) {
        both(tag, b'H', &[track], Some(cookie.into()), || {
            ring::record(ring::ASYNC_END, tag, track, |encoder| encoder.u64(id(cookie)));
        });
    }
}

/// A point in time of the calling thread.
#[inline]
pub fn instant(tag: Tag, name: &str) {
    if is_tag_enabled(tag) {
        both(tag, b'I', &[name], None, || {
            ring::record(ring::INSTANT, tag, name, |_| {});
        });
    }
}

/// A point in time on a track.
#[inline]
pub fn track_instant(tag: Tag, track: &str, name: &str) {
    if is_tag_enabled(tag) {
        both(tag, b'N', &[track, name], None, || {
            ring::record(ring::TRACK_INSTANT, tag, name, |encoder| encoder.text(track));
        });
    }
}

/// The value of a counter, of 32 bits.
#[inline]
pub fn int(tag: Tag, name: &str, value: i32) {
    int64(tag, name, value.into());
}

/// The value of a counter, of 64 bits.
#[inline]
pub fn int64(tag: Tag, name: &str, value: i64) {
    if is_tag_enabled(tag) {
        both(tag, b'C', &[name], Some(value), || {
            ring::record(ring::COUNTER, tag, name, |encoder| encoder.i64(value));
        });
    }
}

#[inline(always)]
fn both(tag: Tag, letter: u8, names: &[&str], number: Option<i64>, ring: impl FnOnce()) {
    if state::to_marker(tag.bits()) {
        to_marker(letter, names, number);
    }
    if state::to_ring(tag.bits()) {
        ring();
    }
}

/// A cookie as an id.
fn id(cookie: i32) -> u64 {
    u64::from(cookie.cast_unsigned())
}

/// A stretch of time until it is dropped: made by [`scope`].
#[must_use = "a scope ends when its guard is dropped: `let _scope = scope(…)`"]
#[derive(Debug)]
pub struct Scope {
    /// What is to end, if it was begun.
    tag: Option<Tag>,
    not_send: std::marker::PhantomData<*const ()>,
}

/// Begins a stretch of time that ends when its guard is dropped.
#[inline]
pub fn scope(tag: Tag, name: &str) -> Scope {
    let is_enabled = is_tag_enabled(tag);
    if is_enabled {
        begin_enabled(tag, name);
    }
    Scope { tag: is_enabled.then_some(tag), not_send: std::marker::PhantomData }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if let Some(tag) = self.tag {
            end_enabled(tag);
        }
    }
}

/// A stretch of time until the end of the block: `atrace!("draw")` with [`Tag::APP`], `atrace!(Tag::GRAPHICS, "draw")`, or `atrace!("frame {}", n)`, which is formatted only when the tag is enabled.
#[macro_export]
macro_rules! atrace {
    ($name:literal $(,)?) => {
        let _atrace = $crate::scope($crate::Tag::APP, $name);
    };
    ($format:literal, $($arguments:tt)+) => {
        let _atrace = $crate::__formatted($crate::Tag::APP, || ::std::format!($format, $($arguments)+));
    };
    ($tag:expr, $name:expr $(,)?) => {
        let _atrace = $crate::scope($tag, $name);
    };
}

/// What the macro calls. No part of the interface.
#[doc(hidden)]
pub fn __formatted(tag: Tag, name: impl FnOnce() -> String) -> Scope {
    if is_tag_enabled(tag) {
        scope(tag, &name())
    } else {
        Scope { tag: None, not_send: std::marker::PhantomData }
    }
}

/// The snippets of the guide, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/atrace.md")]
mod guide {}
