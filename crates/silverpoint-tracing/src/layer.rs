//! Beside other layers.

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Interest, Metadata, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter as LayerFilter, Layer as _};
use tracing_subscriber::registry::LookupSpan;

use crate::{callsite, log_events, spans, watch};

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
#[non_exhaustive]
pub struct Layer {}

impl Layer {
    /// One without a filter.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        watch::begin();
        Self {}
    }
}

/// What the directives switch on, for [`tracing_subscriber::Layer::with_filter`].
#[derive(Clone, Copy, Debug)]
pub struct Filter;

impl<S> LayerFilter<S> for Filter {
    fn enabled(&self, meta: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        log_events::is_bridge(meta) || callsite::would_record(meta)
    }

    fn callsite_enabled(&self, meta: &'static Metadata<'static>) -> Interest {
        if log_events::is_bridge(meta) {
            return Interest::sometimes();
        }
        let _ = callsite::of(meta);
        if callsite::would_record(meta) { Interest::always() } else { Interest::never() }
    }
}

/// What a registry's span is here.
struct Own(u64);

/// The span of a registry's id.
fn own<S: Subscriber + for<'a> LookupSpan<'a>>(id: &Id, context: &Context<'_, S>) -> Option<u64> {
    let span = context.span(id)?;
    span.extensions().get::<Own>().map(|own| own.0)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Layer {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        watch::add(dispatch);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = attributes.parent().map(|parent| own(parent, &context).unwrap_or(0));
        if let Some(made) = spans::new(attributes, parent)
            && let Some(span) = context.span(id)
        {
            span.extensions_mut().insert(Own(made.into_u64()));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(own) = own(id, &context) {
            spans::record(own, values);
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if let (Some(own), Some(other)) = (own(id, &context), own(follows, &context)) {
            spans::follows_from(own, other);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if log_events::is_bridge(event.metadata()) {
            return log_events::record(event, |_| true);
        }
        spans::event(event, event.parent().map(|parent| own(parent, &context).unwrap_or(0)));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(own) = own(id, &context) {
            spans::enter(own);
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if let Some(own) = own(id, &context) {
            spans::exit(own);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(own) = own(&id, &context) {
            spans::let_go(own);
        }
    }
}
