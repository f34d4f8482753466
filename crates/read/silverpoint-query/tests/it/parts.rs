//! Rotated files: the parts of a trace are found from any of them, and nothing else is followed.

use std::fs;
use std::path::{Path, PathBuf};

use silverpoint_trace::{Trace, Verdict, What, with_parts};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::level::Level;
use tempfile::TempDir;

use crate::builder::{Builder, log};

/// A directory that is removed at the end.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(TempDir::with_prefix("silverpoint-parts-").unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A part with one record that carries its number.
fn part(path: &Path, number: u32, previous: &str) {
    let mut b = Builder::default();
    let about = format!("format=1.0\nfile_id={number:032}\nprevious={previous}\npart={number}\n");
    b.block(BlockKind::FILE, 0, 0, about.as_bytes());
    b.session(1, "/bin/p", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    b.stream(1, 1, 1, "");
    b.skip_ring(1, 1, u64::from(number) * 24);
    b.record(1, 1, 16, u64::from(number), &u64::from(number).to_le_bytes());
    b.flush(1, 1, false);
    b.end();
    fs::write(path, &b.bytes).unwrap();
}

fn numbers(trace: &Trace) -> Vec<u64> {
    let mut events = trace.events();
    let mut numbers = Vec::new();
    while let Some(event) = events.next() {
        if let What::Record { args, .. } = event.what {
            numbers.push(u64::from_le_bytes(args[..8].try_into().unwrap()));
        }
    }
    assert_eq!(events.verdict(), Verdict::Intact, "{:?}", events.notes());
    numbers
}

#[test]
fn all_parts_from_any_part() {
    let directory = Directory::new();
    let names = ["t.silver", "t.2.silver", "t.3.silver", "t.4.silver"];
    for (n, name) in names.iter().enumerate() {
        part(&directory.path(name), n as u32 + 1, if n == 0 { "" } else { names[n - 1] });
    }
    part(&directory.path("other.silver"), 9, "");
    let all: Vec<PathBuf> = names.iter().map(|name| directory.path(name)).collect();
    for name in names {
        let found = with_parts(&[directory.path(name)]);
        assert_eq!(found, all, "from {name}");
        assert_eq!(numbers(&Trace::open(&found).unwrap()), [1, 2, 3, 4]);
    }
    // Several of one trace are still each part once.
    assert_eq!(with_parts(&[all[2].clone(), all[0].clone()]), all);
    // Where a part is gone, what comes after it can still be read.
    fs::remove_file(&all[1]).unwrap();
    assert_eq!(with_parts(&[all[3].clone()]), all[2..]);
    assert_eq!(with_parts(&[all[0].clone()]), all[..1]);
}

#[test]
fn hostile_names_are_not_followed() {
    let directory = Directory::new();
    let outside = Directory::new();
    part(&outside.path("x.silver"), 1, "");
    let target = format!("../{}/x.silver", outside.0.path().file_name().unwrap().to_string_lossy());
    let path = directory.path("a.silver");
    for previous in [target.as_str(), "..", ".", "/etc/passwd", "missing.silver"] {
        part(&path, 2, previous);
        assert_eq!(with_parts(std::slice::from_ref(&path)), std::slice::from_ref(&path), "{previous}");
    }
    // A circle ends.
    let other = directory.path("b.silver");
    part(&path, 1, "b.silver");
    part(&other, 2, "a.silver");
    assert_eq!(with_parts(std::slice::from_ref(&path)).len(), 2);
    part(&path, 1, "a.silver");
    assert!(with_parts(std::slice::from_ref(&path)).len() <= 2);
}

#[test]
fn pipes_and_what_cannot_be_opened() {
    let directory = Directory::new();
    let missing = directory.path("missing.silver");
    assert_eq!(with_parts(std::slice::from_ref(&missing)), std::slice::from_ref(&missing));
    let error = Trace::open(&[missing]).unwrap_err();
    assert!(error.to_string().contains("missing.silver"), "{error}");
    assert!(Trace::open(&[directory.0.path()]).is_err(), "a directory");
    part(&directory.path("t.silver"), 1, "");
    // Standard output of another program: read to its end into an unnamed file.
    let mut child = std::process::Command::new("cat")
        .arg(directory.path("t.silver"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = fs::File::from(std::os::fd::OwnedFd::from(child.stdout.take().unwrap()));
    let source = silverpoint_trace::Source::from_file(Path::new("pipe"), pipe).unwrap();
    child.wait().unwrap();
    assert_eq!(numbers(&Trace::from_sources(vec![source]).unwrap()), [1]);
}
