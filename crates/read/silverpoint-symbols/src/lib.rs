//! Names of addresses: function, file and line, from the files that a program was built into.
//!
//! **The invariant.** Nothing of a file is used unless its build id is the one in the trace. [`Fault`] reports
//! what cannot be found, and why.
//!
//! ```
//! use std::path::Path;
//!
//! use silverpoint_symbols::{Fault, Symbols};
//!
//! let mut symbols = Symbols::new();
//! match symbols.places(Path::new("/usr/bin/app"), &[0x5a; 20], 0x1139) {
//!     Ok(places) => places.iter().for_each(|place| println!("{:?} line {:?}", place.function, place.line)),
//!     Err(fault) => println!("no names: {fault}"),
//! }
//! // Without a build id no file is opened.
//! assert_eq!(symbols.places(Path::new("/usr/bin/app"), &[], 0x1139), Err(Fault::Unknown));
//! ```
//!
//! ```text
//!  path and build id of a module ──▶ the file at the path, or below /usr/lib/debug ─▶ does its build id agree? ─▶ DWARF, else the symbol table
//! ```
//!
//! A path comes from a trace, which may be hostile. Only regular files are opened, and the bytes read are
//! bounded. Each module is read once in a process.
#![forbid(unsafe_code)]

mod file;
mod open;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::file::File;

/// Modules that are kept; if there are more, all are read again.
const MODULES_MAX: usize = 64;
/// Where distributions put what they strip from their programs.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// What an address is the address of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The function's name as the source has it; templates and generics whole.
    pub function: Option<String>,
    /// As the compiler was given it.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
}

/// Why a module has no names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The trace says no build id, or no path that could be opened.
    Unknown,
    /// There is no such file, or it cannot be read.
    Missing,
    /// The file is another build's.
    OtherBuild,
    /// It is no regular file, no ELF or PE file, or damaged.
    NoProgram,
    /// It has neither debug information nor symbols, or too much of them.
    NoSymbols,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "no build id or no path is recorded",
            Self::Missing => "the file is not here",
            Self::OtherBuild => "the file here is of another build",
            Self::NoProgram => "the file here is no program",
            Self::NoSymbols => "the file here has no symbols",
        })
    }
}

/// The requested modules, of all values of this type together. To read one takes seconds in a debug build,
/// and several sinks describe the same crash. They are freed with the last value.
pub struct Symbols {
    modules: Arc<Mutex<Modules>>,
}

/// By path and build id.
type Modules = HashMap<(PathBuf, Vec<u8>), Result<File, Fault>>;

impl Default for Symbols {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").finish_non_exhaustive()
    }
}

impl Symbols {
    /// Shares what others have read and still hold.
    pub fn new() -> Self {
        static SHARED: Mutex<Weak<Mutex<Modules>>> = Mutex::new(Weak::new());
        let mut shared = lock(&SHARED);
        let modules = shared.upgrade().unwrap_or_default();
        *shared = Arc::downgrade(&modules);
        Self { modules }
    }

    /// Finds an address within a module's file (its load address subtracted): the function and those that are
    /// inlined there, the innermost first. It gives none when nothing is known of this address.
    ///
    /// # Errors
    /// Why the module has no names.
    pub fn places(&mut self, path: &Path, build_id: &[u8], address: u64) -> Result<Vec<Place>, Fault> {
        let key = (path.to_owned(), build_id.to_owned());
        let mut modules = lock(&self.modules);
        if !modules.contains_key(&key) && modules.len() >= MODULES_MAX {
            modules.clear();
        }
        match modules.entry(key).or_insert_with(|| open(path, build_id)) {
            Ok(file) => Ok(file.places(address)),
            Err(fault) => Err(fault.clone()),
        }
    }
}

/// A panic leaves nothing half done in what is locked.
fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file with the most to tell: one with debug information first, wherever it is.
fn open(path: &Path, build_id: &[u8]) -> Result<File, Fault> {
    if build_id.is_empty() || !path.is_absolute() {
        return Err(Fault::Unknown);
    }
    let own = File::open(path, build_id);
    if own.as_ref().is_ok_and(File::has_lines) {
        return own;
    }
    match File::open(&debug_file(build_id), build_id) {
        Ok(file) => Ok(file),
        Err(_) => own,
    }
}

fn debug_file(build_id: &[u8]) -> PathBuf {
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = hex.split_at(2.min(hex.len()));
    Path::new(DEBUG_FILES).join(first).join(format!("{rest}.debug"))
}
