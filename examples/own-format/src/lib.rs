//! A format of one's own: lines of `key=value`, read and written (docs/guide/own-format.md).

use std::io::{self, Write};

use silverpoint_convert::scratch::Scratch;
use silverpoint_convert::{Format, Input, Parsed, ReadError, Reader, Record, WriteError, Writer};
use silverpoint_render::{Renderer, text, time::TimeText};

/// As [`silverpoint_convert::Formats::add`] takes it.
pub const LOGFMT: Format = Format {
    name: "logfmt",
    endings: &["logfmt"],
    about: "lines of key=value",
    reader: Some(|input, number| {
        Box::new(LogfmtReader { input, scratch: Scratch::default(), parsed: Parsed::new(number) })
    }),
    writer: Some(|out, _| {
        let (time, line) = (TimeText::rfc3339_utc(), String::new());
        Ok(Box::new(LogfmtWriter { out, time, line, renderer: Renderer::new() }))
    }),
};

struct LogfmtWriter {
    out: Box<dyn Write>,
    time: TimeText,
    line: String,
    renderer: Renderer,
}

impl Writer for LogfmtWriter {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.line.clear();
        text::say(&mut self.renderer, &mut self.line, &record.what, record.thread);
        let message = self.line.replace('\\', "\\\\").replace('"', "\\\"");
        self.line.clear();
        self.time.push(&mut self.line, record.wall_ns);
        let (level, pid, time) = (record.what.level(), record.pid, &self.line);
        Ok(writeln!(self.out, "time={time} level={level} pid={pid} message=\"{message}\"")?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct LogfmtReader {
    input: Input,
    scratch: Scratch,
    parsed: Parsed,
}

impl Reader for LogfmtReader {
    /// Puts a line into the scratch, as a map: what the names mean is known there.
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        self.scratch.clear();
        self.scratch.begin_map();
        let (mut word, mut quoted, mut is_any) = (Vec::new(), false, false);
        let mut place = self.input.place();
        loop {
            match self.input.take()? {
                Some(b'"') => quoted = !quoted,
                Some(b'\\') if quoted => match self.input.take()? {
                    Some(b'n') => word.push(b'\n'),
                    other => word.extend(other),
                },
                Some(byte) if quoted || !byte.is_ascii_whitespace() => word.push(byte),
                end => {
                    let text = String::from_utf8_lossy(&word);
                    if let Some((key, value)) = text.split_once('=') {
                        is_any = true;
                        self.scratch.text(key);
                        self.scratch.place(place);
                        match value.parse() {
                            Ok(number) => self.scratch.signed(number),
                            Err(_) => self.scratch.text(value),
                        }
                    }
                    word.clear();
                    place = self.input.place();
                    if is_any && end != Some(b' ') {
                        self.scratch.end();
                        return self.parsed.accept(&self.scratch).map(|()| true);
                    }
                    if end.is_none() {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
