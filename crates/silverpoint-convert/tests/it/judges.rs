//! Other programs read what is written: jq, and Python's json, xml.etree and cbor2. Where one is missing, its test says so and is passed over.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{convert, with_reader, with_writer};

const RECORDS: &[u8] = include_bytes!("../golden/records.cbor");

/// What a program says about bytes on its standard input; `None` when it is not there.
fn ask(program: &str, words: &[&str], input: &[u8]) -> Option<String> {
    let child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: {program} is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("ModuleNotFoundError") {
        eprintln!("SKIPPED: {error}");
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
