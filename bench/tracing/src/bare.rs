//! The least that lines of `tracing` cost with any subscriber: one that does nothing, and one that looks at every value.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::hint::black_box;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The id of every span.
const ONLY: u64 = 1;

/// Counts events and closed spans, and looks at nothing else.
pub struct Deaf;

/// Also visits the fields of each, and sums up their sizes: what any subscriber does that records them.
pub struct Visiting;

/// Bytes of the fields so far.
struct Sizes(usize);

impl Visit for Sizes {
    fn record_i64(&mut self, _: &Field, value: i64) {
        self.0 += size_of_val(&black_box(value));
    }
    fn record_u64(&mut self, _: &Field, value: u64) {
        self.0 += size_of_val(&black_box(value));
    }
    fn record_f64(&mut self, _: &Field, value: f64) {
        self.0 += size_of_val(&black_box(value));
    }
    fn record_str(&mut self, _: &Field, value: &str) {
        self.0 += black_box(value).len();
    }
    fn record_error(&mut self, _: &Field, value: &(dyn Error + 'static)) {
        self.0 += size_of_val(black_box(value));
    }
    /// Not formatted.
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        self.0 += size_of_val(black_box(value));
    }
}

thread_local! {
    static SIZES: Cell<usize> = const { Cell::new(0) };
}

/// Adds what a visit has found.
fn visited(visit: impl FnOnce(&mut Sizes)) {
    let mut sizes = Sizes(0);
    visit(&mut sizes);
    SIZES.set(SIZES.get() + sizes.0);
}

/// As of the other backends: more verbose levels are off.
fn is_wanted(meta: &Metadata<'_>) -> bool {
    *meta.level() <= tracing::Level::INFO
}

macro_rules! bare {
    ($name:ty, |$attributes:ident| $made:expr, |$event:ident| $heard:expr) => {
        impl Subscriber for $name {
            fn enabled(&self, meta: &Metadata<'_>) -> bool {
                is_wanted(meta)
            }
            fn new_span(&self, $attributes: &Attributes<'_>) -> Id {
                $made;
                Id::from_u64(ONLY)
            }
            fn record(&self, _: &Id, _: &Record<'_>) {}
            fn record_follows_from(&self, _: &Id, _: &Id) {}
            fn event(&self, $event: &Event<'_>) {
                $heard;
                crate::rivals::count();
            }
            fn enter(&self, _: &Id) {}
            fn exit(&self, _: &Id) {}
            fn try_close(&self, _: Id) -> bool {
                crate::rivals::count();
                true
            }
        }
    };
}
bare!(Deaf, |_attributes| (), |_event| ());
bare!(Visiting, |attributes| visited(|sizes| attributes.record(sizes)), |event| visited(
    |sizes| event.record(sizes)
));
