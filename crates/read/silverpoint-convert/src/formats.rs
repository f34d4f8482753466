//! Which formats there are.

use std::io::{self, Write};
use std::path::Path;

use crate::cbor::{CborReader, CborWriter};
use crate::chrome::ChromeWriter;
use crate::csv::{CsvReader, CsvWriter};
use crate::ctf::CTF;
use crate::etl::ETL;
use crate::json::{JsonReader, JsonWriter, Shape};
use crate::otlp::{self, OTLP};
use crate::perfetto::PerfettoWriter;
use crate::silver::SilverWriter;
use crate::systrace::SystraceWriter;
use crate::tsv::{TsvReader, TsvWriter};
use crate::xml::{XmlReader, XmlWriter};
use crate::{Input, Reader, Writer};

/// How a file is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Everything is to be given back by reading, where the format has a plainer form that does not.
    pub lossless: bool,
}

/// Begins reading; the number is that of the input.
pub type MakeReader = fn(Input, u32) -> Box<dyn Reader>;
/// Begins writing.
pub type MakeWriter = fn(Box<dyn Write>, WriteOptions) -> io::Result<Box<dyn Writer>>;

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As options name it.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub endings: &'static [&'static str],
    /// What it is, for people.
    pub about: &'static str,
    /// Absent where it is only written, and of trace files, which are opened by [`silverpoint_trace::Trace`].
    pub reader: Option<MakeReader>,
    /// Absent where it is only read, and where the output is no stream: CTF is a directory ([`crate::ctf::CtfWriter`]). The begin of an Event Trace Log is written last
    /// ([`crate::etl::EtlWriter`]).
    pub writer: Option<MakeWriter>,
}

/// All formats that are known.
#[derive(Clone, Debug)]
pub struct Formats {
    all: Vec<Format>,
}

/// The name of the format of trace files.
pub const SILVER: &str = "silver";

impl Default for Formats {
    fn default() -> Self {
        Self { all: BUILT_IN.to_vec() }
    }
}

impl Formats {
    /// Adds one, before those that are there: it takes their names and endings over.
    pub fn add(&mut self, format: Format) {
        self.all.insert(0, format);
    }

    /// All of them.
    pub fn all(&self) -> &[Format] {
        &self.all
    }

    /// That of a name.
    pub fn named(&self, name: &str) -> Option<&Format> {
        self.all.iter().find(|format| format.name == name)
    }

    /// That of a file by the end of its name.
    pub fn of(&self, path: &Path) -> Option<&Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |ending: &&&str| name.strip_suffix(**ending).is_some_and(|rest| rest.ends_with('.'));
        let length = |format: &&Format| format.endings.iter().filter(ends).map(|ending| ending.len()).max();
        // Of `.tsv.json` and `.json` the longer one.
        let found = self.all.iter().rev().filter(|format| length(format).is_some());
        found.max_by_key(|format| length(format))
    }
}

const BUILT_IN: &[Format] = &[
    Format {
        name: SILVER,
        endings: &["silver"],
        about: "trace file",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(SilverWriter::new(out)?))),
    },
    Format {
        name: "jsonl",
        endings: &["jsonl", "ndjson", "log.json"],
        about: "JSON lines: one object a record",
        reader: Some(|input, number| Box::new(JsonReader::new(input, number))),
        writer: Some(|out, options| Ok(Box::new(JsonWriter::new(out, Shape::Lines, options.lossless)))),
    },
    Format {
        name: "json",
        endings: &["json"],
        about: "one JSON array of all records",
        reader: Some(|input, number| Box::new(JsonReader::new(input, number))),
        writer: Some(|out, options| Ok(Box::new(JsonWriter::new(out, Shape::Array, options.lossless)))),
    },
    Format {
        name: "cbor",
        endings: &["cbor", "cborseq"],
        about: "CBOR sequence: one item a record",
        reader: Some(|input, number| Box::new(CborReader::new(input, number))),
        writer: Some(|out, _| Ok(Box::new(CborWriter::new(out)))),
    },
    Format {
        name: "tsv",
        endings: &["tsv", "tsv.json"],
        about: "tab-separated columns whose cells are JSON",
        reader: Some(|input, number| Box::new(TsvReader::new(input, number))),
        writer: Some(|out, _| Ok(Box::new(TsvWriter::new(out)))),
    },
    Format {
        name: "csv",
        endings: &["csv"],
        about: "comma-separated columns (RFC 4180), for spreadsheets",
        reader: Some(|input, number| Box::new(CsvReader::new(input, number))),
        writer: Some(|out, _| Ok(Box::new(CsvWriter::new(out)))),
    },
    Format {
        name: "xml",
        endings: &["xml"],
        about: "one element a record",
        reader: Some(|input, number| Box::new(XmlReader::new(input, number))),
        writer: Some(|out, _| Ok(Box::new(XmlWriter::new(out)))),
    },
    Format {
        name: "chrome",
        endings: &["chrome.json", "trace.json"],
        about: "trace events of Chrome, for Perfetto and chrome://tracing",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(ChromeWriter::new(out)))),
    },
    Format {
        name: "perfetto",
        endings: &["perfetto-trace", "pftrace"],
        about: "track events of Perfetto",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(PerfettoWriter::new(out)))),
    },
    Format {
        name: "systrace",
        endings: &["systrace", "ftrace"],
        about: "text of the kernel's trace with messages of ATrace, for systrace and Perfetto",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(SystraceWriter::new(out)))),
    },
    Format {
        name: OTLP,
        endings: &["otlp.json", "otlp.jsonl"],
        about: "OpenTelemetry protocol: logs and spans, JSON lines or by HTTP",
        reader: None,
        writer: Some(|out, _| Ok(otlp::json_lines(out))),
    },
    Format {
        name: CTF,
        endings: &["ctf"],
        about: "CTF 1.8, a directory, for Babeltrace and Trace Compass",
        reader: None,
        writer: None,
    },
    Format {
        name: ETL,
        endings: &["etl"],
        about: "Event Trace Log of Windows, for Windows Performance Analyzer and PerfView",
        reader: None,
        writer: None,
    },
];
