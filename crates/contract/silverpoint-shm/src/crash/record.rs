//! What has happened, and its bytes (spec/crash.md).

use std::fmt::{self, Write};

use silverpoint_wire::layout::signature::CUT;

use super::abort_message;
use super::stack::Stack;
use crate::sys;

/// Bytes of a module's path at most.
const PATH_MAX: usize = 512;
/// Text of bounded length; what does not fit is left out. All zero is empty.
#[derive(Clone, Copy)]
pub(crate) struct Words<const N: usize> {
    len: usize,
    bytes: [u8; N],
}

impl<const N: usize> Words<N> {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut len = text.len().min(self.left());
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        self.push_bytes(&text.as_bytes()[..len]);
    }

    /// For text of C: readers replace invalid UTF-8.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        let len = bytes.len().min(self.left());
        self.bytes[self.len..self.len + len].copy_from_slice(&bytes[..len]);
        self.len += len;
    }

    /// Of what is too long the middle is left out: an `assert` has its condition at the end.
    pub(crate) fn push_ends(&mut self, bytes: &[u8]) {
        const GAP: &str = " … ";
        match self.left().checked_sub(GAP.len()) {
            Some(room) if bytes.len() > self.left() => {
                self.push_bytes(&bytes[..room / 2]);
                self.push(GAP);
                self.push_bytes(&bytes[bytes.len() - room / 2..]);
            }
            _ => self.push_bytes(bytes),
        }
    }

    fn left(&self) -> usize {
        N - self.len
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> Write for Words<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// What has happened. All zero but the cause is nothing.
pub(crate) struct Crash {
    pub(crate) what: Words<1000>,
    pub(crate) is_panic: bool,
    pub(crate) place: Words<255>,
    /// 0: none.
    pub(crate) signal: i32,
    pub(crate) code: i32,
    pub(crate) address: Option<u64>,
    pub(crate) sender: Option<u32>,
}

impl Crash {
    pub(crate) fn clear(&mut self) {
        self.what.clear();
        self.place.clear();
        self.is_panic = false;
        self.signal = 0;
        self.code = 0;
        self.address = None;
        self.sender = None;
    }

    /// Says of a signal what its information says.
    pub(crate) fn describe(&mut self, signal: i32, info: &libc::siginfo_t) {
        self.clear();
        self.signal = signal;
        self.code = info.si_code;
        let is_fault = matches!(
            signal,
            libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGTRAP | libc::SIGSYS
        );
        // SAFETY: which member there is follows from the code: a positive one of these signals is the kernel's, with an address; others are of processes.
        unsafe {
            if is_fault && info.si_code > 0 {
                self.address = Some(info.si_addr() as u64);
            } else if info.si_code <= 0 {
                self.sender = Some(info.si_pid() as u32).filter(|pid| *pid != 0);
            }
        }
        self.what.push(signal_name(signal));
        // A signal that another process sends has no message.
        let is_own_abort = signal == libc::SIGABRT && self.sender == Some(std::process::id());
        if is_own_abort && abort_message::push(&mut self.what, ": ") {
            return;
        }
        let code = code_name(signal, info.si_code);
        if !code.is_empty() {
            let _ = write!(self.what, " ({code})");
        }
        let _ = match (self.address, self.sender) {
            (Some(call), _) if signal == libc::SIGSYS => write!(self.what, " at call {call:#x}"),
            (Some(address), _) => write!(self.what, " at address {address:#x}"),
            (None, Some(sender)) => write!(self.what, " sent by process {sender}"),
            (None, None) => Ok(()),
        };
    }

    /// Writes the arguments; gives how many bytes there are, and whether something was left out. The room has at least 400.
    pub(crate) fn put(&self, stack: &Stack, room: &mut [u8]) -> (usize, bool) {
        /// What values of fixed or bounded size take at most, with the lengths of the others.
        const FIXED: usize = 300;
        /// Lengths of both lists, and one module.
        const REST: usize = 116;
        let for_texts = room.len().saturating_sub(FIXED) / 2;
        let mut bytes = Bytes { room, len: 0, is_cut: false };
        bytes.text(self.what.text(), for_texts * 3 / 4);
        bytes.text(if self.is_panic { b"panic" } else { b"signal" }, 64);
        bytes.text(self.place.text(), for_texts / 4);
        bytes.put(&self.signal.to_le_bytes());
        bytes.text(signal_name(self.signal).as_bytes(), 64);
        bytes.put(&self.code.to_le_bytes());
        let code = if self.signal == 0 { "" } else { code_name(self.signal, self.code) };
        bytes.text(code.as_bytes(), 64);
        bytes.put(&[u8::from(self.address.is_some())]);
        self.address.iter().for_each(|address| bytes.put(&address.to_le_bytes()));
        bytes.put(&[u8::from(self.sender.is_some())]);
        self.sender.iter().for_each(|sender| bytes.put(&sender.to_le_bytes()));
        bytes.put(&sys::thread_id().to_le_bytes());
        let name = sys::thread_name();
        bytes.text(name.split(|byte| *byte == 0).next().unwrap_or_default(), 64);
        let frames = stack.count.min(bytes.left().saturating_sub(REST) / 8);
        let missing = stack.missing + (stack.count - frames) as u32;
        if missing == 0 {
            bytes.put(&(frames as u32).to_le_bytes());
        } else {
            bytes.put(&(frames as u32 | CUT).to_le_bytes());
            bytes.put(&missing.to_le_bytes());
            bytes.is_cut = true;
        }
        stack.frames[..frames].iter().for_each(|frame| bytes.put(&frame.to_le_bytes()));
        let count_at = bytes.len;
        let mut count = 0_u32;
        bytes.put(&count.to_le_bytes());
        for module in &stack.modules[..stack.module_count] {
            let (path, build_id) = (module.path(), module.build_id());
            if 8 + path.len().min(PATH_MAX) + 4 + build_id.len() + 24 > bytes.left() {
                bytes.is_cut = true;
                continue;
            }
            bytes.text(path, PATH_MAX);
            bytes.text(build_id, build_id.len());
            for word in [module.base, module.begin, module.end] {
                bytes.put(&word.to_le_bytes());
            }
            count += 1;
        }
        let (len, is_cut) = (bytes.len, bytes.is_cut);
        room[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
        (len, is_cut)
    }
}

/// Values one after the other. The caller has made sure that there is room.
struct Bytes<'a> {
    room: &'a mut [u8],
    len: usize,
    is_cut: bool,
}

impl Bytes<'_> {
    fn left(&self) -> usize {
        self.room.len() - self.len
    }

    fn put(&mut self, bytes: &[u8]) {
        self.room[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn text(&mut self, text: &[u8], most: usize) {
        if text.len() <= most {
            self.put(&(text.len() as u32).to_le_bytes());
            return self.put(text);
        }
        self.put(&(most as u32 | CUT).to_le_bytes());
        self.put(&((text.len() - most) as u32).to_le_bytes());
        self.put(&text[..most]);
        self.is_cut = true;
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGABRT => "SIGABRT",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGTERM => "SIGTERM",
        _ => "",
    }
}

/// As in <signal.h>; empty when it has no name.
fn code_name(signal: i32, code: i32) -> &'static str {
    const SEGV: [&str; 9] = [
        "SEGV_MAPERR",
        "SEGV_ACCERR",
        "SEGV_BNDERR",
        "SEGV_PKUERR",
        "",
        "",
        "",
        "SEGV_MTEAERR",
        "SEGV_MTESERR",
    ];
    const BUS: [&str; 5] = ["BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"];
    const ILL: [&str; 8] = [
        "ILL_ILLOPC",
        "ILL_ILLOPN",
        "ILL_ILLADR",
        "ILL_ILLTRP",
        "ILL_PRVOPC",
        "ILL_PRVREG",
        "ILL_COPROC",
        "ILL_BADSTK",
    ];
    const FPE: [&str; 8] = [
        "FPE_INTDIV",
        "FPE_INTOVF",
        "FPE_FLTDIV",
        "FPE_FLTOVF",
        "FPE_FLTUND",
        "FPE_FLTRES",
        "FPE_FLTINV",
        "FPE_FLTSUB",
    ];
    const TRAP: [&str; 4] = ["TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT"];
    let names: &[&'static str] = match (code, signal) {
        (0, _) => return "SI_USER",
        (-1, _) => return "SI_QUEUE",
        (-6, _) => return "SI_TKILL",
        (128, _) => return "SI_KERNEL",
        (_, libc::SIGSEGV) => &SEGV,
        (_, libc::SIGBUS) => &BUS,
        (_, libc::SIGILL) => &ILL,
        (_, libc::SIGFPE) => &FPE,
        (_, libc::SIGTRAP) => &TRAP,
        (_, libc::SIGSYS) => &["SYS_SECCOMP"],
        _ => &[],
    };
    usize::try_from(code - 1).ok().and_then(|at| names.get(at)).copied().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends() {
        let ends = |bytes: &[u8]| {
            let mut words = Words { len: 0, bytes: [0; 20] };
            words.push("of: ");
            words.push_ends(bytes);
            String::from_utf8(words.text().to_vec()).unwrap()
        };
        assert_eq!(ends(b"0123456789abcdef"), "of: 0123456789abcdef");
        assert_eq!(ends(b"0123456789abcdefg"), "of: 01234 … cdefg");
        let mut full = Words { len: 3, bytes: *b"full" };
        full.push_ends(b"abc");
        assert_eq!(full.text(), b"fula");
    }
}
