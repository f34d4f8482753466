//! The kernel's own buffer, where this machine lets the test mount it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Place, call_everything, check, is_role, messages};

/// An instance of tracefs of this test's, removed at the end.
struct Instance {
    path: PathBuf,
    mounted: Option<PathBuf>,
}

impl Instance {
    /// `Err`: why there is none.
    fn new(place: &Place) -> Result<Self, String> {
        let known = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
        let root = known.into_iter().find(|path| path.join("trace_marker").exists());
        let (root, mounted) = match root {
            Some(root) => (root.to_owned(), None),
            None => {
                let path = place.at("tracefs");
                fs::create_dir(&path).map_err(|error| error.to_string())?;
                let mount = Command::new("mount").args(["-t", "tracefs", "nodev"]).arg(&path).output();
                let output = mount.map_err(|error| format!("no mount: {error}"))?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
                }
                (path.clone(), Some(path))
            }
        };
        let path = root.join("instances").join(format!("silverpoint-{}", std::process::id()));
        let instance = Self { path, mounted };
        fs::create_dir(&instance.path).map_err(|error| format!("{}: {error}", instance.path.display()))?;
        fs::write(instance.path.join("tracing_on"), "1").map_err(|error| error.to_string())?;
        Ok(instance)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
        if let Some(mounted) = &self.mounted {
            let _ = Command::new("umount").arg("-l").arg(mounted).status();
        }
    }
}

#[test]
fn the_kernel_has_what_was_written() {
    let name = "tracefs::the_kernel_has_what_was_written";
    if is_role(name) {
        return call_everything();
    }
    let place = Place::new();
    let instance = match Instance::new(&place) {
        Ok(instance) => instance,
        Err(why) => {
            eprintln!("SKIPPED: {name}: there is no tracefs: {why}");
            return;
        }
    };
    let mut command = place.command(name);
    command.env("SILVERPOINT_ATRACE_MARKER", instance.path.join("trace_marker"));
    let pid = check(&command.env("debug.atrace.tags.enableflags", "0x1000").output().unwrap());
    let trace = fs::read_to_string(instance.path.join("trace")).unwrap();
    let written: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split_once(": tracing_mark_write: ").map(|(_, message)| message))
        .collect();
    assert_eq!(written, messages(pid));
}
