//! Shows messages on standard output, one a line.

use std::io::{self, BufWriter, Write};
use std::iter;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use windows_sys::Win32::Foundation::ERROR_PIPE_NOT_CONNECTED;

use crate::console;
use crate::filter::Filter;
use crate::monitor::Monitor;
use crate::objects::WindowsObjects;
use crate::process::{self, Names, Time};
use crate::queue::{Entrance, Exit, queue};
use crate::view::{self, Pause};

const HELP: &str = "\
Shows what programs of this session give to OutputDebugString, one message a line: time, process, text.

usage: silverpoint-debug [--json] [--grep TEXT] [PID|NAME]...

  PID|NAME      only these processes; `*` and `?` match in names
  --grep TEXT   only messages that contain this text (`*` and `?` match)
  --json        one JSON object a line, which `silverpoint convert` makes a trace file of

In a console each process has a colour (unless NO_COLOR is set), and the space bar makes the output stand still and
go on.

Ends by Ctrl-C, or when its standard output is closed. Exit status 1: another debug monitor takes the messages, or
the system refuses; 2: wrong usage.";

/// Messages that wait to be shown. What comes beyond these is counted and not shown.
const WAITING: usize = 1 << 14;

/// A message that was copied.
struct Copied {
    time: Time,
    pid: u32,
    name: Arc<str>,
    text: Vec<u8>,
}

/// Runs until standard output is closed; gives the exit status.
pub fn show() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (mut is_json, mut filter) = (false, Filter::default());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => is_json = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--grep" if filter.text.is_none() => match words.next() {
                Some(text) => filter.text = Some(text),
                None => return wrong_usage(),
            },
            _ if word.starts_with('-') || word.is_empty() => return wrong_usage(),
            _ => filter.processes.push(word),
        }
    }
    match listen(is_json, filter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("silverpoint-debug: {message}");
            ExitCode::FAILURE
        }
    }
}

fn wrong_usage() -> ExitCode {
    eprintln!("{HELP}");
    ExitCode::from(2)
}

fn listen(is_json: bool, filter: Filter) -> Result<(), String> {
    let failed = |error: io::Error| format!("the objects of OutputDebugString cannot be used: {error}");
    let objects = WindowsObjects::create().map_err(|refused| refused.to_string())?;
    let mut monitor = Monitor::new(objects).map_err(failed)?;
    eprintln!("silverpoint-debug: listens");
    let (entrance, exit) = queue(WAITING);
    // Printing waits for its reader; senders do not.
    let output = console::output();
    let pause = Arc::new(Pause::default());
    if output.is_console {
        let pause = pause.clone();
        thread::spawn(move || obey_keys(&pause));
    }
    let has_colours = output.has_colours && std::env::var_os("NO_COLOR").is_none_or(|text| text.is_empty());
    let printer = thread::spawn(move || print(&exit, is_json, has_colours, &pause, &filter));
    take(&mut monitor, &entrance, &printer).map_err(failed)?;
    match printer.join() {
        Ok(Err(error)) if !is_closed(&error) => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Whether the reader of a pipe has gone. Wine has a code of its own for that.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED as i32)
}

/// Copies messages as long as somebody prints them.
fn take<T>(
    monitor: &mut Monitor<WindowsObjects>,
    entrance: &Entrance<Copied>,
    printer: &JoinHandle<T>,
) -> io::Result<()> {
    let mut names = Names::default();
    while !printer.is_finished() {
        let Some(message) = monitor.next_message()? else { continue };
        // The sender may end at any time: its name is looked up before the message waits to be printed.
        let (time, name) = (Time::now(), names.of(message.pid));
        entrance.push(Copied { time, pid: message.pid, name, text: message.text.to_vec() });
    }
    Ok(())
}

/// As long as standard input is a console.
fn obey_keys(pause: &Pause) {
    while let Some(key) = console::next_key() {
        if key == ' ' {
            let now = if pause.toggle() { "stands still: the space bar lets it go on" } else { "goes on" };
            eprintln!("silverpoint-debug: {now}");
        }
    }
}

fn print(
    exit: &Exit<Copied>,
    is_json: bool,
    has_colours: bool,
    pause: &Pause,
    filter: &Filter,
) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    while let Some(first) = exit.wait() {
        for copied in iter::once(first).chain(iter::from_fn(|| exit.next())).take(WAITING) {
            pause.wait(|| out.flush())?;
            let (name, text) = (&copied.name, process::text(&copied.text));
            let text = text.trim_end_matches(['\r', '\n']);
            if !filter.wants_process(name, copied.pid) || !filter.wants_text(text) {
                continue;
            }
            if is_json {
                let (time, pid, name, text) = (copied.time.utc(), copied.pid, json(name), json(text));
                writeln!(
                    out,
                    r#"{{"time":"{time}","level":"debug","category":"debug_output","process":"{name}","pid":{pid},"message":"{text}"}}"#
                )?;
            } else {
                writeln!(out, "{}", view::line(&copied.time.local(), name, copied.pid, text, has_colours))?;
            }
        }
        out.flush()?;
        let missed = exit.missed();
        if missed > 0 {
            // (Without a standard error the count is lost, and the output goes on.)
            let _ = writeln!(
                io::stderr(),
                "silverpoint-debug: {missed} messages were not shown: the output was too slow"
            );
        }
    }
    Ok(())
}

/// The inside of a string of JSON.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1F' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}
