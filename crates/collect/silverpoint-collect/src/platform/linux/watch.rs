use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use silverpoint_shm::kept::KeptFd;
use silverpoint_shm::root::Root;

/// Says when something appears in a directory.
#[derive(Debug)]
pub(crate) struct Watch(KeptFd);

impl Watch {
    /// `None`: it cannot be watched.
    pub(crate) fn new(root: &Root) -> Option<Self> {
        // By descriptor: the path may lead elsewhere by now.
        let path = format!("/proc/self/fd/{}", root.fd().as_raw_fd());
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let what = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
        inotify::add_watch(&watch, path, what).ok()?;
        Some(Self(KeptFd::new(watch)))
    }

    /// Whether the descriptor still stands for it: the program may have closed it.
    pub(crate) fn is_intact(&self) -> bool {
        self.0.is_intact()
    }

    /// Whether something has appeared since the last call.
    pub(crate) fn is_reported(&mut self) -> bool {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.0, &mut buffer);
        let mut reported = false;
        while reader.next().is_ok() {
            reported = true;
        }
        reported
    }
}

/// Sleeps until something appears, at most so long.
pub(crate) fn wait<'a>(watches: impl Iterator<Item = &'a Watch>, time: Duration) {
    let mut fds: Vec<PollFd<'_>> = watches.map(|watch| PollFd::new(&watch.0, PollFlags::IN)).collect();
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    let _ = poll(&mut fds, Some(&timeout));
}
