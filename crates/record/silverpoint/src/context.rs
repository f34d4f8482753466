//! Contexts: fields of all records that a thread makes within a scope.
//!
//! ```text
//!  context!(request = id)  ─▶ Fields: names and values as CBOR ─▶ ContextScope, on top of those that are open
//!  Context::current()      ─▶ what is open, to be taken along ─▶ Context::enter, InContext::in_context
//! ```

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::platform::owner::{self, CONTEXT_BYTES};
use silverpoint_wire::bytes::floor_char_boundary;

use crate::item;
use crate::value::Trace;
use crate::within::{Around, Within};

/// What stands for a value that has no room.
const LEFT_OUT: &[u8] = b"\x63\xE2\x80\xA6";

/// A scope whose fields all records of this thread have, until it is dropped: made by [`context!`](crate::context), [`Context::enter`] and
/// [`TraceContext::enter`](crate::TraceContext::enter).
#[must_use = "the fields are those of the records before the scope is dropped: `let _scope = context!(…)`"]
pub struct ContextScope {
    /// 0: there is none.
    number: u64,
    not_send: PhantomData<*const ()>,
}

impl ContextScope {
    /// One without fields.
    #[doc(hidden)]
    pub const fn none() -> Self {
        Self { number: 0, not_send: PhantomData }
    }

    fn open(pairs: &[u8], is_cut: bool) -> Self {
        Self { number: owner::enter_context(pairs, is_cut), not_send: PhantomData }
    }

    /// Whether the fields are recorded: not in a process without a session, nor more than 24 scopes deep.
    pub fn is_recorded(&self) -> bool {
        self.number != 0
    }
}

impl Drop for ContextScope {
    fn drop(&mut self) {
        owner::leave_context(self.number);
    }
}

impl fmt::Debug for ContextScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextScope").field("is_recorded", &self.is_recorded()).finish()
    }
}

/// The fields of the scopes that were open in a thread: to be taken along to another one, or into a future.
///
/// ```
/// use silverpoint::{Context, context, info};
///
/// let _request = context!(request = 7);
/// let taken = Context::current();
/// std::thread::spawn(move || {
///     let _scope = taken.enter();
///     info!("in the request, too");
/// });
/// ```
#[derive(Clone, Default)]
pub struct Context {
    /// `None`: no fields.
    pairs: Option<Arc<[u8]>>,
    is_cut: bool,
}

impl Around for Context {
    type Inside = ContextScope;

    fn inside(&self) -> ContextScope {
        self.enter()
    }
}

impl Context {
    /// What is open in this thread now. Allocates when there are fields.
    pub fn current() -> Self {
        owner::with_context(|pairs, is_cut| Self { pairs: (!pairs.is_empty()).then(|| pairs.into()), is_cut })
    }

    /// Gives its fields to the records of this thread, on top of those that are open.
    pub fn enter(&self) -> ContextScope {
        match &self.pairs {
            Some(pairs) => ContextScope::open(pairs, self.is_cut),
            None => ContextScope::none(),
        }
    }

    /// Whether it has no fields.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_none()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.pairs.as_ref().map_or(0, |pairs| pairs.len());
        f.debug_struct("Context").field("bytes", &len).field("is_cut", &self.is_cut).finish()
    }
}

/// Futures that run in a context, in any thread that polls them.
pub trait InContext: Future + Sized {
    /// The same future; each poll of it is within the scope of `context`, and its dropping when it is not done.
    fn in_context(self, context: Context) -> Within<Self, Context> {
        Within::new(self, context)
    }
}

impl<F: Future> InContext for F {}

/// Names and values of one scope, while they are being put together. On the stack; nothing is allocated.
pub struct Fields {
    bytes: [u8; CONTEXT_BYTES],
    len: usize,
    room: usize,
    is_cut: bool,
}

impl Fields {
    /// None yet; as much room as the thread's open scopes leave.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { bytes: [0; CONTEXT_BYTES], len: 0, room: owner::context_room(), is_cut: false }
    }

    /// Adds a field. What has no room whole is made smaller, then `…`, then left out.
    pub fn add<T: Trace + ?Sized>(&mut self, name: &str, value: &T) {
        let begin = self.len;
        let fits = self.put_name(name) && self.put_value(value);
        if !fits {
            self.len = begin;
            self.is_cut = true;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.room - self.len;
        if fits {
            self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
            self.len += bytes.len();
        }
        fits
    }

    fn put_name(&mut self, name: &str) -> bool {
        let name = &name[..floor_char_boundary(name, 255)];
        let len = name.len() as u8;
        let has_head = if len < 24 { self.put(&[0x60 | len]) } else { self.put(&[0x78, len]) };
        has_head && self.put(name.as_bytes())
    }

    fn put_value<T: Trace + ?Sized>(&mut self, value: &T) -> bool {
        let room = &mut self.bytes[self.len..self.room];
        let (at, len) = (room.as_mut_ptr(), room.len());
        // SAFETY: so many bytes are there.
        match unsafe { item::write(at, len, len, std::ptr::null_mut(), &|item| value.trace_item(item)) } {
            Some(written) => {
                self.len += written.len;
                self.is_cut |= !written.whole;
                true
            }
            None => {
                self.is_cut = true;
                self.put(LEFT_OUT)
            }
        }
    }

    /// Opens the scope.
    pub fn enter(&self) -> ContextScope {
        ContextScope::open(&self.bytes[..self.len], self.is_cut)
    }
}

/// Attaches fields to all records of this thread until the scope that it gives is dropped: `let _scope = context!(request = id, user, %peer);`
///
/// Names and values as of the tracepoints' fields: `name = value`, a variable by its name, `%` for the
/// `Display` text, `?` for the `Debug` text. A name may be a literal, `"user.id" = id`. An inner scope's
/// field overrides an outer one's of the same name.
///
/// Costs some tens of nanoseconds to enter; a tracepoint inside costs what it costs outside, but for the first, which states the fields. Texts and large values may be
/// cut: a thread has 1,424 bytes for all open scopes, of which there may be 24.
#[macro_export]
macro_rules! context {
    ($($fields:tt)+) => {{
        if $crate::__private::RECORDS {
            let mut __fields = $crate::__private::Fields::new();
            $crate::__context_fields!(__fields, $($fields)+);
            __fields.enter()
        } else {
            $crate::ContextScope::none()
        }
    }};
}

/// One field after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __context_fields {
    ($to:ident $(,)?) => {};
    ($to:ident, $name:ident = % $value:expr $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$crate::__private::Displayed(&$value));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:ident = ? $value:expr $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$crate::__private::Debugged(&$value));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$value);
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:literal = % $value:expr $(, $($rest:tt)*)?) => {
        $to.add($name, &$crate::__private::Displayed(&$value));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:literal = ? $value:expr $(, $($rest:tt)*)?) => {
        $to.add($name, &$crate::__private::Debugged(&$value));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:literal = $value:expr $(, $($rest:tt)*)?) => {
        $to.add($name, &$value);
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, % $name:ident $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$crate::__private::Displayed(&$name));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, ? $name:ident $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$crate::__private::Debugged(&$name));
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
    ($to:ident, $name:ident $(, $($rest:tt)*)?) => {
        $to.add(stringify!($name), &$name);
        $crate::__context_fields!($to $(, $($rest)*)?);
    };
}
