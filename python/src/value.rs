//! Values of the wire as objects of Python: one visitor, driven by packed bytes and by CBOR.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PySet, PyString, PyTuple};
use silverpoint_trace::cbor;
use silverpoint_wire::leaf::{self, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Sequence, WalkError, walk};

/// The classes of `silverpoint._values`, looked up once.
pub(crate) struct Classes {
    time: Py<PyAny>,
    duration: Py<PyAny>,
    enumeration: Py<PyAny>,
    pointer: Py<PyAny>,
    structure: Py<PyAny>,
    cut_str: Py<PyAny>,
    cut_bytes: Py<PyAny>,
    cut_list: Py<PyAny>,
    uuid: Py<PyAny>,
    /// By number.
    pub(crate) levels: Vec<Py<PyAny>>,
    pub(crate) format_error: Py<PyAny>,
    pub(crate) damaged_error: Py<PyAny>,
    pub(crate) filter_error: Py<PyAny>,
}

/// Those classes.
pub(crate) fn classes(py: Python<'_>) -> PyResult<&Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("silverpoint._values")?;
        let class = |name: &str| module.getattr(name).map(Bound::unbind);
        let level = module.getattr("Level")?;
        Ok(Classes {
            time: module.getattr("Time")?.getattr("from_ns")?.unbind(),
            duration: module.getattr("Duration")?.getattr("from_ns")?.unbind(),
            enumeration: class("Enumeration")?,
            pointer: class("Pointer")?,
            structure: class("Struct")?,
            cut_str: class("CutStr")?,
            cut_bytes: class("CutBytes")?,
            cut_list: class("CutList")?,
            uuid: py.import("uuid")?.getattr("UUID")?.unbind(),
            levels: (0..6).map(|n| level.call1((n,)).map(Bound::unbind)).collect::<PyResult<_>>()?,
            format_error: class("FormatError")?,
            damaged_error: class("DamagedError")?,
            filter_error: class("FilterError")?,
        })
    })
}

/// Nanoseconds since 1970 as a datetime.
pub(crate) fn time(py: Python<'_>, ns: i64) -> PyResult<Bound<'_, PyAny>> {
    classes(py)?.time.bind(py).call1((ns,))
}

/// Nanoseconds as a timedelta.
pub(crate) fn duration(py: Python<'_>, ns: i64) -> PyResult<Bound<'_, PyAny>> {
    classes(py)?.duration.bind(py).call1((ns,))
}

/// What one argument is, and where the next one begins; `Ok(None)` when the bytes contradict the type.
pub(crate) fn argument<'py>(
    py: Python<'py>,
    ty: &Type,
    bytes: &[u8],
    at: usize,
) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
    // What most arguments are, without a detour.
    let quick = |size: usize| at.checked_add(size).and_then(|end| bytes.get(at..end));
    match ty {
        Type::Int { bits: 64, signed: true } => {
            if let Some(value) = quick(8).and_then(|bytes| bytes.first_chunk()) {
                return Ok(Some((i64::from_le_bytes(*value).into_pyobject(py)?.into_any(), at + 8)));
            }
        }
        Type::Float64 => {
            if let Some(value) = quick(8).and_then(|bytes| bytes.first_chunk()) {
                return Ok(Some((f64::from_le_bytes(*value).into_pyobject(py)?.into_any(), at + 8)));
            }
        }
        _ => {}
    }
    let mut builder = Builder::new(py)?;
    match walk(ty, bytes, at, &mut builder) {
        Ok(end) => Ok(Some((builder.finish()?, end))),
        Err(WalkError::Decode(_)) => Ok(None),
        Err(WalkError::Visitor(error)) => Err(error),
    }
}

/// What an item of CBOR is; its bytes when it is none.
pub(crate) fn item<'py>(py: Python<'py>, cbor: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut builder = Builder::new(py)?;
    builder.leaf(Leaf::Any(cbor))?;
    builder.finish()
}

/// Collects one value.
struct Builder<'py> {
    py: Python<'py>,
    classes: &'py Classes,
    open: Vec<Open<'py>>,
    done: Option<Bound<'py, PyAny>>,
}

/// A container that is not complete.
struct Open<'py> {
    kind: Container,
    missing: u32,
    /// Of a map keys and values in turn, of a record too.
    values: Vec<Bound<'py, PyAny>>,
}

enum Container {
    List,
    Set,
    Tuple,
    Map,
    Record(String),
}

impl<'py> Builder<'py> {
    fn new(py: Python<'py>) -> PyResult<Self> {
        Ok(Self { py, classes: classes(py)?, open: Vec::new(), done: None })
    }

    fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.done.unwrap_or_else(|| self.py.None().into_bound(self.py)))
    }

    fn put(&mut self, value: Bound<'py, PyAny>) {
        match self.open.last_mut() {
            Some(open) => open.values.push(value),
            None => self.done = Some(value),
        }
    }

    fn close(&self, open: Open<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (py, classes) = (self.py, self.classes);
        let Open { kind, missing, values } = open;
        if missing > 0 {
            return classes.cut_list.bind(py).call1((values, missing));
        }
        Ok(match kind {
            Container::List => PyList::new(py, values)?.into_any(),
            Container::Tuple => PyTuple::new(py, values)?.into_any(),
            Container::Set => match PySet::new(py, &values) {
                Ok(set) => set.into_any(),
                Err(error) if error.is_instance_of::<PyTypeError>(py) => PyList::new(py, values)?.into_any(),
                Err(error) => return Err(error),
            },
            Container::Map => map(py, values)?,
            Container::Record(name) => {
                let fields = PyDict::new(py);
                for pair in values.chunks_exact(2) {
                    fields.set_item(&pair[0], &pair[1])?;
                }
                classes.structure.bind(py).call1((fields, name))?
            }
        })
    }
}

/// A dict; where keys cannot be hashed, or stand twice, a list of pairs.
fn map<'py>(py: Python<'py>, values: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    let mut is_dict = true;
    for pair in values.chunks_exact(2) {
        match dict.set_item(&pair[0], &pair[1]) {
            Ok(()) => {}
            Err(error) if error.is_instance_of::<PyTypeError>(py) => is_dict = false,
            Err(error) => return Err(error),
        }
    }
    if is_dict && dict.len() == values.len() / 2 {
        return Ok(dict.into_any());
    }
    let pairs = values.chunks_exact(2).map(|pair| PyTuple::new(py, pair)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, pairs)?.into_any())
}

impl<'py> Pieces for Builder<'py> {
    type Error = PyErr;

    fn leaf(&mut self, leaf: Leaf<'_>) -> PyResult<()> {
        let (py, classes) = (self.py, self.classes);
        let value = match leaf {
            Leaf::Null | Leaf::None => py.None().into_bound(py),
            Leaf::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
            Leaf::I64(value) => value.into_pyobject(py)?.into_any(),
            Leaf::U64(value) => value.into_pyobject(py)?.into_any(),
            Leaf::I128(value) => value.into_pyobject(py)?.into_any(),
            Leaf::U128(value) => value.into_pyobject(py)?.into_any(),
            Leaf::F32(value) => f64::from(value).into_pyobject(py)?.into_any(),
            Leaf::F64(value) => value.into_pyobject(py)?.into_any(),
            Leaf::Char(value) => value.into_pyobject(py)?.into_any(),
            Leaf::Pointer(value) => classes.pointer.bind(py).call1((value,))?,
            Leaf::Text(text, missing) => {
                let string = PyString::new(py, &text.to_string_lossy());
                match missing {
                    0 => string.into_any(),
                    _ => classes.cut_str.bind(py).call1((string, missing))?,
                }
            }
            Leaf::Bytes(bytes, missing) => {
                let bytes = PyBytes::new(py, bytes);
                match missing {
                    0 => bytes.into_any(),
                    _ => classes.cut_bytes.bind(py).call1((bytes, missing))?,
                }
            }
            Leaf::Uuid(uuid) => classes.uuid.bind(py).call1((py.None(), PyBytes::new(py, &uuid)))?,
            Leaf::Time(unix_ns) => time(py, unix_ns)?,
            Leaf::Duration(ns) => duration(py, ns)?,
            // What is malformed half-way must leave nothing behind: it is looked through first.
            Leaf::Any(cbor) if cbor::check(cbor).is_err() => PyBytes::new(py, cbor).into_any(),
            Leaf::Any(cbor) => {
                return match cbor::visit(cbor, self) {
                    Err(cbor::Error::Visitor(error)) => Err(error),
                    Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
                };
            }
            Leaf::Enumeration { name, label, value } => {
                classes.enumeration.bind(py).call1((value, name, label))?
            }
        };
        self.put(value);
        Ok(())
    }

    fn begin(&mut self, container: leaf::Container<'_>) -> PyResult<()> {
        let (kind, missing) = match container {
            leaf::Container::Sequence { kind, missing, .. } => {
                let kind = match kind {
                    Sequence::List => Container::List,
                    Sequence::Set => Container::Set,
                    Sequence::Tuple => Container::Tuple,
                };
                (kind, missing)
            }
            leaf::Container::Map(_) => (Container::Map, 0),
            leaf::Container::Record { name, .. } => (Container::Record(name.to_owned()), 0),
        };
        self.open.push(Open { kind, missing, values: Vec::new() });
        Ok(())
    }

    fn field(&mut self, name: &str) -> PyResult<()> {
        let name = PyString::new(self.py, name).into_any();
        self.put(name);
        Ok(())
    }

    fn end(&mut self) -> PyResult<()> {
        if let Some(open) = self.open.pop() {
            let value = self.close(open)?;
            self.put(value);
        }
        Ok(())
    }
}
