//! Lines of `tracing` and calls of ATrace, for `bench/instructions`: what they take, `bench/run --part tracing` measures beside others.

use std::sync::LazyLock;

use silverpoint_atrace::{self as atrace, Tag};
use tracing::{info, info_span};

use crate::case;
use crate::harness::Case;

/// They take nothing that is made beforehand.
static INPUTS: LazyLock<()> = LazyLock::new(|| ());

/// Begins the names of the cases that need a subscriber.
const TRACING: &str = "tracing.";

/// Makes ours the program's subscriber, where such a case is asked for.
pub fn begin() {
    if std::env::args().any(|argument| argument.starts_with(TRACING)) {
        silverpoint_tracing::init();
    }
}

pub fn cases() -> Vec<Case> {
    vec![
        case!("tracing.event3", |inputs, index, fraction, id| info!(target: "bench", index, fraction, id)),
        case!("tracing.text", |inputs, index, fraction, id| info!(target: "bench", "bench event")),
        case!("tracing.span", |inputs, index, fraction, id| {
            let _span = info_span!(target: "bench", "bench.span").entered();
        }),
        case!("tracing.span2", |inputs, index, fraction, id| {
            let _span = info_span!(target: "bench", "bench.span2", fraction, id).entered();
        }),
        case!("atrace.instant", |inputs, index, fraction, id| atrace::instant(Tag::APP, "name of 10")),
        case!("atrace.counter", |inputs, index, fraction, id| atrace::int64(
            Tag::APP,
            "a counter.",
            id as i64
        )),
        case!("atrace.scope", |inputs, index, fraction, id| {
            let _scope = atrace::scope(Tag::APP, "name of 10");
        }),
    ]
}
