//! The fast way: nothing between `tracing` and the ring.

use silverpoint::dynamic;
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::{Dispatch, Event, Interest, LevelFilter, Metadata};

use crate::{callsite, events, links, log_events, open, spans, table, usdt, watch};

/// Records what the program's directives switch on (`SILVERPOINT_FILTER`, `silverpoint run --filter`,
/// `silverpoint ctl`, a logger in the process), and nothing else. A callsite that is off costs only what it
/// costs in `tracing` itself, until it is switched on.
///
/// ```
/// silverpoint_tracing::init();
/// tracing::info!(user = 7, "connected");
/// ```
#[derive(Debug, Default)]
pub struct Subscriber {
    #[cfg(feature = "layer")]
    targets: Option<tracing_subscriber::filter::Targets>,
    most: Option<LevelFilter>,
}

impl Subscriber {
    /// A subscriber that records everything that is on.
    pub fn new() -> Self {
        watch::begin();
        Self::default()
    }

    /// Never records more verbose levels than this, even if directives ask for them: a callsite of those
    /// costs one comparison.
    pub fn with_max_level(mut self, most: impl Into<LevelFilter>) -> Self {
        self.most = Some(most.into());
        self
    }

    /// Only what these let through, too: `"info,my_crate::net=debug".parse()`, in the grammar of `EnvFilter` but for spans and fields.
    #[cfg(feature = "layer")]
    pub fn with_targets(mut self, targets: tracing_subscriber::filter::Targets) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Makes it the program's. Fails when the program has one.
    pub fn try_init(self) -> Result<(), tracing_core::dispatcher::SetGlobalDefaultError> {
        tracing_core::dispatcher::set_global_default(Dispatch::new(self))
    }

    /// An event that comes from elsewhere, has a parent of its own, or is wanted by a tracer.
    #[inline(never)]
    fn event_otherwise(&self, event: &Event<'_>) {
        // (Those of `log` have no callsite here.)
        if log_events::is_bridge(event.metadata()) {
            return log_events::record(event, |meta| self.admits(meta));
        }
        if dynamic::is_usdt_attached() {
            usdt::event(event);
        }
        if event.is_contextual() {
            events::event(event);
        } else {
            events::event_of(event, event.parent().map_or(0, Id::into_u64));
        }
    }

    /// Whether this subscriber ever wants it.
    fn admits(&self, meta: &Metadata<'_>) -> bool {
        #[cfg(feature = "layer")]
        if self.targets.as_ref().is_some_and(|targets| !targets.would_enable(meta.target(), meta.level())) {
            return false;
        }
        self.most.is_none_or(|most| *meta.level() <= most)
    }
}

impl tracing_core::Subscriber for Subscriber {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        watch::add(dispatch);
    }

    fn register_callsite(&self, meta: &'static Metadata<'static>) -> Interest {
        if log_events::is_bridge(meta) {
            return Interest::sometimes();
        }
        // Known from here on, so that `ctl` can switch it.
        let _ = table::of(meta);
        if self.admits(meta) { callsite::interest(meta) } else { Interest::never() }
    }

    fn enabled(&self, meta: &Metadata<'_>) -> bool {
        // May be asked of metadata that lives for a moment (of events that come from `log`).
        self.admits(meta) && (dynamic::is_usdt_attached() || log_events::would_record(meta))
    }

    /// Asked again whenever the directives change.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        let most = callsite::most_verbose();
        Some(self.most.map_or(most, |own| own.min(most)))
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = if attributes.is_contextual() {
            spans::new(attributes)
        } else {
            spans::new_of(attributes, attributes.parent().map_or(0, Id::into_u64))
        };
        if dynamic::is_usdt_attached() {
            if let Some(id) = &id {
                usdt::begin(id.into_u64(), attributes);
            }
        }
        id.unwrap_or_else(|| Id::from_u64(u64::MAX))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        spans::record(span.into_u64(), values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        links::follows_from(span.into_u64(), follows.into_u64());
    }

    fn event(&self, event: &Event<'_>) {
        let Some(callsite) = table::find(event.metadata()) else { return self.event_otherwise(event) };
        if !event.is_contextual() || dynamic::is_usdt_attached() {
            return self.event_otherwise(event);
        }
        events::event_at(callsite, event);
    }

    fn enter(&self, span: &Id) {
        spans::enter(span.into_u64());
        usdt::enter(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        usdt::exit(span.into_u64());
        spans::exit(span.into_u64());
    }

    fn clone_span(&self, span: &Id) -> Id {
        spans::hold(span.into_u64());
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        if dynamic::is_usdt_attached() {
            return usdt::let_go(span.into_u64());
        }
        spans::let_go(span.into_u64())
    }

    fn current_span(&self) -> Current {
        let open = open::current();
        match spans::metadata(open) {
            Some(meta) if open != 0 => Current::new(Id::from_u64(open), meta),
            _ => Current::none(),
        }
    }
}
