//! Beside other layers.

use std::sync::atomic::{AtomicU64, Ordering};

use silverpoint::dynamic;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Interest, LevelFilter, Metadata, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter as LayerFilter, Layer as _};
use tracing_subscriber::registry::LookupSpan;

use crate::{callsite, events, links, log_events, owned, spans, table, usdt, watch};

/// A layer that records what the directives switch on, and leaves other layers alone.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
/// tracing::info!(user = 7, "connected");
/// ```
///
/// It has a filter of its own ([`Filter`]), so that a callsite that nobody wants stays at `tracing`'s own cost. With `EnvFilter`, spans and fields included:
/// `Layer::new().with_filter(EnvFilter::from_default_env().and(Filter))`, from [`FilterExt`](tracing_subscriber::filter::FilterExt).
pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> Filtered<Layer, Filter, S> {
    Layer::new().with_filter(Filter)
}

/// Records events and spans. By itself it asks for everything, and looks at each whether it is on.
#[derive(Debug)]
pub struct Layer {
    /// Its unique number.
    number: u64,
}

impl Layer {
    /// One without a filter.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        watch::begin();
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The span of a registry's id.
    #[inline]
    fn own<S: Subscriber + for<'a> LookupSpan<'a>>(&self, id: &Id, context: &Context<'_, S>) -> Option<u64> {
        owned::get(self.number, id.into_u64()).or_else(|| kept(self.number, id, context))
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        owned::leave(self.number);
    }
}

/// What the directives switch on, for [`tracing_subscriber::Layer::with_filter`].
#[derive(Clone, Copy, Debug)]
pub struct Filter;

impl<S> LayerFilter<S> for Filter {
    fn enabled(&self, meta: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        dynamic::is_usdt_attached() || log_events::would_record(meta)
    }

    fn callsite_enabled(&self, meta: &'static Metadata<'static>) -> Interest {
        if log_events::is_bridge(meta) {
            return Interest::sometimes();
        }
        let _ = table::of(meta);
        callsite::interest(meta)
    }

    /// Asked again whenever the directives change.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(callsite::most_verbose())
    }
}

/// What a registry's span is to each layer, kept by the registry: of those that the table has no place for.
struct Own(Vec<(u64, u64)>);

#[cold]
fn keep<S: Subscriber + for<'a> LookupSpan<'a>>(layer: u64, id: &Id, own: u64, context: &Context<'_, S>) {
    let Some(span) = context.span(id) else { return };
    let mut extensions = span.extensions_mut();
    match extensions.get_mut::<Own>() {
        Some(all) => all.0.push((layer, own)),
        None => extensions.insert(Own(vec![(layer, own)])),
    }
}

#[cold]
fn kept<S: Subscriber + for<'a> LookupSpan<'a>>(
    layer: u64,
    id: &Id,
    context: &Context<'_, S>,
) -> Option<u64> {
    let span = context.span(id)?;
    let extensions = span.extensions();
    extensions.get::<Own>()?.0.iter().find(|(its, _)| *its == layer).map(|(_, own)| *own)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Layer {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        watch::add(dispatch);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let made = if attributes.is_contextual() {
            spans::new(attributes)
        } else {
            let parent = attributes.parent().and_then(|parent| self.own(parent, &context));
            spans::new_of(attributes, parent.unwrap_or(0))
        };
        if let Some(made) = made {
            if dynamic::is_usdt_attached() {
                usdt::begin(made.into_u64(), attributes);
            }
            if !owned::put(self.number, id.into_u64(), made.into_u64()) {
                keep(self.number, id, made.into_u64(), &context);
            }
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(own) = self.own(id, &context) {
            spans::record(own, values);
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if let (Some(own), Some(other)) = (self.own(id, &context), self.own(follows, &context)) {
            links::follows_from(own, other);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if log_events::is_bridge(event.metadata()) {
            return log_events::record(event, |_| true);
        }
        if dynamic::is_usdt_attached() {
            usdt::event(event);
        }
        if event.is_contextual() {
            return events::event(event);
        }
        let parent = event.parent().and_then(|parent| self.own(parent, &context));
        events::event_of(event, parent.unwrap_or(0));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(own) = self.own(id, &context) {
            spans::enter(own);
            usdt::enter(own);
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if let Some(own) = self.own(id, &context) {
            usdt::exit(own);
            spans::exit(own);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(own) =
            owned::take(self.number, id.into_u64()).or_else(|| kept(self.number, &id, &context))
        {
            if dynamic::is_usdt_attached() {
                usdt::let_go(own);
            } else {
                spans::let_go(own);
            }
        }
    }
}
