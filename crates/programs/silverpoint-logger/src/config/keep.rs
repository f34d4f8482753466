//! What becomes of a log's old files.

/// How many old files stay, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keep {
    /// This many files.
    pub(crate) count: u32,
    /// This many bytes on the disk, of all together; the newest always stays.
    pub(crate) bytes: u64,
    /// They are compressed.
    pub(crate) compress: Option<Compression>,
    /// How they are named.
    pub(crate) naming: Naming,
}

/// What distinguishes the old files of one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// All are renamed when another one is added.
    Numbers,
    /// Each keeps its name.
    Dates,
}

/// How old files are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Its level, 1 to 22.
    Zstd(i32),
    /// Its level, 1 to 9: for tools that support nothing else.
    Gzip(u32),
}
