//! Default names of trace files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// `NAME.silver` in the current directory, after a program's file name; with a number (`NAME-2.silver` …) when that is there already.
pub fn free(program: &OsStr) -> PathBuf {
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
    // A script's name loses its ending only when it is ours: `trace.silver` becomes `trace-2.silver`.
    let name = name.strip_suffix(".silver").unwrap_or(&name);
    let is_free = |path: &PathBuf| std::fs::symlink_metadata(path).is_err();
    std::iter::once(PathBuf::from(format!("{name}.silver")))
        .chain((2_u32..).map(|n| PathBuf::from(format!("{name}-{n}.silver"))))
        .find(is_free)
        .unwrap_or_else(|| PathBuf::from("trace.silver"))
}
