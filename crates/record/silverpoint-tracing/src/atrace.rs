//! Spans and events of `tracing` as messages of Android's ATrace, to the kernel's `trace_marker`: for Perfetto, systrace and `atrace`.
//!
//! ```
//! use tracing_subscriber::prelude::*;
//!
//! tracing_subscriber::registry()
//!     .with(silverpoint_tracing::layer())                  // into the rings, typed
//!     .with(silverpoint_tracing::atrace::layer())          // to the kernel, as text
//!     .init();
//! let load = tracing::info_span!("load", path = "a.txt").entered();       // B|pid|load, path=a.txt
//! tracing::info!(bytes = 17, "loaded");                                   // I|pid|loaded, bytes=17
//! ```
//!
//! **ATrace's properties** ([`silverpoint_atrace::enabled_tags`]) decide what is on, for the layer's tag.
//! While the tag is off a callsite costs only what it costs in `tracing` itself. Other filters go on top.
//!
//! **Cost.** One write(2) for an event, two for each time that a span is entered; a span's fields are formatted once.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use silverpoint::dynamic;
use silverpoint_atrace::kernel;
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Interest, LevelFilter, Metadata, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter as LayerFilter, Layer as _};
use tracing_subscriber::registry::LookupSpan;

pub use silverpoint_atrace::Tag;

use crate::watch;

/// Makes a registry with a [`layer`] the program's subscriber: nothing else is recorded then.
///
/// # Panics
/// When the program has one.
pub fn init() {
    use tracing_subscriber::layer::SubscriberExt as _;
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer()));
    tracing_core::dispatcher::set_global_default(dispatch)
        .expect("the program has no other global subscriber");
}

/// A layer of the tag [`Tag::APP`] with its own filter.
pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> Filtered<Layer, Filter, S> {
    Layer::new(Tag::APP).with_filter(Filter(Tag::APP))
}

/// Writes spans and events. A span is begun and ended each time that it is entered and left; an event is an
/// instant. Fields follow the name, `name, key=value, …`. Names are cut like all of ATrace's.
///
/// By itself it asks for everything; with [`Filter`], only for what is enabled. With `EnvFilter`, spans and fields included:
///
/// ```
/// use silverpoint_tracing::atrace::{Filter, Layer, Tag};
/// use tracing_subscriber::{EnvFilter, Layer as _, filter::FilterExt as _, prelude::*};
///
/// let filter = EnvFilter::new("warn,my_crate=debug").and(Filter(Tag::GRAPHICS));
/// tracing_subscriber::registry().with(Layer::new(Tag::GRAPHICS).with_filter(filter)).init();
/// ```
#[derive(Debug)]
pub struct Layer {
    tag: Tag,
    has_lifetimes: bool,
    /// Its unique number.
    number: u64,
}

impl Layer {
    /// One whose messages have this tag.
    pub fn new(tag: Tag) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        watch::begin();
        silverpoint_atrace::on_change(watch::ask_again);
        Self { tag, has_lifetimes: false, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Also writes the lifetime of each span as an asynchronous interval: the whole time of a future,
    /// independent of the threads that poll it.
    pub fn with_lifetimes(mut self) -> Self {
        self.has_lifetimes = true;
        self
    }
}

/// Lets through what is enabled, for [`tracing_subscriber::Layer::with_filter`]: everything while the kernel is to have this tag, and nothing otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Filter(pub Tag);

impl<S> LayerFilter<S> for Filter {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        kernel::is_enabled(self.0)
    }

    fn callsite_enabled(&self, _: &'static Metadata<'static>) -> Interest {
        if kernel::is_enabled(self.0) { Interest::always() } else { Interest::never() }
    }

    /// While the tag is off nothing is wanted: a line costs one comparison. Asked again whenever the properties change.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if kernel::is_enabled(self.0) { LevelFilter::TRACE } else { LevelFilter::OFF })
    }
}

/// What a registry's span is to each layer that wants it.
struct Names(Vec<Named>);

impl Names {
    fn of(&self, layer: u64) -> Option<&Named> {
        self.0.iter().find(|named| named.layer == layer)
    }
}

/// What it is to one.
struct Named {
    layer: u64,
    text: SpanText,
    /// Of its lifetime, if lifetimes are written.
    cookie: Option<i32>,
}

/// Spans that a thread is in, the outermost first, as written to the kernel: a message of an end ends the
/// innermost.
struct Entered {
    /// The layer that wrote it: ids of several registries may be the same, and a layer ends only what it has
    /// begun.
    layer: u64,
    id: u64,
    /// It was left before those within it: its end comes with theirs.
    was_left: bool,
}

thread_local! {
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Layer {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        watch::add(dispatch);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|_| kernel::is_enabled(self.tag)) else { return };
        let name = attributes.metadata().name();
        let text = SpanText::new(name, |visitor| attributes.record(visitor));
        let cookie = self.has_lifetimes.then(kernel::new_cookie);
        let cookie = cookie.filter(|cookie| kernel::async_begin(self.tag, name, *cookie));
        let named = Named { layer: self.number, text, cookie };
        let mut extensions = span.extensions_mut();
        match extensions.get_mut::<Names>() {
            Some(names) => names.0.push(named),
            None => extensions.insert(Names(vec![named])),
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if span.extensions().get::<Names>().and_then(|names| names.of(self.number)).is_none() {
            return;
        }
        // The program's own code formats values, and may look at the span: nothing of it is locked meanwhile.
        let mut later = Later(Vec::new());
        values.record(&mut later);
        // Its next begins have them; of this moment tells an instant.
        let mut text = Bounded(span.name().to_owned());
        for (name, value) in &later.0 {
            let _ = write!(text, ", {name}={}", value.0);
        }
        kernel::instant(self.tag, &text.0);
        let mut extensions = span.extensions_mut();
        let Some(names) = extensions.get_mut::<Names>() else { return };
        for named in names.0.iter_mut().filter(|named| named.layer == self.number) {
            for (name, value) in &later.0 {
                named.text.set(name, &value.0);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if kernel::is_enabled(self.tag) {
            kernel::instant(self.tag, &text_of(event.metadata().name(), |visitor| event.record(visitor)));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|_| kernel::is_enabled(self.tag)) else { return };
        let extensions = span.extensions();
        let Some(named) = extensions.get::<Names>().and_then(|names| names.of(self.number)) else { return };
        let entered = Entered { layer: self.number, id: id.into_u64(), was_left: false };
        let _ = ENTERED.try_with(|all| {
            if kernel::begin(self.tag, &named.text.text.0) {
                all.borrow_mut().push(entered);
            }
        });
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        let _ = ENTERED.try_with(|all| {
            let mut all = all.borrow_mut();
            let of = |entered: &Entered| {
                entered.layer == self.number && entered.id == id.into_u64() && !entered.was_left
            };
            // One that was entered while the tag was off has not begun.
            let Some(place) = all.iter().rposition(of) else { return };
            all[place].was_left = true;
            // What has begun ends, even if it was switched off since.
            while all.last().is_some_and(|innermost| innermost.was_left) {
                all.pop();
                kernel::end();
            }
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let extensions = span.extensions();
        let named = extensions.get::<Names>().and_then(|names| names.of(self.number));
        if let Some(cookie) = named.and_then(|named| named.cookie) {
            kernel::async_end(span.name(), cookie);
        }
    }
}

/// Bytes of a text that can matter: of a message none has more.
const MOST: usize = 1023;

/// A text that stops growing where no message takes more of it.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = MOST.saturating_sub(self.0.len());
        self.0.push_str(&more[..dynamic::floor_char_boundary(more, room)]);
        if more.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The text of a span, `name, key=value, …`, in which a repeated value replaces the earlier one.
struct SpanText {
    text: Bounded,
    /// Where the value of each field stands.
    values: Vec<(&'static str, Range<usize>)>,
}

impl SpanText {
    fn new(name: &str, visit: impl FnOnce(&mut dyn Visit)) -> Self {
        let mut new = Self { text: Bounded(String::new()), values: Vec::new() };
        let _ = new.text.write_str(name);
        visit(&mut new);
        new
    }

    /// Adds a field. (A value of which only a part has room is one.)
    fn add(&mut self, name: &'static str, value: fmt::Arguments<'_>) {
        if write!(self.text, ", {name}=").is_ok() {
            let begin = self.text.0.len();
            let _ = self.text.write_fmt(value);
            self.values.push((name, begin..self.text.0.len()));
        }
    }

    /// A field has this value now.
    fn set(&mut self, name: &'static str, value: &str) {
        let Some(place) = self.values.iter().position(|(known, _)| *known == name) else {
            return self.add(name, format_args!("{value}"));
        };
        let before = self.values[place].1.clone();
        self.text.0.replace_range(before.clone(), value);
        let end = before.start + value.len();
        self.values[place].1.end = end;
        for (_, range) in &mut self.values[place + 1..] {
            *range = range.start - before.end + end..range.end - before.end + end;
        }
        let whole = dynamic::floor_char_boundary(&self.text.0, MOST);
        self.text.0.truncate(whole);
        self.values.retain(|(_, range)| range.start <= whole);
        if let Some((_, last)) = self.values.last_mut() {
            last.end = last.end.min(whole);
        }
    }
}

impl Visit for SpanText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field.name(), format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.add(field.name(), format_args!("{value}"));
    }
}

/// Fields that come later, with their values.
struct Later(Vec<(&'static str, Bounded)>);

impl Later {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let mut text = Bounded(String::new());
        let _ = text.write_fmt(value);
        self.0.push((field.name(), text));
    }
}

impl Visit for Later {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.add(field, format_args!("{value}"));
    }
}

/// The message, or `name` where there is none, and the fields.
fn text_of(name: &str, visit: impl FnOnce(&mut dyn Visit)) -> String {
    let mut texts = Texts { message: None, fields: Bounded(String::new()) };
    visit(&mut texts);
    let mut text = texts.message.unwrap_or_else(|| Bounded(name.to_owned()));
    let _ = text.write_str(&texts.fields.0);
    text.0
}

struct Texts {
    message: Option<Bounded>,
    fields: Bounded,
}

impl Texts {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // What is full takes nothing more; what comes from the log crate has its place as fields.
        let _ = match field.name() {
            "message" => self.message.insert(Bounded(String::new())).write_fmt(value),
            name if name.starts_with("log.") => Ok(()),
            name => write!(self.fields, ", {name}={value}"),
        };
    }
}

impl Visit for Texts {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, format_args!("{value}"));
    }
}
