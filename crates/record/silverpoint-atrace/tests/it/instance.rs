//! A buffer of its own in the kernel, where this machine lets a test have one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An instance of tracefs of this test's, removed at the end.
pub struct Instance {
    pub path: PathBuf,
    mounted: Option<PathBuf>,
}

impl Instance {
    /// Mounts tracefs below `place` if it is nowhere yet. `Err`: why there is none.
    pub fn new(place: &Path) -> Result<Self, String> {
        let known = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
        let root = known.into_iter().find(|path| path.join("trace_marker").exists());
        let (root, mounted) = match root {
            Some(root) => (root.to_owned(), None),
            None => {
                let path = place.join("tracefs");
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

    /// What the kernel has been given, in order.
    pub fn messages(&self) -> Vec<String> {
        let trace = fs::read_to_string(self.path.join("trace")).unwrap();
        let written = trace.lines().filter_map(|line| line.split_once(": tracing_mark_write: "));
        written.map(|(_, message)| message.to_owned()).collect()
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
