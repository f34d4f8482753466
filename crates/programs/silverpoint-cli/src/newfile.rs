//! A file that is complete or not there: it is written under a temporary name, and gets its own when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use silverpoint_trace::newfile::{Part, temporary};

use crate::exit::{Failed, failure};

/// The message for a name that exists.
pub const EXISTS: &str = "it already exists; --force replaces it";

/// See the module. Dropped before it is finished it leaves nothing.
pub struct NewFile {
    file: BufWriter<File>,
    sealed: Sealed,
}

/// A complete and durable file that does not have its name yet. Dropped it leaves nothing.
pub struct Sealed {
    part: Part,
    force: bool,
}

impl NewFile {
    /// Begins a file that will be `path`. Refuses one of `inputs`; refuses an existing file unless `force` is
    /// given.
    pub fn create(path: &Path, inputs: &[PathBuf], force: bool) -> Result<Self, Failed> {
        let real = std::fs::canonicalize(path).ok();
        if real.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == real) {
            return Err(failure(format!(
                "{}: the output would overwrite an input; choose another name",
                path.display()
            )));
        }
        match std::fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(failure(format!(
                    "{}: it exists and is not a regular file; choose another name",
                    path.display()
                )));
            }
            Ok(_) if !force => return Err(failure(format!("{}: {EXISTS}", path.display()))),
            _ => {}
        }
        let begun = Part::create(path);
        let (part, file) =
            begun.map_err(|error| failure(format!("{}: {error}", temporary(path).display())))?;
        Ok(Self { file: BufWriter::new(file), sealed: Sealed { part, force } })
    }

    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// Those of writing; without `force` also when the file has appeared meanwhile.
    pub fn finish(self) -> io::Result<()> {
        self.seal()?.publish()
    }

    /// Makes it durable. [`Sealed::publish`] gives it its name.
    ///
    /// # Errors
    /// Those of writing.
    pub fn seal(self) -> io::Result<Sealed> {
        let Self { mut file, sealed } = self;
        file.flush()?;
        file.get_ref().sync_data()?;
        Ok(sealed)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Sealed {
    /// Its final name.
    pub fn path(&self) -> &Path {
        self.part.path()
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// Those of renaming; without `force` also when the file has appeared meanwhile.
    pub fn publish(self) -> io::Result<()> {
        self.part.publish(self.force).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), EXISTS),
            _ => error,
        })
    }
}
