use std::io::{self, Write};
use std::process::Command;

/// There is no such program for Windows.
pub enum Pipes {}

impl Pipes {
    /// Refuses.
    pub fn start(_: Command, _: Box<dyn Write>) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "such formats are written on Linux alone"))
    }

    /// Of none.
    pub fn finish(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl Write for Pipes {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}
