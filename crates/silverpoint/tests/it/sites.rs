//! The site table, read while it grows.

use std::sync::atomic::{AtomicU32, Ordering};

use silverpoint::{info, warn};
use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::owner::{self, Description};
use silverpoint_shm::root::Root;

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("sites_that_come_meanwhile_are_whole", are_whole),
    ("levels_that_a_feature_leaves_out_are_not_there", left_out),
];
pub const ROLES: &[Role] = &[("sites-meanwhile", register_meanwhile), ("leaves-out", leaves_out)];

fn are_whole() {
    Scene::new().run("sites-meanwhile", &[("SILVERPOINT_FILTER", "info")]);
}

/// More than an observer reads of the table at a time, twice over.
const SITES: u32 = 3000;

fn register(line: u32) {
    owner::register(&Description {
        kind: 0,
        level: 2,
        line,
        language: 2,
        category: "category",
        file: "file.rs",
        function: "function",
        names: &|_| {},
        template: &|to| to(b"a text"),
        signature: &|_| {},
    });
}

/// Reads its own table, and registers the others when it sees the first: what was read ahead then lacks their descriptions.
fn register_meanwhile() {
    register(1);
    let (directory, _) = owner::session_name().expect("a session");
    let root = Root::open_directory(directory.parent().expect("its root")).expect("the root");
    let name = observer::list(&root).expect("a list")[0];
    let session = ObservedSession::open(&root, name).expect("this process's session");
    let mut seen = 0;
    session
        .sites_since(
            0,
            SITES,
            |_| true,
            |site| {
                assert!(site.description.is_some(), "number {} has no description", site.entry);
                if seen == 0 {
                    (2..=SITES).for_each(register);
                }
                seen += 1;
            },
        )
        .expect("the table");
    assert!(seen > SITES / 2, "the others came while the table was read: {seen}");
}

fn leaves_out() {
    static EVALUATED: AtomicU32 = AtomicU32::new(0);
    info!("below {}", EVALUATED.fetch_add(1, Ordering::Relaxed));
    warn!("kept {}", EVALUATED.load(Ordering::Relaxed));
}

/// With the feature `max_level_warn`, and without it.
fn left_out() {
    let scene = Scene::new();
    scene.run("leaves-out", &[("SILVERPOINT_FILTER", "trace")]);
    let session = reader::only_session(scene.root());
    let below = u32::from(!cfg!(feature = "max_level_warn"));
    assert_eq!(session.args_of("kept {}"), [below.to_string()], "evaluated {below} times");
    assert_eq!(session.args_of("below {}").len(), below as usize);
    let templates: Vec<_> = session.sites.values().map(|site| site.template.as_str()).collect();
    assert_eq!(templates.contains(&"below {}"), below == 1, "{templates:?}");
    assert!(templates.contains(&"kept {}"), "{templates:?}");
}
