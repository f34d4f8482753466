//! What a collector asks of the operating system beside `silverpoint_shm::platform`: `linux/` and `windows/` answer,
//! a file for each concern.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;
#[cfg(windows)]
pub(crate) use windows::*;
