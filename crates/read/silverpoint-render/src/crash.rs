//! Crash records (spec/crash.md): their contents, with names for the addresses.
//!
//! ```text
//! SIGSEGV (SEGV_MAPERR) at address 0x10 in thread worker-2 (4313)
//!     #0 pump::start (src/pump.cpp:88) app+0x1b2c
//!     #1 main (src/main.cpp:12) app+0x1a01
//!     app 9f86d081…: /opt/app/bin/app
//! ```

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::Path;

use silverpoint_symbols::{Fault, Place, Symbols};
use silverpoint_trace::escape::push_escaped;
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::layout::signature::CUT;

use crate::json::push_string;

/// Frames of a panic's own machinery, at the most.
const PANIC_FRAMES: usize = 24;
/// Before each line.
const INDENT: &str = "    ";

/// A record's arguments.
struct Crash {
    what: String,
    cause: String,
    place: String,
    tid: u32,
    thread: String,
    stack: Vec<u64>,
    missing: u32,
    modules: Vec<Module>,
}

struct Module {
    path: String,
    /// Not cut.
    is_whole: bool,
    build_id: Vec<u8>,
    base: u64,
    begin: u64,
    end: u64,
}

/// One address of the stack.
struct Frame {
    address: u64,
    /// Which module, and the address in its file.
    module: Option<(usize, u64)>,
    /// The innermost first.
    places: Vec<Place>,
}

/// Reads arguments one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        u32_at(self.take(4)?, 0)
    }

    fn u64(&mut self) -> Option<u64> {
        u64_at(self.take(8)?, 0)
    }

    /// A length, and how much is missing.
    fn len(&mut self) -> Option<(usize, u32)> {
        let len = self.u32()?;
        let missing = if len & CUT == 0 { 0 } else { self.u32()? };
        Some(((len & !CUT) as usize, missing))
    }

    fn bytes(&mut self) -> Option<(&'a [u8], bool)> {
        let (len, missing) = self.len()?;
        Some((self.take(len)?, missing == 0))
    }

    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?.0).into_owned())
    }

    fn module(&mut self) -> Option<Module> {
        let (path, is_whole) = self.bytes()?;
        Some(Module {
            path: String::from_utf8_lossy(path).into_owned(),
            is_whole,
            build_id: self.bytes()?.0.to_vec(),
            base: self.u64()?,
            begin: self.u64()?,
            end: self.u64()?,
        })
    }
}

impl Crash {
    /// `None` when the arguments contradict the signature.
    fn read(args: &[u8]) -> Option<Self> {
        let mut from = Reader { bytes: args, at: 0 };
        let (what, cause, place) = (from.text()?, from.text()?, from.text()?);
        let _signal = from.u32()?;
        let _name = from.bytes()?;
        let _code = from.u32()?;
        let _code_name = from.bytes()?;
        if from.u8()? != 0 {
            let _address = from.u64()?;
        }
        if from.u8()? != 0 {
            let _sender = from.u32()?;
        }
        let (tid, thread) = (from.u32()?, from.text()?);
        let (count, missing) = from.len()?;
        let stack =
            from.take(count.checked_mul(8)?)?.chunks_exact(8).filter_map(|word| u64_at(word, 0)).collect();
        let (count, _) = from.len()?;
        let modules = (0..count).map_while(|_| from.module()).collect::<Vec<_>>();
        (modules.len() == count).then_some(Self { what, cause, place, tid, thread, stack, missing, modules })
    }

    /// The stack with what is known of each address. For each module: why nothing is known.
    fn frames(&self, symbols: &mut Symbols) -> (Vec<Frame>, Vec<Option<Fault>>) {
        let mut faults = vec![None; self.modules.len()];
        let mut frames: Vec<Frame> = Vec::with_capacity(self.stack.len());
        for (number, &address) in self.stack.iter().enumerate() {
            // A return address may be that of the next function.
            let within = address.wrapping_sub(u64::from(number > 0 || self.cause != "signal"));
            let found = self.modules.iter().position(|module| (module.begin..module.end).contains(&within));
            let mut places = Vec::new();
            if let Some(index) = found {
                let module = &self.modules[index];
                let path = if module.is_whole { Path::new(&module.path) } else { Path::new("") };
                match symbols.places(path, &module.build_id, within.wrapping_sub(module.base)) {
                    Ok(known) => places = known,
                    Err(fault) => faults[index] = Some(fault),
                }
            }
            let module = found.map(|index| (index, address.wrapping_sub(self.modules[index].base)));
            frames.push(Frame { address, module, places });
        }
        (frames, faults)
    }

    fn module_name(&self, index: usize) -> &str {
        let path = &self.modules[index].path;
        // Windows's begin with a drive or a share.
        let is_windows = path.get(1..3) == Some(":\\") || path.starts_with("\\\\");
        path.rsplit(if is_windows { '\\' } else { '/' })
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or(path)
    }
}

/// Appends what has happened, in one line. False when the arguments cannot be read.
pub(crate) fn push_summary(out: &mut String, args: &[u8]) -> bool {
    let Some(crash) = Crash::read(args) else { return false };
    push_escaped(out, &crash.what);
    if !crash.place.is_empty() {
        out.push_str(" at ");
        push_escaped(out, &crash.place);
    }
    out.push_str(" in thread ");
    // (On Windows few threads have a name.)
    if crash.thread.is_empty() {
        let _ = write!(out, "{}", crash.tid);
    } else {
        push_escaped(out, &crash.thread);
        let _ = write!(out, " ({})", crash.tid);
    }
    true
}

/// Appends the stack in whole lines.
pub(crate) fn push_stack(out: &mut String, symbols: &mut Symbols, args: &[u8]) {
    let Some(crash) = Crash::read(args) else { return };
    let (frames, faults) = crash.frames(symbols);
    let first = if crash.cause == "panic" { panic_frames(&frames) } else { 0 };
    let mut frames: VecDeque<&Frame> = frames[first..].iter().collect();
    let mut number = 0;
    while let Some(frame) = frames.pop_front() {
        push_frame(out, &crash, number, frame);
        number += 1;
        let same = frames.iter().take_while(|other| other.address == frame.address).count();
        // Recursion fills a stack with one frame.
        if same > 1 {
            frames.drain(..same);
            number += same;
            let _ = writeln!(out, "{INDENT}… the same {same} more times");
        }
    }
    if crash.missing > 0 {
        let _ = writeln!(out, "{INDENT}… {} outer frames are not recorded", crash.missing);
    }
    for (index, (module, fault)) in crash.modules.iter().zip(&faults).enumerate() {
        out.push_str(INDENT);
        push_escaped(out, crash.module_name(index));
        out.push(' ');
        push_hex(out, &module.build_id);
        out.push_str(": ");
        push_escaped(out, &module.path);
        if let Some(fault) = fault {
            let _ = write!(out, " ({fault})");
        }
        out.push('\n');
    }
}

/// How many frames belong to the machinery of a panic.
fn panic_frames(frames: &[Frame]) -> usize {
    let is_machinery = |frame: &Frame| {
        let mut functions = frame.places.iter().filter_map(|place| place.function.as_deref());
        functions.any(|function| {
            function.contains("rust_begin_unwind")
                || function.starts_with("core::panicking::")
                || function.starts_with("std::panicking::begin_panic")
        })
    };
    frames.iter().take(PANIC_FRAMES).rposition(is_machinery).map_or(0, |last| last + 1)
}

fn push_frame(out: &mut String, crash: &Crash, number: usize, frame: &Frame) {
    let unknown = [Place::default()];
    let places = if frame.places.is_empty() { &unknown } else { frame.places.as_slice() };
    for (depth, place) in places.iter().enumerate() {
        let _ = write!(out, "{INDENT}#{number} ");
        if let Some(function) = &place.function {
            push_escaped(out, function);
            out.push(' ');
        }
        if let Some(file) = &place.file {
            out.push('(');
            push_escaped(out, file);
            if let Some(line) = place.line {
                let _ = write!(out, ":{line}");
            }
            out.push_str(") ");
        }
        if depth + 1 < places.len() {
            out.push_str("inlined\n");
            continue;
        }
        match frame.module {
            Some((index, offset)) => {
                push_escaped(out, crash.module_name(index));
                let _ = write!(out, "+{offset:#x}");
            }
            None => {
                let _ = write!(out, "{:#x}", frame.address);
            }
        }
        out.push('\n');
    }
}

/// Appends `,"stack":[…]`: of each address the module and what is inlined there, the innermost first.
pub(crate) fn push_json(out: &mut String, symbols: &mut Symbols, args: &[u8]) {
    let Some(crash) = Crash::read(args) else { return };
    let (frames, _) = crash.frames(symbols);
    out.push_str(",\"stack\":[");
    for (number, frame) in frames.iter().enumerate() {
        let _ = write!(out, "{}{{\"address\":\"{:#x}\"", if number > 0 { "," } else { "" }, frame.address);
        if let Some((index, offset)) = frame.module {
            out.push_str(",\"module\":");
            push_string(out, crash.module_name(index));
            out.push_str(",\"build_id\":\"");
            push_hex(out, &crash.modules[index].build_id);
            let _ = write!(out, "\",\"offset\":\"{offset:#x}\"");
        }
        if !frame.places.is_empty() {
            out.push_str(",\"places\":[");
            for (depth, place) in frame.places.iter().enumerate() {
                out.push_str(if depth > 0 { ",{\"function\":" } else { "{\"function\":" });
                match &place.function {
                    Some(function) => push_string(out, function),
                    None => out.push_str("null"),
                }
                if let Some(file) = &place.file {
                    out.push_str(",\"file\":");
                    push_string(out, file);
                }
                if let Some(line) = place.line {
                    let _ = write!(out, ",\"line\":{line}");
                }
                out.push('}');
            }
            out.push(']');
        }
        out.push('}');
    }
    out.push(']');
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    if bytes.is_empty() {
        out.push_str("without build id");
    }
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(args: &mut Vec<u8>, text: &[u8]) {
        args.extend((text.len() as u32).to_le_bytes());
        args.extend(text);
    }

    /// A crash in two modules that are not here, with a frame in none and a cut stack.
    fn args(cause: &str) -> Vec<u8> {
        args_of("worker", "/not/here/app", cause)
    }

    fn args_of(thread: &str, module: &str, cause: &str) -> Vec<u8> {
        let mut args = Vec::new();
        for text in ["SIGSEGV\n(SEGV_MAPERR)", cause, "a.cpp:7"] {
            put(&mut args, text.as_bytes());
        }
        args.extend(11_i32.to_le_bytes());
        put(&mut args, b"SIGSEGV");
        args.extend(1_i32.to_le_bytes());
        put(&mut args, b"SEGV_MAPERR");
        args.push(1);
        args.extend(16_u64.to_le_bytes());
        args.push(0);
        args.extend(4313_u32.to_le_bytes());
        put(&mut args, thread.as_bytes());
        args.extend((6_u32 | CUT).to_le_bytes());
        args.extend(9_u32.to_le_bytes());
        for frame in [0x1000_u64, 0x3010, 0x2010, 0x2010, 0x2010, 0x2000] {
            args.extend(frame.to_le_bytes());
        }
        args.extend(2_u32.to_le_bytes());
        for (path, begin) in [(module, 0x1000_u64), ("lib\x1b.so", 0x2000)] {
            put(&mut args, path.as_bytes());
            put(&mut args, &[0xAB, 0xCD, 0xEF]);
            for word in [0x400_u64, begin, begin + 0x1000] {
                args.extend(word.to_le_bytes());
            }
        }
        args
    }

    #[test]
    fn a_stack_without_files_is_modules_and_offsets() {
        let mut text = String::new();
        assert!(push_summary(&mut text, &args("signal")));
        text.push('\n');
        push_stack(&mut text, &mut Symbols::new(), &args("signal"));
        assert_eq!(
            text,
            "SIGSEGV\\n(SEGV_MAPERR) at a.cpp:7 in thread worker (4313)\n    #0 app+0xc00\n    #1 0x3010\n    #2 lib\\x1b.so+0x1c10\n    … the same 2 more times\n    \
             #5 app+0x1c00\n    … 9 outer frames are not recorded\n    app abcdef: /not/here/app (the file is not here)\n    \
             lib\\x1b.so abcdef: lib\\x1b.so (no build id or no path is recorded)\n"
        );
    }

    #[test]
    fn modules_of_windows_have_names_and_threads_may_have_none() {
        for (path, name) in [
            ("C:\\not\\here\\app.exe", "app.exe"),
            ("\\\\server\\share\\app.exe", "app.exe"),
            ("/odd\\name", "odd\\name"),
            ("C:\\", "C:\\"),
        ] {
            let args = args_of("", path, "signal");
            let mut text = String::new();
            assert!(push_summary(&mut text, &args));
            push_stack(&mut text, &mut Symbols::new(), &args);
            let begin = format!("SIGSEGV\\n(SEGV_MAPERR) at a.cpp:7 in thread 4313    #0 {name}+0xc00\n");
            assert!(text.starts_with(&begin), "{text}");
        }
    }

    /// Where no signal has interrupted the thread, the first address is a return address, too: it may be the first of the next module.
    #[test]
    fn return_addresses_belong_to_what_is_before_them() {
        let mut json = String::from("{\"x\":0");
        push_json(&mut json, &mut Symbols::new(), &args("check"));
        json.push('}');
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["stack"][0], serde_json::json!({"address": "0x1000"}));
        assert_eq!(json["stack"][5]["module"], "app");
        assert_eq!(json["stack"][2]["offset"], "0x1c10");
        assert_eq!(json["stack"][2]["build_id"], "abcdef");
    }

    #[test]
    fn arguments_that_are_cut_or_lie_are_not_read() {
        let whole = args("signal");
        for len in 0..whole.len() {
            assert!(!push_summary(&mut String::new(), &whole[..len]), "{len} bytes");
        }
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] = 0xFF;
            let mut out = String::new();
            push_stack(&mut out, &mut Symbols::new(), &bad);
            push_json(&mut out, &mut Symbols::new(), &bad);
        }
    }
}
