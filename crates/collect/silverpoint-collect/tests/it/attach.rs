//! Attaching changes a session and letting go puts every byte back.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use silverpoint_collect::{AttachMode, Collector, Config, Limits, OutputConfig, sweep};
use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;
use silverpoint_wire::directive;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;

use crate::fake::{Fake, site};
use crate::refusal::refuse;
use crate::scratch::Scratch;
use crate::told::read;

/// The control file without what may move on: the generation.
fn control_bytes(fake: &Fake) -> Vec<u8> {
    let mut bytes = fs::read(fake.path.join("control")).unwrap();
    bytes[at::GENERATION..at::GENERATION + 4].fill(0);
    bytes
}

#[test]
fn attach_and_let_go() {
    let scratch = Scratch::new("attach");
    let mut fake = Fake::new(&scratch.root(), 1);
    let net = fake.register(&site("net {}", Level::Debug, "net"));
    fake.register(&site("io {}", Level::Info, "io"));
    fake.register(&site("io {}", Level::Trace, "io"));
    // As somebody else had set it: by directives that do not say the same, and with a probe.
    fake.set_mode("io=warn,pump.cpp:88=on", &[0, 1, 4]);
    fake.control.write_all_at(&[0, 2, 0, 1, 0, 2], at::POLICY as u64).unwrap();
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    let before = control_bytes(&fake);
    let intent = fs::read(fake.path.join("collector")).unwrap();

    let mut config = scratch.config();
    config.attach = Some(AttachMode {
        directives: Some("net=debug,io=info".into()),
        policy: Some([0; 6]),
        block_max_ms: Some(20),
    });
    let mut collector = Collector::new(config).unwrap();
    collector.pass();
    assert_eq!(fake.states(3), [1, 1, 4], "switched; the probe's bit is not ours");
    assert_eq!(fake.control32(at::BLOCK_MAX_MS), 20);
    assert_eq!(fake.control32(at::GENERATION) % 2, 0);
    assert!(fake.control32(at::GENERATION) > 0);
    ring.put(net, 5);
    ring.set32(ring_at::WAITING, 1);
    let wake = ring.get(ring_at::WAKE) as u32;
    // Registered while attached: it is on by the old directives afterwards.
    collector.leave();

    assert_eq!(control_bytes(&fake), before, "every byte as it was");
    assert_eq!(fs::read(fake.path.join("collector")).unwrap(), intent);
    assert!(ring.get(ring_at::WAKE) as u32 > wake, "who waits is woken");
    assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), [5]);
    // Nobody has the lock any more.
    let root = Root::open_directory(&scratch.root()).unwrap();
    let names = list(&root).unwrap();
    assert!(!ObservedSession::open(&root, names[0]).unwrap().is_collected().unwrap());
}

#[test]
fn sites_registered_while_attached_obey_the_old_directives_afterwards() {
    let scratch = Scratch::new("attach-new");
    let mut fake = Fake::new(&scratch.root(), 1);
    fake.register(&site("a", Level::Info, "a"));
    fake.set_mode("b=info", &[0]);
    let mut config = scratch.config();
    config.attach = Some(AttachMode { directives: Some("trace".into()), ..AttachMode::default() });
    let mut collector = Collector::new(config).unwrap();
    collector.pass();
    for category in ["b", "c"] {
        fake.register(&site("late", Level::Info, category));
    }
    // As frontends do it, by the directives in force.
    fake.control.write_all_at(&[1, 1], 20_480 + 1).unwrap();
    collector.leave();
    assert_eq!(fake.states(3), [0, 1, 0]);
}

#[test]
fn directives_are_refused_whole_when_malformed() {
    let scratch = Scratch::new("directives");
    let mut fake = Fake::new(&scratch.root(), 1);
    for category in ["net", "net::tcp", "disk"] {
        fake.register(&site("x", Level::Debug, category));
    }
    let root = Root::open_directory(&scratch.root()).unwrap();
    let session = ObservedSession::open(&root, list(&root).unwrap()[0]).unwrap();
    assert_eq!(session.write_directives("net=debug,disk=info").unwrap(), 2);
    assert_eq!(fake.states(3), [1, 1, 0]);
    let generation = fake.control32(at::GENERATION);
    let error = session.write_directives("net=off,disk=loud").unwrap_err().to_string();
    assert!(error.contains("directives"), "{error}");
    assert_eq!((fake.states(3), fake.control32(at::GENERATION)), (vec![1, 1, 0], generation));
    // A controller that died in the middle.
    fake.control.write_all_at(&(generation + 1).to_le_bytes(), at::GENERATION as u64).unwrap();
    assert_eq!(session.write_directives("").unwrap(), 0);
    assert_eq!(fake.control32(at::GENERATION), generation + 2);
    assert_eq!(session.directives().unwrap(), b"");
}

#[test]
fn two_programs_that_add_directives_lose_none() {
    const EACH: usize = 30;
    let scratch = Scratch::new("directives-two");
    let mut fake = Fake::new(&scratch.root(), 1);
    fake.register(&site("x", Level::Debug, "net"));
    let root = Root::open_directory(&scratch.root()).unwrap();
    let name = list(&root).unwrap()[0];
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for who in ["a", "b"] {
            let (root, barrier) = (&root, &barrier);
            scope.spawn(move || {
                let session = ObservedSession::open(root, name).unwrap();
                barrier.wait();
                for number in 0..EACH {
                    let add = |present: &str| directive::added(present, &format!("{who}{number}=on"));
                    session.change_directives(add).unwrap();
                }
            });
        }
    });
    let session = ObservedSession::open(&root, name).unwrap();
    let text = String::from_utf8(session.directives().unwrap()).unwrap();
    assert_eq!(text.split(',').count(), 2 * EACH, "{text}");
}

#[test]
fn directives_reach_each_of_thousands_of_sites() {
    let scratch = Scratch::new("directives-many");
    let mut fake = Fake::new(&scratch.root(), 1);
    // More than are read at a time, with descriptions of more than are read ahead.
    let templates = ["short".to_owned(), "long ".repeat(40)];
    for number in 0..2500 {
        let category = if number % 3 == 0 { "net" } else { "disk" };
        fake.register(&site(&templates[number % 2], Level::Debug, category));
    }
    let root = Root::open_directory(&scratch.root()).unwrap();
    let session = ObservedSession::open(&root, list(&root).unwrap()[0]).unwrap();
    for (text, on) in [("net=debug", [1, 0, 0]), ("disk=debug", [0, 1, 1]), ("off", [0, 0, 0])] {
        let wanted: Vec<u8> = on.iter().copied().cycle().take(2500).collect();
        let count = session.write_directives(text).unwrap();
        assert_eq!(count as usize, wanted.iter().filter(|state| **state == 1).count(), "{text}");
        assert_eq!(fake.states(2500), wanted, "{text}");
    }
}

#[test]
fn the_mode_comes_back_after_a_collector_that_died() {
    let scratch = Scratch::new("attach-died");
    for heir in ["attach", "collect", "sweep", "control"] {
        let root_path = scratch.path().join(heir);
        fs::DirBuilder::new().mode(0o700).create(&root_path).unwrap();
        let mut fake = Fake::new(&root_path, 1);
        fake.register(&site("net {}", Level::Debug, "net"));
        fake.register(&site("io {}", Level::Info, "io"));
        fake.set_mode("io=warn,pump.cpp:88=on", &[0, 5]);
        fake.control.write_all_at(&[0, 2, 0, 1, 0, 2], at::POLICY as u64).unwrap();
        let before = control_bytes(&fake);
        let lock_file = fs::read(fake.path.join("collector")).unwrap();
        let config = |mode: Option<AttachMode>, name: &str| {
            let output = OutputConfig::new(scratch.path().join(format!("{heir}-{name}.silver")));
            let mut config = Config::new(&root_path, output);
            config.attach = mode;
            config
        };
        let everything = || {
            Some(AttachMode {
                directives: Some("trace".into()),
                policy: Some([0; 6]),
                block_max_ms: Some(20),
            })
        };
        let mut first = Collector::new(config(everything(), "first")).unwrap();
        first.pass();
        assert_eq!(fake.states(2), [1, 5], "{heir}");
        // As a death: nothing is given back, only the locks go.
        drop(first);
        fake.register(&site("late", Level::Warn, "io"));
        fake.control.write_all_at(&[1], 20_480 + 2).unwrap();

        let root = Root::open_directory(&root_path).unwrap();
        let session = ObservedSession::open(&root, list(&root).unwrap()[0]).unwrap();
        match heir {
            "attach" => {
                let mut second = Collector::new(config(everything(), "second")).unwrap();
                second.pass();
                assert_eq!(fake.control32(at::BLOCK_MAX_MS), 20);
                assert!(!session.restore_abandoned_mode().unwrap(), "somebody has it");
                second.leave();
            }
            "collect" => {
                let mut second = Collector::new(config(None, "second")).unwrap();
                second.pass();
                assert_eq!(session.directives().unwrap(), b"io=warn,pump.cpp:88=on");
                second.leave();
            }
            "sweep" => drop(sweep(&root, Limits::default()).unwrap()),
            _ => assert!(session.restore_abandoned_mode().unwrap()),
        }
        assert!(!session.restore_kept_mode().unwrap(), "{heir}: once");
        assert_eq!(fake.states(3), [0, 5, 1], "{heir}: the late one by the old directives");
        let after = control_bytes(&fake);
        for (what, range) in [
            ("collector", at::COLLECTOR_PID..at::COLLECTOR_SLEEPING + 4),
            ("state and policy", at::COLLECTOR_STATE..at::POLICY + 8),
            ("directives", at::DIRECTIVES_LEN..at::DIRECTIVES_LEN + 4),
        ] {
            assert_eq!(after[range.clone()], before[range], "{heir}: {what}");
        }
        assert_eq!(session.directives().unwrap(), b"io=warn,pump.cpp:88=on", "{heir}");
        assert_eq!(
            fs::metadata(fake.path.join("collector")).unwrap().len(),
            lock_file.len() as u64,
            "{heir}"
        );
    }
}

/// A successor restored the mode first, and then changed it: in between every site was off. A logger whose
/// program had closed its descriptors lost records by that.
#[test]
fn sites_stay_on_while_a_successor_attaches() {
    let scratch = Scratch::new("attach-stays-on");
    let mut fake = Fake::new(&scratch.root(), 1);
    fake.register(&site("net {}", Level::Debug, "net"));
    fake.set_mode("off", &[0]);
    let before = control_bytes(&fake);
    let attached = |policy, block_max_ms| {
        let mut config = scratch.config();
        config.attach = Some(AttachMode { directives: Some("net=debug".into()), policy, block_max_ms });
        let mut collector = Collector::new(config).unwrap();
        collector.pass();
        collector
    };
    drop(attached(Some([0; 6]), Some(20)));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let offs = scope.spawn(|| {
            let mut offs = 0;
            while !is_over.load(Ordering::Relaxed) {
                offs += u32::from(fake.states(1) == [0]);
            }
            offs
        });
        for _ in 0..200 {
            // As a death.
            drop(attached(None, None));
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(offs.join().unwrap(), 0, "times that the site was seen off");
    });
    let changed_by_the_first_alone = at::BLOCK_MAX_MS..at::POLICY + 8;
    let now = control_bytes(&fake);
    assert_eq!(now[changed_by_the_first_alone.clone()], before[changed_by_the_first_alone.clone()]);
    attached(None, None).leave();
    let after = control_bytes(&fake);
    assert_eq!(after[changed_by_the_first_alone.clone()], before[changed_by_the_first_alone]);
    assert_eq!(fake.states(1), [0]);
}

/// The session's collector is set last: when that fails, earlier changes must be undone.
#[test]
fn a_session_that_an_attachment_could_not_take_stays_as_it_was() {
    let words = [
        ("policy", at::POLICY),
        ("block_max_ms", at::BLOCK_MAX_MS),
        ("length of the directives", at::DIRECTIVES_LEN),
        ("collector_sleeping", at::COLLECTOR_SLEEPING),
        ("heartbeat", at::HEARTBEAT),
        ("collector_state", at::COLLECTOR_STATE),
        ("collector_pid", at::COLLECTOR_PID),
    ];
    for (word, offset) in words {
        let scratch = Scratch::new("attach-refused");
        let mut fake = Fake::new(&scratch.root(), 1);
        let net = fake.register(&site("net {}", Level::Debug, "net"));
        fake.register(&site("io {}", Level::Info, "io"));
        fake.set_mode("io=warn", &[0, 1]);
        fake.control.write_all_at(&[0, 2, 0, 1, 0, 2], at::POLICY as u64).unwrap();
        let before = control_bytes(&fake);
        let intent = fs::read(fake.path.join("collector")).unwrap();
        let attached = || {
            let mut config = scratch.config();
            config.attach = Some(AttachMode {
                directives: Some("net=debug".into()),
                policy: Some([0; 6]),
                block_max_ms: Some(20),
            });
            Collector::new(config).unwrap()
        };
        let is_refused = std::thread::scope(|scope| {
            let refused = scope.spawn(|| {
                let mut collector = attached();
                if !refuse(libc::SYS_pwrite64, Some((3, offset as u32))) {
                    return false;
                }
                collector.pass();
                assert_eq!(collector.stats().sessions, 0, "{word}: it was taken");
                assert_eq!(control_bytes(&fake), before, "{word}: not every byte is as it was");
                true
            });
            refused.join().unwrap()
        });
        if !is_refused {
            silverpoint_tests::skipped!("this system has no filters of system calls");
            return;
        }
        // The next collector takes it, and gives it back.
        let slab = fake.slab(11);
        let mut ring = fake.ring(slab, 1);
        let before = control_bytes(&fake);
        let mut collector = attached();
        collector.pass();
        assert_eq!(fake.states(2), [1, 0], "{word}");
        ring.put(net, 5);
        collector.leave();
        assert_eq!(control_bytes(&fake), before, "{word}: afterwards");
        assert_eq!(fs::read(fake.path.join("collector")).unwrap(), intent, "{word}");
        assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), [5], "{word}");
    }
}
