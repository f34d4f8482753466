//! What programs are given: records of files, with their arguments as trees.

#[allow(dead_code)]
#[path = "../../silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use builder::{Builder, log, text};
use silverpoint_read::{Batch, NODES_MAX, Node, NodeKind, OpenOptions, ReadError, Reader, RowKind, State};
use silverpoint_wire::level::Level;
use tempfile::TempPath;

/// A file that goes with the test.
struct Temporary(TempPath);

impl Temporary {
    fn new(bytes: &[u8]) -> Self {
        let mut file =
            tempfile::Builder::new().prefix("silverpoint-read-").suffix(".silver").tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Self(file.into_temp_path())
    }

    fn open(&self, options: OpenOptions) -> Reader {
        Reader::open(&[self.0.to_path_buf()], options).unwrap()
    }
}

fn begun() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b
}

fn all(reader: &mut Reader) -> Batch {
    while reader.grow(Duration::from_secs(1)).unwrap().state == State::More {}
    let mut batch = Batch::default();
    reader.read(0, usize::MAX, &mut batch).unwrap();
    assert_eq!(batch.rows().len() as u64, reader.count());
    batch
}

/// `name:kind=text` of a value, and in brackets what is within.
fn shown(batch: &Batch, at: usize) -> String {
    let node: &Node = &batch.nodes()[at];
    let mut out = format!("{}:{:?}={}", batch.text(node.name), node.kind, batch.text(node.text));
    let mut child = at + 1;
    for _ in 0..node.children {
        out += &format!(" [{}]", shown(batch, child));
        child += batch.nodes()[child].size as usize;
    }
    assert_eq!(child, at + node.size as usize, "{out}");
    out
}

/// The only record of one site.
fn one(signature: &str, names: &str, args: &[u8]) -> (Batch, Vec<String>) {
    let mut b = begun();
    let mut site = log(Level::Warn, "app.net", 88, "at {}", signature);
    site.names = names.into();
    b.site(1, 16, &site);
    b.record(1, 1, 16, 1000, args);
    b.flush(1, 1, false);
    b.end();
    let file = Temporary::new(&b.bytes);
    let batch = all(&mut file.open(OpenOptions::default()));
    let row = batch.rows()[0];
    let mut at = row.nodes;
    let values = (0..row.arguments + row.fields)
        .map(|_| {
            let value = shown(&batch, at);
            at += batch.nodes()[at].size as usize;
            value
        })
        .collect();
    assert_eq!(at, batch.nodes().len());
    (batch, values)
}

#[test]
fn a_record_has_what_is_known_about_it() {
    let (batch, values) = one("ls", "id\nwho\n", &[&7i64.to_le_bytes()[..], &text("ada")].concat());
    let row = batch.rows()[0];
    assert_eq!((row.number, row.level, row.pid, row.tid, row.line), (0, 3, 7, 9, 88));
    let texts = [row.process, row.thread, row.category, row.file, row.function, row.template, row.message];
    let texts: Vec<&str> = texts.iter().map(|span| batch.text(*span)).collect();
    assert_eq!(
        texts,
        ["p", "pump", "app.net", "src/net/pump.cpp", "app::Pump::start", "at {}", "at 7 who=ada"]
    );
    assert_eq!(values, ["id:Int=7", "who:Text=ada"]);
}

#[test]
fn values_are_trees() {
    let n = |count: u32| count.to_le_bytes();
    let point = [1i32.to_le_bytes(), 2i32.to_le_bytes()].concat();
    let args = [
        &n(2)[..],
        &point,
        &point,
        &n(1),
        &text("one"),
        &n(2),
        &[5, 6],
        &[3],
        &[9],
        &[0],
        &7u64.to_le_bytes(),
        &1.5f64.to_le_bytes(),
    ]
    .concat();
    let signature = "[<Point|x:i,y:i,>{s[AeFruit|A|3=pear,;A?l@unit=ms;Ld";
    let (batch, values) = one(signature, "", &args);
    assert_eq!(
        values,
        [
            ":List=[Point{x: 1, y: 2}, Point{x: 1, y: 2}] \
             [:Struct=Point{x: 1, y: 2} [x:Int=1] [y:Int=2]] [:Struct=Point{x: 1, y: 2} [x:Int=1] [y:Int=2]]",
            ":Map={one: [5, 6]} [one:List=[5, 6] [:Uint=5] [:Uint=6]]",
            ":Enumeration=pear",
            ":Uint=9",
            ":Null=none",
            ":Uint=7 ms",
            ":Float=1.5",
        ]
    );
    let with_unit = batch.nodes().iter().find(|node| node.bits == 7).unwrap();
    assert_eq!(batch.text(with_unit.unit), "ms");
    assert_eq!(f64::from_bits(batch.nodes().last().unwrap().bits), 1.5);
}

/// Keys with parts have no place in a tree: what they are within is complete nevertheless.
#[test]
fn keys_that_are_containers_are_not_values() {
    let args = [&1u32.to_le_bytes()[..], &2u32.to_le_bytes(), &[1, 2, 3]].concat();
    let (_, values) = one("{[AA", "", &args);
    assert_eq!(values, [":Map={…: 3} […:Uint=3]"]);
}

#[test]
fn a_secret_stays_one_whatever_it_is_made_of() {
    let list = [&2u32.to_le_bytes()[..], &[41, 42]].concat();
    let (batch, values) = one("@secret=;[A@secret=;L@secret=;y", "", &[&list[..], &[43; 8], &list].concat());
    assert_eq!(values, [":Null=<secret>"; 3]);
    assert!(batch.nodes().iter().all(|node| node.bits == 0 && node.raw.size == 0));
}

#[test]
fn a_huge_value_is_shown_in_part_and_says_so() {
    let count = 3 * NODES_MAX as u32;
    let list = [&count.to_le_bytes()[..], &vec![5; count as usize]].concat();
    let (batch, values) = one("[AL", "", &[&list[..], &7u64.to_le_bytes()].concat());
    let node = batch.nodes()[0];
    assert_eq!((node.kind, node.children as usize), (NodeKind::List, NODES_MAX - 1));
    assert_eq!(node.children + node.missing, count);
    assert!(node.text.size < 1000);
    // There is no more room: it is named, and what it is is not.
    assert_eq!(values[1], ":Null=…");
}

/// A signature's names stand at every node and in the message: elements that take no bytes, or one each, must not fill the memory.
#[test]
fn long_names_of_very_many_small_values_take_bounded_room() {
    let long = "n".repeat(16_000);
    let count = 65_000u32;
    let empty = count.to_le_bytes().to_vec();
    let ones = [&empty[..], &vec![3; count as usize]].concat();
    for (signature, args) in [
        (format!("[<{long}|>"), &empty),
        (format!("[<R|{long}:A,>"), &ones),
        (format!("[e{long}|A|3=pear,;"), &ones),
        (format!("[eFruit|A|3={long},;"), &ones),
        (format!("[@unit={long};A"), &ones),
    ] {
        let (batch, _) = one(&signature, "", args);
        let node = batch.nodes()[0];
        assert!(node.children > 100 && node.children + node.missing == count, "{}", &signature[..9]);
        let bytes: usize = batch.rows()[0].message.begin + batch.rows()[0].message.size;
        assert!(bytes < 100 << 20, "{}: {bytes} bytes", &signature[..9]);
    }
}

#[test]
fn bytes_that_contradict_their_types_cost_their_values_alone() {
    let (batch, values) = one("LLs", "a\nb\nc\n", &7u64.to_le_bytes());
    assert_eq!(values, ["a:Uint=7", "b:Null=<damaged>", "c:Null=<damaged>"]);
    assert!(batch.text(batch.rows()[0].message).contains("<damaged>"));
}

#[test]
fn losses_and_ends_of_spans_are_records() {
    let mut b = begun();
    let mut site = log(Level::Info, "", 1, "work", "");
    site.kind = silverpoint_wire::level::Kind::Span;
    b.site(1, 16, &site);
    b.record(1, 1, 16, 1000, &[]);
    b.span_end(1, 1, 16, 1000, 3500);
    b.flush(1, 1, false);
    b.end();
    let file = Temporary::new(&b.bytes);
    let batch = all(&mut file.open(OpenOptions::default()));
    let rows: Vec<_> = batch.rows().iter().map(|row| (row.kind, row.duration_ns)).collect();
    assert_eq!(rows, [(3, None), (RowKind::SpanEnd as u8, Some(2500))]);
    assert_eq!(batch.text(batch.rows()[1].template), "work");
}

#[test]
fn a_followed_file_brings_more_and_a_filter_counts_anew() {
    let mut b = begun();
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    let file = Temporary::new(&b.bytes);
    let mut reader = file.open(OpenOptions { follow: true, ..OpenOptions::default() });
    assert_eq!(reader.grow(Duration::from_secs(1)).unwrap().count, 0);
    let mut out = File::options().append(true).open(&file.0).unwrap();
    let mut written = b.bytes.len();
    for round in 0..3u64 {
        for n in 0..10 {
            b.record(1, 1, 16, 1000 * (round + 1) + n, &(round * 10 + n).to_le_bytes());
        }
        b.flush(1, 1, false);
        out.write_all(&b.bytes[written..]).unwrap();
        written = b.bytes.len();
        while reader.count() < (round + 1) * 10 {
            reader.grow(Duration::from_millis(1)).unwrap();
        }
    }
    reader.filter("0 >= 25").unwrap();
    let values: Vec<u64> = all(&mut reader).nodes().iter().map(|node| node.bits).collect();
    assert_eq!(values, (25..30).collect::<Vec<_>>());
    let error = reader.filter("0 >=").unwrap_err();
    assert!(matches!(&error, ReadError::Usage(text) if text.starts_with("column 5")), "{error}");
    assert_eq!(reader.count(), 5, "a mistake changes nothing");
    b.end();
    out.write_all(&b.bytes[written..]).unwrap();
    while reader.grow(Duration::from_millis(1)).unwrap().state != State::Finished {}
}

#[test]
fn what_cannot_be_read_says_why() {
    let missing = Reader::open(&["/no/such/file.silver".into()], OpenOptions::default());
    assert!(missing.err().unwrap().to_string().starts_with("/no/such/file.silver: "));
    assert!(matches!(Reader::open(&[], OpenOptions::default()), Err(ReadError::Usage(_))));
    let file = Temporary::new(b"this is no trace file in spite of its name; and it is long enough");
    for follow in [false, true] {
        let options = OpenOptions { follow, ..OpenOptions::default() };
        let error = Reader::open(&[file.0.to_path_buf()], options).err().unwrap().to_string();
        assert!(error.contains(".silver: ") && error.contains("trace file"), "{error}");
    }
    let nobody = Reader::live(&["4194304999".into()], false).err().unwrap();
    assert!(matches!(nobody, ReadError::NoSession(_) | ReadError::Failed(_)), "{nobody}");
    let a_file = Reader::live(&["x.silver".into()], false).err().unwrap();
    assert!(matches!(a_file, ReadError::Usage(_)), "{a_file}");
}

/// Every byte of a file may be anything: what is read is bounded, and nothing panics.
#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    let mut b = begun();
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L[s"));
    for n in 0..20u64 {
        let args = [&n.to_le_bytes()[..], &2u32.to_le_bytes(), &text("a"), &text("bc")].concat();
        b.record(1, 1, 16, 1000 + n, &args);
    }
    b.flush(1, 1, true);
    b.end();
    for at in 0..b.bytes.len() {
        let mut bytes = b.bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        let file = Temporary::new(&bytes);
        if let Ok(mut reader) = Reader::open(&[file.0.to_path_buf()], OpenOptions::default()) {
            assert!(all(&mut reader).rows().len() <= 20);
            let _ = reader.take_messages();
        }
    }
}
