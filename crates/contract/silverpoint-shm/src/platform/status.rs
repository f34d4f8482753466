/// What the system knows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Where it is. On Windows always 0: files of one directory are compared, or one with itself. (Wine has another
    /// number for the volume of a file that was renamed while it was open.)
    pub device: u64,
    /// Its number there: the same for all its names.
    pub inode: u64,
    /// Its size.
    pub bytes: u64,
    /// The room that it takes.
    pub room: u64,
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Whether it is a directory, and no link.
    pub is_directory: bool,
    /// How many names it has.
    pub names: u64,
    /// Whether it has no name any more.
    pub is_removed: bool,
    /// When it was changed: seconds since 1970.
    pub changed_seconds: u64,
}
