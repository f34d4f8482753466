use silverpoint_wire::level::{Kind, Level};
use tempfile::TempDir;

use super::*;

/// A file that goes with the test.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(TempDir::with_prefix("silverpoint-program-").unwrap())
    }

    fn list(&self, bytes: &[u8]) -> Result<List, Failed> {
        // A new file each time: nothing of the old contents stays.
        let path = self.0.path().join("program");
        std::fs::write(&path, bytes).unwrap();
        sites(&path)
    }
}

/// Where the data of [`program`] lies: in the file, and in memory.
const DATA_AT: usize = 120;
const ADDRESS: u64 = 0x40_0000;

/// A program with one segment, which holds `data`, and the section within it from `section_at` on.
fn program(data: &[u8], section_at: usize) -> Vec<u8> {
    let names = b"\0.text\0silverpoint_sites\0silverpoint_sites2\0";
    let names_at = DATA_AT + data.len();
    let headers_at = (names_at + names.len()).next_multiple_of(8);
    let mut bytes = vec![0; headers_at];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &[3, 0, 62, 0]);
    put(32, &64u64.to_le_bytes());
    put(40, &(headers_at as u64).to_le_bytes());
    put(52, &[64, 0, 56, 0, 1, 0, 64, 0, 4, 0, 1, 0]);
    put(64, &[1, 0, 0, 0, 4, 0, 0, 0]);
    for (at, value) in
        [(72, DATA_AT as u64), (80, ADDRESS), (96, data.len() as u64), (104, data.len() as u64)]
    {
        put(at, &value.to_le_bytes());
    }
    put(DATA_AT, data);
    put(names_at, names);
    let mut header = |name: u32, kind: u32, address: u64, offset: usize, size: usize| {
        let mut header = [0; 64];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        for (at, value) in [(16, address), (24, offset as u64), (32, size as u64)] {
            header[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes.extend(header);
    };
    header(0, 0, 0, 0, 0);
    header(1, 3, 0, names_at, names.len());
    header(7, 1, ADDRESS + section_at as u64, DATA_AT + section_at, data.len() - section_at);
    // Another name, and the same without bytes.
    header(25, 1, ADDRESS, 0, 1 << 40);
    bytes
}

/// An entry without texts of its own: references as they are given.
fn entry(kind: u8, flags: u8, line: u32, texts: [(i32, u32); 6]) -> Vec<u8> {
    let mut bytes = 64u32.to_le_bytes().to_vec();
    bytes.extend([1, kind, 3, flags]);
    bytes.extend(line.to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    for (offset, length) in texts {
        bytes.extend(offset.to_le_bytes());
        bytes.extend(length.to_le_bytes());
    }
    bytes
}

/// Texts before the section; each ends with a zero.
const TEXTS: &[u8; 32] = b"net\0a.cpp\0void f()\0x\n\0go {}\0ib\0\0";

/// The references of an entry that begins so far behind the texts.
fn texts(entry_at: i32) -> [(i32, u32); 6] {
    let to = |number: i32, at: i32, length: u32| (at - (32 + entry_at + 16 + number * 8), length);
    let zero = u32::MAX;
    [to(0, 0, 3), to(1, 4, zero), to(2, 10, zero), to(3, 19, 2), to(4, 22, zero), to(5, 28, 1)]
}

fn whole() -> Vec<u8> {
    let mut data = TEXTS.to_vec();
    data.extend(entry(0, 0, 9, texts(0)));
    data.extend([0; 16]);
    data.extend(entry(3, 32, 8, texts(80)));
    data.extend(entry(0, 0, 9, texts(144)));
    program(&data, 32)
}

#[test]
fn entries_are_read_and_sorted_and_merged() {
    let scratch = Scratch::new();
    let list = scratch.list(&whole()).unwrap();
    assert_eq!((&list.notes[..], list.is_damaged), (&[] as &[String], false));
    let [span, log] = &list.sites[..] else { panic!("{:?}", list.sites) };
    assert_eq!((span.kind, span.line, &*span.template), (Kind::Span, 8, "f"));
    let expected = SiteDescription {
        kind: Kind::Log,
        level: Level::Warn,
        flags: 0,
        line: 9,
        language: 1,
        category: "net".into(),
        file: "a.cpp".into(),
        function: "void f()".into(),
        names: "x\n".into(),
        template: "go {}".into(),
        signature: "i".into(),
    };
    assert_eq!(*log, expected);
}

#[test]
fn a_stream_of_which_nothing_is_known_gives_way_to_a_text_of_its_place() {
    let scratch = Scratch::new();
    let mut data = TEXTS.to_vec();
    let place = |at: i32, kind: u8, line: u32, template: bool| {
        let mut texts = texts(at);
        texts[4].1 = if template { texts[4].1 } else { 0 };
        texts[5].1 = 0;
        entry(kind, 1 | 4, line, texts)
    };
    data.extend(place(0, 1, 9, false));
    data.extend(place(64, 0, 9, true));
    data.extend(place(128, 1, 10, false));
    let list = scratch.list(&program(&data, 32)).unwrap();
    let found: Vec<_> = list.sites.iter().map(|site| (site.line, site.kind, &*site.template)).collect();
    assert_eq!(found, [(9, Kind::Log, "go {}"), (10, Kind::Stream, "")]);
    // Names are taken from their source: what was a name's end is a space.
    assert!(list.sites.iter().all(|site| site.is_pending() && site.names == "x\n"), "{:?}", list.sites);
}

#[test]
fn what_is_wrong_is_told_and_the_rest_is_listed() {
    let scratch = Scratch::new();
    let good = whole();
    let at = DATA_AT + 32;
    // Where, what is put there, how many sites are left, and the message with its offset.
    let cases: [(usize, &[u8], usize, &str); 9] = [
        (at, &[63], 0, "offset 152: an entry of 63 bytes: the rest"),
        (at, &[0, 1, 0], 0, "offset 152: an entry of 256 bytes: the rest"),
        (at + 5, &[99], 2, "offset 152: an unknown kind, 99"),
        (at + 6, &[6], 2, "offset 152: an unknown level, 6"),
        (at + 4, &[2], 2, "1 sites of a later version"),
        (
            at + 16,
            &[0, 0, 0, 0x80],
            2,
            "offset 152: a text at address 0xffffffff80400030, which no segment holds",
        ),
        (at + 20, &[0, 0, 1], 2, "offset 152: a text of 65536 bytes"),
        (at + 20, &[255, 255], 2, "offset 152: a text without an end"),
        (DATA_AT + 32 + 208 - 1, &[], 2, ""),
    ];
    for (at, bytes, left, said) in cases {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        let list = scratch.list(&file).unwrap();
        assert_eq!(list.sites.len(), left, "{said}");
        assert!(list.notes.iter().any(|note| note.contains(said)) || said.is_empty(), "{:?}", list.notes);
        assert_eq!(list.is_damaged, !said.is_empty() && !said.contains("later"), "{said}");
    }
}

#[test]
fn files_that_are_no_programs_are_refused() {
    let scratch = Scratch::new();
    let good = whole();
    let headers_at = good.len() - 4 * 64;
    let cases: [(usize, &[u8], &str); 13] = [
        (0, b"x", "no ELF file"),
        (4, &[1], "not of 64 bits"),
        (5, &[2], "not of 64 bits"),
        (16, &[1], "an object file"),
        (16, &[4], "type 4"),
        (54, &[57], "program headers of 57 bytes"),
        (32, &[255; 8], "the table of program headers (56 bytes at offset 18446744073709551615)"),
        (58, &[63], "section headers of 63 bytes"),
        (60, &[5], "the table of section headers (320 bytes"),
        (62, &[4], "the section of names is number 4 of 4"),
        (40, &[0; 8], "no list of sites"),
        (headers_at + 64 + 39, &[1], "section names of 72057594037927"),
        (headers_at + 128 + 39, &[1], "a section silverpoint_sites of 72057594037928"),
    ];
    for (at, bytes, said) in cases {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        let failed = scratch.list(&file).err().expect(said);
        assert!(failed.message.contains(said), "{}", failed.message);
        assert!(failed.message.contains("/program: "), "{}", failed.message);
        assert_eq!(failed.exit, Exit::NotATraceFile);
    }
    for len in 0..good.len() {
        let list = scratch.list(&good[..len]);
        assert!(list.is_err_and(|failed| failed.exit == Exit::NotATraceFile), "{len}");
    }
}

/// Random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
fn nothing_that_is_flipped_makes_it_panic() {
    let scratch = Scratch::new();
    let good = whole();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut damaged, mut refused) = (0, 0);
    for round in 0..2_000 {
        let mut file = good.clone();
        // Half of them within the section alone.
        let (begin, end) = if round % 2 == 0 { (DATA_AT + 32, DATA_AT + 32 + 208) } else { (4, good.len()) };
        for _ in 0..=random.below(6) {
            file[begin + random.below(end - begin)] ^= 1 << random.below(8);
        }
        match scratch.list(&file) {
            Ok(list) => {
                damaged += usize::from(list.is_damaged);
                assert!(list.sites.len() <= 4 && list.notes.len() <= NOTES_MOST + 2, "round {round}");
            }
            Err(failed) => {
                refused += 1;
                assert_eq!(failed.exit, Exit::NotATraceFile, "round {round}: {failed}");
            }
        }
    }
    assert!(damaged > 200 && refused > 100, "{damaged} damaged, {refused} refused");
}

#[test]
fn the_own_program_lists_the_sites_of_its_tests() {
    let list = sites(&std::env::current_exe().unwrap()).unwrap();
    if std::hint::black_box(false) {
        silverpoint::warn!(target: "own", value = 7u8, "never {:.1} executed", 2.5);
    }
    let own = list.sites.iter().find(|site| site.category == "own").unwrap();
    assert!(
        own.file.ends_with("program/tests.rs")
            && own.function.ends_with("the_own_program_lists_the_sites_of_its_tests")
    );
    assert_eq!((&*own.template, &*own.names, &*own.signature), ("never {:.1f} executed", "\nvalue\n", "dA"));
    assert_eq!((own.language, own.level), (2, Level::Warn));
}
