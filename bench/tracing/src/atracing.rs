//! Calls of ATrace; `bench/cpp/atrace.cpp` is the same in C++.
//!
//! Mode `burst`: into the ring, beside the floor. Mode `disabled`: the loops that `BENCH_LOOP` names. `off.…` is measured beside an empty loop, `marker.…` beside bare write(2)
//! calls of the same messages to the same file.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use silverpoint_atrace::{self as atrace, Tag, atrace};

use crate::harness::{self, Burst, Case};
use crate::{bare_loop, case, empty};

/// A name of 1000 bytes.
static LONG: LazyLock<String> = LazyLock::new(|| "n".repeat(1000));

pub fn cases() -> Vec<Case> {
    vec![
        case!("name10", |index, fraction, id| atrace::instant(Tag::APP, "name of 10")),
        case!("name1000", |index, fraction, id| atrace::instant(Tag::APP, &LONG)),
        case!("counter", |index, fraction, id| atrace::int64(Tag::APP, "a counter.", id as i64)),
        case!("scope10", |index, fraction, id| {
            atrace!("name of 10");
        }),
        Case { name: "begin", burst: scopes, singles: begins },
        Case { name: "end", burst: scopes, singles: ends },
    ]
}

#[inline(never)]
extern "C" fn scopes(n: u64, _first_id: u64) {
    for _ in 0..n {
        atrace::begin(Tag::APP, "name of 10");
        atrace::end(Tag::APP);
    }
}

/// Ticks of two reads of the counter, which the harness takes off each call.
static READS: LazyLock<u32> = LazyLock::new(|| {
    let mut gaps: [u32; 1001] = std::array::from_fn(|_| {
        let before = harness::ticks();
        (harness::ticks() - before) as u32
    });
    *gaps.select_nth_unstable(500).1
});

/// The time of a half of scopes that lie in each other, begins or ends, is shared among its calls. Some machines' counters go in steps as long as a call.
fn share(ticks: u64, elapsed_ticks: &mut [u32]) {
    let (net, calls) = (ticks.saturating_sub(u64::from(*READS)), elapsed_ticks.len() as u64);
    elapsed_ticks.fill(((net + calls / 2) / calls) as u32 + *READS);
}

#[inline(never)]
extern "C" fn begins(n: u64, _first_id: u64, elapsed_ticks: *mut u32) {
    let before = harness::ticks();
    (0..n).for_each(|_| atrace::begin(Tag::APP, "name of 10"));
    let ticks = harness::ticks() - before;
    (0..n).for_each(|_| atrace::end(Tag::APP));
    // SAFETY: the harness gives a buffer of n entries that nobody else uses meanwhile.
    share(ticks, unsafe { std::slice::from_raw_parts_mut(elapsed_ticks, n as usize) });
}

#[inline(never)]
extern "C" fn ends(n: u64, _first_id: u64, elapsed_ticks: *mut u32) {
    (0..n).for_each(|_| atrace::begin(Tag::APP, "name of 10"));
    let before = harness::ticks();
    (0..n).for_each(|_| atrace::end(Tag::APP));
    let ticks = harness::ticks() - before;
    // SAFETY: as above.
    share(ticks, unsafe { std::slice::from_raw_parts_mut(elapsed_ticks, n as usize) });
}

/// What the kernel is given by hand.
static BARE: OnceLock<(File, Vec<u8>)> = OnceLock::new();

fn write_bare() {
    if let Some((marker, message)) = BARE.get() {
        let mut marker: &File = marker;
        let _ = marker.write(message);
    }
}

bare_loop!(bare, |id| write_bare());
bare_loop!(begin10, |id| atrace::begin(Tag::APP, "name of 10"));
bare_loop!(begin1000, |id| atrace::begin(Tag::APP, &LONG));
bare_loop!(end, |id| atrace::end(Tag::APP));
bare_loop!(count, |id| atrace::int64(Tag::APP, "a counter.", 1_234_567));

/// The two loops of mode `disabled`.
pub fn loops() -> (Burst, Burst) {
    let Ok(chosen) = std::env::var("BENCH_LOOP") else { return (empty, empty) };
    let pid = std::process::id();
    let (place, call) = chosen.split_once('.').expect("BENCH_LOOP: place.call");
    let (candidate, message): (Burst, _) = match call {
        "begin10" => (begin10, format!("B|{pid}|name of 10")),
        "begin1000" => (begin1000, format!("B|{pid}|{}", *LONG)),
        "end" => (end, format!("E|{pid}")),
        "counter" => (count, format!("C|{pid}|a counter.|1234567")),
        other => panic!("no call {other}"),
    };
    assert_eq!(atrace::is_tag_enabled(Tag::APP), place == "marker", "properties and directives say so");
    if place != "marker" {
        return (empty, candidate);
    }
    let path =
        std::env::var("SILVERPOINT_ATRACE_MARKER").expect("SILVERPOINT_ATRACE_MARKER names the marker");
    let marker = OpenOptions::new().append(true).open(path).expect("the marker");
    BARE.set((marker, message.into_bytes())).expect("only once");
    (bare, candidate)
}

pub fn run() -> i32 {
    let (reference, candidate) = loops();
    harness::run("atrace-rust", &cases(), reference, candidate, Some(crate::prepare_thread), None, None)
}
