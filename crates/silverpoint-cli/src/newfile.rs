//! A file that is complete or not there: it is written under a temporary name, and gets its own when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::exit::{Failed, failure};

/// See the module. Dropped before it is finished it leaves nothing.
pub struct NewFile {
    file: BufWriter<File>,
    sealed: Sealed,
}

/// One that is complete and durable, but has not got its name. Dropped it leaves nothing.
pub struct Sealed {
    path: PathBuf,
    temporary: PathBuf,
    force: bool,
}

impl NewFile {
    /// Begins a file that will be `path`. Refuses one of `inputs`, and what is there already unless `force` is given.
    pub fn create(path: &Path, inputs: &[PathBuf], force: bool) -> Result<Self, Failed> {
        let real = std::fs::canonicalize(path).ok();
        if real.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == real) {
            return Err(failure(format!("{}: it would overwrite what it is made from", path.display())));
        }
        match std::fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(failure(format!("{}: it is there and is no regular file", path.display())));
            }
            Ok(_) if !force => return Err(failure(exists(path))),
            _ => {}
        }
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&temporary);
        let file = file.map_err(|error| failure(format!("{}: {error}", temporary.display())))?;
        Ok(Self { file: BufWriter::new(file), sealed: Sealed { path: path.to_owned(), temporary, force } })
    }

    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// Those of writing; without `force` also that somebody else has made the file meanwhile.
    pub fn finish(self) -> io::Result<()> {
        self.seal()?.publish()
    }

    /// Makes it durable. Its name it gets by [`Sealed::publish`].
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

impl Sealed {
    /// The name that it is to have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// Those of renaming; without `force` also that somebody else has made the file meanwhile.
    pub fn publish(self) -> io::Result<()> {
        if self.force {
            return std::fs::rename(&self.temporary, &self.path);
        }
        // A link never replaces anything. Where there are none, a look must do.
        match std::fs::hard_link(&self.temporary, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if std::fs::symlink_metadata(&self.path).is_ok() => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, exists(&self.path)))
            }
            Err(_) => std::fs::rename(&self.temporary, &self.path),
            Ok(()) => Ok(()),
        }
    }
}

fn exists(path: &Path) -> String {
    format!("{}: it is there already; --force replaces it", path.display())
}

impl Drop for Sealed {
    fn drop(&mut self) {
        // There no more when it was renamed.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
