//! Directories that go with the test.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use silverpoint_collect::{Config, OutputConfig};

/// A directory with a root of sessions and room for trace files.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), name)
    }

    /// In the file system in memory. `None`: there is none.
    pub fn in_memory(name: &str) -> Option<Self> {
        let place = Path::new("/dev/shm");
        let is_tmpfs = rustix::fs::statfs(place).is_ok_and(|stat| stat.f_type as u32 == 0x0102_1994);
        is_tmpfs.then(|| Self::below(place, name))
    }

    fn below(place: &Path, name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = place.join(format!("silverpoint-collect-{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for directory in [path.clone(), path.join("root")] {
            fs::DirBuilder::new().mode(0o700).create(directory).unwrap();
        }
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn root(&self) -> PathBuf {
        self.path.join("root")
    }

    pub fn trace(&self) -> PathBuf {
        self.path.join("trace.silver")
    }

    pub fn output(&self) -> OutputConfig {
        OutputConfig::new(self.trace())
    }

    pub fn config(&self) -> Config {
        Config::new(self.root(), self.output())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Waits until something is so; fails loudly when it does not become so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
