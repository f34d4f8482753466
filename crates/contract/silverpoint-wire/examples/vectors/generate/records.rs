//! records.json and records.tsv: whole records, as every frontend must write them, and control records.

use super::json::{self, Json, hex};
use super::sites::Site;
use super::value::{V, int, text, text16};

/// When everything happens.
pub const TICKS: u64 = 0x0123_4567_89ab_cdef;

/// The first id of a site.
const FIRST_SITE: u32 = 16;

/// A record with the site that it is of (none: a control record).
pub struct Case {
    pub name: &'static str,
    /// The frontends that can make it: what a language has no type for, it cannot record.
    pub languages: &'static [&'static str],
    pub site: Option<Site>,
    pub id: u32,
    pub signatures: Vec<&'static str>,
    pub args: Vec<V>,
}

impl Case {
    /// The record.
    pub fn bytes(&self) -> Vec<u8> {
        record(self.id, TICKS, &self.args)
    }
}

/// A record by spec/wire.md section 5.
pub fn record(site: u32, ticks: u64, args: &[V]) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(&site.to_le_bytes());
    out.extend_from_slice(&ticks.to_le_bytes());
    args.iter().for_each(|arg| arg.pack(&mut out));
    out.resize(out.len().next_multiple_of(8), 0);
    let truncated = if args.iter().any(V::is_cut) { 1 << 24 } else { 0 };
    let word = out.len() as u32 | truncated;
    out[..4].copy_from_slice(&word.to_le_bytes());
    out
}

/// records.json.
pub fn vectors() -> Vec<Json> {
    cases().iter().map(vector).collect()
}

/// records.tsv: name, tab, hexadecimal digits; one a line.
pub fn table() -> Vec<u8> {
    let line = |case: &Case| format!("{}\t{}\n", case.name, hex(&case.bytes()));
    cases().iter().map(line).collect::<String>().into_bytes()
}

fn vector(case: &Case) -> Json {
    let args = case.signatures.iter().zip(&case.args);
    let arg = |(signature, value): (&&str, &V)| {
        Json::Object(vec![("signature", Json::text(*signature)), ("json", value.json())])
    };
    Json::Object(vec![
        ("name", Json::text(case.name)),
        ("languages", Json::Array(case.languages.iter().map(|name| Json::text(*name)).collect())),
        ("description", case.site.as_ref().map_or(Json::Null, |site| Json::Object(site.fields()))),
        ("site", Json::int(case.id)),
        ("ticks", Json::int(TICKS)),
        ("args", Json::Array(args.map(arg).collect())),
        ("hex", json::Json::hex(&case.bytes())),
        ("verdict", Json::text("ok")),
    ])
}

const ALL: &[&str] = &["C++", "Rust", "C"];
const ALL_NET: &[&str] = &["C++", "Rust", "C", ".NET"];
const BOTH: &[&str] = &["C++", "Rust"];
const BOTH_NET: &[&str] = &["C++", "Rust", ".NET"];
const NOT_RUST: &[&str] = &["C++", "C"];
const NOT_RUST_NET: &[&str] = &["C++", "C", ".NET"];
const CPP: &[&str] = &["C++"];
const CPP_NET: &[&str] = &["C++", ".NET"];
/// Cannot be provoked by one call: for readers.
const READERS: &[&str] = &[];

/// All records, sites numbered in this order.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut site = |name, languages, args: Vec<(&'static str, V)>| {
        let (signatures, args): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let template = vec!["{}"; args.len()].join(" ");
        let id = FIRST_SITE + all.len() as u32;
        let site = Some(Site::log(&template, &signatures.concat()));
        all.push(Case { name, languages, site, id, signatures, args });
    };
    plain(&mut site);
    containers(&mut site);
    tails(&mut site);
    named(&mut all);
    debug_output(&mut all);
    control(&mut all);
    all
}

type Push<'a> = &'a mut dyn FnMut(&'static str, &'static [&'static str], Vec<(&'static str, V)>);

fn byte(value: u8) -> V {
    V::Int(1, value.into())
}

fn plain(site: Push<'_>) {
    site("literal only", ALL_NET, vec![]);
    site(
        "three numbers",
        ALL_NET,
        vec![("i", int(-7)), ("d", V::F64(2.5)), ("L", V::Int(8, u64::MAX.into()))],
    );
    site(
        "text and two numbers",
        ALL,
        vec![("s", text("Gr\u{fc}\u{df}e")), ("I", int(4_000_000_000)), ("h", V::Int(2, -2))],
    );
    site("empty text", ALL, vec![("s", text(""))]);
    site(
        "bool and code point",
        BOTH,
        vec![("b", V::Bool(true)), ("b", V::Bool(false)), ("W", V::Char32(0x1F600))],
    );
    site(
        "characters of 8, 16 and 32 bits",
        CPP,
        vec![("c", V::Char8(b'x')), ("w", V::Char16(0x20AC)), ("W", V::Char32(0x1F600))],
    );
    site("UTF-16 text", CPP_NET, vec![("S", text16("\u{fc} \u{1F600}"))]);
    site(
        "float and small numbers",
        ALL_NET,
        vec![
            ("f", V::F32(0.1)),
            ("a", V::Int(1, -128)),
            ("H", V::Int(2, 65535)),
            ("l", V::Int(8, i64::MIN.into())),
        ],
    );
    site("numbers of 128 bits", ALL, vec![("o", V::Int(16, i128::MIN)), ("O", V::U128(u128::MAX))]);
    site("pointer", ALL_NET, vec![("p", V::Pointer(0x1000))]);
    site(
        "duration and date-time",
        BOTH,
        vec![("T", V::Duration(5_000)), ("t", V::Time(1_700_000_000_123_456_789))],
    );
    site("cut text", READERS, vec![("i", int(1)), ("s", V::Text8(b"the beginning".to_vec(), Some(100_000)))]);
    site("cut sequence", READERS, vec![("[h", V::List(vec![V::Int(2, 1), V::Int(2, 2)], Some(998)))]);
}

fn containers(site: Push<'_>) {
    let some = |value| V::Some(Box::new(value));
    site(
        "map of three and atoms",
        BOTH,
        vec![
            ("{si", V::Map(["a", "b", "c"].iter().zip(1..).map(|(key, i)| (text(key), int(i))).collect())),
            ("b", V::Bool(true)),
            ("l", V::Int(8, -1)),
            ("s", text("atom")),
        ],
    );
    let floats = (0..128_u8).map(|i| V::F32(f32::from(i) * 0.5 - 16.0)).collect();
    site("128 floats", BOTH_NET, vec![("[f", V::List(floats, None))]);
    site("optional both ways", BOTH, vec![("?i", some(int(-7))), ("?i", V::None), ("?s", some(text("x")))]);
    let pair = |number, word| V::Tuple(vec![int(number), text(word)]);
    site(
        "nested sequence of pairs",
        BOTH,
        vec![("[[(is)", {
            let first = V::List(vec![pair(1, "one"), pair(-2, "")], None);
            V::List(vec![first, V::List(vec![], None), V::List(vec![pair(3, "three")], None)], None)
        })],
    );
    site("array", BOTH, vec![("#3:H", V::Array(vec![V::Int(2, 1), V::Int(2, 2), V::Int(2, 3)]))]);
    site("set", BOTH, vec![("$i", V::Set(vec![int(-1), int(5)], None))]);
    site("empty sequence and map", BOTH, vec![("[i", V::List(vec![], None)), ("{si", V::Map(vec![]))]);
    site("sequence of bools", BOTH_NET, vec![("[b", V::List(vec![V::Bool(true), V::Bool(false)], None))]);
    let point = V::Record("Point", vec![("x", int(1)), ("y", int(-2))]);
    site("record", BOTH, vec![("<Point|x:i,y:i,>", point.clone())]);
    site("sequence of records", BOTH, vec![("[<Point|x:i,y:i,>", V::List(vec![point.clone(), point], None))]);
    let sell = V::Enumeration("Side", Some("Sell"), Box::new(byte(7)));
    site("enumeration", BOTH_NET, vec![("eSide|A|0=Buy,7=Sell,;", sell)]);
}

/// Records that end 0 to 7 bytes before a multiple of 8.
fn tails(site: Push<'_>) {
    let names = ["tail 7", "tail 6", "tail 5", "tail 4", "tail 3", "tail 2", "tail 1", "tail 0"];
    for (name, count) in names.into_iter().zip(1..=8) {
        // A tracepoint of .NET has at most six arguments.
        let languages = if count <= 6 { ALL_NET } else { ALL };
        site(name, languages, (1..=count).map(|i| ("A", byte(0xF0 + i))).collect());
    }
}

/// Other kinds of sites: the record does not tell them apart.
fn named(all: &mut Vec<Case>) {
    let mut push_of = |languages, name, kind, title: &str, names: &str, args: Vec<(&'static str, V)>| {
        let (signatures, args): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let site = Site { kind, names: names.into(), ..Site::log(title, &signatures.concat()) };
        let id = FIRST_SITE + all.len() as u32;
        all.push(Case { name, languages, site: Some(site), id, signatures, args });
    };
    let mut push = |name, kind, title, names, args| push_of(ALL, name, kind, title, names, args);
    push("event with two fields", 2, "order", "id\nvenue\n", vec![("L", V::Int(8, 42)), ("s", text("XETR"))]);
    push("span", 3, "load", "file\n", vec![("s", text("a.txt"))]);
    let mut push = |name, kind, title, names, args| push_of(ALL_NET, name, kind, title, names, args);
    push("counter", 4, "depth", "", vec![("l", V::Int(8, 17))]);
    push("instant", 5, "tick", "", vec![]);
    let word = |value| ("L", V::Int(8, value));
    let mut push = |name, kind, title, names, args| push_of(NOT_RUST, name, kind, title, names, args);
    push("async begin", 6, "fetch", "id\nfile\n", vec![word(7), ("s", text("a.txt"))]);
    let mut push = |name, kind, title, names, args| push_of(NOT_RUST_NET, name, kind, title, names, args);
    push("async end", 7, "fetch", "id\n", vec![word(7)]);
    push("async instant", 8, "fetch", "id\nbytes\n", vec![word(7), ("i", int(512))]);
    push("flow begin", 9, "path", "id\n", vec![word(8)]);
    push("flow step", 10, "path", "id\n", vec![word(8)]);
    push("flow end", 11, "path", "id\n", vec![word(8)]);
    push("link", 12, "link", "from\nto\n", vec![word(7), word(8)]);
}

/// Debug output is the same in every language, but for the characters of its text.
fn debug_output(all: &mut Vec<Case>) {
    let of = |signature| Site { level: 1, category: "debug_output".into(), ..Site::log("{}", signature) };
    let cases: [(_, &[_], _, _); 2] = [
        ("debug output", &["C++", "Rust"], "s", text("na\u{ef}ve {}\n")),
        ("wide debug output", &["C++", ".NET"], "S", text16("na\u{ef}ve {}\n")),
    ];
    for (name, languages, signature, value) in cases {
        let id = FIRST_SITE + all.len() as u32;
        all.push(Case {
            name,
            languages,
            site: Some(of(signature)),
            id,
            signatures: vec![signature],
            args: vec![value],
        });
    }
}

fn control(all: &mut Vec<Case>) {
    let mut push = |name, id, args: Vec<(&'static str, V)>| {
        let (signatures, args) = args.into_iter().unzip();
        all.push(Case { name, languages: READERS, site: None, id, signatures, args });
    };
    let word = |value: u64| ("L", V::Int(8, value.into()));
    push("loss", 1, vec![("A", byte(5)), word(1000), word(TICKS - 500), word(TICKS)]);
    push("stall", 2, vec![("A", byte(0)), word(1_000_000)]);
    push("span end", 3, vec![("I", int(41)), word(TICKS - 1)]);
    push("thread name", 4, vec![("s", text("worker \u{2713}"))]);
    push("end of thread", 5, vec![]);
    // Two scopes, one in the other; then none.
    let outer = b"\x67request\x07\x64user\x63ada".as_slice();
    let inner =
        b"\x65ratio\xFB\x40\x04\x00\x00\x00\x00\x00\x00\x62ok\xF5\x65delta\x21\x67request\x19\x01\x00"
            .as_slice();
    let scopes = [
        ("context", vec![outer]),
        ("context of two scopes", vec![outer, inner]),
        ("context without fields", vec![]),
    ];
    for (name, pairs) in scopes {
        let item = V::Any([b"\xBF", pairs.concat().as_slice(), b"\xFF"].concat());
        all.push(Case { name, languages: BOTH, site: None, id: 6, signatures: vec!["v"], args: vec![item] });
    }
}
