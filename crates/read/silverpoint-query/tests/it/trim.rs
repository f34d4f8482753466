//! The records of a selection as a file: it shows what the selection shows of the input, and nothing is
//! reported as lost.

use std::path::Path;

use proptest::prelude::*;
use silverpoint_query::filter::{Expression, FilePattern, Filter, WhoPattern};
use silverpoint_render::time::When;
use silverpoint_trace::rewrite::{Options, Rewritten, rewrite, trim};
use silverpoint_trace::{Matter, Note, Trace, Verdict};
use silverpoint_wire::compression::Compression;
use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, EPOCH_NS, log, text};
use crate::rewrite::{all, faults};
use crate::trace::{finished, json_lines, named, open};

fn trimmed(trace: &Trace, filter: &Filter, compression: Option<Compression>) -> (Vec<u8>, Rewritten) {
    let options = Options { compression, trimmed: "a selection".to_owned(), ..Options::default() };
    let mut bytes = Vec::new();
    let done = trim(trace, filter, &options, &mut bytes).unwrap();
    assert_eq!(done.bytes, bytes.len() as u64);
    (bytes, done)
}

fn at(ticks: u64) -> Option<When> {
    Some(When::Absolute((EPOCH_NS + ticks) as i64))
}

/// Selections of every sort, around a time.
fn selections(ns: i64) -> Vec<Filter> {
    let strings = |text: &str| vec![text.to_owned()];
    let when = |offset: i64| Some(When::Absolute(ns.saturating_add(offset)));
    let expression = |text: &str| Some(Expression::parse(text).unwrap());
    let every = Filter::default;
    vec![
        every(),
        Filter { level: Some(Level::Info), ..every() },
        Filter { level: Some(Level::Error), ..every() },
        Filter { level: Some(Level::Fatal), ..every() },
        Filter { categories: strings("net"), ..every() },
        Filter { files: vec![FilePattern::parse("*.cpp")], level: Some(Level::Debug), ..every() },
        Filter { functions: strings("start"), until: when(0), ..every() },
        Filter { threads: vec![WhoPattern::parse("main")], ..every() },
        Filter { threads: vec![WhoPattern::parse("w*")], since: when(0), ..every() },
        Filter { processes: vec![WhoPattern::parse("7*"), WhoPattern::parse("p2")], ..every() },
        Filter { since: when(0), ..every() },
        Filter { until: when(0), ..every() },
        Filter { since: when(-2_000), until: when(2_000), ..every() },
        Filter { since: when(1), until: when(-1), ..every() },
        Filter { expression: expression("message~\"*1*\" or id=7"), ..every() },
        Filter { expression: expression("not message~\"*1*\""), level: Some(Level::Info), ..every() },
        Filter { expression: expression("request>100"), ..every() },
        Filter { expression: expression("request<=100"), since: when(0), ..every() },
    ]
}

/// The new file shows what the selection shows. It is in order if the input is, and no additional loss is
/// reported.
fn check(inputs: &[&[u8]], filter: &Filter, compression: Option<Compression>, name: &str) {
    let trace = all(inputs);
    let mut selected = trace.select(filter);
    let expected = json_lines(&trace, &mut selected);
    let (made, done) = trimmed(&trace, filter, compression);
    assert_eq!(done.notes, selected.notes(), "{name}: {filter:?}");
    let again = open(&made);
    let mut events = again.events();
    assert_eq!(json_lines(&again, &mut events), expected, "{name}: {filter:?}");
    assert_eq!(events.notes(), [], "{name}: {filter:?}");
    assert!(again.verdict() <= Verdict::Lossy, "{name}: {filter:?}: {:?}", again.notes());
    let told = again.files[0].trimmed();
    assert!(told.is_some_and(|told| told.ends_with("a selection")), "{told:?}");
    let mut records = 0;
    let mut all_of_it = again.events();
    while all_of_it.next().is_some() {
        records += 1;
    }
    assert_eq!(records, done.records, "{name}: {filter:?}");
    if inputs.iter().all(|bytes| faults(bytes).is_empty()) {
        assert_eq!(faults(&made), [""; 0], "{name}: {filter:?}");
    }
    // The same selection of it is all of it.
    let mut same = again.select(filter);
    let is_relative = |when: &Option<When>| !matches!(when, None | Some(When::Absolute(_)));
    if !is_relative(&filter.since) && !is_relative(&filter.until) {
        assert_eq!(json_lines(&again, &mut same), expected, "{name}: {filter:?}");
    }
    // A rewritten one is trimmed still.
    let mut merged = Vec::new();
    rewrite(&again, &Options::default(), &mut merged).unwrap();
    let merged = open(&merged);
    let mut events = merged.events();
    assert_eq!(json_lines(&merged, &mut events), expected, "{name}: {filter:?}");
    assert_eq!((events.notes(), merged.files[0].trimmed()), (&[][..], told));
    // Beside its origin it adds nothing, and takes nothing away.
    if trace.verdict() < Verdict::Cut {
        let both: Vec<&[u8]> = [&[made.as_slice()], inputs].concat();
        let both = all(&both);
        let (whole, there) = (json_lines(&trace, &mut trace.events()), json_lines(&both, &mut both.events()));
        assert_eq!(there.len(), whole.len(), "{name}: {filter:?}");
    }
}

#[test]
fn every_vector_and_every_sort_of_selection() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let (begin, end) = open(&bytes).time_range().unwrap_or((0, 0));
        for filter in selections(begin + (end - begin) / 2) {
            check(&[&bytes], &filter, None, &path.display().to_string());
        }
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn a_trace_of_every_kind() {
    for ticks in [1_000, 2_500, 3_000, 1_236_567] {
        for filter in selections((EPOCH_NS + ticks) as i64) {
            for compression in [None, Some(Compression::None), Some(Compression::Zstd(1))] {
                check(&[&finished()], &filter, compression, "every kind");
            }
        }
    }
    let filter = Filter { since: Some(When::BeforeEnd(1_233_000)), ..Filter::default() };
    check(&[&finished()], &filter, None, "the end");
}

/// Long records of two sorts, one in many wanted.
pub fn long(size: usize, each: u64) -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/bin/long", 1);
    b.site(1, 16, &log(Level::Debug, "", 1, "{}", "s"));
    b.site(1, 17, &log(Level::Warn, "", 2, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for n in 0..4_000u64 {
        let of = if n % each == 0 { 17 } else { 16 };
        b.record(1, 1, of, 1_000 + n, &text(&format!("{n}{}", "x".repeat(size))));
        if n % 1_000 == 999 {
            b.flush(1, 1, false);
        }
    }
    b.end();
    b.bytes
}

#[test]
fn what_is_left_out_takes_no_room_in_the_file_and_in_no_index() {
    let warnings = Filter { level: Some(Level::Warn), ..Filter::default() };
    // Long stretches are cut out: a block for each record that is left. Shorter ones become pads, which are compressed.
    for (size, each, blocks) in [(900, 100, 40), (60, 10, 4), (10, 100, 4)] {
        let bytes = long(size, each);
        let (made, done) = trimmed(&open(&bytes), &warnings, None);
        assert_eq!((done.records, done.blocks), (4_000 / each, blocks), "{size} {each}");
        let records = done.records * (size as u64 + 100);
        assert!(done.bytes < 4_000 + blocks * 400 + records, "{size} {each}: {} bytes", done.bytes);
        check(&[&bytes], &warnings, None, "long");
        check(&[&bytes], &warnings, Some(Compression::None), "long");
        assert_eq!(faults(&made), [""; 0]);
    }
}

#[test]
fn what_is_not_selected_is_not_in_the_file() {
    let mut b = Builder::new();
    for session in [1, 2] {
        b.session(session, &format!("/bin/p{session}"), session);
        b.site(session, 16, &log(Level::Info, "", 1, "the secret {}", "s"));
        b.site(session, 17, &log(Level::Warn, "", 2, "public {}", "s"));
        b.stream(session, 1, session, "main");
        for ticks in 1..9 {
            b.record(
                session,
                1,
                16 + (ticks as u32 & 1),
                ticks * 100,
                &text(&format!("word {session}.{ticks}")),
            );
        }
        b.flush(session, 1, true);
    }
    b.end();
    let filter =
        Filter { level: Some(Level::Warn), processes: vec![WhoPattern::parse("p1")], ..Filter::default() };
    let (made, _) = trimmed(&open(&b.bytes), &filter, Some(Compression::None));
    let has = |word: &str| made.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(has("public") && has("word 1.1") && has("word 1.7"));
    for word in ["secret", "word 1.2", "word 2.1", "/bin/p2"] {
        assert!(!has(word), "{word}");
    }
}

#[test]
fn threads_keep_the_names_that_they_had() {
    let mut b = Builder::new();
    b.session(1, "/bin/named", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "first");
    for (ticks, name) in [(1_000, "second"), (2_000, "third"), (3_000, "fourth")] {
        b.record(1, 1, 16, ticks - 10, &text("before"));
        b.thread_name(1, 1, ticks, name);
        b.record(1, 1, 16, ticks + 10, &text("after"));
        b.flush(1, 1, true);
    }
    b.end();
    for since in [0, 995, 1_005, 1_500, 2_005, 2_995, 3_005] {
        let filter = Filter { since: at(since), ..Filter::default() };
        check(&[&b.bytes], &filter, None, "names");
        let (made, _) = trimmed(&open(&b.bytes), &filter, None);
        let trace = open(&made);
        let begin = json_lines(&trace, &mut trace.events())[0]["thread"].clone();
        let expected = match since {
            0..=990 => "first",
            991..=1_990 => "second",
            1_991..=2_990 => "third",
            _ => "fourth",
        };
        assert!(begin.to_string().contains(expected), "{since}: {begin}");
    }
}

#[test]
fn selections_of_selections_are_told_together() {
    let trace = open(&finished());
    let filter = Filter { level: Some(Level::Info), ..Filter::default() };
    let (once, _) = trimmed(&trace, &filter, None);
    let options = Options { trimmed: "--level warn".to_owned(), ..Options::default() };
    let mut twice = Vec::new();
    let filter = Filter { level: Some(Level::Warn), ..Filter::default() };
    trim(&open(&once), &filter, &options, &mut twice).unwrap();
    let twice = open(&twice);
    assert_eq!(twice.files[0].trimmed(), Some("a selection; --level warn"));
    assert_eq!(json_lines(&twice, &mut twice.events()), json_lines(&trace, &mut trace.select(&filter)));
}

#[test]
fn two_selections_of_one_stretch_are_told_when_they_are_read_together() {
    let bytes = long(10, 10);
    let trace = open(&bytes);
    let select = |filter: Filter, words: &str| {
        let options = Options { trimmed: words.to_owned(), ..Options::default() };
        let mut made = Vec::new();
        trim(&trace, &filter, &options, &mut made).unwrap();
        made
    };
    let warnings = select(Filter { level: Some(Level::Warn), ..Filter::default() }, "--level warn");
    let before = select(Filter { until: at(2_000), ..Filter::default() }, "--until 2");
    let after = select(Filter { since: at(2_001), ..Filter::default() }, "--since 2");
    let told = |files: &[&[u8]]| {
        let is_it = |note: &&Note| matches!(note.matter, Matter::TrimmedTwice { .. });
        all(files).notes().iter().filter(is_it).count()
    };
    assert_eq!(told(&[&warnings, &before]), 1);
    assert_eq!(told(&[&after, &warnings, &before]), 1);
    assert_eq!(told(&[&warnings, &bytes]), 0, "the origin has everything");
    assert_eq!(told(&[&warnings, &warnings]), 0);
    let both = all(&[&after, &before]);
    assert_eq!(both.notes(), [], "stretches that do not overlap complete each other");
    assert_eq!(json_lines(&both, &mut both.events()), json_lines(&trace, &mut trace.events()));
}

/// A trace with two processes and several threads, as random numbers make it.
pub fn random(steps: &[(u8, u8, u8)]) -> Vec<u8> {
    let mut b = Builder::new();
    for session in [1, 2] {
        b.session(session, &format!("/bin/p{session}"), session * 7);
        b.site(session, 16, &log(Level::Debug, "net::tcp", 1, "{}", "s"));
        b.site(session, 17, &log(Level::Info, "db", 2, "{}", "s"));
        b.site(session, 18, &log(Level::Error, "net", 3, "{}", "s"));
        b.site(session, 19, &named(Kind::Span, Level::Info, 4, "span", "dir\n", "s"));
        for stream in [1, 2] {
            b.stream(session, stream, session * 10 + stream, ["main", "worker"][stream as usize - 1]);
        }
    }
    let mut ticks = 0;
    for (what, step, size) in steps {
        let (session, stream) = (u32::from(what & 1) + 1, u32::from(what >> 1 & 1) + 1);
        ticks += u64::from(*step);
        let words = text(&format!("{ticks} {}", "y".repeat(usize::from(*size) * usize::from(what >> 7) * 8)));
        match what >> 2 & 15 {
            0 => b.flush(session, stream, step & 1 == 1),
            1 => b.flush_as(session, stream, true, Compression::Lz4),
            2 => b.thread_name(session, stream, ticks, &format!("w{step}")),
            3 | 4 => {
                b.record(session, stream, 19, ticks, &words);
                b.span_end(session, stream, 19, ticks, ticks + 5);
                // A thread's records are in order: the next one is no earlier than this end.
                ticks += 5;
            }
            5 => b.context(session, stream, ticks, (step % 3 > 0).then_some((*step, "ada"))),
            6..9 => b.record(session, stream, 16, ticks, &words),
            9..13 => b.record(session, stream, 17, ticks, &words),
            _ => b.record(session, stream, 18, ticks, &words),
        }
    }
    for (session, stream) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        if b.pending(session, stream) > 0 {
            b.flush(session, stream, true);
        }
    }
    b.end();
    b.bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_trace_and_any_selection(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..300),
        middle in 0..20_000i64,
        compression in prop::sample::select(vec![None, Some(Compression::None), Some(Compression::Zstd(1))]),
    ) {
        let bytes = random(&steps);
        // A part of it stands in a second file too.
        let until = Filter { until: Some(When::Absolute(EPOCH_NS as i64 + 9_000)), ..Filter::default() };
        let mut again = Vec::new();
        trim(&open(&bytes), &until, &Options::default(), &mut again).unwrap();
        for filter in selections(EPOCH_NS as i64 + middle) {
            check(&[&bytes], &filter, compression, "any");
            check(&[&again, &bytes], &filter, compression, "twice");
        }
    }

    /// For any damage of a file: trimming reports what reading reports, and shows what reading shows.
    #[test]
    fn damage_anywhere(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        end in any::<prop::sample::Index>(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut bytes = finished();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(bytes.len() - end.index(bytes.len()) / 2);
        let selections = selections((EPOCH_NS + 3_000) as i64);
        let filter = &selections[which.index(selections.len())];
        let trace = open(&bytes);
        let expected = json_lines(&trace, &mut trace.select(filter));
        let (made, _) = trimmed(&trace, filter, None);
        let again = open(&made);
        prop_assert_eq!(json_lines(&again, &mut again.events()), expected);
    }
}

#[test]
fn a_flipped_bit_in_bytes_all_over_every_vector_does_not_stop_it() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let filter = Filter { level: Some(Level::Info), ..Filter::default() };
    let mut made = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut bytes = std::fs::read(entry.unwrap().path()).unwrap();
        // Not every byte of the large ones: each vector begins at another one.
        let step = bytes.len() / 120 + 1;
        for at in (made % step..bytes.len()).step_by(step) {
            bytes[at] ^= 1 << (at % 8);
            let (trimmed, _) = trimmed(&open(&bytes), &filter, None);
            if made % 16 == 0 {
                assert!(open(&trimmed).verdict() <= Verdict::Lossy, "byte {at}");
            }
            bytes[at] ^= 1 << (at % 8);
            made += 1;
        }
    }
    assert!(made > 3_000, "{made}");
}
