//! Backends, each set up as its pages say, and what they have received.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::prelude::{Event, LocalSpan, Span};
use silverpoint_tracing::atrace::Tag;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

/// Received by a backend that counts, and the sum of the ids that were in it.
static SEEN: AtomicU64 = AtomicU64::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);

/// One thread records: a load and a store are enough.
pub fn count() {
    SEEN.store(SEEN.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The same of a record that carries an id, in a thread of the backend's.
pub fn count_with(id: u64) {
    count();
    SUM.store(SUM.load(Ordering::Relaxed).wrapping_add(id), Ordering::Relaxed);
}

/// CPU time of all threads but this one.
fn cpu_of_others() -> Duration {
    let read = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the clock exists, and the time is this function's own.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    read(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(read(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// Returns when the threads of a backend have had nothing to do for a while, or after some seconds. What has not arrived by then is missing in the sums.
extern "C" fn wait_until_idle() {
    const A_WHILE: Duration = Duration::from_millis(30);
    for _ in 0..500 {
        let before = cpu_of_others();
        std::thread::sleep(A_WHILE);
        if cpu_of_others() - before < A_WHILE / 100 {
            return;
        }
    }
}

/// What is within roots that have not ended stays where it is.
extern "C" fn flush_fastrace() {
    fastrace::flush();
    wait_until_idle();
}

/// Of backends with a thread of their own.
pub fn flush_of(backend: &str) -> Option<extern "C" fn()> {
    match backend {
        "fmt" | "slog" => Some(wait_until_idle),
        "fastrace" => Some(flush_fastrace),
        _ => None,
    }
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
            let ids = span.events.iter().flat_map(|event| &event.properties).filter(|(name, _)| name == "id");
            let sum = ids.filter_map(|(_, id)| id.parse::<u64>().ok()).fold(0, u64::wrapping_add);
            SUM.fetch_add(sum, Ordering::Relaxed);
        }
    }
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Begins a backend; what it gives ends it and tells what it has received. Trace of the target `bench` is filtered, so that its callsite is
/// off by itself and not by the program's level.
pub fn begin(backend: &str) -> Box<dyn FnOnce()> {
    let targets = Targets::new().with_target("bench", LevelFilter::INFO).with_default(LevelFilter::TRACE);
    let tell = || eprintln!("seen={} sum={}", SEEN.load(Ordering::Relaxed), SUM.load(Ordering::Relaxed));
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
        // The layer asks for everything, and looks by itself whether the tag is on.
        "atrace-unfiltered" => {
            tracing_subscriber::registry().with(silverpoint_tracing::atrace::Layer::new(Tag::APP)).init();
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
            let layer = tracing_subscriber::fmt::layer()
                .with_writer(writer)
                .with_ansi(false)
                .with_span_events(FmtSpan::CLOSE);
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
        "tracy" => tracing_subscriber::registry()
            .with(tracing_tracy::TracyLayer::default().with_filter(targets))
            .init(),
        "none" => {}
        other => panic!("no backend {other}"),
    }
    Box::new(|| {})
}

type Open = (fastrace::local::LocalParentGuard, Span);

thread_local! {
    static ROOT: std::cell::RefCell<Option<Open>> = const { std::cell::RefCell::new(None) };
}

/// fastrace keeps what lies within a root until that ends, and no more than some thousands: a root for every 1000 calls.
fn with_root(run: impl FnOnce()) {
    let number = CALLS.get();
    CALLS.set(number + 1);
    if number.is_multiple_of(1000) {
        let root = Span::root("root", SpanContext::random());
        ROOT.with(|open| *open.borrow_mut() = Some((root.set_local_parent(), root)));
    }
    run();
    if number % 1000 == 999 {
        ROOT.with(|open| *open.borrow_mut() = None);
    }
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
