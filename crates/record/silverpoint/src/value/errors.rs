//! Errors with what caused them.

use std::error::Error;

use super::Trace;
use crate::item::Item;
use crate::sig::Sig;
use crate::writer::{Writer, formatted_len};

/// Most errors of a chain that are recorded: one that leads back to itself ends there.
const MOST: usize = 16;

/// An error and its sources, as a sequence of texts: what each says, the outermost first.
///
/// ```
/// # fn load() -> Result<(), std::io::Error> { Ok(()) }
/// if let Err(error) = load() {
///     silverpoint::error!("cannot load: {}", silverpoint::Causes(&error));
/// }
/// ```
///
/// Each text is formatted once, into the record's place: this costs what formatting costs, and does not allocate unless the error's `Display` does.
#[derive(Clone, Copy)]
pub struct Causes<'a>(pub &'a (dyn Error + 'a));

impl Causes<'_> {
    pub(crate) fn each(&self, mut give: impl FnMut(&dyn Error)) {
        let mut left = MOST;
        let mut next: Option<&dyn Error> = Some(self.0);
        while let Some(error) = next.filter(|_| left > 0) {
            give(error);
            next = error.source();
            left -= 1;
        }
    }

    fn sum(&self, bytes: impl Fn(&dyn Error) -> usize) -> usize {
        let mut sum = 0;
        self.each(|error| sum += bytes(error));
        sum
    }
}

/// Bytes of one text.
fn size_of(error: &dyn Error) -> usize {
    8 + formatted_len(format_args!("{error}"))
}

impl Trace for Causes<'_> {
    const SIGNATURE: Sig = Sig::Text("[s");
    const FIXED: Option<usize> = None;

    fn trace_size(&self) -> usize {
        4 + self.sum(size_of)
    }
    fn trace_least(&self) -> usize {
        4 + self.sum(|_| 8)
    }
    fn trace_write(&self, writer: &mut Writer<'_>) {
        let count = self.sum(|_| 1);
        writer.length(count);
        // So many, though an error may name other causes than a moment ago.
        let mut written = 0;
        self.each(|error| {
            if written < count {
                writer.formatted(format_args!("{error}"));
                written += 1;
            }
        });
        (written..count).for_each(|_| writer.length(0));
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        let mut nest = item.begin_list();
        self.each(|error| {
            if item.next(&mut nest) {
                item.formatted(format_args!("{error}"));
            }
        });
        item.end(nest);
    }
}

/// Errors of any type: as [`Causes`].
macro_rules! any_error {
    ($($kind:ty;)*) => {$(
        impl Trace for $kind {
            const SIGNATURE: Sig = Causes::SIGNATURE;
            const FIXED: Option<usize> = None;

            fn trace_size(&self) -> usize {
                Causes(self).trace_size()
            }
            fn trace_least(&self) -> usize {
                Causes(self).trace_least()
            }
            fn trace_write(&self, writer: &mut Writer<'_>) {
                Causes(self).trace_write(writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                Causes(self).trace_item(item);
            }
        }
    )*};
}

any_error! {
    dyn Error + '_;
    dyn Error + Send + '_;
    dyn Error + Send + Sync + '_;
}
