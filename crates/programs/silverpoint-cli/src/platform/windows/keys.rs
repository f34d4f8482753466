//! Keys that are pressed while a command prints lines: read one by one, and not shown.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, poll, read};

/// The console's keys. Ctrl-C stays as it is.
pub struct Keys;

impl Keys {
    /// `None`: standard input and output are not a console.
    pub fn watch() -> Option<Self> {
        (io::stdin().is_terminal() && io::stdout().is_terminal()).then_some(Self)
    }

    /// The next of the keys that were pressed; the others come with the next calls.
    pub fn pressed(&self) -> Option<u8> {
        while poll(Duration::ZERO).ok()? {
            if let Event::Key(key) = read().ok()?
                && key.kind != KeyEventKind::Release
                && let KeyCode::Char(key) = key.code
                && let Ok(key) = u8::try_from(key)
            {
                return Some(key);
            }
        }
        None
    }
}
