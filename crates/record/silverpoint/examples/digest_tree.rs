//! Digests every file of a directory tree with several threads (FNV-1a, 64 bits) and traces what it does: the Rust half of
//! `make demo`.
//!
//!     digest_tree ROOT [THREADS]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process, thread};

use silverpoint::{Trace, counter, debug, event, info, span, warn};

/// What one file came to: kept typed in the trace by the derive.
#[derive(Trace)]
struct Digest {
    bytes: u64,
    fnv1a: u64,
    kind: Kind,
}

#[derive(Trace, Clone, Copy)]
enum Kind {
    Text,
    Binary,
}

fn digest(path: &Path) -> io::Result<Digest> {
    let content = {
        let _read = span!("read");
        fs::read(path)?
    };
    let _hash = span!("hash", content.len());
    let fnv1a = content.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let kind = if content.contains(&0) { Kind::Binary } else { Kind::Text };
    Ok(Digest { bytes: content.len() as u64, fnv1a, kind })
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            warn!(%error, "cannot list {}", folder.display().to_string());
            return;
        }
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_files(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

fn main() {
    let mut arguments = env::args().skip(1);
    let Some(root) = arguments.next() else {
        eprintln!("usage: digest_tree ROOT [THREADS]");
        process::exit(2);
    };
    let threads: usize = arguments.next().and_then(|text| text.parse().ok()).filter(|n| *n > 0).unwrap_or(2);

    let mut files = Vec::new();
    {
        let _walk = span!("walk", root);
        collect_files(Path::new(&root), &mut files);
    }
    event!("walk.done", root, files.len());

    let next = AtomicUsize::new(0);
    let bytes = AtomicUsize::new(0);
    thread::scope(|scope| {
        for worker in 0..threads {
            thread::Builder::new()
                .name(format!("digest-{worker}"))
                .spawn_scoped(scope, || {
                    while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let text = path.to_string_lossy();
                        let _file = span!("digest.file", text);
                        match digest(path) {
                            Ok(found) => {
                                bytes.fetch_add(found.bytes as usize, Ordering::Relaxed);
                                debug!(digest = found, "digested {}", text);
                            }
                            Err(error) => warn!(%error, "cannot read {}", text),
                        }
                        counter!("bytes.digested", bytes.load(Ordering::Relaxed));
                    }
                })
                .expect("a thread can be started");
        }
    });
    let total = bytes.load(Ordering::Relaxed);
    info!(files = files.len(), threads, "all digested: {:.1} MB", total as f64 / 1e6);
    println!("digest_tree: {} files, {total} bytes", files.len());
}
