//! A format of one's own, `key=value` lines, added to the library, and a program that converts from and to it:
//! `cargo run -p silverpoint-convert --example logfmt -- IN OUT`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use silverpoint_convert::scratch::Scratch;
use silverpoint_convert::{
    Format, Formats, Input, Parsed, ReadError, Reader, Record, WriteError, WriteOptions, Writer, copy,
};
use silverpoint_formats::render::Renderer;
use silverpoint_formats::{text, time::TimeText};

struct LogfmtWriter(Box<dyn Write>);

impl Writer for LogfmtWriter {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let (mut time, mut message) = (String::new(), String::new());
        TimeText::rfc3339_utc().push(&mut time, record.wall_ns);
        text::say(&mut Renderer::new(), &mut message, &record.what, record.thread);
        let (level, process) = (record.what.level(), &record.process.name);
        Ok(writeln!(self.0, "time={time} level={level} process={process:?} message={message:?}")?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

struct LogfmtReader {
    input: Input,
    scratch: Scratch,
    parsed: Parsed,
}

impl Reader for LogfmtReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        self.scratch.clear();
        self.scratch.begin_map();
        let mut is_any = false;
        let (mut word, mut quoted) = (String::new(), false);
        loop {
            let place = self.input.place();
            match self.input.take()? {
                Some(b'"') => quoted = !quoted,
                Some(byte) if quoted || !byte.is_ascii_whitespace() => word.push(char::from(byte)),
                end => {
                    if let Some((key, value)) = word.split_once('=') {
                        is_any = true;
                        self.scratch.text(key);
                        self.scratch.place(place);
                        self.scratch.text(value);
                    }
                    word.clear();
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

const LOGFMT: Format = Format {
    name: "logfmt",
    endings: &["logfmt"],
    about: "lines of key=value",
    reader: Some(|input, number| {
        Box::new(LogfmtReader { input, scratch: Scratch::default(), parsed: Parsed::new(number) })
    }),
    writer: Some(|out, _| Ok(Box::new(LogfmtWriter(out)))),
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut formats = Formats::default();
    formats.add(LOGFMT);
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = names.as_slice() else { return Err("usage: logfmt IN OUT".into()) };
    let make_reader = formats.of(Path::new(from)).and_then(|f| f.reader).ok_or("IN: no format")?;
    let make_writer = formats.of(Path::new(to)).and_then(|f| f.writer).ok_or("OUT: no format")?;
    let mut reader = make_reader(Input::new(Box::new(File::open(from)?)), 0);
    let mut writer = make_writer(Box::new(File::create(to)?), WriteOptions::default())?;
    copy::<Box<dyn std::error::Error>>(&mut *reader, &mut *writer, |error| Err(error.into()))?;
    Ok(())
}
