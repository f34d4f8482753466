//! The console in which the monitor runs, if there is one.

use std::ptr;

use windows_sys::Win32::System::Console::{
    ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode, GetStdHandle, INPUT_RECORD, KEY_EVENT,
    ReadConsoleInputW, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetConsoleMode,
};

/// Whether standard output is a console; it then shows colours, if it can.
pub struct Output {
    /// A console shows what is printed.
    pub is_console: bool,
    /// It knows the codes of colours.
    pub has_colours: bool,
}

/// Looks, and switches the codes on.
pub fn output() -> Output {
    let mut mode = 0;
    // SAFETY: the mode is written while the call lasts; a handle that is none is refused.
    unsafe {
        let out = GetStdHandle(STD_OUTPUT_HANDLE);
        let is_console = GetConsoleMode(out, &mut mode) != 0;
        let has_colours = is_console && SetConsoleMode(out, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
        Output { is_console, has_colours }
    }
}

/// Waits for the next key that gives a character. `None`: standard input is no console.
pub fn next_key() -> Option<char> {
    loop {
        // SAFETY: the record is plain data that the call fills; only that of a key is read as one.
        unsafe {
            let mut record: INPUT_RECORD = std::mem::zeroed();
            let mut count = 0;
            let input = GetStdHandle(STD_INPUT_HANDLE);
            if ReadConsoleInputW(input, ptr::from_mut(&mut record), 1, &mut count) == 0 {
                return None;
            }
            if count == 1 && u32::from(record.EventType) == KEY_EVENT {
                let key = record.Event.KeyEvent;
                let unit = key.uChar.UnicodeChar;
                if key.bKeyDown != 0 && unit != 0 {
                    return Some(char::from_u32(u32::from(unit)).unwrap_or('?'));
                }
            }
        }
    }
}
