//! The site table, read while it grows.

use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::owner::{self, Description};
use silverpoint_shm::root::Root;

use crate::{Role, Scene, Test};

pub const TESTS: &[Test] = &[("sites_that_come_meanwhile_are_whole", are_whole)];
pub const ROLES: &[Role] = &[("sites-meanwhile", register_meanwhile)];

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
