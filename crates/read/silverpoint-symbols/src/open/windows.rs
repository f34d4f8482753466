use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read it.
pub(crate) fn at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}
