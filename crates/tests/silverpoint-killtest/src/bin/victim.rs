//! The Rust victim: `kill-victim COUNTS THREADS RECORDS [FACADE]`. Each thread traces (thread, sequence,
//! text) and counts the calls that returned. With `KILL_AT=n` in the environment the process kills itself in
//! the middle of the n-th record. The `Display` of its text has written half of it then.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};
use silverpoint::event;
use silverpoint_atrace::{self as atrace, Tag};
use silverpoint_killtest::counts::{Counts, text_of};
use silverpoint_killtest::facade::{Facade, Turn};
use tracing::span::EnteredSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let facade = Facade::named(words.get(4).map_or("native", String::as_str));
    let (Some(path), Some(threads), Some(records), Some(facade)) =
        (words.get(1), number(2), number(3), facade)
    else {
        eprintln!("usage: kill-victim COUNTS THREADS RECORDS [native|subscriber|layer|log|atrace]");
        std::process::exit(2);
    };
    let counts = Counts::open(Path::new(path)).expect("the counts can be mapped");
    let kill_at = std::env::var("KILL_AT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    KILL_AT.store(kill_at, Ordering::Relaxed);
    begin(facade);
    counts.set_pid(std::process::id());
    std::thread::scope(|scope| {
        for thread in 0..threads as u32 {
            let counts = &counts;
            scope.spawn(move || {
                let mut calls = Calls::new(facade, thread);
                for sequence in 1..=records {
                    counts.wait_for(sequence);
                    if counts.is_stopped() {
                        break;
                    }
                    calls.call(sequence);
                    counts.add(thread as usize);
                }
                calls.leave();
            });
        }
    });
}

/// Makes the facade the program's.
fn begin(facade: Facade) {
    match facade {
        Facade::Native | Facade::Atrace => return,
        Facade::Subscriber => silverpoint_tracing::init(),
        Facade::Layer => tracing_subscriber::registry().with(silverpoint_tracing::layer()).init(),
        Facade::Log => silverpoint_log::init(),
    }
    // Of a callsite the first that is entered twice is recorded otherwise.
    task(0, 0, "not counted");
}

/// A span that is entered more than once, as those of futures are.
fn task(thread: u32, sequence: u64, text: &str) {
    let task = tracing::info_span!("kill.task", thread, sequence, text);
    task.in_scope(|| ());
    task.in_scope(|| ());
}

/// The record in whose middle the process dies; 0: none.
static KILL_AT: AtomicU64 = AtomicU64::new(0);
/// Records whose middle was passed.
static PASSED: AtomicU64 = AtomicU64::new(0);

/// A text that is written in two pieces, with the fault point between them.
struct Halves<'a>(&'a str);

impl fmt::Display for Halves<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.0.split_at(self.0.len() / 2);
        f.write_str(first)?;
        if PASSED.fetch_add(1, Ordering::Relaxed) + 1 == KILL_AT.load(Ordering::Relaxed) {
            let _ = kill_process(getpid(), Signal::KILL);
        }
        f.write_str(second)
    }
}

/// A thread's calls.
struct Calls {
    facade: Facade,
    thread: u32,
    /// Of ATrace: a site for each thread.
    name: String,
    text: String,
    /// What is to end.
    span: Option<EnteredSpan>,
}

impl Calls {
    fn new(facade: Facade, thread: u32) -> Self {
        Self { facade, thread, name: format!("kill.{thread}"), text: String::new(), span: None }
    }

    fn call(&mut self, sequence: u64) {
        text_of(self.thread, sequence, &mut self.text);
        let turn = self.facade.turn(sequence);
        match self.facade {
            Facade::Native if KILL_AT.load(Ordering::Relaxed) != 0 => {
                let text = Halves(&self.text);
                event!("kill.tick", thread = self.thread, sequence, text = %text);
            }
            Facade::Native => {
                event!("kill.tick", thread = self.thread, sequence, text = self.text.as_str());
            }
            Facade::Subscriber | Facade::Layer => self.tracing(turn, sequence),
            Facade::Log => self.log(turn, sequence),
            Facade::Atrace => self.atrace(turn, sequence),
        }
    }

    fn tracing(&mut self, turn: Turn, sequence: u64) {
        let (thread, text) = (self.thread, self.text.as_str());
        match turn {
            Turn::Begin => {
                self.span = Some(tracing::info_span!("kill.span", thread, sequence, text).entered());
            }
            Turn::End => self.span = None,
            Turn::Task => task(thread, sequence, text),
            Turn::Text => tracing::warn!("{text}"),
            _ => tracing::info!(name: "kill.event", thread, sequence, text),
        }
    }

    fn log(&self, turn: Turn, sequence: u64) {
        let (thread, text) = (self.thread, self.text.as_str());
        match turn {
            Turn::Text => log::warn!(target: "kill", "{text}"),
            _ => log::info!(target: "kill", thread, sequence, text; "kill.log"),
        }
    }

    fn atrace(&self, turn: Turn, sequence: u64) {
        let (name, text, thread) = (self.name.as_str(), self.text.as_str(), self.thread.cast_signed());
        match turn {
            Turn::Begin => atrace::begin(Tag::APP, name),
            Turn::End => atrace::end(Tag::APP),
            Turn::AsyncBegin => atrace::async_begin(Tag::APP, name, sequence as i32),
            Turn::AsyncEnd => atrace::async_end(Tag::APP, name, sequence as i32 - 2),
            Turn::TrackBegin => atrace::track_begin(Tag::APP, "kill", text, thread),
            Turn::TrackEnd => atrace::track_end(Tag::APP, "kill", thread),
            Turn::TrackInstant => atrace::track_instant(Tag::APP, text, "kill"),
            _ => atrace::int64(Tag::APP, name, sequence.cast_signed()),
        }
    }

    /// What is open stays so: its end would be one more call.
    fn leave(self) {
        std::mem::forget(self.span);
    }
}
