//! The thread that compresses old files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;

use super::names::{Names, Old, remove_if_there};
use crate::config::Compression;
use crate::error::say;

/// Read and compressed at once; between two such pieces the thread checks whether it is to end.
const PIECE: usize = 256 << 10;

impl Names {
    /// The thread.
    pub(super) fn compress_all(&self, compression: Compression) {
        lower_priority();
        while let Some(file) = self.next_plain() {
            match self.compress(&file, compression) {
                Ok(true) => continue,
                // Asked to end.
                Ok(false) => {}
                Err(error) => {
                    say(format_args!(
                        "{}: it cannot be compressed: {error}; it stays as it is",
                        file.path.display()
                    ));
                }
            }
            *self.lock() = false;
            return;
        }
        // `next_plain` has noted that there is no more: meanwhile another thread may have begun.
    }

    /// The oldest uncompressed file. If there is none, the thread must not ask again.
    fn next_plain(&self) -> Option<Old> {
        let mut is_compressing = self.lock();
        if self.is_stopped.load(Ordering::Relaxed) {
            return None;
        }
        let old = self.list().unwrap_or_default();
        let plain = old.into_iter().filter(|file| file.ending.is_none());
        let next = plain.max_by(|a, b| a.mark.cmp(&b.mark));
        *is_compressing = next.is_some();
        next
    }

    /// Compresses a file; false when it was asked to end.
    fn compress(&self, file: &Old, compression: Compression) -> io::Result<bool> {
        let mut from = match File::open(&file.path) {
            // It has another name by now, or is gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            opened => opened?,
        };
        let found = from.metadata()?;
        let identity = (found.dev(), found.ino());
        let unfinished = self.unfinished();
        let made = self.compress_into(&mut from, &unfinished, compression).and_then(|is_whole| {
            if is_whole {
                fs::set_permissions(&unfinished, found.permissions())?;
                self.give_name(&unfinished, identity, compression.ending())?;
            }
            Ok(is_whole)
        });
        // No partial file stays; the file has lost its name.
        remove_if_there(&unfinished)?;
        made
    }

    fn compress_into(&self, from: &mut File, to: &Path, compression: Compression) -> io::Result<bool> {
        // A foreign link is not followed.
        remove_if_there(to)?;
        let options = OpenOptions::new().write(true).create_new(true).mode(0o600).to_owned();
        let mut encoder = compression.encoder(options.open(to)?)?;
        let mut piece = vec![0; PIECE];
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Ok(false);
            }
            match from.read(&mut piece)? {
                0 => break,
                read => encoder.write(&piece[..read])?,
            }
        }
        // The plain file is removed next: this one must be durable.
        encoder.finish()?.sync_all()?;
        Ok(true)
    }

    /// The compressed file replaces the plain one, under the number that this has now.
    fn give_name(&self, compressed: &Path, identity: (u64, u64), ending: &str) -> io::Result<()> {
        let _changing = self.lock();
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let is_it = |file: &&Old| {
            file.ending.is_none()
                && fs::metadata(&file.path).is_ok_and(|found| (found.dev(), found.ino()) == identity)
        };
        if let Some(file) = self.list()?.iter().find(is_it) {
            fs::rename(compressed, self.old(&file.mark, Some(ending)))?;
            fs::remove_file(&file.path)?;
        }
        Ok(())
    }
}

/// The thread works when nothing else does.
fn lower_priority() {
    // Where the system refuses, it works as others do.
    let _ = rustix::process::setpriority_process(None, 19);
}
