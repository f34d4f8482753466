//! Programs that do something for each line of their input.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A program that does something for each line of its input, and says so. To an empty line it records one event.
pub struct Ticking {
    pub child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Ticking {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, lines: BufReader::new(output).lines() }
    }

    pub fn tick(&mut self) {
        self.say("");
    }

    pub fn say(&mut self, line: &str) {
        self.begin(line);
        self.done();
    }

    /// Without waiting until it is [`done`](Self::done).
    pub fn begin(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    pub fn done(&mut self) {
        assert_eq!(self.lines.next().unwrap().unwrap(), "done");
    }

    /// How often its argument was evaluated; then it ticks.
    pub fn evaluated(&mut self) -> u32 {
        writeln!(self.input, "?").unwrap();
        let count = self.lines.next().unwrap().unwrap().parse().unwrap();
        assert_eq!(self.lines.next().unwrap().unwrap(), "done");
        count
    }

    /// Its input ends, and so does it.
    pub fn finish(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}
