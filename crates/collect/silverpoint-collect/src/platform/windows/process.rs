/// Ends it without a word.
pub(crate) fn kill() {
    std::process::abort();
}

/// Stops for good.
#[cfg(feature = "fault-points")]
pub(crate) fn halt() {
    loop {
        std::thread::park();
    }
}

/// Sleeps of Rust's library are as exact as Windows can.
pub(crate) fn be_punctual() {}
