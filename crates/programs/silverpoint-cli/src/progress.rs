//! The progress of a command on a terminal: a bar with the rate and the time left. It counts what is read of
//! trace files.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use silverpoint_trace::bytes_read;

use crate::terminal;

/// Interval between two updates.
const LOOK: Duration = Duration::from_millis(100);

/// A bar that a thread of its own moves on. Gone when it is dropped.
pub struct Progress {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins; `total`: bytes that will be read from now on. There is no bar if standard error is no
    /// terminal, with `--quiet`, or if no thread can be started.
    pub fn of_reading(total: u64) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        if total == 0 || terminal::quiet() || !std::io::stderr().is_terminal() {
            return Self { ended, thread: None };
        }
        let flag = Arc::clone(&ended);
        let begun = bytes_read();
        let show = move || {
            let bar = bar(total);
            // What ends before the first look needs no bar, and a rate needs some time.
            loop {
                std::thread::park_timeout(LOOK);
                if flag.load(Ordering::Acquire) {
                    break;
                }
                bar.set_position((bytes_read() - begun).min(total));
            }
            bar.finish_and_clear();
        };
        Self { ended, thread: std::thread::Builder::new().name("progress".into()).spawn(show).ok() }
    }

    /// Removes the bar before anything else is printed.
    pub fn end(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// A bar of bytes.
pub fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    match ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
