//! Directories that go with the test.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use silverpoint_collect::{Config, OutputConfig};
use tempfile::TempDir;

/// A directory with a root of sessions and room for trace files.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        Self::below(None, name)
    }

    /// In the file system in memory. `None`: there is none.
    pub fn in_memory(name: &str) -> Option<Self> {
        let place = Path::new("/dev/shm");
        let is_tmpfs = rustix::fs::statfs(place).is_ok_and(|stat| stat.f_type as u32 == 0x0102_1994);
        is_tmpfs.then(|| Self::below(Some(place), name))
    }

    fn below(place: Option<&Path>, name: &str) -> Self {
        let prefix = format!("silverpoint-collect-{name}-");
        let folder = match place {
            Some(place) => TempDir::with_prefix_in(prefix, place),
            None => TempDir::with_prefix(prefix),
        };
        let folder = folder.unwrap();
        fs::DirBuilder::new().mode(0o700).create(folder.path().join("root")).unwrap();
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    pub fn trace(&self) -> PathBuf {
        self.path().join("trace.silver")
    }

    pub fn output(&self) -> OutputConfig {
        OutputConfig::new(self.trace())
    }

    pub fn config(&self) -> Config {
        Config::new(self.root(), self.output())
    }
}

/// Waits until something is so; fails loudly when it does not become so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(300), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
