//! Sessions that nobody collected.

use silverpoint_collect::{CollectError, Existing, Fsync, Loss, Recovery, has_stored_in, recover};
use silverpoint_shm::observer::list;
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::ring::{self, at as ring_at};
use silverpoint_wire::level::Level;

use crate::fake::{Fake, site};
use crate::refusal::refuse;
use crate::scratch::Scratch;
use crate::told::read;

fn recovery(scratch: &Scratch, remove: bool) -> (Root, Recovery) {
    let root = Root::open_directory(&scratch.root()).unwrap();
    let mut sessions = list(&root).unwrap();
    sessions.sort();
    (root, Recovery { sessions, output: scratch.output(), remove })
}

#[test]
fn a_whole_session_is_recovered_with_a_clean_account() {
    let scratch = Scratch::new("recover");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..100).for_each(|value| ring.put(id, value));
    let (root, wanted) = recovery(&scratch, true);
    assert!(matches!(recover(&root, wanted.clone()), Err(CollectError::InUse(_))), "it lives");
    fake.die();
    let accounts = recover(&root, wanted).unwrap();
    assert_eq!(accounts[0].records, 100);
    assert!(accounts[0].is_whole(), "{accounts:?}");
    assert!(!fake.is_there());
    let trace = read(&scratch.trace());
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..100));
    assert!(trace.anchors[&fake.session_id].len() >= 2, "a closing anchor");
}

/// A caller that asked for durability gets the error, and a repeated call continues the file.
#[test]
fn what_could_not_be_made_durable_is_an_error_before_anything_is_removed() {
    let scratch = Scratch::new("recover-unsynced");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..100).for_each(|value| ring.put(id, value));
    fake.die();
    let (root, mut wanted) = recovery(&scratch, true);
    wanted.output.fsync = Fsync::OnClose;
    let refused = wanted.clone();
    let outcome = std::thread::scope(|scope| {
        let (root, refused) = (&root, refused);
        let tried = scope.spawn(move || refuse(libc::SYS_fdatasync, None).then(|| recover(root, refused)));
        tried.join().unwrap()
    });
    let Some(outcome) = outcome else {
        silverpoint_tests::skipped!("this system has no filters of system calls");
        return;
    };
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("loss of power") && error.contains("Input/output error"), "{error}");
    assert!(fake.is_there());
    wanted.output.existing = Existing::Continue;
    recover(&root, wanted).unwrap();
    assert!(!fake.is_there());
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..100));
}

#[test]
fn the_account_says_what_is_missing_and_keeping_changes_nothing() {
    let scratch = Scratch::new("account");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut rings: Vec<_> = (0..5).map(|tid| fake.ring(slab, tid)).collect();
    rings[0].overwrites = true;
    (0..500).for_each(|value| rings[0].put(id, value));
    for ring in &mut rings[1..] {
        (0..20).for_each(|value| ring.put(id, value));
    }
    rings[1].set(ring_at::LOSSES + 8 * 2, 6);
    // A record that says it is longer than there is; a slice that was being claimed.
    rings[2].poke(10 * 24, &0xFF_FFF8u32.to_le_bytes());
    rings[3].set32(ring_at::STATE, ring::CLAIMING);
    fake.die();
    let files = || ["control", "rings", "collector"].map(|file| std::fs::read(fake.path.join(file)).unwrap());
    let before = files();
    let (root, wanted) = recovery(&scratch, false);
    for _ in 0..2 {
        let mut wanted = wanted.clone();
        wanted.output.existing = Existing::Replace;
        let account = recover(&root, wanted).unwrap().remove(0);
        assert_eq!(account.losses, [Loss { cause: "sink_full", records: 6 }]);
        assert_eq!(account.overwritten_bytes, rings[0].get(ring_at::OLDEST));
        assert_eq!((account.broken_rings.len(), account.broken_bytes), (1, 10 * 24));
        assert!(account.broken_rings[0].contains("position 240"), "{:?}", account.broken_rings);
        assert!(!account.is_whole());
        assert_eq!(files(), before, "the session is as it was");
        let trace = read(&scratch.trace());
        assert!(trace.values(&fake.session_id, 2).into_iter().eq(0..20));
        assert!(trace.values(&fake.session_id, 3).into_iter().eq(0..10), "up to the contradiction");
        assert!(trace.values(&fake.session_id, 4).is_empty(), "it was being claimed");
        assert!(trace.values(&fake.session_id, 5).into_iter().eq(0..20), "the others are not concerned");
        assert_eq!(trace.notes.len(), 1, "{:?}", trace.notes);
    }
}

/// The next caller learns from each remaining session which file must not be replaced.
#[test]
fn sessions_stay_until_all_are_stored() {
    let scratch = Scratch::new("recover-half");
    let mut fakes: Vec<Fake> = (0..2).map(|pid| Fake::new(&scratch.root(), pid + 1)).collect();
    for fake in &mut fakes {
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(14);
        let mut ring = fake.ring(slab, 1);
        (0..100).for_each(|value| ring.put(id, value));
    }
    fakes[0].die();
    let (root, mut wanted) = recovery(&scratch, true);
    assert!(!has_stored_in(&root, &wanted.sessions, &scratch.trace()));
    assert!(matches!(recover(&root, wanted.clone()), Err(CollectError::InUse(_))), "the second lives");
    assert!(fakes[0].is_there());
    assert!(has_stored_in(&root, &wanted.sessions, &scratch.trace()));
    // A part that was rotated away counts too, a file of another name does not.
    let part = scratch.path().join("trace.1.silver");
    std::fs::rename(scratch.trace(), &part).unwrap();
    assert!(has_stored_in(&root, &wanted.sessions, &scratch.trace()));
    assert!(!has_stored_in(&root, &wanted.sessions, &scratch.path().join("other.silver")));
    std::fs::rename(&part, scratch.trace()).unwrap();
    fakes[1].die();
    wanted.output.existing = Existing::Continue;
    let accounts = recover(&root, wanted).unwrap();
    assert_eq!(accounts.iter().map(|account| account.records).collect::<Vec<_>>(), [0, 100]);
    assert!(list(&root).unwrap().is_empty());
    let trace = read(&scratch.trace());
    assert!(fakes.iter().all(|fake| trace.values(&fake.session_id, 1).into_iter().eq(0..100)));
}

#[test]
fn several_sessions_go_into_one_file() {
    let scratch = Scratch::new("recover-several");
    let mut fakes: Vec<Fake> = (0..3).map(|pid| Fake::new(&scratch.root(), pid + 1)).collect();
    for fake in &mut fakes {
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(11);
        let mut ring = fake.ring(slab, 1);
        ring.put(id, 3);
        fake.die();
    }
    let (root, wanted) = recovery(&scratch, true);
    assert_eq!(recover(&root, wanted).unwrap().iter().map(|account| account.records).sum::<u64>(), 3);
    assert_eq!(read(&scratch.trace()).sessions.len(), 3);
    assert!(list(&root).unwrap().is_empty());
}
