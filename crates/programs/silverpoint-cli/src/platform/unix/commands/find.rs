//! Finds the command before anything is started or any file is made.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::exit::{Exit, Failed};

/// Checks that a command can be executed, as `execvp` will look for it.
pub fn check(command: &OsStr) -> Result<(), Failed> {
    let path = std::env::var_os("PATH");
    look(command, path).map(|_| ())
}

fn look(command: &OsStr, path: Option<OsString>) -> Result<PathBuf, Failed> {
    let name = command.to_string_lossy();
    if command.is_empty() {
        return Err(Failed::new(Exit::NotFound, "the command is empty"));
    }
    if command.as_bytes().contains(&b'/') {
        let path = Path::new(command);
        return match is_executable(path) {
            Ok(()) => Ok(path.to_owned()),
            Err(error) if is_missing(&error) => Err(Failed::new(Exit::NotFound, format!("{name}: {error}"))),
            Err(error) => {
                Err(Failed::new(Exit::CannotExecute, format!("{name}: it cannot be executed: {error}")))
            }
        };
    }
    let mut refused = None;
    for directory in std::env::split_paths(&path.unwrap_or_else(|| "/bin:/usr/bin".into())) {
        let candidate = if directory.as_os_str().is_empty() {
            Path::new(".").join(command)
        } else {
            directory.join(command)
        };
        match is_executable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if is_missing(&error) => {}
            Err(error) => refused = refused.or(Some((candidate, error))),
        }
    }
    Err(match refused {
        Some((candidate, error)) => Failed::new(
            Exit::CannotExecute,
            format!("{}: it cannot be executed: {error}", candidate.display()),
        ),
        None => Failed::new(Exit::NotFound, format!("{name}: command not found in any directory of PATH")),
    })
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn is_executable(path: &Path) -> std::io::Result<()> {
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)?;
    if std::fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "it is no regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str, path: &str) -> Result<PathBuf, Exit> {
        look(OsStr::new(command), Some(path.into())).map_err(|failed| failed.exit)
    }

    #[test]
    fn commands_are_found_as_a_shell_finds_them() {
        assert_eq!(found("sh", "/nowhere:/bin"), Ok("/bin/sh".into()));
        assert_eq!(found("/bin/sh", ""), Ok("/bin/sh".into()));
        assert_eq!(found("no-such-command", "/bin"), Err(Exit::NotFound));
        assert_eq!(found("/no/such/command", "/bin"), Err(Exit::NotFound));
        assert_eq!(found("", "/bin"), Err(Exit::NotFound));
        assert_eq!(found("/etc/passwd", "/bin"), Err(Exit::CannotExecute));
        assert_eq!(found("passwd", "/etc"), Err(Exit::CannotExecute));
        assert_eq!(found("/etc", "/bin"), Err(Exit::CannotExecute));
    }
}
