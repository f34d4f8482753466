//! Options that say how a trace file is stored: the same for `run`, `attach` and the collector's own process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use silverpoint_collect::{Compression, Encoding, Existing, Fsync, OutputConfig};
use silverpoint_wire::directive;

use crate::units;

/// How the trace file is stored.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Trace file")]
pub struct Store {
    /// Compact records: about a third of the bytes, for more work in the collector
    #[arg(long)]
    pub compact: bool,
    /// Compress blocks: none, lz4, zstd, zstd:LEVEL (1 to 19). Works together with --compact
    #[arg(long, value_name = "HOW", default_value_t)]
    pub compress: Compression,
    /// Begin a new part at this size (64M, 1G)
    #[arg(long, value_name = "SIZE", value_parser = rotation)]
    pub rotate_size: Option<u64>,
    /// Begin a new part at this age (10m, 1h)
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub rotate_every: Option<Duration>,
    /// Delete the oldest parts when all parts together are larger than this
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub quota: Option<u64>,
    /// When the file is forced to the disk: never, close, batch, or an interval such as 1s. Needed only
    /// against loss of power
    #[arg(long, value_name = "WHEN", default_value = "never", value_parser = fsync)]
    pub fsync: Fsync,
    /// Replace the file even if it is not a trace file
    #[arg(long)]
    pub force: bool,
}

impl Store {
    /// As a collector's configuration.
    pub fn output(&self, path: PathBuf, existing: Existing) -> OutputConfig {
        OutputConfig {
            existing,
            force: self.force,
            encoding: if self.compact { Encoding::Compact } else { Encoding::Raw },
            compression: self.compress,
            fsync: self.fsync,
            rotate_bytes: self.rotate_size,
            rotate_after: self.rotate_every,
            quota_bytes: self.quota,
            ..OutputConfig::new(path)
        }
    }

    /// The same as command-line words, for the collector's own process.
    pub fn words(&self) -> Vec<OsString> {
        let mut words: Vec<String> = Vec::new();
        if self.compact {
            words.push("--compact".into());
        }
        if self.compress != Compression::None {
            words.push(format!("--compress={}", self.compress));
        }
        if self.force {
            words.push("--force".into());
        }
        if let Some(size) = self.rotate_size {
            words.push(format!("--rotate-size={size}"));
        }
        if let Some(every) = self.rotate_every {
            words.push(format!("--rotate-every={}ms", every.as_millis()));
        }
        if let Some(quota) = self.quota {
            words.push(format!("--quota={quota}"));
        }
        words.push(match self.fsync {
            Fsync::Never => "--fsync=never".into(),
            Fsync::OnClose => "--fsync=close".into(),
            Fsync::EachBatch => "--fsync=batch".into(),
            Fsync::Every(interval) => format!("--fsync={}ms", interval.as_millis()),
        });
        words.into_iter().map(OsString::from).collect()
    }
}

/// Directives as an option's value: an error shows its column.
pub fn directives(text: &str) -> Result<String, String> {
    match directive::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => {
            let column = error.column.saturating_sub(1);
            Err(format!("{error}\n  {text}\n  {:column$}^", ""))
        }
    }
}

/// The smallest size of a part: its dictionaries need room too.
const LEAST_PART: u64 = 64 << 10;

fn rotation(text: &str) -> Result<u64, String> {
    match units::size(text)? {
        size if size < LEAST_PART => Err(format!("'{text}': a part has at least 64K")),
        size => Ok(size),
    }
}

fn fsync(text: &str) -> Result<Fsync, String> {
    match text {
        "never" => Ok(Fsync::Never),
        "close" => Ok(Fsync::OnClose),
        "batch" => Ok(Fsync::EachBatch),
        other => match units::duration(other) {
            Ok(interval) => Ok(Fsync::Every(interval)),
            Err(_) => Err(format!("'{other}': expected never, close, batch or an interval such as 1s")),
        },
    }
}
