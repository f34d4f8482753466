//! `silverpoint sql`: queries, output, exit codes, the prompt, the snippets of its page.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use crate::harness::{Scratch, end, subject};

/// A trace of a hundred records in one thread.
fn traced() -> Scratch {
    let scratch = Scratch::new();
    let ended =
        scratch.run(["run", "-q", "-o", "t.silver", "--", subject().to_str().unwrap(), "count", "100"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    scratch
}

#[test]
fn rows_come_in_every_form() {
    let scratch = traced();
    let query = "select number, null as empty, 'a \"b\", c' as text, 1.5 as half from subject_count where number >= 98 order by number";
    let run = |flags: &[&str]| {
        let ended = scratch.run([&["sql", "t.silver", query], flags].concat());
        assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""), "{ended:?}");
        ended.out
    };
    let csv = "number,empty,text,half\n98,,\"a \"\"b\"\", c\",1.5\n99,,\"a \"\"b\"\", c\",1.5\n";
    assert_eq!(run(&[]), csv);
    assert_eq!(run(&["--csv"]), csv);
    let object =
        |number: i64| serde_json::json!({"number": number, "empty": null, "text": "a \"b\", c", "half": 1.5});
    let json: serde_json::Value = serde_json::from_str(&run(&["--json-array"])).unwrap();
    assert_eq!(json, serde_json::json!([object(98), object(99)]));
    let lines: Vec<serde_json::Value> =
        run(&["--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [object(98), object(99)]);
    let table = "number  empty  text      half\n------  -----  --------  ----\n    98         a \"b\", c   1.5\n    99         a \"b\", c   1.5\n";
    assert_eq!(run(&["--table"]), table);
    // More rows than are looked at before the first is printed.
    let many =
        "with recursive n(x) as (select 1 union all select x + 1 from n where x < 1200) select x from n";
    let long = scratch.run(["sql", "t.silver", many, "--table"]).out;
    assert!(long.lines().count() == 1202 && long.ends_with("\n1200\n"), "{long}");
}

#[test]
fn queries_come_from_arguments_files_and_pipes() {
    let scratch = traced();
    let query = "/* how many */ select count(*) as n from records; select 2 as two";
    let expected = format!("n\n{}two\n2\n", scratch.run(["cat", "--count", "t.silver"]).out);
    assert_eq!(scratch.run(["sql", "t.silver", query]).out, expected);
    std::fs::write(scratch.path("q.sql"), query).unwrap();
    assert_eq!(scratch.run(["sql", "t.silver", "--query-file", "q.sql"]).out, expected);
    let mut child = scratch
        .silverpoint(["sql", "t.silver"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(query.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn exit_codes_tell_what_was_wrong() {
    let scratch = traced();
    let run = |words: &[&str]| {
        let ended = scratch.run([&["sql"], words].concat());
        (ended.code(), ended.err)
    };
    let (code, error) = run(&["t.silver", "select levl from records"]);
    assert!(
        code == Some(2) && error.contains("no such column: levl\n  select levl from records\n         ^"),
        "{error}"
    );
    let (code, error) = run(&["t.silver", "delete from records"]);
    assert!(code == Some(2) && error.contains("only queries") && error.contains("--output"), "{error}");
    assert_eq!(run(&["t.silver", "vacuum into 'x.sqlite'"]).0, Some(2));
    assert!(!scratch.path("x.sqlite").exists());
    assert_eq!(run(&["select 1"]).0, Some(2));
    assert_eq!(run(&["none.silver", "select 1"]).0, Some(1));
    std::fs::write(scratch.path("text"), "this is no trace file\n").unwrap();
    assert_eq!(run(&["text", "select 1"]).0, Some(4));
    let (code, error) = run(&[
        "--memory",
        "8M",
        "t.silver",
        "select length(group_concat(hex(zeroblob(1000000)))) from records",
    ]);
    assert!(code == Some(1) && error.contains("--memory"), "{code:?} {error}");
    // Damage behind which there is more: everything intact is found.
    let mut bytes = std::fs::read(scratch.path("t.silver")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(scratch.path("bad.silver"), bytes).unwrap();
    let cat = scratch.run(["cat", "--count", "bad.silver"]);
    let sql = scratch.run(["sql", "bad.silver", "select count(*) from records"]);
    assert_eq!(sql.code(), cat.code());
    assert_eq!(sql.out, format!("count(*)\n{}", cat.out));
    assert_eq!(sql.err, cat.err);
}

#[test]
fn a_database_is_written() {
    let scratch = traced();
    let ended = scratch.run(["sql", "t.silver", "--save", "out.sqlite"]);
    assert!(ended.code() == Some(0) && ended.err.contains("out.sqlite: "), "{ended:?}");
    assert!(std::fs::read(scratch.path("out.sqlite")).unwrap().starts_with(b"SQLite format 3\0"));
    let again = scratch.run(["sql", "t.silver", "--save", "out.sqlite"]);
    assert!(again.code() == Some(1) && again.err.contains("--force"), "{again:?}");
    assert_eq!(scratch.run(["sql", "t.silver", "--save", "out.sqlite", "--force", "-q"]).code(), Some(0));
    assert_eq!(scratch.run(["sql", "t.silver", "--save", "t.silver", "--force"]).code(), Some(1));
}

#[test]
fn commands_of_the_prompt_stand_behind_files_too() {
    let scratch = traced();
    let schema = scratch.run(["sql", "t.silver", ".schema"]);
    assert!(schema.code() == Some(0) && schema.out.contains("records(id, time_ns"), "{schema:?}");
    let one = scratch.run(["sql", "t.silver", ".schema subject_count"]);
    assert!(one.code() == Some(0) && one.out.lines().count() == 1, "{one:?}");
    let tables = scratch.run(["sql", "t.silver", ".tables"]);
    assert!(tables.code() == Some(0) && tables.out.contains("records, spans"), "{tables:?}");
    for (wrong, said) in [(".dump", ".schema [TABLE]"), (".schema nothing", "no such table")] {
        let ended = scratch.run(["sql", "t.silver", wrong]);
        assert!(ended.code() == Some(2) && ended.err.contains(said), "{ended:?}");
    }
}

#[test]
fn the_prompt_answers() {
    let scratch = traced();
    if std::process::Command::new("script").arg("--version").output().is_err() {
        silverpoint_tests::skipped!("the prompt: the program script (bsdutils) is not installed");
        return;
    }
    let line = format!("{} --no-pager sql t.silver", env!("CARGO_BIN_EXE_silverpoint"));
    let mut command = scratch.command("script", ["-qec", &line, "/dev/null"]);
    command
        .env("TERM", "xterm")
        .env("XDG_STATE_HOME", scratch.path("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let said = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&said);
    let listener = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            heard.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]).replace('\r', ""));
        }
    });
    // What is typed before the prompt is there may be lost: each line waits for the answer to the last, and the prompt behind it.
    let mut answered = 0;
    let mut wait_for = |answer: &str| {
        scratch.wait(answer, || {
            let said = said.lock().unwrap();
            let Some(at) = said[answered..].find(answer).map(|at| answered + at + answer.len()) else {
                return false;
            };
            let Some(prompt) = said[at..].find("sql> ") else { return false };
            answered = at + prompt;
            true
        });
    };
    wait_for("Ctrl-D the program");
    for (typed, answer) in [
        ("select 40 + 2 as answer,\n'x' as y;\n", "    42  x\n"),
        (".mode csv\n", "rows are shown as csv"),
        ("select 41 + 3 as answer;\n", "\n44\n"),
        ("select nowhere;\n", "no such column: nowhere"),
        ("select max(number) + 1 as most from subject_c\t;\n", "most\n100\n"),
        (".schema threads\n", "threads(process, pid, tid, thread)"),
    ] {
        input.write_all(typed.as_bytes()).unwrap();
        wait_for(answer);
    }
    input.write_all(b".quit\n").unwrap();
    assert!(child.wait().unwrap().success());
    drop(input);
    listener.join().unwrap();
    let history = std::fs::read_to_string(scratch.path("state/silverpoint/sql-history")).unwrap();
    assert!(history.contains("40 + 2") && history.contains(".quit"), "{history}");
}

#[test]
fn the_snippets_of_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/sql.md");
    let text = std::fs::read_to_string(page).unwrap();
    let snippets: Vec<&str> =
        text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let scratch = Scratch::new();
    scratch.script("app", "exec \"$SUBJECT\" count 100");
    let here = Path::new(env!("CARGO_BIN_EXE_silverpoint")).parent().unwrap();
    let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
    // What is measured there with a million records is too much for a program that is not optimised.
    let all = snippets.join("\n");
    let some = all.replace("n < 1000000", "n < 20000");
    assert!(all != some && all.contains("| silverpoint convert"));
    let script = format!("set -eu\n{some}");
    let ended = end(scratch.command("sh", ["-c", &script]).env("PATH", path));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.out.contains("level,n\n") && ended.out.contains("\"last\":99}"), "{ended:?}");
    assert_eq!(ended.out.lines().filter(|line| line.starts_with("{\"time\":")).count(), 3, "{ended:?}");
    assert!(scratch.path("app.sqlite").exists());
}
