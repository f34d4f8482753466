use std::fs;
use std::io;
use std::path::Path;

/// Makes a directory, with the access list of the one that it is in.
pub fn private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Nothing: Windows makes the entries of a directory durable by itself.
pub fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a directory its final name. With `force` what has that name is removed first.
///
/// # Errors
/// Those of removing and renaming; without `force` [`io::ErrorKind::AlreadyExists`] where something has that name.
pub fn publish(temporary: &Path, path: &Path, force: bool) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) if force => fs::remove_dir_all(path)?,
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => {}
    }
    fs::rename(temporary, path)
}
