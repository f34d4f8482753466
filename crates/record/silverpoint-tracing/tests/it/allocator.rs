//! The program's allocator records its allocations. Every entry point is used from within itself, also the
//! first time, and no thread waits for itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use silverpoint_atrace::Tag;

use silverpoint_tests::folder_in_memory;

use crate::{child, collect, is_child};

pub struct Recording;

/// Which way in; 0: none.
static WAY: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

const WAYS: [&str; 5] = ["event", "log", "counter", "span", "keys"];

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Recording {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let way = WAY.load(Ordering::Relaxed);
        if way != 0 {
            CALLS.fetch_add(1, Ordering::Relaxed);
            let size = layout.size();
            match WAYS[way as usize - 1] {
                "event" => tracing::info!(name: "way", size),
                "log" => log::info!(target: "way", "{size}"),
                "counter" => silverpoint_atrace::int(Tag::APP, "way", size as i32),
                "span" => drop(tracing::info_span!("way", size).entered()),
                _ => log::info!(target: "way", size; "keys"),
            }
        }
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

fn use_it(way: u64) {
    silverpoint_tracing::init();
    silverpoint_log::init();
    WAY.store(way, Ordering::Relaxed);
    let texts: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let work = || {
        let boxes: Vec<Box<u64>> = (0..100).map(Box::new).collect();
        let spans: Vec<_> = (0..20).map(|n| tracing::info_span!("deep", n).entered()).collect();
        spans.into_iter().rev().for_each(drop);
        tracing::info!(n = boxes.len(), "of a thread");
        log::info!("of a thread");
        boxes.len()
    };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(work)).collect();
    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    WAY.store(0, Ordering::Relaxed);
    assert_eq!((texts.len(), sum), (1000, 400));
    tracing::info!(name: "calls", calls = CALLS.load(Ordering::Relaxed));
}

fn every_call_is_recorded_or_counted(way: &str) {
    let name = format!("allocator::an_allocator_that_records_by_{way}");
    if is_child(&name) {
        return use_it(1 + WAYS.iter().position(|known| *known == way).unwrap() as u64);
    }
    let root = folder_in_memory();
    let mut running = child(&name, "info", &root);
    let begun = Instant::now();
    let session = collect(root.path(), &mut running, |running, _| {
        if begun.elapsed() > Duration::from_secs(300) {
            running.kill().unwrap();
        }
    });
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{way}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    let calls: u64 = session.args_of("calls")[0].parse().unwrap();
    let is_of_the_allocator = |record: &&crate::reader::Record| {
        ["way", "atrace"].contains(&record.what.as_str())
            || (record.what == "{}" && !record.args.contains("of a thread"))
    };
    let records = session.records().iter().filter(is_of_the_allocator).count() as u64;
    let lost = session.losses();
    assert!(calls > 1000 && records > 1000, "{way}: {calls} calls, {records} records");
    assert_eq!(lost[..4], [0; 4], "{way}");
    // A span has an end, too, where it was recorded.
    if way != "span" {
        assert_eq!(records + lost.iter().sum::<u64>(), calls, "{way}: {lost:?}");
    }
}

#[test]
fn an_allocator_that_records_by_event() {
    every_call_is_recorded_or_counted("event");
}

#[test]
fn an_allocator_that_records_by_log() {
    every_call_is_recorded_or_counted("log");
}

#[test]
fn an_allocator_that_records_by_counter() {
    every_call_is_recorded_or_counted("counter");
}

#[test]
fn an_allocator_that_records_by_span() {
    every_call_is_recorded_or_counted("span");
}

#[test]
fn an_allocator_that_records_by_keys() {
    every_call_is_recorded_or_counted("keys");
}
