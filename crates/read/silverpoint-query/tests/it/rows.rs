//! Events by their numbers: each is found again, no matter what came between.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use silverpoint_query::filter::{Expression, Filter, WhoPattern};
use silverpoint_render::ShowContext;
use silverpoint_trace::{Follow, OpenError, Rows, Source, Tally, Trace, What};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::level::Level;
use tempfile::TempDir;

use crate::builder::{Builder, log};

/// As much as there is.
const ALL: Duration = Duration::from_secs(3600);

/// The number that a record carries, its thread's name, and its fields.
type Row = (u64, String, String);

fn begin(b: &mut Builder) {
    b.session(1, "/bin/p", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    for stream in 1..4 {
        b.stream(1, stream, stream, "");
    }
}

fn record(b: &mut Builder, stream: u32, number: u64) {
    b.record(1, stream, 16, 1000 + number * 10, &number.to_le_bytes());
}

/// Records in three streams, one of which changes its name and its fields, in compact and raw blocks.
fn many(records: u64) -> Vec<u8> {
    let mut b = Builder::new();
    begin(&mut b);
    for n in 0..records {
        if n % 1000 == 0 {
            b.thread_name(1, 2, 1000 + n * 10 - 1, &format!("worker {}", n / 1000));
        }
        record(&mut b, (1 + n * 7 % 3) as u32, n);
        if n % 100 == 99 {
            for stream in 1..4 {
                b.flush(1, stream, n % 200 == 99);
            }
        }
    }
    (1..4).for_each(|stream| b.flush(1, stream, false));
    b.end();
    b.bytes
}

fn opened(bytes: Vec<u8>, filter: &Filter) -> Rows {
    let source = Source::from_bytes("m.silver".as_ref(), bytes);
    Rows::new(Trace::from_sources(vec![source]).unwrap(), &[], filter, false)
}

fn read(rows: &mut Rows, from: u64, most: usize) -> Vec<Row> {
    let mut read = Vec::new();
    rows.read(from, |_, number, event| {
        assert_eq!(number, from + read.len() as u64);
        let What::Record { args, .. } = event.what else { panic!("{:?}", event.what) };
        let context = event.context.map_or("", |context| context.text()).to_owned();
        let value = u64::from_le_bytes(args[..8].try_into().unwrap());
        read.push((value, event.thread_name.to_owned(), context));
        read.len() < most
    });
    read
}

/// Numbers everything, and reads it from its beginning, from its end, in pieces and alone.
fn same_by_every_way(rows: &mut Rows) -> Vec<Row> {
    while rows.grow(Duration::ZERO).unwrap().has_more {}
    let all = read(rows, 0, usize::MAX);
    assert_eq!(all.len() as u64, rows.count());
    let step = (all.len() / 97).max(1);
    for from in (0..all.len()).step_by(step).rev() {
        let most = 5.min(all.len() - from);
        assert_eq!(read(rows, from as u64, 5), all[from..from + most], "from {from}");
    }
    // 256: pieces end where places to go on from are kept.
    for most in [777, 256] {
        let mut pieces = Vec::new();
        while pieces.len() < all.len() {
            let from = pieces.len() as u64;
            let piece = read(rows, from, most);
            assert_eq!(piece.len(), most.min(all.len() - pieces.len()), "from {from}");
            pieces.extend(piece);
        }
        assert_eq!(pieces, all);
    }
    assert!(read(rows, rows.count(), 1).is_empty() && read(rows, u64::MAX, 1).is_empty());
    all
}

#[test]
fn any_of_many_is_found_with_its_threads_name() {
    let all = same_by_every_way(&mut opened(many(12_000), &Filter::default()));
    assert_eq!(all.len(), 12_000);
    for (n, (value, thread, _)) in all.iter().enumerate() {
        assert_eq!(*value, n as u64);
        let expected = if n * 7 % 3 == 1 { format!("worker {}", n / 1000) } else { String::new() };
        assert_eq!(*thread, expected, "{n}");
    }
}

/// Between two marks few of the streams have records: some begin, some end, and some go on in the same block.
#[test]
fn streams_that_come_and_go_keep_their_names_and_fields() {
    const STREAMS: u32 = 500;
    let mut b = Builder::new();
    b.session(1, "/bin/p", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    (1..=STREAMS).for_each(|stream| b.stream(1, stream, stream, "new"));
    let mut expected = Vec::new();
    let mut known = vec![("new".to_owned(), String::new()); STREAMS as usize + 1];
    for n in 0..15_000u64 {
        // One of four that are in use; the first one is in use all the time.
        let stream = if n % 11 == 0 { 1 } else { (2 + n / 31 + n * 7 % 4).min(STREAMS.into()) as u32 };
        let (name, fields) = &mut known[stream as usize];
        let at = 1000 + n * 10;
        if n % 13 == 0 {
            *name = format!("n{n}");
            b.thread_name(1, stream, at - 2, name);
        }
        if n % 17 == 0 {
            *fields = format!("u{n}");
            b.context(1, stream, at - 1, Some((1, fields)));
        }
        record(&mut b, stream, n);
        expected.push((n, name.clone(), fields.clone()));
        if n % 300 == 299 {
            for other in (1..=STREAMS).filter(|other| (other + stream) % 3 == 0) {
                if b.pending(1, other) > 0 {
                    b.flush(1, other, true);
                }
            }
        }
    }
    for stream in 1..=STREAMS {
        if b.pending(1, stream) > 0 {
            b.flush(1, stream, false);
        }
    }
    b.end();
    let mut rows = opened(b.bytes, &Filter::default());
    let user = |text: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        words.find(|word| word.starts_with('u') && *word != "user").unwrap_or_default().to_owned()
    };
    let found = |rows: &mut Rows| -> Vec<Row> {
        same_by_every_way(rows).into_iter().map(|(n, name, text)| (n, name, user(&text))).collect()
    };
    assert_eq!(found(&mut rows), expected);
    // Blocks that are passed over state names and fields, too.
    let text = "0 >= 9000 and 0 < 9500 or 0 > 14000 and 0 < 14100";
    rows.set_filter(&Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() });
    expected.retain(|(n, ..)| (9000..9500).contains(n) || (14_001..14_100).contains(n));
    assert_eq!(found(&mut rows), expected);
}

/// To begin a slice of work takes time for each stream. So there are few.
#[test]
fn slices_are_as_long_as_there_are_streams() {
    const STREAMS: u32 = 20_000;
    let mut b = Builder::new();
    begin(&mut b);
    for stream in 1..=STREAMS {
        b.stream(1, stream, stream, "");
        (0..2).for_each(|time| record(&mut b, stream, u64::from(time * STREAMS + stream)));
        b.flush(1, stream, false);
    }
    b.end();
    let mut rows = opened(b.bytes, &Filter::default());
    let mut slices = 1;
    while rows.grow(Duration::ZERO).unwrap().has_more {
        slices += 1;
    }
    assert_eq!(rows.count(), 2 * u64::from(STREAMS));
    assert!(slices <= 3, "{slices}");
}

#[test]
fn a_filter_has_numbers_of_its_own() {
    let mut rows = opened(many(12_000), &Filter::default());
    rows.grow(ALL).unwrap();
    let expression =
        |text| Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() };
    rows.set_filter(&expression("0 < 10"));
    assert_eq!(rows.count(), 0);
    rows.set_filter(&expression("0 >= 5000 and 0 < 7000 or 0 = 11000"));
    let values: Vec<u64> = same_by_every_way(&mut rows).iter().map(|row| row.0).collect();
    let expected: Vec<u64> = (5_000..7_000).chain([11_000]).collect();
    assert_eq!(values, expected);
    // By a name that a thread has for a while.
    rows.set_filter(&Filter { threads: vec![WhoPattern::parse("worker 7")], ..Filter::default() });
    let values: Vec<u64> = same_by_every_way(&mut rows).iter().map(|row| row.0).collect();
    assert_eq!(values, (7000..8000).filter(|n| n * 7 % 3 == 1).collect::<Vec<_>>());
    rows.set_filter(&expression("0 = 77777777"));
    assert!(same_by_every_way(&mut rows).is_empty());
    rows.set_filter(&Filter::default());
    assert_eq!(same_by_every_way(&mut rows).len(), 12_000);
}

/// Reading stops on the last event before each mark, and before and behind it; blocks go across the marks.
#[test]
fn reading_on_skips_nothing_wherever_it_stopped() {
    for most in [1, 3, 64] {
        let mut rows = opened(many(9_000), &Filter::default());
        while rows.grow(Duration::ZERO).unwrap().has_more {}
        let mut values = Vec::new();
        while (values.len() as u64) < rows.count() {
            let piece = read(&mut rows, values.len() as u64, most);
            assert!(!piece.is_empty(), "{most} from {}", values.len());
            values.extend(piece.iter().map(|row| row.0));
        }
        assert!(values.iter().copied().eq(0..9_000), "{most} at a time");
    }
}

/// A file of one trace; its folder is removed with it.
struct Temporary(PathBuf, #[expect(dead_code)] TempDir);

impl Temporary {
    fn new() -> Self {
        let folder = TempDir::with_prefix("silverpoint-rows-").unwrap();
        Self(folder.path().join("trace.silver"), folder)
    }
}

fn followed(path: &Temporary) -> Rows {
    let mut rows = Rows::nothing();
    rows.set_patience(Duration::ZERO);
    rows.add(&path.0).unwrap();
    rows
}

/// What comes late has the next number, and keeps it: its time would put it before others.
#[test]
fn numbers_stay_while_a_file_grows_and_records_come_late() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    fs::write(&path.0, &b.bytes).unwrap();
    let mut rows = followed(&path);
    let mut file = File::options().append(true).open(&path.0).unwrap();
    let (mut written, mut values) = (b.bytes.len(), Vec::new());
    for round in 0..60u64 {
        // The third stream is a hundred behind the others.
        for n in round * 100..round * 100 + 100 {
            let (stream, at) = if n % 3 == 2 { (3, n.saturating_sub(100)) } else { (1 + (n % 3) as u32, n) };
            record(&mut b, stream, at);
        }
        (1..4).for_each(|stream| b.flush(1, stream, round % 2 == 0));
        if round == 59 {
            b.end();
        }
        file.write_all(&b.bytes[written..]).unwrap();
        written = b.bytes.len();
        let before = rows.count();
        while rows.grow(Duration::ZERO).unwrap().has_more {}
        assert_eq!(rows.count(), before + 100);
        values.extend(read(&mut rows, before, usize::MAX).iter().map(|row| row.0));
        assert_eq!(rows.is_finished(), round == 59);
    }
    assert!(!values.is_sorted());
    let all: Vec<u64> = same_by_every_way(&mut rows).iter().map(|row| row.0).collect();
    assert_eq!(all, values);
}

/// Sessions name the files that are followed: nobody writes into this one, and opening it would wait for ever.
#[test]
fn a_pipe_is_not_followed() {
    let path = Temporary::new();
    assert!(Command::new("mkfifo").arg(&path.0).status().unwrap().success());
    let name = path.0.clone();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let failed = |error: OpenError| error.to_string();
        let _ = sender.send(Rows::nothing().add(&name).map_err(failed));
        let _ = sender.send(Follow::nothing().add_regular(&name).map(drop).map_err(failed));
        let _ = sender.send(Tally::new().add_regular(&name, true).map(drop).map_err(failed));
    });
    for who in ["rows", "follow", "tally"] {
        let added = receiver.recv_timeout(Duration::from_secs(300)).expect("it waits");
        assert!(added.is_err_and(|why| why.contains("regular file")), "{who}");
    }
}

/// What lies beyond the watermark waits, in blocks that were begun: reading goes on within them when more has its number.
#[test]
fn reading_on_in_a_file_that_grows_skips_nothing() {
    for (most, left) in [(1, 0), (1, 1), (7, 20)] {
        let path = Temporary::new();
        let mut b = Builder::new();
        begin(&mut b);
        fs::write(&path.0, &b.bytes).unwrap();
        let mut rows = followed(&path);
        rows.set_patience(ALL);
        let mut file = File::options().append(true).open(&path.0).unwrap();
        let (mut written, mut values) = (b.bytes.len(), Vec::new());
        for round in 0..40u64 {
            // The watermark lies within the blocks of all streams.
            for n in round * 100..round * 100 + 100 {
                record(&mut b, (1 + n * 7 % 3) as u32, n);
            }
            (1..4).for_each(|stream| b.flush(1, stream, round % 2 == 0));
            let is_last = round == 39;
            let bound = if is_last { u64::MAX } else { 1000 + (round * 100 + 55) * 10 };
            b.block(BlockKind::WATERMARK, 1, 0, &bound.to_le_bytes());
            if is_last {
                b.end();
            }
            file.write_all(&b.bytes[written..]).unwrap();
            written = b.bytes.len();
            while rows.grow(Duration::ZERO).unwrap().has_more {}
            assert_eq!(rows.count(), if is_last { 4000 } else { round * 100 + 55 });
            let until = rows.count() - if is_last { 0 } else { left };
            while (values.len() as u64) < until {
                let piece = read(&mut rows, values.len() as u64, most);
                assert!(!piece.is_empty(), "from {}", values.len());
                values.extend(piece.iter().map(|row| row.0));
            }
        }
        assert!(values.iter().copied().eq(0..4000), "{most} at a time, {left} left");
        let all: Vec<u64> = read(&mut rows, 0, usize::MAX).iter().map(|row| row.0).collect();
        assert_eq!(all, values);
    }
}

#[test]
fn a_file_that_is_rotated_while_it_is_followed_goes_on_in_the_next() {
    let path = Temporary::new();
    let old = path.0.with_extension("1.silver");
    let mut b = Builder::part(1, "");
    begin(&mut b);
    (0..5000).for_each(|n| record(&mut b, 1, n));
    b.flush(1, 1, false);
    b.block(BlockKind::END, 0, 0, &2u64.to_le_bytes());
    fs::write(&path.0, &b.bytes).unwrap();
    let mut rows = followed(&path);
    while rows.grow(Duration::ZERO).unwrap().has_more {}
    assert_eq!(rows.count(), 5000);
    fs::rename(&path.0, &old).unwrap();
    let mut next = Builder::part(2, old.file_name().unwrap().to_str().unwrap());
    begin(&mut next);
    let skipped = b.pending(1, 1);
    assert_eq!(skipped, 0);
    (5000..6000).for_each(|n| record(&mut next, 2, n));
    next.flush(1, 2, false);
    next.end();
    fs::write(&path.0, &next.bytes).unwrap();
    let values: Vec<u64> = same_by_every_way(&mut rows).iter().map(|row| row.0).collect();
    assert_eq!(values, (0..6000).collect::<Vec<_>>());
}

/// A file that is cut under its reader costs what it has lost, not more.
#[test]
fn what_a_file_has_lost_is_not_given() {
    let path = Temporary::new();
    let bytes = many(10_000);
    fs::write(&path.0, &bytes).unwrap();
    let mut rows = Rows::new(Trace::open(&[&path.0]).unwrap(), &[], &Filter::default(), false);
    rows.grow(ALL).unwrap();
    assert_eq!(rows.count(), 10_000);
    File::options().write(true).open(&path.0).unwrap().set_len(bytes.len() as u64 / 2).unwrap();
    assert_eq!(read(&mut rows, 100, 10).len(), 10);
    assert!(read(&mut rows, 9_000, 10).is_empty());
    assert_eq!(read(&mut rows, 100, 10)[0].0, 100);
}
