//! Measures readers and writers, each by itself: `throughput generate N FORMAT FILE [lossless]`, `throughput read FORMAT FILE`, `throughput write N FORMAT [lossless]`,
//! and `throughput text FILE`: lines as `silverpoint cat` prints them of a trace file.
//!
//! A writer gets records that are in memory and writes to nobody, a reader's records are counted. Each prints one JSON object: records, bytes, CPU seconds, the process's peak memory.
//! `bench/run --part convert` puts them into a table.

mod made;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;

use made::Made;
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Formats, Input, Reader, SILVER, WriteOptions, Writer};
use silverpoint_query::filter::Filter;
use silverpoint_render::text;
use silverpoint_trace::Trace;

type Failed = Box<dyn std::error::Error>;

/// Counts what is written to it.
#[derive(Clone, Default)]
struct Counting(Rc<Cell<u64>>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// CPU seconds of this process, as the kernel counts them.
fn cpu_seconds() -> Result<f64, Failed> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(stat.split_whitespace().next().ok_or("no CPU time")?.parse::<u64>()? as f64 / 1e9)
}

fn peak_kib() -> Result<u64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn report(records: u64, bytes: u64, seconds: f64) -> Result<(), Failed> {
    let peak_kib = peak_kib()?;
    println!(
        "{{\"records\":{records},\"bytes\":{bytes},\"cpu_seconds\":{seconds:.4},\"peak_kib\":{peak_kib}}}"
    );
    Ok(())
}

fn fill(writer: &mut dyn Writer, made: &mut Made, records: u64) -> Result<(), Failed> {
    for _ in 0..records {
        writer.write(&made.next()).map_err(|error| error.to_string())?;
    }
    Ok(writer.finish()?)
}

fn writer(format: &str, out: Box<dyn Write>, lossless: bool) -> Result<Box<dyn Writer>, Failed> {
    let formats = Formats::default();
    let make =
        formats.named(format).and_then(|format| format.writer).ok_or("FORMAT: none that is written")?;
    Ok(make(out, WriteOptions { lossless })?)
}

fn drain(reader: &mut dyn Reader) -> Result<u64, Failed> {
    let mut records = 0;
    while reader.advance()? {
        records += u64::from(std::hint::black_box(reader.record()).is_some());
    }
    Ok(records)
}

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_lossless = arguments.contains(&"lossless");
    match arguments.as_slice() {
        ["generate", records, format, file, ..] => {
            let mut writer = writer(format, Box::new(File::create(file)?), is_lossless)?;
            fill(&mut *writer, &mut Made::new(), records.parse()?)
        }
        ["write", records, format, ..] => {
            let (records, mut made, out) = (records.parse()?, Made::new(), Counting::default());
            let mut writer = writer(format, Box::new(out.clone()), is_lossless)?;
            let before = cpu_seconds()?;
            fill(&mut *writer, &mut made, records)?;
            report(records, out.0.get(), cpu_seconds()? - before)
        }
        ["text", file] => {
            let before = cpu_seconds()?;
            let trace = Trace::open(&[file])?;
            let (mut writer, mut line) = (text::Writer::new(&text::Options::default(), &trace), String::new());
            let (mut events, mut out, mut records) = (trace.select(&Filter::default()), Counting::default(), 0);
            while let Some(event) = events.next() {
                records += u64::from(event.is_shown());
                writer.line(&mut line, &event);
                if line.len() >= 64 << 10 {
                    out.write_all(line.as_bytes())?;
                    line.clear();
                }
            }
            out.write_all(line.as_bytes())?;
            report(records, out.0.get(), cpu_seconds()? - before)
        }
        ["read", SILVER, file] => {
            let bytes = std::fs::metadata(file)?.len();
            let before = cpu_seconds()?;
            let trace = Trace::open(&[file])?;
            let records = drain(&mut TraceReader::new(&trace, &Filter::default(), 0))?;
            report(records, bytes, cpu_seconds()? - before)
        }
        ["read", format, file] => {
            let formats = Formats::default();
            let make = formats.named(format).and_then(|f| f.reader).ok_or("FORMAT: none that is read")?;
            let source: Box<dyn Read> = Box::new(File::open(Path::new(file))?);
            let before = cpu_seconds()?;
            let mut reader = make(Input::new(source), 0);
            let records = drain(&mut *reader)?;
            report(records, reader.position(), cpu_seconds()? - before)
        }
        _ => {
            Err("usage: throughput generate N FORMAT FILE | read FORMAT FILE | text FILE | write N FORMAT [lossless]"
                .into())
        }
    }
}
