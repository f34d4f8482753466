//! The text of the kernel's trace: messages exactly as ATrace writes them, and lines as readers of that text take them apart.

use crate::judges::ask;
use crate::support::convert;

/// Records as the adapters make them, and what the kernel would have been given. `P` is the process.
const ATRACE: &[(&str, &str, &str)] = &[
    (r#""kind":"span","template":"outer|x","signature":"","args":[]"#, "B|P|outer/x", "span_end"),
    (r#""kind":"instant","template":"point\nof time","signature":"","args":[]"#, "I|P|point of time", ""),
    (
        r#""kind":"instant","template":"point","signature":"s","names":"track\n","args":["a track"]"#,
        "N|P|a track|point",
        "",
    ),
    (
        r#""kind":"counter","template":"large","signature":"l","names":"value\n","args":[9223372036854775807]"#,
        "C|P|large|9223372036854775807",
        "",
    ),
    (
        r#""kind":"async_begin","template":"load","signature":"L","names":"id\n","args":[4294967289]"#,
        "S|P|load|-7",
        "",
    ),
    (
        r#""kind":"async_begin","template":"net","signature":"Ls","names":"id\nname\n","args":[8,"fetch"]"#,
        "G|P|net|fetch|8",
        "",
    ),
    (r#""kind":"async_end","template":"net","signature":"L","names":"id\n","args":[8]"#, "H|P|net|8", ""),
    (
        r#""kind":"async_end","template":"load","signature":"L","names":"id\n","args":[4294967289]"#,
        "F|P|load|-7",
        "",
    ),
    (
        r#""kind":"counter","template":"atrace","signature":"ls","names":"value\natrace.name\n","args":[-3,"one of many"]"#,
        "C|P|one of many|-3",
        "",
    ),
];

/// Records of other kinds.
const OTHERS: &[(&str, &str, &str)] = &[
    (
        r#""kind":"span","template":"load","signature":"sL","names":"path\nsize\n","args":["a.txt",17]"#,
        "B|P|load, path=a.txt, size=17",
        "span_end",
    ),
    (r#""kind":"log","template":"{} of {}","signature":"ii","args":[1,2]"#, "I|P|1 of 2", ""),
    (
        r#""kind":"counter","template":"memory","signature":"ld","names":"rss\nshare\n","args":[5,0.25]"#,
        "C|P|memory.rss|5\nC|P|memory.share|0.25",
        "",
    ),
    (
        r#""kind":"async_begin","template":"task","signature":"Ls","names":"id\nof\n","args":[5000000000,"me"]"#,
        "S|P|task|5000000000\nI|P|task, of=me",
        "",
    ),
    (
        r#""kind":"event","template":"found","signature":"b","names":"is_new\n","args":[true]"#,
        "I|P|found, is_new=true",
        "",
    ),
];

/// JSON lines of them, a microsecond apart; each span ends at once.
fn json(records: &[(&str, &str, &str)], category: &str) -> (String, Vec<String>) {
    let (mut lines, mut expected) = (String::new(), Vec::new());
    let mut micros = 0;
    for (record, messages, end) in records {
        let mut line = |what: &str| {
            micros += 1;
            let head = r#""process":"player","pid":4242,"tid":4243,"thread":"worker 1","level":"info""#;
            let time = format!("2026-01-02T03:04:05.{micros:06}789Z");
            lines += &format!("{{\"time\":\"{time}\",{head},\"category\":\"{category}\",{what}}}\n");
        };
        line(record);
        expected.extend(messages.lines().map(|message| message.replacen("|P", "|4242", 1)));
        if !end.is_empty() {
            line(&format!(r#""kind":"{end}","duration_ns":1000"#));
            expected.push("E|4242".to_owned());
        }
    }
    (lines, expected)
}

fn messages(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split_once(": tracing_mark_write: "))
        .map(|(_, message)| message.to_owned())
        .collect()
}

fn systrace(json: &str) -> String {
    String::from_utf8(convert("jsonl", json.as_bytes(), "systrace").unwrap()).unwrap()
}

#[test]
fn calls_of_atrace_are_the_messages_that_it_writes() {
    let (lines, expected) = json(ATRACE, "atrace::app");
    assert_eq!(messages(&systrace(&lines)), expected);
}

#[test]
fn other_records_have_their_fields_behind_their_names() {
    let (lines, expected) = json(OTHERS, "player");
    assert_eq!(messages(&systrace(&lines)), expected);
}

#[test]
fn messages_are_cut_as_the_kernels_are_and_numbers_are_not() {
    let long = "ä".repeat(2000);
    let counter = format!(
        r#""kind":"counter","template":"{long}","signature":"l","names":"value\n","args":[-9223372036854775808]"#
    );
    let span = format!(r#""kind":"span","template":"{long}","signature":"","args":[]"#);
    let (lines, _) = json(&[(&counter, "", ""), (&span, "", "")], "atrace::app");
    let found = messages(&systrace(&lines));
    assert!(found[0].len() <= 1023 && found[0].ends_with("ä|-9223372036854775808"), "{}", found[0]);
    assert!(found[1].len() <= 1023 && found[1].len() > 1021, "{}", found[1].len());
}

#[test]
fn lines_are_as_readers_of_the_kernels_text_take_them() {
    let (lines, expected) = json(OTHERS, "player");
    let text = systrace(&lines);
    assert!(text.starts_with("# tracer: nop\n"));
    let first = text.lines().find(|line| !line.starts_with('#')).unwrap();
    assert_eq!(
        first,
        "        worker 1-4243    (   4242) [000] ..... 1767323045.000001: tracing_mark_write: B|4242|load, path=a.txt, size=17"
    );
    // The expression by which Catapult's importer takes a line with thread groups apart.
    let code = r"
import re, sys
line = re.compile(r'^\s*(.+)-(\d+)\s+\(\s*(\d+|-+)\)\s\[(\d+)\]\s+[dX.][Nnp.][Hhs.][0-9a-f.].?\s+(\d+\.\d+):\s+(\S+):\s(.*)$')
found = [line.match(one.rstrip('\n')) for one in sys.stdin if not one.startswith('#')]
assert all(found)
assert {(m[1], m[2], m[3], m[4], m[6]) for m in found} == {('worker 1', '4243', '4242', '000', 'tracing_mark_write')}
print(len(found), found[-1][5], found[-1][7])";
    if let Some(out) = ask("python3", &["-c", code], text.as_bytes()) {
        assert_eq!(out, format!("{} 1767323045.000006 {}", expected.len(), expected.last().unwrap()));
    }
}

#[test]
fn what_has_no_thread_and_no_name_has_a_line_all_the_same() {
    let text = systrace("{\"time\":\"1969-12-31T23:59:58.5Z\",\"message\":\"a\\u001b|b\"}\n");
    let last = text.lines().last().unwrap();
    assert_eq!(
        last,
        "           <...>-0       (      0) [000] ..... -1.500000: tracing_mark_write: I|0|a\\x1b/b"
    );
}
