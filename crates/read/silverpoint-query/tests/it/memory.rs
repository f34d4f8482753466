//! What rewriting a file takes of memory: so many bytes for each block, as docs/files.md says, and nothing for records.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use silverpoint_query::filter::Filter;
use silverpoint_trace::rewrite::{Limit, Options, Parts, Rewritten, rewrite, split, trim};
use silverpoint_trace::{Source, Trace};
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};

/// Names the files for the process that is measured.
const FILES: &str = "SILVERPOINT_TEST_MEMORY_FILES";
/// What it does with them: `rewrite`, `trim` or `split`.
const OPERATION: &str = "SILVERPOINT_TEST_MEMORY_OPERATION";
const STREAMS: u32 = 4;

/// A file with so many blocks of records of this process.
fn file(path: &Path, pid: u32, blocks: u32, records: u32) {
    let mut b = Builder::new();
    b.session(pid, "/bin/x", pid);
    b.site(pid, 16, &log(Level::Info, "", 1, "{}", "s"));
    for stream in 1..=STREAMS {
        b.stream(pid, stream, stream, "");
    }
    for block in 0..blocks {
        let stream = 1 + block % STREAMS;
        for record in 0..records {
            b.record(pid, stream, 16, u64::from(block * records + record), &text("some text"));
        }
        b.flush(pid, stream, false);
        if block % 2000 == 1999 {
            b.index();
        }
    }
    b.end_with_index();
    fs::write(path, b.bytes).unwrap();
}

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

/// Writes nothing anywhere.
struct Nowhere;

impl Parts for Nowhere {
    type File = io::Sink;

    fn begin(&mut self, _: u32) -> io::Result<io::Sink> {
        Ok(io::sink())
    }

    fn end(&mut self, _: io::Sink, done: Rewritten) -> io::Result<()> {
        assert!(done.blocks > 0, "{done:?}");
        Ok(())
    }
}

/// What the process that is measured does.
fn operate(operation: &str, trace: &Trace) {
    let options = Options { mend: true, ..Options::default() };
    let done = match operation {
        "trim" => {
            trim(trace, &Filter { level: Some(Level::Info), ..Filter::default() }, &options, io::sink())
        }
        "split" => {
            let notes = split(trace, Limit::Parts(3), &options, &mut Nowhere).unwrap();
            assert!(notes.is_empty());
            return;
        }
        _ => rewrite(trace, &options, io::sink()),
    };
    let done = done.unwrap();
    assert!(done.notes.is_empty() && done.blocks > 0, "{done:?}");
}

/// Does it with these files in a process of its own, and gives its peak.
fn measured(operation: &str, files: &[&Path]) -> u64 {
    let names: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::grows_with_blocks_as_documented", "--nocapture"])
        .env(FILES, names.join("\n"))
        .env(OPERATION, operation)
        .output()
        .unwrap();
    let out = String::from_utf8(child.stdout).unwrap();
    let line = out.lines().find_map(|line| line.split_once("peak ")).unwrap_or_else(|| panic!("{out}"));
    line.1.trim().parse().unwrap()
}

#[test]
fn grows_with_blocks_as_documented() {
    if let Ok(names) = std::env::var(FILES) {
        let sources = names.lines().map(|name| Source::open(Path::new(name)).unwrap()).collect();
        let trace = Trace::from_sources(sources).unwrap();
        operate(&std::env::var(OPERATION).unwrap(), &trace);
        println!("peak {}", peak());
        return;
    }
    let page = include_str!("../../../../../docs/files.md");
    let (before, _) = page.split_once(" bytes of memory a block").unwrap();
    let documented: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    let folder = tempfile::TempDir::with_prefix("silverpoint-memory-").unwrap();
    let path = |name: &str| folder.path().join(name);
    let [few, many, other, full] = ["few", "many", "other", "full"].map(path);
    file(&few, 1, 5_000, 1);
    file(&many, 1, 65_000, 1);
    file(&other, 2, 30_000, 1);
    file(&full, 1, 5_000, 40);
    let rewritten = |files: &[&Path]| measured("rewrite", files);
    let (base, mended, merged) = (rewritten(&[&few]), rewritten(&[&many]), rewritten(&[&few, &other, &many]));
    let records = rewritten(&[&full]);
    for operation in ["trim", "split"] {
        let [base, many, full] = [&few, &many, &full].map(|file| measured(operation, &[file]));
        eprintln!("{operation} {} {}", (many - base) / 60_000, full.saturating_sub(base));
        assert!(many < base + documented * 60_000, "{operation}: {base} {many}");
        assert!(full < base + (1 << 20), "{operation}: {base} {full}");
    }
    eprintln!("{} {}", (mended - base) / 60_000, (merged - base) / 95_000);
    assert!(mended < base + documented * 60_000, "{base} {mended}");
    assert!(merged < base + documented * 95_000, "{base} {merged}");
    // Not by less than half of it: else the page says too much.
    assert!(mended > base + documented * 60_000 / 2, "{base} {mended}");
    // Forty times the records: a block is larger, and nothing else.
    assert!(records < base + (1 << 20), "{base} {records}");
}
