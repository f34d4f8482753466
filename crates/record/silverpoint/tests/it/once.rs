//! Each value is read once, and the thread goes on recording, no matter what the value's code does: every
//! record is right or counted.

use std::time::Duration;

use silverpoint::{Causes, context, event, span};

use crate::ways::{self, Acting, Way};
use crate::{Role, Scene, Test, reader, rings};

pub const TESTS: &[Test] = &[
    ("every_way_out_of_a_value_by_display", || every_way_out("ways_display")),
    ("every_way_out_of_a_value_by_debug", || every_way_out("ways_debug")),
    ("every_way_out_of_an_error", || every_way_out("ways_error")),
    ("every_way_out_of_a_text", || every_way_out("ways_text")),
    ("every_way_out_of_a_value_by_hand", || every_way_out("ways_by_hand")),
    #[cfg(feature = "serde")]
    ("every_way_out_of_a_serialized_value", || every_way_out("ways_serialized")),
    ("a_thread_that_ends_within_a_value", ended_thread),
    ("fields_of_contexts_and_spans_are_formatted_once", contexts_and_spans),
];
pub const ROLES: &[Role] = &[
    ("ways_display", || ways::all(&|value| event!("way", %value), || event!("way", ""))),
    ("ways_debug", || ways::all(&|value| event!("way", ?value), || event!("way", ""))),
    ("ways_error", || {
        ways::all(&|value| event!("way", Causes(value)), || event!("way", ""));
    }),
    ("ways_text", || {
        ways::all(&|value| event!("way", format_args!("{value}")), || event!("way", ""));
    }),
    ("ways_by_hand", || ways::all(&|value| event!("way", ByHand(value)), || event!("way", ""))),
    #[cfg(feature = "serde")]
    ("ways_serialized", || {
        ways::all(&|value| event!("way", silverpoint::Serde(Shown(value))), || event!("way", ""));
    }),
    ("ended_thread", || {
        ways::in_thread(|| event!("way", %Acting::new(Way::Exit, 20, &|_| {})));
        event!("after", 1);
    }),
    ("contexts_and_spans", use_contexts_and_spans),
];

/// A value that is implemented by hand.
struct ByHand<'a>(&'a Acting<'a>);

impl silverpoint::Trace for ByHand<'_> {
    const SIGNATURE: silverpoint::Sig = silverpoint::Sig::Text("s");
    const FIXED: Option<usize> = None;
    fn trace_size(&self) -> usize {
        8
    }
    fn trace_write(&self, writer: &mut silverpoint::Writer<'_>) {
        silverpoint::Trace::trace_write(&self.0.to_string().as_str(), writer);
    }
}

#[cfg(feature = "serde")]
struct Shown<'a>(&'a Acting<'a>);

#[cfg(feature = "serde")]
impl serde::Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

fn every_way_out(role: &str) {
    let scene = Scene::new();
    // Nothing may be overwritten, or it could not be compared.
    let settings = [
        ("SILVERPOINT_FILTER", "info"),
        ("SILVERPOINT_COLLECTOR", "1"),
        ("SILVERPOINT_POLICY", "block=forever"),
    ];
    let mut running = scene.command(role).envs(settings).spawn().unwrap();
    let parent = rings::collect(scene.root(), &mut running, Duration::from_millis(1), |_, _| {});
    let children: Vec<_> =
        reader::sessions(scene.root()).into_iter().filter(|session| session.name != parent.name).collect();
    let [child] = &children[..] else { panic!("{} children", children.len()) };
    let lengths = |session: &reader::Session| -> Vec<usize> {
        let records =
            session.records().into_iter().filter(|record| record.what == "way" && !record.truncated);
        records.map(|record| length(&record.args)).collect()
    };
    let wanted = ways::lengths();
    assert_eq!(lengths(&parent).len(), wanted.len());
    assert!(lengths(&parent) == wanted, "in order and whole");
    assert_eq!(parent.records().iter().filter(|record| record.truncated).count(), 3, "the longest were cut");
    assert_eq!(parent.losses(), [0, 0, 0, 0, 0, 0, 0, ways::LOST]);
    assert_eq!((lengths(child), child.losses()), (vec![40, 50], [0; 8]));
}

/// Of a text as the reader shows it: `"xx"`, `<2000>`, a list of one.
fn length(shown: &str) -> usize {
    let shown = shown.trim_start_matches('[').trim_end_matches(']');
    match shown.strip_prefix('<') {
        Some(number) => number.trim_end_matches('>').parse().unwrap(),
        None => shown.len() - 2,
    }
}

fn ended_thread() {
    let scene = Scene::new();
    scene.run("ended_thread", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("after"), ["1"]);
    assert_eq!((session.args_of("way").len(), session.losses()), (0, [0, 0, 0, 0, 0, 0, 0, 1]));
}

fn use_contexts_and_spans() {
    for size in [20, 2000, 100_000] {
        let value = |way| Acting::new(way, size, &|_| {});
        let (once, strict, again) = (value(Way::Twice), value(Way::Strict), value(Way::Twice));
        let _context = context!(%once, ?strict, "in literal" = %again);
        let in_span = value(Way::Twice);
        let span = span!("span", %in_span);
        assert!(span.is_recorded());
        event!("within", size);
        // A field that has no room at all is not formatted.
        assert!([&strict, &again].iter().all(|value| value.formatted.get() <= 1), "{size}");
        assert_eq!((once.formatted.get(), in_span.formatted.get()), (1, 1), "{size}");
        let panics = || context!(value = %value(Way::Panic));
        // (Where there is room for it, it is formatted.)
        assert_eq!(std::panic::catch_unwind(panics).is_err(), size == 20);
    }
}

fn contexts_and_spans() {
    let scene = Scene::new();
    scene.run("contexts_and_spans", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("within"), ["20", "2000", "100000"]);
    assert_eq!((session.args_of("span").len(), session.losses()), (3, [0; 8]));
}
