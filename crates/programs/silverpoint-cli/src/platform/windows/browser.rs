use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Windows has a screen, or says when it opens nothing.
pub fn has_screen() -> bool {
    true
}

/// What opens a page in the browser of this user.
pub fn open(page: &Path) -> Command {
    let mut command = Command::new("rundll32.exe");
    command.arg("url.dll,FileProtocolHandler").arg(page);
    command
}

/// Where files lie that no other user reads: the user's own directory of temporary files.
#[expect(clippy::disallowed_methods, reason = "the name of the file is random")]
pub fn private_directory() -> PathBuf {
    std::env::temp_dir()
}

/// Makes a file, with the access list of its directory.
pub fn private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}
