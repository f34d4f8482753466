//! Compares rendered records with the output of {fmt} and printf, for a large generated set of types and
//! templates. Compares the values in JSON with the values.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Scratch, compile, end, example};

/// A record's text and its first argument, as `cat` gives them.
fn recorded(scratch: &Scratch, trace: &str) -> Vec<(String, Value)> {
    let cat = scratch.run(["cat", "--json", "--quiet", trace]);
    assert_eq!(cat.code(), Some(0), "{}", cat.err);
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        (record["message"].as_str().unwrap().to_owned(), record["args"][0].clone())
    };
    cat.out.lines().map(record).collect()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../cpp")
}

#[test]
fn text_and_json_are_those_of_fmt_and_printf() {
    let scratch = Scratch::new();
    let differential = sources().join("tests/differential");
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    compile(&mut scratch.command("python3", [&path(differential.join("generate.py")), "."]));
    let include =
        [format!("-I{}", path(differential.clone())), format!("-I{}", path(sources().join("include")))];
    let files = ["main", "part0", "part1"];
    std::thread::scope(|scope| {
        for name in files {
            let (scratch, include) = (&scratch, &include);
            scope.spawn(move || {
                let words = ["-std=c++20", "-O0", "-c", &include[0], &include[1], &format!("{name}.cpp")];
                compile(&mut scratch.command("g++", words));
            });
        }
    });
    let objects: Vec<String> = files.iter().map(|name| format!("{name}.o")).collect();
    let words = objects.iter().map(String::as_str).chain(["-o", "program", "-lpthread"]);
    compile(&mut scratch.command("g++", words));
    let ended = end(&mut scratch.silverpoint(["run", "-o", "cpp.silver", "--", "./program", "expected.txt"]));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);

    let mut by_template: HashMap<usize, Vec<String>> = HashMap::new();
    let expected = std::fs::read_to_string(scratch.path("expected.txt")).unwrap();
    let got = recorded(&scratch, "cpp.silver");
    assert_eq!(got.len(), expected.lines().count());
    assert!(got.len() > 7000, "{} records", got.len());
    let mut wrong = Vec::new();
    for (line, (text, value)) in expected.lines().zip(&got) {
        let mut columns = line.split('\t');
        let (number, expected, json) =
            (columns.next().unwrap(), columns.next().unwrap(), columns.next().unwrap());
        if text != expected {
            wrong.push(format!("{number}: {text:?}, expected {expected:?}"));
        }
        // A float is written with a point in one, and without in the other.
        let is_same = |json: Value| *value == json || (value.is_f64() && value.as_f64() == json.as_f64());
        if json != "-" && !is_same(serde_json::from_str(json).unwrap()) {
            wrong.push(format!("{number}: {value}, expected {json}"));
        }
        by_template.entry(number.parse().unwrap()).or_default().push(expected.to_owned());
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), got.len(), wrong.join("\n"));

    // The same values by the same templates in Rust.
    let committed = include_str!("../../examples/differential/cases.rs");
    let made = std::fs::read_to_string(scratch.path("cases.rs")).unwrap();
    assert!(made == committed, "examples/differential/cases.rs is not what generate.py makes");
    let mut command = scratch.silverpoint(["run", "-o", "rust.silver", "--"]);
    let ended = end(command.arg(example("differential")));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    let cases = std::fs::read_to_string(scratch.path("cases.txt")).unwrap();
    let expected: Vec<&String> =
        cases.lines().flat_map(|number| &by_template[&number.parse::<usize>().unwrap()]).collect();
    let got = recorded(&scratch, "rust.silver");
    assert_eq!(got.len(), expected.len());
    for ((text, _), expected) in got.iter().zip(expected) {
        assert_eq!(text, expected);
    }
}
