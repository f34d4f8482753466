//! Other programs read what is written: jq, and Python's json, csv, xml.etree, cbor2 and the schema of Perfetto. Where one is missing, its test says so
//! and is passed over. `scripts/judges` makes the Python with those packages; `SILVERPOINT_JUDGES` names it.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{convert, with_reader, with_writer};

const RECORDS: &[u8] = include_bytes!("../golden/records.cbor");

/// What a program says about bytes on its standard input; `None` when it is not there.
pub fn ask(program: &str, words: &[&str], input: &[u8]) -> Option<String> {
    let judge = std::env::var("SILVERPOINT_JUDGES").ok().filter(|path| !path.is_empty());
    let child = match program {
        "python3" => Command::new(judge.as_deref().unwrap_or(program)),
        _ => Command::new(program),
    }
    .args(words)
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn();
    let Ok(mut child) = child else {
        silverpoint_tests::skipped!("{program} is not installed");
        return None;
    };
    // One that ends before it has read everything says why.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if ["ModuleNotFoundError", "ImportError", "Descriptors cannot be created"]
        .iter()
        .any(|why| error.contains(why))
    {
        silverpoint_tests::skipped!("{error}");
        return None;
    }
    assert!(output.status.success(), "{program} {words:?}: {error}");
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

fn written(format: &str, lossless: bool) -> Vec<u8> {
    with_reader("cbor", RECORDS, |reader| {
        with_writer(format, lossless, |writer| {
            silverpoint_convert::copy::<crate::support::Failed>(reader, writer, |e| Err(e.into())).unwrap();
        })
    })
}

#[test]
fn jq_and_python_read_json() {
    for lossless in [false, true] {
        if let Some(out) = ask("jq", &["-r", ".[0].args[0], .[1].kind, length"], &written("json", lossless)) {
            assert_eq!(out, "7\nevent\n3");
        }
        let code = "import json,sys\nfor line in sys.stdin: print(json.loads(line).get('args'))";
        if let Some(out) = ask("python3", &["-c", code], &written("jsonl", lossless)) {
            assert!(
                out.starts_with("[7, 3.5]") && out.contains("340282366920938463463374607431768211455"),
                "{out}"
            );
        }
    }
}

#[test]
fn python_reads_tsv_csv_xml_and_chrome() {
    let code = "import csv,json,sys\n\
        for row in csv.DictReader(sys.stdin, delimiter='\\t', quoting=csv.QUOTE_NONE): print(row['level'], json.loads(row['args'] or 'null'))";
    if let Some(out) = ask("python3", &["-c", code], &written("tsv", true)) {
        assert!(out.starts_with("\"info\" [7, 3.5]\n"), "{out}");
    }
    let code = "import csv,io,json,sys\n\
        text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')\n\
        rows = list(csv.DictReader(text, strict=True))\n\
        print([r['level'] for r in rows], [json.loads(r['args'] or 'null') for r in rows][0], rows[0]['thread'], rows[1]['message'])";
    if let Some(out) = ask("python3", &["-c", code], &written("csv", true)) {
        assert!(out.starts_with("['info', 'warn', 'warn'] [7, 3.5] worker-2 every low=-17"), "{out}");
    }
    let code = "import sys, xml.etree.ElementTree as e\n\
        r = e.fromstring(sys.stdin.buffer.read())\n\
        print(len(r), r.find(\"record/*[@name='template']\").text, r.find(\"record/*[@name='args']/int\").text)";
    if let Some(out) = ask("python3", &["-c", code], &written("xml", true)) {
        assert_eq!(out, "3 order {} at {:.2f} 7");
    }
    let code = "import json,sys\n\
        for e in json.load(sys.stdin)['traceEvents']: print(e['ph'], e['name'])";
    if let Some(out) = ask("python3", &["-c", code], &written("chrome", false)) {
        assert!(out.starts_with("M process_name\nM thread_name\ni order 7 at 3.50\ni every"), "{out}");
    }
}

#[test]
fn cbor2_reads_cbor() {
    let code = "import sys, io, cbor2\n\
        s = io.BytesIO(sys.stdin.buffer.read())\n\
        r = [cbor2.load(s) for _ in range(3)]\n\
        print(r[0]['args'], r[0]['time'].year, r[0]['context'], r[1]['args']['high'], r[1]['args']['ids'][0])";
    if let Some(out) = ask("python3", &["-c", code], &convert("cbor", RECORDS, "cbor").unwrap()) {
        let expected = "[7, 3.5] 2026 {'request': 7} 340282366920938463463374607431768211455 6ba7b810-9dad-11d1-80b4-00c04fd430c8";
        assert_eq!(out, expected);
    }
}

/// Records of every kind that Perfetto has something for.
const TRACED: &str = r#"
{"time":"2026-11-20T19:02:11.000000001Z","level":"info","process":"app","pid":40,"tid":41,"thread":"main","kind":"log","category":"net","file":"a.cpp","line":88,"function":"f()","template":"order {}","signature":"id@secret=;s","args":[7,3.5,"hidden"],"context":{"request":7,"tags":["a"]}}
{"time":"2026-11-20T19:02:11.000000002Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"main","kind":"span","category":"net","file":"a.cpp","line":90,"function":"f()","template":"fetch","signature":"<|at:(lo),kind:e|a|1=red,;,ids:[?u,map:{Ls,>@flags=1%3Dread%2C2%3Dwrite;A","args":{"x":{"at":[-5,170141183460469231731687303715884105727],"kind":1,"ids":[null,"6ba7b810-9dad-11d1-80b4-00c04fd430c8"],"map":[[7,"seven"]]},"mode":3}}
{"time":"2026-11-20T19:02:11.000000003Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"main","kind":"counter","category":"net","file":"a.cpp","line":91,"function":"f()","template":"depth","signature":"@unit=requests;L","args":[12]}
{"time":"2026-11-20T19:02:11.000000004Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"main","kind":"counter","category":"net","file":"a.cpp","line":92,"function":"f()","template":"load","signature":"dT","args":{"cpu":0.5,"wait":-9}}
{"time":"2026-11-20T19:02:11.000000005Z","level":"debug","process":"app","pid":40,"tid":42,"thread":"worker","kind":"async_begin","category":"io","file":"a.cpp","line":93,"function":"f()","template":"read","signature":"Ls","args":[18446744073709551615,"x"]}
{"time":"2026-11-20T19:02:11.000000006Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"main","kind":"async_instant","category":"io","file":"a.cpp","line":94,"function":"f()","template":"read","signature":"L","args":[18446744073709551615]}
{"time":"2026-11-20T19:02:11.000000007Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"async_end","category":"io","file":"a.cpp","line":95,"function":"f()","template":"read","signature":"L","args":[18446744073709551615]}
{"time":"2026-11-20T19:02:11.000000008Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"flow_begin","category":"io","file":"a.cpp","line":96,"function":"f()","template":"order","signature":"L","args":[9]}
{"time":"2026-11-20T19:02:11.000000009Z","level":"debug","process":"app","pid":40,"tid":42,"thread":"worker","kind":"flow_end","category":"io","file":"a.cpp","line":97,"function":"f()","template":"order","signature":"L","args":[9]}
{"time":"2026-11-20T19:02:11.000000010Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"span_end","category":"net","file":"a.cpp","line":90,"function":"f()","template":"fetch","signature":"","duration_ns":8}
{"time":"2026-11-20T19:02:11.000000011Z","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"loss","cause":"full","count":3,"span_ns":10}
{"time":"2026-11-20T19:02:11.000000012Z","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"unknown","site":77,"raw":"0102","backtrace":true}
{"time":"2026-11-20T19:02:11.000000013Z","level":"debug","process":"app","pid":40,"tid":41,"thread":"renamed","kind":"counter","category":"net","file":"a.cpp","line":98,"function":"f()","template":"state","signature":"s","args":["up"]}
"#;

#[test]
fn the_schema_of_perfetto_reads_its_traces() {
    let lines = TRACED.trim_start();
    let trace = convert("jsonl", lines.as_bytes(), "perfetto").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/perfetto_trace.py");
    let Some(out) = ask("python3", &[script], &trace) else { return };
    let found: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (tracks, events): (Vec<_>, Vec<_>) =
        found.iter().partition(|one| one.get("track").is_some_and(|t| t.is_object()));
    let tracks: Vec<String> = tracks.iter().map(|one| one["track"].to_string()).collect();
    let expected = [
        r#"{"name":"app","parent":null,"pid":40}"#,
        r#"{"name":"main","parent":"app","pid":40,"tid":41}"#,
        r#"{"name":"depth","parent":"app","unit":"requests"}"#,
        r#"{"name":"load.cpu","parent":"app","unit":"UNIT_UNSPECIFIED"}"#,
        r#"{"name":"load.wait","parent":"app","unit":"UNIT_TIME_NS"}"#,
        r#"{"name":"worker","parent":"app","pid":40,"tid":42}"#,
        r#"{"name":"read","parent":"app"}"#,
        r#"{"name":"read","parent":"app"}"#,
        r#"{"name":"renamed","parent":"app","pid":40,"tid":41}"#,
    ];
    assert_eq!(tracks, expected);
    let shown: Vec<String> = events
        .iter()
        .map(|e| {
            format!("{} {} {} {} {}", e["type"], e["track"], e["name"], e["depth"], e["categories"][0])
                .replace('"', "")
        })
        .collect();
    let expected = [
        "instant main order 7 3.5 <secret> 0 net",
        "begin main fetch 1 net",
        "counter depth null 0 net",
        "counter load.cpu null 0 net",
        "counter load.wait null 0 net",
        "begin read read 1 io",
        "instant read read 1 io",
        "end read read 0 io",
        "instant renamed order 1 io",
        "instant worker order 0 io",
        // Its begin lies on the track of the name before.
        "instant renamed fetch done 1 null",
        "instant renamed lost 3 records (full) within 10 ns 1 silverpoint",
        "instant renamed record of a site without description, id 77, 2 bytes 1 silverpoint",
        "instant renamed state 1 net",
    ];
    assert_eq!(shown, expected);
    let args = |number: usize| events[number]["args"].to_string();
    assert_eq!(
        args(0),
        r#"{"0":7,"1":3.5,"2":"<secret>","context":{"request":7,"tags":["a"]},"level":"info","template":"order {}"}"#
    );
    assert_eq!(
        args(1),
        concat!(
            r#"{"level":"debug","mode":"read|write","x":{"at":[-5,"170141183460469231731687303715884105727"],"#,
            r#""ids":["null","6ba7b810-9dad-11d1-80b4-00c04fd430c8"],"kind":"red","map":{"7":"seven"}}}"#
        )
    );
    assert_eq!(args(11), r#"{"cause":"full","count":3,"span_ns":10}"#);
    assert_eq!(args(12), r#"{"backtrace":true,"raw":"0102","site":77}"#);
    assert_eq!(
        (&events[2]["value"], &events[3]["value"], &events[4]["value"]),
        (&12.into(), &0.5.into(), &(-9).into())
    );
    assert_eq!(events[0]["place"], "a.cpp:88 f");
    let begun = events[8]["flows"][0].as_str().unwrap();
    assert_eq!(events[9]["flows"][0], format!("{begun}!"));
    assert_eq!(events[12]["ns"], 1_795_201_331_000_000_012_u64);
}

/// An independent decoder accepts everything that is generated.
#[test]
fn perfetto_traces_of_every_type_are_read() {
    for name in ["every-type.raw.silver", "two-sessions.raw.silver", "control-records.raw.silver"] {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
        let bytes = std::fs::read(root.join(name)).unwrap();
        let records = crate::support::all("silver", &bytes).len();
        let trace = convert("silver", &bytes, "perfetto").unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/perfetto_trace.py");
        let Some(out) = ask("python3", &[script], &trace) else { return };
        let events = out.lines().filter(|line| line.contains("\"depth\"")).count();
        assert!(events >= records, "{name}: {events} of {records}");
    }
}
