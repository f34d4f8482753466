//! Each value is read once, and the thread goes on recording, no matter what the value's code does: every
//! record is right or counted.

use std::time::Duration;

use tracing::{Level, event, info_span};
use tracing_subscriber::prelude::*;

use crate::ways::{self, Acting};
use silverpoint_tests::folder_in_memory;

use crate::{child, collect, is_child, reader};

/// The program's one subscriber: within another, `tracing` itself gives nothing to nobody who records while something is recorded.
fn begin(is_layer: bool) {
    if is_layer {
        tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
    } else {
        silverpoint_tracing::init();
    }
}

/// Runs the test `name` in a process of its own, which makes records of all that [`ways::all`] has; those of events are compared.
fn every_way_out(name: &str, is_layer: bool, is_event: bool, record: &dyn Fn(&Acting<'_>)) {
    if is_child(name) {
        begin(is_layer);
        return ways::all(record, || event!(name: "way", Level::INFO, value = ""));
    }
    let root = folder_in_memory();
    let mut running = child(name, "info", &root);
    let parent = collect(root.path(), &mut running, |_, _| {});
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(parent.losses(), [0, 0, 0, 0, 0, 0, 0, ways::LOST]);
    let children: Vec<_> =
        reader::sessions(root.path()).into_iter().filter(|session| session.name != parent.name).collect();
    let [child] = &children[..] else { panic!("{} children", children.len()) };
    assert_eq!(child.losses(), [0; 8]);
    if is_event {
        let lengths = |session: &reader::Session| -> Vec<usize> {
            let is_wanted =
                |record: &reader::Record| ["way", "{}"].contains(&record.what.as_str()) && !record.truncated;
            session
                .records()
                .iter()
                .filter(|record| is_wanted(record))
                .map(|record| length(&record.args))
                .collect()
        };
        assert!(lengths(&parent) == ways::lengths(), "in order and whole");
        assert_eq!(parent.records().iter().filter(|record| record.truncated).count(), 3);
        assert_eq!(lengths(child), [40, 50]);
    }
}

/// Of a text as the reader shows it: `"xx"`, `<2000>`, a list of one.
fn length(shown: &str) -> usize {
    let shown = shown.trim_start_matches('[').trim_end_matches(']');
    match shown.strip_prefix('<') {
        Some(number) => number.trim_end_matches('>').parse().unwrap(),
        None => shown.len() - 2,
    }
}

macro_rules! ways {
    ($($bare:ident $layer:ident, $is_event:literal, |$value:ident| $record:expr;)*) => {$(
        #[test]
        fn $bare() {
            every_way_out(concat!("once::", stringify!($bare)), false, $is_event, &|$value| $record);
        }
        #[test]
        fn $layer() {
            every_way_out(concat!("once::", stringify!($layer)), true, $is_event, &|$value| $record);
        }
    )*};
}

ways! {
    out_of_a_field_by_display out_of_a_field_by_display_in_a_layer, true,
        |value| event!(name: "way", Level::INFO, %value);
    out_of_a_field_by_debug out_of_a_field_by_debug_in_a_layer, true,
        |value| event!(name: "way", Level::INFO, ?value);
    out_of_a_text out_of_a_text_in_a_layer, true, |value| tracing::info!("{value}");
    out_of_a_field_of_a_span out_of_a_field_of_a_span_in_a_layer, false,
        |value| drop(info_span!("way", before = 1, %value).entered());
    out_of_a_field_that_comes_later out_of_a_field_that_comes_later_in_a_layer, false, |value| {
        let span = info_span!("way", value = tracing::field::Empty);
        span.record("value", tracing::field::display(value));
    };
}

/// A span's field panics while a few numbers were expected: another span gets its slot afterwards.
#[test]
fn spans_that_are_never_made_leave_nothing() {
    let name = "once::spans_that_are_never_made_leave_nothing";
    let (Some(session), losses) = crate::recorded_with_losses(name, "info") else {
        return crate::both_ways(|| {
            for n in 0..100 {
                let made = std::panic::catch_unwind(|| {
                    let value: &dyn tracing::Value =
                        if n % 2 == 0 { &1_u64 } else { &tracing::field::debug(Unwinds) };
                    drop(info_span!("numbers", value).entered());
                });
                assert_eq!(made.is_ok(), n % 2 == 0);
            }
        });
    };
    assert_eq!(losses, [0, 0, 0, 0, 0, 0, 0, 100]);
    assert_eq!(session.args_of("numbers").len(), 100);
}

struct Unwinds;

impl std::fmt::Debug for Unwinds {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::panic::resume_unwind(Box::new(()))
    }
}

/// A thread makes and drops spans while another forks again and again. The child has any state that the
/// thread has left in the middle of something.
#[test]
fn children_of_a_process_whose_threads_have_spans() {
    let name = "once::children_of_a_process_whose_threads_have_spans";
    if !is_child(name) {
        let root = folder_in_memory();
        let output = child(name, "info", &root).wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    begin(false);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_running = || !stop.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while is_running() {
                let all: Vec<_> = (0..200).map(|k| info_span!("busy", k)).collect();
                drop(all);
            }
        });
        for round in 0..300 {
            // SAFETY: the child uses nothing of the parent's other thread.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                let all: Vec<_> = (0..100).map(|k| info_span!("child", k)).collect();
                drop(all);
                // SAFETY: nothing of it is needed any more.
                unsafe { libc::_exit(0) }
            }
            let begun = std::time::Instant::now();
            let mut status = 0;
            // SAFETY: the only child.
            while unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == 0 {
                if begun.elapsed() > Duration::from_secs(300) {
                    // SAFETY: as above.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                    panic!("the child of round {round} hangs");
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            assert_eq!(status, 0);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
