//! Lines as `cat` shows them, for standard output, standard error, or a command.

use std::io;
use std::process::{Child, Command, Stdio};

use silverpoint_render::time::TimeZone;
use silverpoint_trace::{Event, Trace};

use super::destination::Destination;
use super::sink::Sink;
use crate::exit::{Failed, failure};
use crate::input::Output;
use crate::printing::{Printer, Printing};

/// See the module.
pub struct Lines {
    printer: Printer,
    command: Option<(String, Child)>,
}

impl Lines {
    /// Begins; a command is started.
    pub fn open(
        destination: &Destination,
        printing: &Printing,
        zone: TimeZone,
        trace: &Trace,
    ) -> Result<Self, Failed> {
        let mut started = None;
        let out = match destination {
            Destination::Stderr => Output::into(Box::new(io::stderr()), "standard error"),
            Destination::Command(command) => {
                let fail =
                    |error: io::Error| failure(format!("'{command}': the shell cannot be started: {error}"));
                let mut child =
                    Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn().map_err(fail)?;
                let input = child.stdin.take().ok_or_else(|| fail(io::ErrorKind::BrokenPipe.into()))?;
                started = Some((command.clone(), child));
                Output::into(Box::new(input), "the command's standard input")
            }
            _ => Output::new(),
        };
        Ok(Self { printer: Printer::new(printing, zone, out, trace), command: started })
    }
}

impl Sink for Lines {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Failed> {
        if self.printer.wants_more() { self.printer.print(event) } else { Ok(()) }
    }

    fn pass_on(&mut self) -> Result<(), Failed> {
        self.printer.pass_on()
    }

    fn wants_more(&self) -> bool {
        self.printer.wants_more()
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<String>, Failed> {
        self.printer.out.finish()?;
        // Its input ends with this.
        let Self { printer, command } = *self;
        drop(printer);
        if let Some((command, mut child)) = command {
            let status = child.wait().map_err(|error| failure(format!("'{command}': {error}")))?;
            if !status.success() {
                return Err(failure(format!("'{command}': {status}")));
            }
        }
        Ok(Vec::new())
    }
}
