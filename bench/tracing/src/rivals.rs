//! Backends, each set up as its pages say, and what they have received.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::prelude::{Event, LocalSpan, Span};
use silverpoint_tracing::atrace::Tag;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

/// Received by a backend that counts.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// One thread records: a load and a store are enough.
pub fn count() {
    SEEN.store(SEEN.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// A layer that does nothing but count.
struct NoOp;

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for NoOp {
    fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        count();
    }
    fn on_close(&self, _: tracing::span::Id, _: tracing_subscriber::layer::Context<'_, S>) {
        count();
    }
}

/// Counts what fastrace reports, in a thread of its own.
struct Counting;

impl Reporter for Counting {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        for span in spans {
            let is_root = span.name == "root";
            SEEN.fetch_add(span.events.len() as u64 + u64::from(!is_root), Ordering::Relaxed);
        }
    }
}

thread_local! {
    static BURSTS: Cell<u64> = const { Cell::new(0) };
}

/// Begins a backend; what it gives ends it and tells what it has received. Trace of the target `bench` is filtered, so that its callsite is
/// off by itself and not by the program's level.
pub fn begin(backend: &str) -> Box<dyn FnOnce()> {
    let targets = Targets::new().with_target("bench", LevelFilter::INFO).with_default(LevelFilter::TRACE);
    let tell = || eprintln!("seen={}", SEEN.load(Ordering::Relaxed));
    match backend {
        "subscriber" => silverpoint_tracing::init(),
        "layer" => tracing_subscriber::registry().with(silverpoint_tracing::layer()).init(),
        "deaf" => {
            tracing::subscriber::set_global_default(crate::bare::Deaf).expect("no other subscriber");
            return Box::new(tell);
        }
        "visiting" => {
            tracing::subscriber::set_global_default(crate::bare::Visiting).expect("no other subscriber");
            return Box::new(tell);
        }
        // To the kernel: whether that has the tag say the properties.
        "atrace-off" | "atrace-on" => {
            let layer = silverpoint_tracing::atrace::Layer::new(Tag::APP);
            let filter = targets.and(silverpoint_tracing::atrace::Filter(Tag::APP));
            tracing_subscriber::registry().with(layer.with_filter(filter)).init();
        }
        "noop" => {
            tracing_subscriber::registry().with(NoOp.with_filter(targets)).init();
            return Box::new(tell);
        }
        "fmt" => {
            let path = std::env::var("BENCH_FILE").expect("BENCH_FILE names the file");
            let file = std::fs::File::create(path).expect("a file");
            let (writer, guard) =
                tracing_appender::non_blocking::NonBlockingBuilder::default().lossy(false).finish(file);
            let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).with_span_events(FmtSpan::CLOSE);
            tracing_subscriber::registry().with(layer.with_filter(targets)).init();
            return Box::new(move || drop(guard));
        }
        "fastrace" => {
            fastrace::set_reporter(Counting, Config::default());
            return Box::new(move || {
                ROOT.with(|root| root.borrow_mut().take());
                fastrace::flush();
                tell();
            });
        }
        "slog" => {
            let finish = crate::loggers::begin_slog();
            return Box::new(move || {
                finish();
                tell();
            });
        }
        "ticklog" => {
            let path = std::env::var("BENCH_FILE").expect("BENCH_FILE names the file");
            return Box::new(crate::loggers::begin_ticklog(&path));
        }
        "tracy" => tracing_subscriber::registry().with(tracing_tracy::TracyLayer::default().with_filter(targets)).init(),
        "none" => {}
        other => panic!("no backend {other}"),
    }
    Box::new(|| {})
}

type Open = (fastrace::local::LocalParentGuard, Span);

thread_local! {
    static ROOT: std::cell::RefCell<Option<Open>> = const { std::cell::RefCell::new(None) };
}

/// fastrace keeps what lies within a root until that ends, and no more than some thousands: a new root every 1000 calls.
fn with_root(run: impl FnOnce()) {
    let number = BURSTS.get();
    BURSTS.set(number + 1);
    if number.is_multiple_of(1000) {
        ROOT.with(|open| {
            let mut open = open.borrow_mut();
            *open = None;
            let root = Span::root("root", SpanContext::random());
            *open = Some((root.set_local_parent(), root));
        });
    }
    run();
}

#[inline]
pub fn fastrace_span() {
    with_root(|| {
        let _span = LocalSpan::enter_with_local_parent("bench.span");
    });
}

#[inline]
pub fn fastrace_event(index: i64, fraction: f64, id: u64) {
    with_root(|| {
        LocalSpan::add_event(Event::new("event").with_properties(|| {
            [("index", index.to_string()), ("fraction", fraction.to_string()), ("id", id.to_string())]
        }));
    });
}
