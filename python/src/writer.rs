//! Writing trace files: for tests, and for what comes from elsewhere.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use silverpoint_convert::scratch::Scratch;
use silverpoint_convert::silver::SilverWriter;
use silverpoint_convert::{Process, Record, WriteError, Writer as _};
use silverpoint_trace::{Context, Site, What, newfile::Part};
use silverpoint_wire::level::{Kind, Language, Level};
use silverpoint_wire::site::SiteDescription;

use crate::encode::{self, Encoded};
use crate::fault::Fault;
use crate::filter;

/// Distinct tracepoints and processes of one file; what goes beyond puts what varies into arguments instead.
const SITES_MAX: usize = 100_000;
const PROCESSES_MAX: usize = 10_000;

/// Writes a trace file. It has its name when it is closed, not before.
#[pyclass(module = "silverpoint")]
pub(crate) struct Writer {
    /// None when it is closed. Dropped it leaves no file.
    out: Option<(SilverWriter<BufWriter<File>>, Part)>,
    path: PathBuf,
    overwrite: bool,
    process: Process,
    sites: Vec<Arc<Site>>,
    by_description: HashMap<SiteDescription, usize>,
    processes: HashMap<Process, usize>,
    /// Begins of spans by process, thread and name: site and time.
    open: HashMap<(usize, u32, String), Vec<(usize, i64)>>,
    encoded: Encoded,
}

/// Where and how a record is made.
struct Given<'py> {
    words: Option<&'py Bound<'py, PyDict>>,
}

impl<'py> Given<'py> {
    fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.words.map(|words| words.get_item(name)).transpose()?.flatten();
        Ok(found.filter(|value| !value.is_none()))
    }

    fn text(&self, name: &str) -> PyResult<String> {
        Ok(match self.value(name)? {
            Some(value) => value.extract()?,
            None => String::new(),
        })
    }

    fn number(&self, name: &str) -> PyResult<Option<u32>> {
        self.value(name)?.map(|value| value.extract()).transpose()
    }

    fn time(&self) -> PyResult<i64> {
        let ns = match self.value("time")? {
            Some(value) => filter::instant(&value)?.ok_or_else(|| {
                PyTypeError::new_err("time: a datetime or nanoseconds since 1970 are expected")
            })?,
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
            }
        };
        match ns {
            0.. => Ok(ns),
            _ => Err(PyOverflowError::new_err("time: a trace file holds nothing from before 1970")),
        }
    }

    fn level(&self) -> PyResult<Level> {
        match self.value("level")? {
            Some(value) => {
                filter::level(&value).map_err(|why| PyValueError::new_err(format!("level: {why}")))
            }
            None => Ok(Level::Info),
        }
    }

    /// An unknown name is a mistake.
    fn check(&self, known: &[&str]) -> PyResult<()> {
        for name in self.words.map(|words| words.keys()).into_iter().flatten() {
            let name: String = name.extract()?;
            if !known.contains(&name.as_str()) {
                return Err(PyTypeError::new_err(format!("'{name}' is none of {}", known.join(", "))));
            }
        }
        Ok(())
    }
}

const WORDS: &[&str] = &[
    "kind",
    "level",
    "category",
    "time",
    "thread",
    "tid",
    "process",
    "pid",
    "file",
    "line",
    "function",
    "context",
    "truncated",
];

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (path, *, process = "python", pid = None, overwrite = false))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        process: &str,
        pid: Option<u32>,
        overwrite: bool,
    ) -> PyResult<Self> {
        let raise = |error| Fault::Io(path.clone(), error).raise(py);
        if !overwrite && path.exists() {
            return Err(raise(std::io::Error::from_raw_os_error(EEXIST)));
        }
        let (part, file) = Part::create(&path).map_err(raise)?;
        let out = SilverWriter::new(BufWriter::new(file)).map_err(raise)?;
        Ok(Self {
            out: Some((out, part)),
            overwrite,
            process: Process { name: process.to_owned(), pid: pid.unwrap_or_else(std::process::id) },
            sites: Vec::new(),
            by_description: HashMap::new(),
            processes: HashMap::new(),
            open: HashMap::new(),
            encoded: Encoded::default(),
            path,
        })
    }

    /// Writes a record.
    #[pyo3(signature = (template, args = None, /, **words))]
    fn write(
        &mut self,
        py: Python<'_>,
        template: &str,
        args: Option<&Bound<'_, PyAny>>,
        words: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let given = Given { words };
        given.check(WORDS)?;
        let kind = given.text("kind")?;
        let kind = match kind.as_str() {
            "" => Kind::Log,
            name => Kind::from_name(name)
                .ok_or_else(|| PyValueError::new_err(format!("kind: there is none called '{name}'")))?,
        };
        let names = self.encode(args)?;
        let description = SiteDescription {
            kind,
            level: given.level()?,
            flags: 0,
            line: given.number("line")?.unwrap_or(0),
            language: Language::Python as u16,
            category: given.text("category")?,
            file: given.text("file")?,
            function: given.text("function")?,
            names,
            template: template.to_owned(),
            signature: self.encoded.signature.clone(),
        };
        let site = self.site(description)?;
        let wall_ns = given.time()?;
        let truncated = given.value("truncated")?.is_some_and(|value| value.is_truthy().unwrap_or(false));
        if kind == Kind::Span {
            let key = (self.process(&given)?, given.number("tid")?.unwrap_or(0), template.to_owned());
            self.open.entry(key).or_default().push((site, wall_ns));
        }
        let bytes = std::mem::take(&mut self.encoded.bytes);
        let what =
            What::Record { site: &Arc::clone(&self.sites[site]), site_number: site, args: &bytes, truncated };
        let done = self.put(py, &given, wall_ns, what);
        self.encoded.bytes = bytes;
        done
    }

    /// Ends the last span of this name and thread that is open.
    #[pyo3(signature = (name, /, **words))]
    fn end_span(&mut self, py: Python<'_>, name: &str, words: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let given = Given { words };
        given.check(&["time", "thread", "tid", "process", "pid", "context"])?;
        let key = (self.process(&given)?, given.number("tid")?.unwrap_or(0), name.to_owned());
        let begun = self.open.get_mut(&key).and_then(Vec::pop);
        let (site, begin_ns) = begun
            .ok_or_else(|| PyValueError::new_err(format!("no span '{name}' is open in thread {}", key.1)))?;
        let wall_ns = given.time()?;
        let what = What::SpanEnd {
            site: Some(&Arc::clone(&self.sites[site])),
            site_number: Some(site),
            begin_ticks: 0,
            duration_ns: u64::try_from(wall_ns - begin_ns).ok(),
        };
        self.put(py, &given, wall_ns, what)
    }

    /// Writes what is left, and gives the file its name. Once; further calls do nothing.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some((mut out, part)) = self.out.take() else { return Ok(()) };
        let done = py.detach(|| {
            out.finish()?;
            out.into_inner().into_inner().map_err(|error| error.into_error())?.flush()?;
            part.publish(self.overwrite)
        });
        done.map_err(|error| Fault::Io(self.path.clone(), error).raise(py))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// A failure leaves no file.
    #[pyo3(signature = (kind, _value, _traceback))]
    fn __exit__(
        &mut self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if kind.is_none() {
            return self.close(py);
        }
        self.out = None;
        Ok(())
    }
}

const EEXIST: i32 = 17;

impl Writer {
    /// Encodes arguments; gives their names.
    fn encode(&mut self, args: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        self.encoded.clear();
        let mut names = String::new();
        let Some(args) = args else { return Ok(names) };
        if let Ok(dict) = args.cast::<PyDict>() {
            for (name, value) in dict {
                let name = name
                    .cast::<PyString>()
                    .map_err(|_| PyTypeError::new_err("names of arguments are texts"))?;
                names.push_str(&name.to_string_lossy().replace('\n', " "));
                names.push('\n');
                self.encoded.push(&value)?;
            }
        } else if args.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("arguments are a sequence or a dict, not a text"));
        } else {
            for value in args.try_iter()? {
                self.encoded.push(&value?)?;
            }
        }
        Ok(names)
    }

    fn site(&mut self, description: SiteDescription) -> PyResult<usize> {
        if let Some(number) = self.by_description.get(&description) {
            return Ok(*number);
        }
        if self.sites.len() == SITES_MAX {
            return Err(PyValueError::new_err(format!(
                "more than {SITES_MAX} distinct tracepoints: what varies belongs into arguments, not into the template"
            )));
        }
        let site = Site::new(description.clone());
        if let Some(fault) = &site.fault {
            return Err(PyValueError::new_err(format!("the template and its arguments: {fault}")));
        }
        self.sites.push(Arc::new(site));
        self.by_description.insert(description, self.sites.len() - 1);
        Ok(self.sites.len() - 1)
    }

    fn process_of(&self, given: &Given<'_>) -> PyResult<Process> {
        let name = given.text("process")?;
        let pid = given.number("pid")?;
        Ok(Process {
            name: if name.is_empty() { self.process.name.clone() } else { name },
            pid: pid.unwrap_or(self.process.pid),
        })
    }

    fn process(&mut self, given: &Given<'_>) -> PyResult<usize> {
        let process = self.process_of(given)?;
        let next = self.processes.len();
        if next == PROCESSES_MAX && !self.processes.contains_key(&process) {
            return Err(PyValueError::new_err(format!("more than {PROCESSES_MAX} processes")));
        }
        Ok(*self.processes.entry(process).or_insert(next))
    }

    fn put(&mut self, py: Python<'_>, given: &Given<'_>, wall_ns: i64, what: What<'_>) -> PyResult<()> {
        let context = match given.value("context")? {
            Some(context) => {
                let mut scratch = Scratch::default();
                encode::item(context.cast::<PyDict>()?.as_any(), 0, &mut scratch)?;
                Context::from_item(scratch.bytes())
            }
            None => None,
        };
        let process = self.process_of(given)?;
        let process_number = self.process(given)?;
        let record = Record {
            wall_ns,
            ticks: None,
            process: &process.name,
            pid: process.pid,
            process_number,
            tid: given.number("tid")?.unwrap_or(0),
            thread: &given.text("thread")?,
            context: context.as_ref(),
            is_backtrace: false,
            what,
        };
        let (out, _) = self.out.as_mut().ok_or_else(|| PyValueError::new_err("the file is closed"))?;
        out.write(&record).map_err(|error| match error {
            WriteError::Io(error) => Fault::Io(self.path.clone(), error).raise(py),
            WriteError::CannotHold(what) => PyValueError::new_err(what),
        })
    }
}
