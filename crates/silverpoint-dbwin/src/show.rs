//! Shows messages on standard output, one a line.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::monitor::Monitor;
use crate::objects::WindowsObjects;
use crate::process::{self, Names, Time};

const HELP: &str = "\
Shows what programs of this session give to OutputDebugString, one message a line: time, process, text.

usage: silverpoint-debug [--json]

  --json   one JSON object a line, which `silverpoint convert` makes a trace file of

Ends by Ctrl-C, or when its standard output is closed. Exit status 1: another debug monitor takes the messages, or
the system refuses; 2: wrong usage.";

/// Messages that wait to be shown. Beyond these, senders wait.
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
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_json = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--json"] => true,
        ["--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match listen(is_json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("silverpoint-debug: {message}");
            ExitCode::FAILURE
        }
    }
}

fn listen(is_json: bool) -> Result<(), String> {
    let failed = |error: io::Error| format!("the objects of OutputDebugString cannot be used: {error}");
    let objects = WindowsObjects::create().map_err(|refused| refused.to_string())?;
    let mut monitor = Monitor::new(objects).map_err(failed)?;
    eprintln!("silverpoint-debug: listens");
    let (sender, receiver) = sync_channel(WAITING);
    // Printing waits for its reader; senders do not.
    let printer = thread::spawn(move || print(&receiver, is_json));
    take(&mut monitor, &sender).map_err(failed)?;
    match printer.join() {
        Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Copies messages until nobody prints them.
fn take(monitor: &mut Monitor<WindowsObjects>, sender: &SyncSender<Copied>) -> io::Result<()> {
    let mut names = Names::default();
    loop {
        let Some(message) = monitor.next_message()? else { continue };
        // The sender may end at any time: its name is looked up before the message waits to be printed.
        let (time, name) = (Time::now(), names.of(message.pid));
        let copied = Copied { time, pid: message.pid, name, text: message.text.to_vec() };
        if sender.send(copied).is_err() {
            return Ok(());
        }
    }
}

fn print(receiver: &Receiver<Copied>, is_json: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    while let Ok(first) = receiver.recv() {
        let mut next = Some(first);
        while let Some(copied) = next {
            let (name, text) = (&copied.name, process::text(&copied.text));
            let text = text.trim_end_matches(['\r', '\n']);
            if is_json {
                let (time, pid, name, text) = (copied.time.utc(), copied.pid, json(name), json(text));
                writeln!(
                    out,
                    r#"{{"time":"{time}","level":"debug","category":"debug_output","process":"{name}","pid":{pid},"message":"{text}"}}"#
                )?;
            } else {
                // One message is one line.
                writeln!(out, "{} {name}[{}] {}", copied.time.local(), copied.pid, text.escape_debug())?;
            }
            next = receiver.try_recv().ok();
        }
        out.flush()?;
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
