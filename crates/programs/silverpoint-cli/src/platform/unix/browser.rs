use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether there is a screen for a browser.
pub fn has_screen() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| std::env::var_os(name).is_some())
}

/// What opens a page in the browser of this user.
pub fn open(page: &Path) -> Command {
    let mut command = Command::new("xdg-open");
    command.arg(page);
    command
}

/// Where files lie that no other user reads, if there is such a place.
#[expect(clippy::disallowed_methods, reason = "the name of the file is random")]
pub fn private_directory() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    runtime.unwrap_or_else(std::env::temp_dir)
}

/// Makes a file that no other user reads.
pub fn private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}
