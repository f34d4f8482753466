//! What a record says of its tracepoint.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use silverpoint_wire::signature::Type;

use crate::row::SiteData;
use crate::value::classes;

/// One tracepoint.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Site {
    #[pyo3(get)]
    level: Py<PyAny>,
    #[pyo3(get)]
    kind: Py<PyString>,
    #[pyo3(get)]
    category: Py<PyString>,
    #[pyo3(get)]
    file: Py<PyString>,
    #[pyo3(get)]
    line: u32,
    #[pyo3(get)]
    function: Py<PyString>,
    #[pyo3(get)]
    template: Py<PyString>,
    #[pyo3(get)]
    signature: Py<PyString>,
    pub(crate) names: Vec<Py<PyString>>,
    units: Vec<Option<String>>,
    #[pyo3(get)]
    fault: Option<String>,
}

impl Site {
    /// The object of a site: the same one for all its records.
    pub(crate) fn of<'a>(py: Python<'_>, data: &'a SiteData) -> PyResult<&'a Py<Site>> {
        data.object.get_or_try_init(py, || {
            let (site, description) = (&data.site, &data.site.description);
            let text = |text: &str| PyString::intern(py, text).unbind();
            Py::new(
                py,
                Site {
                    level: classes(py)?.levels[site.level() as usize].clone_ref(py),
                    kind: text(site.kind().name()),
                    category: text(&description.category),
                    file: text(&description.file),
                    line: description.line,
                    function: text(site.function()),
                    template: text(&description.template),
                    signature: text(&description.signature),
                    names: site.names.iter().map(|name| text(name)).collect(),
                    units: site.types.iter().map(|ty| unit(ty).map(str::to_owned)).collect(),
                    fault: site.fault.clone(),
                },
            )
        })
    }
}

#[pymethods]
impl Site {
    /// Names of the arguments; empty when they have none.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.names.iter().map(|name| name.bind(py)))
    }

    /// The arguments' units; None where there is none.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.units)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let file = self.file.to_string_lossy(py);
        let name = file.rsplit('/').next().unwrap_or_default();
        format!(
            "<Site {} {}:{} {:?}>",
            self.kind.to_string_lossy(py),
            name,
            self.line,
            self.template.to_string_lossy(py)
        )
    }
}

/// What the metadata of a type says of its unit.
fn unit(ty: &Type) -> Option<&str> {
    match ty {
        Type::Meta(key, text, _) if key == "unit" => Some(text),
        Type::Meta(_, _, inner) => unit(inner),
        _ => None,
    }
}
