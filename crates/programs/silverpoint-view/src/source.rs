//! What is shown: files, or processes that live.

use std::path::PathBuf;

use silverpoint_read::{OpenOptions, ReadError, Reader};

/// What is shown.
#[derive(Clone, Debug)]
pub enum Source {
    /// Trace files.
    Files {
        /// Where they lie.
        paths: Vec<PathBuf>,
        /// How they are opened.
        options: OpenOptions,
    },
    /// Living sessions, as [`Reader::live`] takes them.
    Processes {
        /// Process ids and names; none: all.
        targets: Vec<String>,
        /// Times of day in filters are UTC.
        utc: bool,
    },
}

impl Source {
    /// Opens it.
    ///
    /// # Errors
    /// As of [`Reader::open`] and [`Reader::live`].
    pub fn open(&self) -> Result<Reader, ReadError> {
        match self {
            Self::Files { paths, options } => Reader::open(paths, *options),
            Self::Processes { targets, utc } => Reader::live(targets, *utc),
        }
    }

    /// Whether it may bring more.
    pub fn is_live(&self) -> bool {
        match self {
            Self::Files { options, .. } => options.follow,
            Self::Processes { .. } => true,
        }
    }

    /// For the page's title.
    pub fn title(&self) -> String {
        match self {
            Self::Files { paths, .. } => {
                let names = paths
                    .iter()
                    .take(3)
                    .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
                let names = names.collect::<Vec<_>>().join(", ");
                if paths.len() > 3 { format!("{names}, …") } else { names }
            }
            Self::Processes { targets, .. } if targets.is_empty() => "all processes".to_owned(),
            Self::Processes { targets, .. } => targets.join(", "),
        }
    }
}
