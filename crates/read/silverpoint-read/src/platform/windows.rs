use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use silverpoint_shm::root::Root;

/// The root of this user: others' sessions are not read.
pub(crate) fn root_of(_: u32) -> io::Result<Root> {
    Root::open()
}

/// Makes a directory, with the access list of the one that it is in: that of temporary files is the user's.
pub(crate) fn make_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// The same of a file, to be written.
pub(crate) fn make_private_file(path: &Path) -> io::Result<File> {
    File::options().create_new(true).write(true).open(path)
}

/// Opens a file for writing.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// The directory of temporary files is the user's.
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}
