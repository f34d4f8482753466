//! The trace file's place: what is overwritten and what is not.

use std::fs;
use std::os::unix::fs::symlink;

use silverpoint_collect::{CollectError, Collector, Existing};
use silverpoint_wire::level::Level;

use crate::fake::{Fake, site};
use crate::scratch::Scratch;
use crate::told::{read, read_alone};

fn try_open(scratch: &Scratch, existing: Existing, force: bool) -> Result<Collector, CollectError> {
    let mut config = scratch.config();
    config.output.existing = existing;
    config.output.force = force;
    Collector::new(config)
}

#[test]
fn what_is_not_a_trace_file_is_never_touched_without_force() {
    let scratch = Scratch::new("foreign");
    fs::write(scratch.trace(), "somebody's letters").unwrap();
    for existing in [Existing::Continue, Existing::Replace, Existing::Refuse] {
        let error = try_open(&scratch, existing, false).unwrap_err();
        assert!(
            error.to_string().contains("not a trace file") || matches!(error, CollectError::Exists(_)),
            "{error}"
        );
        assert_eq!(fs::read(scratch.trace()).unwrap(), b"somebody's letters");
    }
    drop(try_open(&scratch, Existing::Replace, true).unwrap());
    assert_eq!(read_alone(&scratch.trace()).about.len(), 1);
}

#[test]
fn links_directories_and_pipes_are_refused_even_with_force() {
    let scratch = Scratch::new("links");
    let target = scratch.path().join("target");
    fs::write(&target, "").unwrap();
    symlink(&target, scratch.trace()).unwrap();
    assert!(try_open(&scratch, Existing::Replace, true).is_err());
    assert_eq!(fs::read(&target).unwrap(), b"");
    fs::remove_file(scratch.trace()).unwrap();
    fs::create_dir(scratch.trace()).unwrap();
    assert!(try_open(&scratch, Existing::Replace, true).is_err());
    fs::remove_dir(scratch.trace()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(scratch.trace()).status().unwrap();
    assert!(made.success());
    assert!(try_open(&scratch, Existing::Continue, true).is_err());
}

#[test]
fn a_directory_that_is_missing_is_an_error_that_names_it() {
    let scratch = Scratch::new("missing");
    let mut config = scratch.config();
    config.output.path = scratch.path().join("no/where/trace.silver");
    let error = Collector::new(config).unwrap_err().to_string();
    assert!(error.contains("no/where/trace.silver") && error.contains("directory"), "{error}");
}

#[test]
fn continue_goes_on_behind_the_last_whole_block() {
    let scratch = Scratch::new("continue");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    for round in 0..3 {
        (0..10).for_each(|value| ring.put(id, 10 * round + value));
        let mut collector = try_open(&scratch, Existing::Continue, false).unwrap();
        collector.pass();
        collector.leave();
        // As a death in the middle of a block leaves it: some bytes of one.
        let mut bytes = fs::read(scratch.trace()).unwrap();
        let whole = bytes.len();
        bytes.extend_from_within(0..50);
        fs::write(scratch.trace(), &bytes).unwrap();
        assert!(whole > 0);
    }
    let collector = try_open(&scratch, Existing::Continue, false).unwrap();
    collector.leave();
    let trace = read(&scratch.trace());
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..30));
    assert_eq!(trace.notes.len(), 3, "each cut is reported: {:?}", trace.notes);
    assert_eq!(trace.sessions.len(), 1, "the session has kept its number");
}

#[test]
fn replace_gives_a_new_file_and_a_reader_keeps_the_old() {
    let scratch = Scratch::new("replace");
    drop(try_open(&scratch, Existing::Continue, false).unwrap());
    let old = fs::File::open(scratch.trace()).unwrap();
    let before = old.metadata().unwrap().len();
    drop(try_open(&scratch, Existing::Replace, false).unwrap());
    assert_eq!(old.metadata().unwrap().len(), before);
    assert!(matches!(try_open(&scratch, Existing::Refuse, false), Err(CollectError::Exists(_))));
}

#[test]
fn a_file_that_is_moved_away_is_followed_by_a_new_part() {
    let scratch = Scratch::new("moved");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    let mut collector = try_open(&scratch, Existing::Continue, false).unwrap();
    (0..10).for_each(|value| ring.put(id, value));
    collector.pass();
    let away = scratch.path().join("away");
    fs::rename(scratch.trace(), &away).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    (10..20).for_each(|value| ring.put(id, value));
    collector.pass();
    // Somebody else's file in its place is not touched; the records go on into the one that was.
    fs::rename(scratch.trace(), scratch.path().join("second")).unwrap();
    fs::write(scratch.trace(), "mine").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    (20..30).for_each(|value| ring.put(id, value));
    collector.pass();
    let messages = collector.take_messages();
    assert_eq!(messages.len(), 2, "{messages:?}");
    collector.leave();
    assert_eq!(fs::read(scratch.trace()).unwrap(), b"mine");
    assert!(read_alone(&away).values(&fake.session_id, 1).into_iter().eq(0..10));
    assert!(read_alone(&scratch.path().join("second")).values(&fake.session_id, 1).into_iter().eq(10..30));
}
