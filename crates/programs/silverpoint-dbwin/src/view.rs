//! How messages look in a console, and when they stand still.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One message is one line. In colours each process has its own; two may share one.
pub fn line(time: &str, name: &str, pid: u32, text: &str, has_colours: bool) -> String {
    let (name, text) = (name.escape_debug(), text.escape_debug());
    if has_colours {
        format!("\x1b[2m{time}\x1b[0m \x1b[{}m{name}[{pid}]\x1b[0m {text}", colour_of(pid))
    } else {
        format!("{time} {name}[{pid}] {text}")
    }
}

/// The code of a colour of text, none of them black or white.
fn colour_of(pid: u32) -> u32 {
    // (Ids on Windows are multiples of four.)
    31 + pid / 4 % 6
}

/// Whether the output stands still. What comes meanwhile waits.
#[derive(Default)]
pub struct Pause {
    is_on: Mutex<bool>,
    changed: Condvar,
}

impl Pause {
    fn is_on(&self) -> MutexGuard<'_, bool> {
        self.is_on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins it, or ends it; gives which.
    pub fn toggle(&self) -> bool {
        let mut is_on = self.is_on();
        *is_on = !*is_on;
        self.changed.notify_all();
        *is_on
    }

    /// Returns when the output goes on. `before_waiting` is called if it has to wait.
    pub fn wait<E>(&self, before_waiting: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if *self.is_on() {
            before_waiting()?;
            let guard = self.changed.wait_while(self.is_on(), |is_on| *is_on);
            drop(guard.unwrap_or_else(PoisonError::into_inner));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn lines_have_colours_by_process() {
        assert_eq!(line("12:00", "app.exe", 8, "a\tb\x1b", false), "12:00 app.exe[8] a\\tb\\u{1b}");
        assert_eq!(line("12:00", "\u{9b}2J.exe", 8, "", false), "12:00 \\u{9b}2J.exe[8] ");
        let coloured = |pid| line("12:00", "\x1b.exe", pid, "\x1b[0m", true);
        assert_eq!(coloured(8), "\x1b[2m12:00\x1b[0m \x1b[33m\\u{1b}.exe[8]\x1b[0m \\u{1b}[0m");
        let colours: std::collections::BTreeSet<u32> = (0..6).map(|number| colour_of(4 * number)).collect();
        assert_eq!(colours.into_iter().collect::<Vec<_>>(), [31, 32, 33, 34, 35, 36]);
        assert_eq!(colour_of(u32::MAX), 31 + u32::MAX / 4 % 6);
    }

    #[test]
    fn what_stands_still_goes_on_when_it_is_told() {
        let pause = Arc::new(Pause::default());
        let never: Result<(), &str> = pause.wait(|| Err("it waits"));
        assert_eq!(never, Ok(()));
        assert!(pause.toggle());
        // What is to be done before fails: no wait begins.
        assert_eq!(pause.wait(|| Err("closed")), Err("closed"));
        let (say, heard) = channel();
        let waiting = {
            let (pause, say) = (pause.clone(), say);
            thread::spawn(move || {
                let _ = pause.wait(|| say.send("waits").or(Ok::<(), Infallible>(())));
                say.send("went on")
            })
        };
        assert_eq!(heard.recv(), Ok("waits"));
        assert!(heard.try_recv().is_err());
        assert!(!pause.toggle());
        assert_eq!(heard.recv(), Ok("went on"));
        assert_eq!(waiting.join().map_err(|_| ()), Ok(Ok(())));
    }
}
