//! Keys of configurations.

/// Of the file itself.
pub(super) const KEYS: &[&str] = &[
    "record",
    "sink",
    "spool",
    "spool-size",
    "policy",
    "block-max",
    "crash",
    "crash-wait",
    "reopen-on-hangup",
];
/// Of a sink.
pub(super) const SINK_KEYS: &[&str] = &[
    "to",
    "path",
    "format",
    "level",
    "category",
    "file",
    "function",
    "thread",
    "where",
    "rotate-size",
    "rotate-age",
    "rotate-at",
    "keep",
    "keep-size",
    "compress",
    "rotate-names",
    "flush",
    "sync",
    "backtrace",
    "colour",
    "location",
    "pattern",
    "address",
    "identity",
    "facility",
    "protocol",
    "message-size",
    "time",
    "digits",
    "zone",
];
/// Of `flush` in a sink.
pub(super) const FLUSH_KEYS: &[&str] = &["every", "bytes", "level"];
/// Keys of a sink that only the spool uses: code can set them, a configuration file cannot.
pub(super) const OWN_KEYS: &[&str] = &["process", "long"];
