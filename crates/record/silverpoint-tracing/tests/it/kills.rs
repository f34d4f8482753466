//! The program is killed while it records: everything recorded until then is there, without a hole, from each
//! of the facades.

use silverpoint_atrace::Tag;
use tracing::{Level, event, info_span};

use silverpoint_tests::folder_in_memory;

use crate::{child, collect, is_child};

/// Kills; more by `SILVERPOINT_KILL_ROUNDS`.
const ROUNDS: usize = 4;

#[test]
fn a_killed_program_has_recorded_what_it_has_recorded() {
    let name = "kills::a_killed_program_has_recorded_what_it_has_recorded";
    if is_child(name) {
        silverpoint_tracing::init();
        silverpoint_log::init();
        let thread = |of: u64| {
            move || {
                // More than the tester takes before it kills.
                for n in 0..200_000_u64 {
                    let span = info_span!("turn", of, n);
                    let _turn = span.enter();
                    event!(name: "step", Level::INFO, of, n, text = "some text of it");
                    silverpoint::event!("native", of, n);
                    log::info!(target: "logged", of, n; "by log");
                    silverpoint_atrace::track_begin(Tag::APP, "track", &format!("{of}, {n}, by ATrace"), 7);
                }
            }
        };
        let other = std::thread::spawn(thread(1));
        thread(0)();
        other.join().unwrap();
        panic!("nobody has killed it");
    }
    let rounds = std::env::var("SILVERPOINT_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let root = folder_in_memory();
        let mut child = child(name, "info", &root);
        let enough = 200_000 + 37_777 * (round % 16);
        let session = collect(root.path(), &mut child, |child, taken| {
            if taken > enough {
                child.kill().unwrap();
            }
        });
        let _ = child.wait().unwrap();
        assert_eq!(session.losses(), [0; 8]);
        for of in 0..2 {
            let all = |what: &str, before: &str| -> Vec<u64> {
                let records = session.args_of(what).into_iter();
                let mine = records
                    .filter_map(|args| args.strip_prefix(&format!("{before}{of}, ")).map(str::to_owned));
                mine.map(|args| args.split(", ").next().unwrap().parse().unwrap()).collect()
            };
            let (turns, steps, natives) = (all("turn", ""), all("step", ""), all("native", ""));
            let (logged, traced) = (all("{}", "\"by log\", "), all("track", "7, \""));
            for numbers in [&turns, &steps, &natives, &logged, &traced] {
                assert!(
                    numbers.iter().copied().eq(0..numbers.len() as u64),
                    "thread {of}: no hole, no repetition"
                );
            }
            // A later record is not there without the earlier ones.
            assert!(
                turns.len() >= steps.len()
                    && steps.len() >= natives.len()
                    && natives.len() >= logged.len()
                    && logged.len() >= traced.len()
                    && turns.len() - traced.len() <= 1
            );
        }
        assert!(session.args_of("turn").len() > 500);
    }
}
