//! What programs and their crates record by `log`, recorded by Silverpoint: into rings that survive the death of the process, formatted once.
//!
//! **The invariant.** A record allocates nothing, but for the first of each place and set of keys. Texts and
//! values are formatted once each.
//!
//! ```
//! silverpoint_log::init();                                 // instead of env_logger::init()
//!
//! let capture = silverpoint_testing::Capture::start();
//! log::info!("order {} at {:.2}", 7, 101.25);
//! log::warn!(target: "net", user = 7, peer = "10.0.0.1"; "slow");
//! capture.expect_message("order 7 at 101.25").once();
//! capture.expect_message("slow user=7 peer=10.0.0.1").category("net").with("user", 7).with("peer", "10.0.0.1").once();
//! ```
//!
//! The target is the category. Key-values are recorded with their types. Silverpoint's directives decide what
//! is on (`SILVERPOINT_FILTER`, `silverpoint run --filter`, `silverpoint ctl`, a logger in the process), for
//! single lines, too. `log::max_level()` follows them, so that an unwanted level costs one comparison.
//!
//! **LTTng.** Records are events of LTTng, too, if the program is asked to feed it (`SILVERPOINT_PROBES=lttng`).
//! Then `log::max_level()` is `Trace`, and directives decide for the ring alone.
//!
//! **USDT.** With the feature `usdt` of the crate `silverpoint`, records are hits of the probe `silverpoint:message`
//! while a tracer is attached. Then `log::max_level()` is `Trace`, too.
//!
//! The facade formats the text: it is one argument, `{}`.
//!
//! **Targets and keys that are made while the program runs** have sites of their own, within limits. These
//! are 64 targets at each line (1,024 altogether where lines are unknown), and 262 sets of keys and types for
//! each. All such sites take at most half of the session's table. Further ones are recorded all the same,
//! with the variable parts as arguments, in the category `log`. Fields become a map `fields`; targets become
//! `log.target` beside `log.file` and `log.line`. Directives hold for the real target.
#![forbid(unsafe_code)]

#[cfg(feature = "kv")]
mod keys;

use log::{Level, LevelFilter, Log, Metadata, Record, SetLoggerError};
use silverpoint::dynamic::{self, Arguments, Encoder, Located, Place, Wanted};

/// The backend.
#[derive(Debug)]
#[non_exhaustive]
pub struct Logger {}

static LOGGER: Logger = Logger {};

/// Makes Silverpoint the program's backend of `log`.
///
/// # Panics
/// When the program has one.
pub fn init() {
    try_init().expect("the program has no other logger");
}

/// The same. Fails when the program has one.
pub fn try_init() -> Result<(), SetLoggerError> {
    log::set_logger(&LOGGER)?;
    follow();
    dynamic::on_change(follow);
    // Directives that came in between.
    follow();
    Ok(())
}

/// The most verbose level that anything may be on at. LTTng has levels of its own: it gets all. So does a USDT tracer,
/// whose coming nobody reports.
fn follow() {
    if dynamic::HAS_USDT || dynamic::feeds_tracer() {
        return log::set_max_level(LevelFilter::Trace);
    }
    log::set_max_level(match dynamic::most_verbose() {
        None => LevelFilter::Off,
        Some(0) => LevelFilter::Trace,
        Some(1) => LevelFilter::Debug,
        Some(2) => LevelFilter::Info,
        Some(3) => LevelFilter::Warn,
        Some(_) => LevelFilter::Error,
    });
}

fn level_of(level: Level) -> u8 {
    match level {
        Level::Trace => 0,
        Level::Debug => 1,
        Level::Info => 2,
        Level::Warn => 3,
        Level::Error => 4,
    }
}

impl Log for Logger {
    /// Whether a record of that target and level would be recorded, or may be an event of LTTng. Directives of
    /// files and lines are not known to this question.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let place = Place { level: level_of(metadata.level()), line: 0, target: metadata.target(), file: "" };
        dynamic::is_usdt_attached() || !place.wanted().by_nobody()
    }

    fn log(&self, record: &Record<'_>) {
        let place = Place {
            level: level_of(record.level()),
            line: record.line().unwrap_or(0),
            target: record.target(),
            file: record.file().unwrap_or(""),
        };
        if dynamic::is_usdt_attached() {
            hit_usdt(&place, record);
        }
        let located = dynamic::located(&place);
        let wanted = located.map_or_else(|| place.wanted(), Located::wanted);
        if wanted.by_nobody() {
            return;
        }
        #[cfg(feature = "kv")]
        if record.key_values().count() > 0 {
            return keys::record(located, &place, wanted, record);
        }
        let text = |encoder: &mut Encoder<'_>| match record.args().as_str() {
            Some(text) => encoder.text(text),
            None => encoder.formatted(*record.args()),
        };
        match located.map_or(0, Located::text) {
            0 => _ = dynamic::record_elsewhere(&place, wanted, text, None),
            site if wanted.of_site(site).by_ring_alone() => {
                let _ = dynamic::record(place.level, |encoder| {
                    text(encoder);
                    Some(site)
                });
            }
            site => give(&place, site, wanted, &text),
        }
    }

    /// Nothing waits here: a record is safe when it is made. (Sinks of a logger in the process are flushed by it.)
    fn flush(&self) {}
}

/// The record as the USDT probe `silverpoint:message`: its text, then ` KEY=VALUE` for each pair.
#[cold]
#[inline(never)]
fn hit_usdt(place: &Place<'_>, record: &Record<'_>) {
    dynamic::hit_usdt_message(place, &|text| {
        text.write_fmt(*record.args())?;
        #[cfg(feature = "kv")]
        keys::write(record, text)?;
        Ok(())
    });
}

/// A text that LTTng may want, with the ring or alone.
#[cold]
#[inline(never)]
fn give(place: &Place<'_>, site: u32, wanted: Wanted, text: &dyn Fn(&mut Encoder<'_>)) {
    if wanted.by_ring() || dynamic::tracer_wants(site) {
        let mut arguments = Arguments::new();
        arguments.encode(text);
        let _ = arguments.give(place.level, site, None, wanted);
    }
}

/// The snippets of the guide, as tests.
#[cfg(all(doctest, feature = "kv"))]
#[doc = include_str!("../../../../docs/guide/log.md")]
mod guide {}
