//! The verdict of reading a trace file: whether it is complete, and what is missing.

use std::fmt;
use std::path::PathBuf;

use silverpoint_wire::version::FormatVersion;

/// The state of a file, or of several read together (then the worst of them). Ordered from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every byte belongs to a block that is whole.
    Intact,
    /// Whole, but the program or the collector reports lost records.
    Lossy,
    /// The last block is incomplete: the file was cut there, or is being written.
    Cut,
    /// Something before the end was skipped.
    Damaged,
    /// No valid block at all, or a version of the format that this program cannot read.
    NotATraceFile,
}

impl Verdict {
    /// The program's exit code (`spec/file.md`, section 4).
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Intact | Self::Lossy | Self::Cut => 0,
            Self::Damaged => 3,
            Self::NotATraceFile => 4,
        }
    }

    /// The word for it: `intact`, `lossy`, `cut`, `damaged`, `not a trace file`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Lossy => "lossy",
            Self::Cut => "cut",
            Self::Damaged => "damaged",
            Self::NotATraceFile => "not a trace file",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One note for the reader: where, and what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The file concerned.
    pub file: PathBuf,
    /// What is the matter.
    pub matter: Matter,
}

/// The subject of a [`Note`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Matter {
    /// Not one valid block.
    NotATraceFile,
    /// From here on the file has a version of the format that this program cannot read.
    OtherFormat {
        /// Where its *file* block stands.
        offset: u64,
        /// The version as it stands there, shortened.
        version: String,
    },
    /// Additions of a later minor version were skipped.
    Unknown {
        /// The version that the file states, when it is a later one.
        version: Option<FormatVersion>,
        /// What was skipped: blocks, sites or control records.
        what: Unknown,
        /// How many.
        count: u64,
    },
    /// The file ends within a block: bytes from `offset` on.
    Cut {
        /// Where the incomplete block begins.
        offset: u64,
        /// Bytes that are there.
        bytes: u64,
    },
    /// Bytes that are no valid block.
    Skipped {
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
        /// What is wrong with the first of them.
        why: String,
    },
    /// A block with a valid header whose payload is not what was stored, or contradicts its header.
    BadBlock {
        /// Where the block begins.
        offset: u64,
        /// Its sequence number.
        sequence: u64,
        /// Its session in the file; 0: none.
        session: u32,
        /// Its stream; 0: none.
        stream: u32,
        /// Records that the header promises.
        records: u32,
        /// Why it cannot be read.
        why: String,
    },
    /// A block stands in the place of another, as if blocks had been moved. It has been read.
    Misplaced {
        /// Offset in the file.
        offset: u64,
        /// Its number.
        sequence: u64,
    },
    /// Blocks that are not in the file, by their sequence numbers.
    MissingBlocks {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// Bytes of a stream that no block of these files holds, although there are blocks before and after them.
    /// They were in damaged blocks, or another collector stored them elsewhere.
    MissingBytes {
        /// Process and thread.
        whose: String,
        /// Bytes of the ring.
        bytes: u64,
    },
    /// Two files that were trimmed to different selections hold the same range of a stream. What the first
    /// one left out of it is not read from the other.
    TrimmedTwice {
        /// Process and thread; the first of those concerned.
        whose: String,
        /// The other file.
        other: PathBuf,
    },
    /// The trace file says that bytes of a stream could not be stored.
    Gap {
        /// Process and thread.
        whose: String,
        /// Bytes of the ring.
        bytes: u64,
    },
    /// Records that the program or the collector reports as lost.
    Lost {
        /// Process, and thread when known.
        whose: String,
        /// How many.
        records: u64,
        /// The cause in words.
        cause: &'static str,
    },
    /// A message of the collector.
    Collector {
        /// Process, or empty.
        whose: String,
        /// Its words.
        text: String,
    },
}

/// Additions of later minor versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// Blocks of a kind without a meaning here.
    Blocks,
    /// Sites of a kind without a meaning here.
    Sites,
    /// Control records with an id without a meaning here.
    Controls,
}

impl Unknown {
    fn in_words(self, count: u64) -> &'static str {
        match (self, count == 1) {
            (Self::Blocks, true) => "block of a kind",
            (Self::Blocks, false) => "blocks of kinds",
            (Self::Sites, true) => "site of a kind",
            (Self::Sites, false) => "sites of kinds",
            (Self::Controls, true) => "control record of a kind",
            (Self::Controls, false) => "control records of kinds",
        }
    }
}

impl Matter {
    /// The least bad verdict that this allows.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NotATraceFile | Self::OtherFormat { .. } => Verdict::NotATraceFile,
            Self::Cut { .. } => Verdict::Cut,
            Self::Skipped { .. }
            | Self::BadBlock { .. }
            | Self::Misplaced { .. }
            | Self::MissingBlocks { .. } => Verdict::Damaged,
            Self::Gap { .. } | Self::Lost { .. } | Self::TrimmedTwice { .. } => Verdict::Lossy,
            // Where the file is whole, another file holds them: two collectors took turns.
            Self::MissingBytes { .. } | Self::Collector { .. } | Self::Unknown { .. } => Verdict::Intact,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.matter {
            Matter::NotATraceFile => f.write_str("not a trace file: it holds no valid block"),
            Matter::OtherFormat { offset, version } => {
                let own = FormatVersion::CURRENT;
                write!(f, "it has version {} of the format, stated at byte {offset}; ", OneLine(version))?;
                write!(f, "this program reads {}.x: use a silverpoint of that version", own.major)
            }
            Matter::Unknown { version, what, count } => {
                write!(f, "{count} {} that this program does not know, skipped", what.in_words(*count))?;
                match version {
                    Some(version) => {
                        write!(
                            f,
                            " (the file has version {version} of the format, this program knows {})",
                            FormatVersion::CURRENT
                        )
                    }
                    None => Ok(()),
                }
            }
            Matter::Cut { offset, bytes } => {
                write!(f, "cut at byte {offset}: {bytes} bytes of a block that is not whole are left out")
            }
            Matter::Skipped { offset, bytes, why } => {
                write!(f, "damaged at byte {offset}: {bytes} bytes were skipped: {why}")
            }
            Matter::BadBlock { offset, sequence, session, stream, records, why } => {
                write!(f, "damaged block {sequence} at byte {offset}: {why}")?;
                if *records > 0 {
                    write!(f, "; {records} records of session {session}, stream {stream} are missing")?;
                }
                Ok(())
            }
            Matter::Misplaced { offset, sequence } => {
                write!(f, "block {sequence} stands at byte {offset}, where another block should; it was read")
            }
            Matter::MissingBlocks { first, last } if first == last => write!(f, "block {first} is missing"),
            Matter::MissingBlocks { first, last } => {
                write!(f, "blocks {first} to {last} are missing ({} blocks)", last - first + 1)
            }
            Matter::MissingBytes { whose, bytes } => {
                write!(f, "{bytes} bytes of records of {whose} are not here")
            }
            Matter::TrimmedTwice { whose, other } => {
                write!(f, "{} holds the same stretch of records of {whose}, ", other.display())?;
                f.write_str("trimmed to another selection: it may hold records that are left out here; ")?;
                f.write_str("trim what both were made from")
            }
            Matter::Gap { whose, bytes } => {
                write!(f, "{bytes} bytes of records of {whose} could not be stored by the collector")
            }
            Matter::Lost { whose, records, cause } => {
                write!(f, "{records} records of {whose} were lost: {cause}")
            }
            Matter::Collector { whose, text } if whose.is_empty() => {
                write!(f, "collector: {}", OneLine(text))
            }
            Matter::Collector { whose, text } => write!(f, "collector: {whose}: {}", OneLine(text)),
        }
    }
}

/// Text from a file, with control characters escaped.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut escaped = String::with_capacity(self.0.len());
        crate::escape::push_escaped(&mut escaped, self.0);
        f.write_str(&escaped)
    }
}
