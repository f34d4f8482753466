//! Reading and writing in memory, and records as values that can be compared.

use std::io::{self, Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use silverpoint_convert::{
    Formats, Input, Reader, Record, SILVER, WriteOptions, Writer, copy, silver::TraceReader,
};
use silverpoint_query::filter::Filter;
use silverpoint_render::{ShowContext, json::push_plain};
use silverpoint_trace::{Source, Trace, Verdict, What};

/// An output that can be looked at afterwards.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub type Failed = Box<dyn std::error::Error>;

pub fn with_writer(format: &str, lossless: bool, write: impl FnOnce(&mut dyn Writer)) -> Vec<u8> {
    let out = Shared::default();
    let make = Formats::default().named(format).unwrap().writer.unwrap();
    write(&mut *make(Box::new(out.clone()), WriteOptions { lossless }).unwrap());
    out.bytes()
}

/// Calls with a reader of bytes of a format.
pub fn with_reader<T>(format: &str, bytes: &[u8], read: impl FnOnce(&mut dyn Reader) -> T) -> T {
    if format == SILVER {
        let source = Source::from_bytes(Path::new("in memory"), bytes.to_vec());
        let trace = Trace::from_sources(vec![source]).unwrap();
        assert!(trace.verdict() <= Verdict::Lossy, "{:?}", trace.notes());
        return read(&mut TraceReader::new(&trace, &Filter::default(), 0));
    }
    let make = Formats::default().named(format).unwrap().reader.unwrap();
    read(&mut *make(Input::new(Box::new(Cursor::new(bytes.to_vec()))), 0))
}

/// From one format to another.
pub fn convert(from: &str, bytes: &[u8], to: &str) -> Result<Vec<u8>, Failed> {
    with_reader(from, bytes, |reader| {
        let mut result = Ok(0);
        let out = with_writer(to, true, |writer| {
            result = copy::<Failed>(reader, writer, |error| Err(error.into()));
        });
        result.map(|_| out)
    })
}

/// All of a record that counts as equal (docs/formats.md), as text.
pub fn comparable(record: &Record<'_>) -> String {
    let who = format!(
        "{} {:?} {} {} {:?} {:?}",
        record.wall_ns,
        record.process,
        record.pid,
        record.tid,
        record.thread,
        record.context.map(|context| context.json())
    );
    let what = match record.what {
        What::Record { site, args, truncated, .. } => {
            let (mut json, mut stack) = (String::new(), silverpoint_render::json::Stack::default());
            let mut at = Some(0);
            for ty in &site.types {
                at = at.and_then(|at| push_plain(&mut json, &mut stack, ty, args, at));
                json.push(' ');
            }
            // The bytes say what JSON does not: units of text, cuts, which alternative. NaN equals NaN: generated ones are the same.
            let mut bytes = args.to_vec();
            while bytes.last() == Some(&0) {
                bytes.pop();
            }
            format!("{:?} {json} {bytes:02x?} {truncated} {:?}", site.description, site.names)
        }
        What::SpanEnd { site, duration_ns, .. } => {
            format!("end {:?} {duration_ns:?}", site.map(|site| &site.description))
        }
        What::Unknown { args, .. } => format!("unknown {args:?}"),
        other => format!("{other:?}"),
    };
    format!("{who} {what}")
}

pub fn all(format: &str, bytes: &[u8]) -> Vec<String> {
    with_reader(format, bytes, |reader| {
        let mut records = Vec::new();
        while reader.advance().unwrap_or_else(|error| panic!("{format}: {error}")) {
            records.push(comparable(&reader.record().unwrap()));
        }
        records
    })
}
