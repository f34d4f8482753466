//! Levels that a feature leaves out of the program are not there. A program of its own: `scripts/test` compiles it a second time, with `max_level_warn`.

#[path = "it/cbor.rs"]
#[allow(dead_code)]
mod cbor;
#[path = "it/reader.rs"]
#[allow(dead_code)]
mod reader;

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use silverpoint::{info, warn};

const NAME: &str = "levels_that_a_feature_leaves_out_are_not_there";
/// Set where the test runs itself again, to record.
const ROLE: &str = "SILVERPOINT_TEST_ROLE";

fn record() {
    static EVALUATED: AtomicU32 = AtomicU32::new(0);
    info!("below {}", EVALUATED.fetch_add(1, Ordering::Relaxed));
    warn!("kept {}", EVALUATED.load(Ordering::Relaxed));
}

/// With the feature `max_level_warn`, and without it.
#[test]
fn levels_that_a_feature_leaves_out_are_not_there() {
    if env::var_os(ROLE).is_some() {
        return record();
    }
    let root = silverpoint_tests::folder_in_memory();
    let settings = [(ROLE, "record"), ("SILVERPOINT_FILTER", "trace")];
    let mut again = Command::new(env::current_exe().unwrap());
    again.args([NAME, "--exact"]).envs(settings).env("SILVERPOINT_DIR", root.path());
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let session = reader::only_session(root.path());
    let below = u32::from(!cfg!(feature = "max_level_warn"));
    assert_eq!(session.args_of("kept {}"), [below.to_string()], "evaluated {below} times");
    assert_eq!(session.args_of("below {}").len(), below as usize);
    let templates: Vec<_> = session.sites.values().map(|site| site.template.as_str()).collect();
    assert_eq!(templates.contains(&"below {}"), below == 1, "{templates:?}");
    assert!(templates.contains(&"kept {}"), "{templates:?}");
}
