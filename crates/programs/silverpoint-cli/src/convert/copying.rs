//! Copies record by record from a reader to a writer: counts what is skipped, and shows progress.

use std::io;

use indicatif::ProgressBar;
use silverpoint_convert::otlp::Refused;
use silverpoint_convert::{ReadError, Reader, WriteError, Writer};
use silverpoint_trace::{Note, Trace, Verdict, bytes_read};

use super::args::Args;
use crate::exit::{Exit, Failed, Outcome, failure, note};
use crate::input::{exit, tell};
use crate::progress;

/// Records between two updates of the bar.
const STEP: u64 = 4096;
/// The error for a closed pipe, which distinguishes it from other errors.
pub(super) const PIPE: &str = "standard output was closed";

/// See the module.
pub(super) struct Copying<'a> {
    args: &'a Args,
    bar: ProgressBar,
    /// Bytes of trace files that had been read when copying began.
    read_before: u64,
    left_out: u64,
}

impl<'a> Copying<'a> {
    /// `bytes`: size of the inputs that are not trace files; `of_traces`: size of those that are. Both 0:
    /// unknown.
    pub(super) fn new(args: &'a Args, bytes: u64, of_traces: u64) -> Self {
        Self { args, bar: bar(args, bytes + of_traces), read_before: bytes_read(), left_out: 0 }
    }

    /// Copies all records.
    pub(super) fn run(&mut self, reader: &mut dyn Reader, writer: &mut dyn Writer) -> Result<(), Failed> {
        let of_io = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => failure(PIPE),
            _ => failure(format!("{}: {error}", self.args.output())),
        };
        let mut count = 0_u64;
        loop {
            match reader.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.pass_over(error)?;
                    continue;
                }
            }
            let Some(record) = reader.record() else { continue };
            match writer.write(&record) {
                Ok(()) => count += 1,
                Err(WriteError::Io(error)) => return Err(of_io(error)),
                Err(WriteError::CannotHold(what)) if self.args.keep_going => self.tell(what),
                Err(error) => return Err(failure(format!("{error} (--keep-going skips it)"))),
            }
            if count.is_multiple_of(STEP) {
                match self.bar.length() {
                    Some(_) => self.bar.set_position(reader.position() + bytes_read() - self.read_before),
                    None => self.bar.tick(),
                }
            }
        }
        writer.finish().map_err(of_io)?;
        self.bar.finish_and_clear();
        Ok(())
    }

    /// Continues after damage, if requested and possible.
    fn pass_over(&mut self, error: ReadError) -> Result<(), Failed> {
        if !self.args.keep_going {
            let hint = if error.may_go_on { " (--keep-going skips it)" } else { "" };
            return Err(failure(format!("{error}{hint}")));
        }
        // An input that cannot be read further has ended; the other inputs are still read.
        if error.io.is_some() {
            return Err(failure(error));
        }
        self.tell(error.to_string());
        Ok(())
    }

    fn tell(&mut self, what: String) {
        self.left_out += 1;
        if !self.args.quiet && self.left_out <= 20 {
            self.bar.suspend(|| note(what));
        }
    }

    /// Reports what a collector did not accept.
    pub(super) fn refused(&mut self, refused: &Refused) {
        self.left_out += refused.records;
        if !self.args.quiet {
            for message in &refused.messages {
                note(format_args!("the collector says: {message}"));
            }
        }
    }

    /// Reports what is missing; gives the exit status.
    pub(super) fn conclude(self, trace: Option<&Trace>, missing: &[Note]) -> Outcome {
        if self.left_out > 0 && !self.args.quiet {
            note(format_args!("{} records were left out", self.left_out));
        }
        let mut code = Exit::Success;
        if let Some(trace) = trace {
            if !self.args.quiet {
                let is_told = |verdict| verdict >= Verdict::Cut;
                let notes = trace.notes().iter().chain(missing);
                tell(notes.filter(|note| is_told(note.matter.verdict())));
            }
            let verdicts = missing.iter().map(|note| note.matter.verdict());
            code = exit(verdicts.fold(trace.verdict(), Verdict::max));
        }
        Ok(if self.left_out > 0 { Exit::Damaged } else { code })
    }
}

/// The progress bar, on a terminal.
fn bar(args: &Args, bytes: u64) -> ProgressBar {
    if args.quiet {
        return ProgressBar::hidden();
    }
    if bytes == 0 {
        return ProgressBar::new_spinner();
    }
    progress::bar(bytes)
}
