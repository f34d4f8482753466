//! A program whose spans come from `tracing`, under the program: its tree of spans is whole in what other programs are given.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Scratch, end, example};

const TASKS: u64 = 200;

/// The trace of the tasks, in `t.silver`.
fn recorded(scratch: &Scratch) {
    let mut command = scratch.silverpoint(["run", "-q", "-o", "t.silver", "--"]);
    command.arg(example("traced_tasks")).args([&TASKS.to_string(), "4"]);
    let ended = end(&mut command);
    assert_eq!((ended.code(), ended.out.as_str()), (Some(0), "done\n"), "{ended:?}");
}

/// Items of requests of OTLP.
fn items(lines: &str, path: [&str; 3]) -> Vec<Value> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let requests = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let resources = requests.flat_map(|request| list(&request, path[0]));
    let scopes = resources.flat_map(|resource| list(&resource, path[1]));
    scopes.flat_map(|scope| list(&scope, path[2])).collect()
}

/// The number that a span or a log record is of.
fn number(item: &Value) -> Option<u64> {
    let attributes = item["attributes"].as_array().unwrap();
    let number =
        attributes.iter().find(|attribute| ["number", "of"].contains(&attribute["key"].as_str().unwrap()))?;
    number["value"]["intValue"].as_str()?.parse().ok()
}

#[test]
fn tasks_are_one_trace_each_in_otlp() {
    let scratch = Scratch::new();
    recorded(&scratch);
    let ended = scratch.run(["convert", "--to", "otlp", "t.silver", "t.otlp.json"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let lines = std::fs::read_to_string(scratch.path("t.otlp.json")).unwrap();
    let spans = items(&lines, ["resourceSpans", "scopeSpans", "spans"]);
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or("").to_owned();
    let by_id: HashMap<String, &Value> = spans.iter().map(|span| (text(span, "spanId"), span)).collect();
    assert_eq!(by_id.len(), spans.len());
    let mut traces: HashMap<u64, BTreeSet<String>> = HashMap::new();
    let mut seen: HashMap<(String, u64), u64> = HashMap::new();
    for span in spans.iter().filter(|span| !["starting", "last"].contains(&text(span, "name").as_str())) {
        let (name, number) = (text(span, "name"), number(span).unwrap());
        traces.entry(number).or_default().insert(text(span, "traceId"));
        *seen.entry((name.clone(), number)).or_default() += 1;
        let parent = by_id.get(&text(span, "parentSpanId"));
        let of = match name.as_str() {
            "fetch" => "task",
            "relay" => "fetch",
            "step" => "relay",
            "whole" => "step",
            _ => {
                // One that began late lies in its first stretch, where that has ended before.
                assert!(parent.is_none_or(|parent| text(parent, "name") == "task"), "{span}");
                continue;
            }
        };
        let parent = parent.unwrap_or_else(|| panic!("{span} has no parent"));
        assert_eq!((text(parent, "name").as_str(), self::number(parent)), (of, Some(number)), "{span}");
    }
    assert_eq!(traces.len(), TASKS as usize);
    assert!(traces.values().all(|ids| ids.len() == 1), "one trace a task: {traces:?}");
    let distinct: BTreeSet<_> = traces.values().flatten().collect();
    assert_eq!(distinct.len(), TASKS as usize);
    for name in ["task", "fetch", "relay", "step", "whole"] {
        // One each, and one more for a first stretch that had ended before its span got an id.
        let all = (0..TASKS).map(|number| seen.get(&(name.to_owned(), number)).copied().unwrap_or(0));
        assert!(all.clone().all(|count| (1..=2).contains(&count)), "{name}: {:?}", all.collect::<Vec<_>>());
    }
    // What was recorded within them is theirs: native events, too.
    let mut of_spans = 0;
    for log in items(&lines, ["resourceLogs", "scopeLogs", "logRecords"]) {
        let body = text(&log["body"], "stringValue");
        let of = match body.split(" of=").next().unwrap().split(" number=").next().unwrap() {
            "native inside" => "fetch",
            "in a step" => "step",
            "native deep inside" => "whole",
            "names another span.parent=1" | "names another" => "starting",
            _ => continue,
        };
        let span = by_id.get(&text(&log, "spanId")).unwrap_or_else(|| panic!("{log} is of no span"));
        assert_eq!(text(span, "name"), of, "{log}");
        assert_eq!(text(&log, "traceId"), text(span, "traceId"));
        if of != "starting" {
            assert_eq!(number(span), number(&log), "{log}");
        }
        of_spans += 1;
    }
    assert_eq!(of_spans, 3 * TASKS + 1);
    // What was followed is a link, and no parent.
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let (last, starting) = (named("last"), named("starting"));
    assert_eq!(last["links"][0]["spanId"], starting["spanId"], "{last}");
    assert!(last.get("parentSpanId").is_none(), "{last}");
    let keys: Vec<&str> =
        last["attributes"].as_array().unwrap().iter().filter_map(|a| a["key"].as_str()).collect();
    assert!(keys.ends_with(&["number", "end.busy", "end.idle"]), "{last}");
}

#[test]
fn tasks_are_one_tree_each_in_sql() {
    let scratch = Scratch::new();
    recorded(&scratch);
    let query = "select id, name, kind, coalesce(parent, 0), \
coalesce(json_extract(args, '$.number'), json_extract(args, '$.of'), -1) from spans";
    let ended = scratch.run(["sql", "t.silver", "--csv", query]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let rows: HashMap<u64, (String, String, u64, i64)> = ended
        .out
        .lines()
        .skip(1)
        .map(|line| {
            let [id, name, kind, parent, number] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let row = (name.to_owned(), kind.to_owned(), parent.parse().unwrap(), number.parse().unwrap());
            (id.parse().unwrap(), row)
        })
        .collect();
    // From each span of the innermost kind up to its outermost; all that have a number have the same.
    let (mut paths, mut through_asyncs) = (0, 0);
    for (name, _, parent, number) in rows.values() {
        if name != "whole" {
            continue;
        }
        let (mut path, mut at) = (vec![name.as_str()], *parent);
        while at != 0 {
            let (name, kind, parent, of) = &rows[&at];
            assert!([-1, *number].contains(of), "{name} of {of} around one of {number}");
            path.push(name);
            through_asyncs += u64::from(kind == "async");
            at = *parent;
        }
        path.dedup();
        assert_eq!(path, ["whole", "step", "relay", "fetch", "task"]);
        paths += 1;
    }
    assert_eq!(paths, TASKS);
    assert!(through_asyncs > TASKS, "{through_asyncs}");
}

#[test]
fn ctl_switches_a_single_callsite_of_tracing() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint([
        "run",
        "-q",
        "-o",
        "t.silver",
        "--filter",
        "error",
        "--",
        "sh",
        "-c",
        "echo $$; exec \"$0\" 0",
    ]);
    let mut running = command.arg(example("traced_tasks")).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(running.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (pid, line) = (said.next().unwrap(), said.next().unwrap());
    let ended = scratch.run(["ctl", &pid, &format!("error,traced_tasks.rs:{line}=on")]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(running.wait().unwrap().success());
    let messages = scratch.messages("t.silver");
    assert_eq!(messages, ["wanted is_on=false"]);
}
