//! A signal to end while a file is made removes the partial file and prints a message. The exit status is 128
//! plus the signal's number.

use std::path::Path;
use std::sync::Once;

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use silverpoint_trace::newfile;

use crate::exit::note;

/// From now on. If no thread can be started, signals keep their default action.
pub fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // What is ignored already (as `nohup` ignores SIGHUP) stays ignored.
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let wanted: Vec<i32> = wanted.collect();
        let wait = move |mut signals: Signals| {
            if let Some(signal) = signals.forever().next() {
                for path in newfile::abandon() {
                    note(format_args!(
                        "{}: interrupted: the file was not written, and its partial copy was removed",
                        path.display()
                    ));
                }
                std::process::exit(128 + signal);
            }
        };
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // The thread starts before the handlers: without it no signal may be caught.
        let begun = std::thread::Builder::new().name("interrupts".into()).spawn(move || {
            if let Ok(signals) = receiver.recv() {
                wait(signals);
            }
        });
        if begun.is_ok()
            && let Ok(signals) = Signals::new(&wanted)
        {
            let _ = sender.send(signals);
        }
    });
}

/// Whether a signal is ignored since before this program began.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
