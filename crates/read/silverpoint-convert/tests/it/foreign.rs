//! Logs of other programs: time, level, message, who and where are found, and nothing else is lost.

use serde_json::{Value, json};

use crate::support::{Failed, all, convert, with_reader, with_writer};

/// Records of other programs as `silverpoint convert` shows them.
fn shown(format: &str, text: &str) -> Vec<Value> {
    let lines = with_reader(format, text.as_bytes(), |reader| {
        let lines = with_writer("jsonl", false, |writer| {
            silverpoint_convert::copy::<Failed>(reader, writer, |error| Err(error.into())).unwrap();
        });
        String::from_utf8(lines).unwrap()
    });
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one(text: &str) -> Value {
    let mut shown = shown("jsonl", text);
    assert_eq!(shown.len(), 1, "{text}");
    shown.remove(0)
}

#[track_caller]
fn check(text: &str, time: &str, level: &str, message: &str, args: Value) -> Value {
    let shown = one(text);
    assert_eq!(shown["time"], time, "{text}");
    assert_eq!(shown["level"], level, "{text}");
    assert_eq!(shown["kind"], "log", "{text}");
    let mut found = shown["args"].clone();
    assert_eq!(found["message"], message, "{text}");
    found.as_object_mut().unwrap().remove("message");
    assert_eq!(found, args, "{text}");
    // And from there through a trace file, and the exact form, without a change.
    let records = all("jsonl", text.as_bytes());
    let silver = convert("jsonl", text.as_bytes(), "silver").unwrap();
    assert_eq!(all("silver", &silver), records, "{text}");
    let exact = convert("silver", &silver, "jsonl").unwrap();
    assert_eq!(all("jsonl", &exact), records, "{text}");
    shown
}

const TIME: &str = "2026-01-02T15:04:05.000000000Z";
const MS: &str = "2026-01-02T15:04:05.123000000Z";

#[test]
fn names_that_silverpoint_uses_are_arguments_of_others() {
    check(
        r#"{"time":"2026-01-02T15:04:05Z","msg":"started","user":"ada","count":3,"trace_id":"c759","language":2,"context":"checkout","error":null,"args":["-v"],"raw":"zz","template":"welcome.html","flags":"RW","kind":"client","site":"paris","names":["a"],"signature":"abc","of":1,"cause":"disk","span_ns":"x","duration_ns":-1,"truncated":"no","backtrace":[],"ticks":-3,"damaged":1,"stack":"s"}"#,
        TIME,
        "info",
        "started",
        json!({ "user": "ada", "count": 3, "trace_id": "c759", "language": 2, "context": "checkout", "error": null,
            "args": ["-v"], "raw": "zz", "template": "welcome.html", "flags": "RW", "kind": "client", "site": "paris",
            "names": ["a"], "signature": "abc", "of": 1, "cause": "disk", "span_ns": "x", "duration_ns": -1,
            "truncated": "no", "backtrace": [], "ticks": -3, "damaged": 1, "stack": "s" }),
    );
}

#[test]
fn each_name_of_a_record_alone_makes_it_no_record_of_silverpoint() {
    let names = [
        "kind",
        "template",
        "args",
        "raw",
        "signature",
        "names",
        "context",
        "site",
        "cause",
        "count",
        "of",
        "duration_ns",
        "span_ns",
        "flags",
        "language",
        "ticks",
        "truncated",
        "backtrace",
        "damaged",
        "stack",
        "trace_id",
        "span_id",
        "error",
    ];
    let values =
        [json!(null), json!(true), json!(7), json!(-1.5), json!("event"), json!([1]), json!({ "a": 1 })];
    for name in names {
        for value in &values {
            let text = json!({ "time": "2026-01-02T15:04:05Z", "msg": "m", name: value }).to_string();
            assert_eq!(one(&text)["args"], json!({ "message": "m", name: value }), "{text}");
        }
    }
}

#[test]
fn usual_records_with_values_of_other_types_are_those_of_another_program() {
    let text = r#"{"time":"2026-01-02T15:04:05Z","kind":"event","template":"t","args":{"a":1},"flags":"x","level":"warning"}"#;
    let shown = one(text);
    assert_eq!(shown["level"], "warn");
    assert_eq!(shown["args"], json!({ "kind": "event", "template": "t", "args": { "a": 1 }, "flags": "x" }));
}

#[test]
fn what_somebody_added_to_a_record_of_silverpoint_is_kept() {
    let text = r#"{"time":"2026-01-02T15:04:05Z","level":"info","process":"p","pid":1,"tid":2,"thread":"t","category":"c","file":"f","line":3,"function":"g","kind":"event","template":"sent","message":"sent n=1","args":{"n":1},"trace_id":"ab","context":{"trace_id":"ab","request":7},"kubernetes":{"pod":"x"},"tag":null}"#;
    let shown = one(text);
    assert_eq!(shown["args"], json!({ "n": 1 }));
    assert_eq!(
        shown["context"],
        json!({ "trace_id": "ab", "request": 7, "kubernetes": { "pod": "x" }, "tag": null })
    );
}

#[test]
fn times_of_every_unit() {
    for time in [
        "1767366245.123",
        "1767366245123",
        "1767366245123000",
        "1767366245123000000",
        "1767366245123.0",
        "\"1767366245123\"",
        "\"2026-01-02T15:04:05.123Z\"",
        "\"2026-01-02 16:04:05,123+0100\"",
        "{\"seconds\":1767366245,\"nanos\":123000000}",
        "1.767366245123e9",
    ] {
        for name in ["time", "timestamp", "@timestamp", "ts", "Timestamp", "eventTime", "date"] {
            let text = format!("{{\"{name}\":{time},\"msg\":\"m\"}}");
            assert_eq!(check(&text, MS, "info", "m", json!({}))["time"], MS);
        }
    }
    // More digits than a float holds.
    let text = r#"{"ts":1767366245.123456789,"msg":"m"}"#;
    check(text, "2026-01-02T15:04:05.123456789Z", "info", "m", json!({}));
    // What says no offset from UTC stays beside it.
    let text = r#"{"time":"2026-01-02 15:04:05","msg":"m"}"#;
    check(text, TIME, "info", "m", json!({ "time": "2026-01-02 15:04:05" }));
    // Seconds since the program began, and the time elsewhere.
    let text = r#"{"time":12.5,"timestamp":1767366245,"msg":"m"}"#;
    check(text, TIME, "info", "m", json!({ "time": 12.5 }));
    let text = r#"{"time":12.5,"msg":"m"}"#;
    check(text, "1970-01-01T00:00:12.500000000Z", "info", "m", json!({}));
}

#[test]
fn a_time_that_cannot_be_read_is_told_with_its_place() {
    for (text, found) in [
        (r#"{"msg":"m"}"#, "a record without `time`"),
        (r#"{"time":"noon","msg":"m"}"#, "the text \"noon\""),
        (r#"{"time":"9999-12-31T23:59:59Z","msg":"m"}"#, "the text \"9999-12-31T23:59:59Z\""),
        (r#"{"time":true,"msg":"m"}"#, "true"),
    ] {
        let error = convert("jsonl", text.as_bytes(), "cbor").unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
    let text = r#"{"time":"9999-12-31T23:59:59Z","kind":"event","template":"t","signature":"","args":[]}"#;
    let error = convert("jsonl", text.as_bytes(), "cbor").unwrap_err().to_string();
    assert!(error.contains("between 1677-09-21 and 2262-04-11"), "{error}");
}

#[test]
fn levels_are_words_and_numbers() {
    for (given, level, stays) in [
        ("\"WARNING\"", "warn", false),
        ("\"warning\"", "warn", false),
        ("\"Information\"", "info", false),
        ("\"err\"", "error", false),
        ("\"critical\"", "fatal", true),
        ("\"NOTICE\"", "info", true),
        ("\"SEVERE\"", "error", true),
        ("\"verbose\"", "debug", true),
        ("\"DEBUG+2\"", "debug", true),
        ("\"ERROR+4\"", "fatal", true),
        ("\"\\u001b[32minfo\\u001b[39m\"", "info", true),
        ("10", "trace", false),
        ("20", "debug", false),
        ("30", "info", false),
        ("35", "info", true),
        ("40", "warn", false),
        ("50", "error", false),
        ("60", "fatal", false),
        ("3", "error", true),
        ("-4", "debug", false),
        ("400", "error", false),
        ("\"high\"", "info", true),
        ("true", "info", true),
        ("null", "info", true),
        ("{\"a\":1}", "info", true),
    ] {
        let text = format!("{{\"time\":\"2026-01-02T15:04:05Z\",\"level\":{given},\"msg\":\"m\"}}");
        let value: Value = serde_json::from_str(given).unwrap();
        let args = if stays { json!({ "level": value }) } else { json!({}) };
        check(&text, TIME, level, "m", args);
    }
}

#[test]
fn numbers_of_processes_are_numbers_or_digits() {
    let shown = one(r#"{"time":"2026-01-02T15:04:05Z","msg":"m","pid":"123","tid":7,"thread":"main"}"#);
    assert_eq!((&shown["pid"], &shown["tid"], &shown["thread"]), (&json!(123), &json!(7), &json!("main")));
    check(
        r#"{"time":"2026-01-02T15:04:05Z","msg":"m","pid":"abc","tid":-1,"thread":[1],"line":"x","file":7,"process":{"x":1},"category":null}"#,
        TIME,
        "info",
        "m",
        json!({ "pid": "abc", "tid": -1, "thread": [1], "line": "x", "file": 7, "process": { "x": 1 }, "category": null }),
    );
}

#[test]
fn numbers_that_no_type_holds_stay_as_they_are_written() {
    check(
        r#"{"time":"2026-01-02T15:04:05Z","msg":"m","a":340282366920938463463374607431768211456,"b":1e400,"c":18446744073709551616}"#,
        TIME,
        "info",
        "m",
        json!({ "a": "340282366920938463463374607431768211456", "b": "1e400", "c": 18446744073709551616_i128 as f64 }),
    );
    let zero = convert("jsonl", br#"{"time":"2026-01-02T15:04:05Z","z":-0,"y":-0.0}"#, "jsonl").unwrap();
    assert!(String::from_utf8_lossy(&zero).contains(r#""args":{"z":-0.0,"y":-0.0}"#));
}

#[test]
fn equal_names_are_all_kept() {
    let shown =
        one(r#"{"time":"2026-01-02T15:04:05Z","msg":"m","id":7,"id":8,"id_2":9,"message":"n","":1,"":2}"#);
    assert_eq!(
        shown["args"],
        json!({ "message": "n", "msg": "m", "id": 7, "id_2": 8, "id_2_2": 9, "": 1, "_2": 2 })
    );
}

#[test]
fn more_fields_than_arguments_are_kept() {
    let fields: String = (0..300).map(|n| format!(",\"f{n}\":{n}")).collect();
    let shown = one(&format!("{{\"time\":\"2026-01-02T15:04:05Z\",\"msg\":\"m\"{fields}}}"));
    assert_eq!(shown["args"]["f252"], 252);
    let more = shown["args"]["more"].as_object().unwrap();
    assert_eq!((more.len(), &more["f299"]), (300 - 253, &json!(299)));
}

#[test]
fn deep_values_are_whole() {
    for depth in [33, 100, 126] {
        let deep = format!("{}7{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!("{{\"time\":\"2026-01-02T15:04:05Z\",\"msg\":\"m\",\"v\":{deep}}}");
        let lines = with_reader("jsonl", text.as_bytes(), |reader| {
            with_writer("jsonl", false, |writer| {
                silverpoint_convert::copy::<Failed>(reader, writer, |error| Err(error.into())).unwrap();
            })
        });
        assert!(String::from_utf8(lines).unwrap().contains(&format!("\"v\":{deep}}}")));
        let exact = convert("jsonl", text.as_bytes(), "jsonl").unwrap();
        assert_eq!(all("jsonl", &exact), all("jsonl", text.as_bytes()));
    }
    let text = format!("{{\"time\":\"2026-01-02T15:04:05Z\",\"v\":{}7{}}}", "[".repeat(130), "]".repeat(130));
    let error = convert("jsonl", text.as_bytes(), "jsonl").unwrap_err().to_string();
    assert!(error.contains("nested deeper than 128"), "{error}");
}

#[test]
fn pino_and_bunyan() {
    let shown = check(
        r#"{"level":40,"time":1767366245123,"pid":4312,"hostname":"web-1","name":"shop","req":{"method":"GET","url":"/"},"responseTime":12.5,"msg":"slow","err":{"type":"Error","stack":"Error\n at f"}}"#,
        MS,
        "warn",
        "slow",
        json!({ "hostname": "web-1", "req": { "method": "GET", "url": "/" }, "responseTime": 12.5, "err": { "type": "Error", "stack": "Error\n at f" } }),
    );
    assert_eq!((&shown["pid"], &shown["category"]), (&json!(4312), &json!("shop")));
    let shown = check(
        r#"{"name":"api","hostname":"h","pid":7,"level":30,"msg":"hi","time":"2026-01-02T15:04:05.123Z","v":0}"#,
        MS,
        "info",
        "hi",
        json!({ "hostname": "h", "v": 0 }),
    );
    assert_eq!(shown["category"], "api");
    // A name beside nothing of the kind is an argument.
    check(
        r#"{"time":"2026-01-02T15:04:05Z","level":"info","msg":"hi","name":"ada","event":"login"}"#,
        TIME,
        "info",
        "hi",
        json!({ "name": "ada", "event": "login" }),
    );
}

#[test]
fn winston_logrus_zerolog_zap_and_slog() {
    check(
        r#"{"level":"verbose","message":"m","service":"user","timestamp":"2026-01-02T15:04:05.123Z"}"#,
        MS,
        "debug",
        "m",
        json!({ "level": "verbose", "service": "user" }),
    );
    let shown = check(
        r#"{"file":"/src/main.go:42","func":"main.main","level":"warning","msg":"m","time":"2026-01-02T16:04:05+01:00","size":10}"#,
        TIME,
        "warn",
        "m",
        json!({ "size": 10 }),
    );
    assert_eq!((&shown["file"], &shown["line"]), (&json!("/src/main.go"), &json!(42)));
    assert_eq!(shown["function"], "main.main");
    check(
        r#"{"level":"panic","time":1767366245,"caller":"/a/b.go:7","error":"EOF","message":"m"}"#,
        TIME,
        "fatal",
        "m",
        json!({ "level": "panic", "error": "EOF" }),
    );
    let shown = check(
        r#"{"level":"dpanic","ts":1767366245.123,"logger":"db","caller":"pkg/a.go:9","msg":"m","stacktrace":"x\ny","n":18446744073709551615}"#,
        MS,
        "fatal",
        "m",
        json!({ "level": "dpanic", "stacktrace": "x\ny", "n": u64::MAX }),
    );
    assert_eq!(
        (&shown["category"], &shown["file"], &shown["line"]),
        (&json!("db"), &json!("pkg/a.go"), &json!(9))
    );
    let shown = check(
        r#"{"L":"INFO","T":"2026-01-02T15:04:05.123Z","N":"n","C":"a.go:3","M":"m","k":1}"#,
        MS,
        "info",
        "m",
        json!({ "k": 1 }),
    );
    assert_eq!((&shown["category"], &shown["line"]), (&json!("n"), &json!(3)));
    let shown = check(
        r#"{"time":"2026-01-02T15:04:05.123456789Z","level":"DEBUG-4","source":{"function":"main.f","file":"/a.go","line":12},"msg":"m","d":5000000}"#,
        "2026-01-02T15:04:05.123456789Z",
        "trace",
        "m",
        json!({ "level": "DEBUG-4", "d": 5000000 }),
    );
    assert_eq!((&shown["function"], &shown["line"]), (&json!("main.f"), &json!(12)));
}

#[test]
fn log4j_and_ecs() {
    let shown = check(
        r#"{"instant":{"epochSecond":1767366245,"nanoOfSecond":123456789},"thread":"main","level":"FATAL","loggerName":"a.B","message":"m","endOfBatch":false,"threadId":1,"threadPriority":5,"contextMap":{"k":"v"}}"#,
        "2026-01-02T15:04:05.123456789Z",
        "fatal",
        "m",
        json!({ "endOfBatch": false, "threadPriority": 5, "contextMap": { "k": "v" } }),
    );
    assert_eq!(
        (&shown["thread"], &shown["category"], &shown["tid"]),
        (&json!("main"), &json!("a.B"), &json!(1))
    );
    check(r#"{"timeMillis":1767366245123,"level":"INFO","message":"m"}"#, MS, "info", "m", json!({}));
    let shown = check(
        r#"{"@timestamp":"2026-01-02T15:04:05.123Z","log.level":"ERROR","message":"m","ecs.version":"1.2.0","service.name":"shop","event.dataset":"d","process.thread.name":"w","log.logger":"a.B","error.type":"E","trace.id":"4bf9"}"#,
        MS,
        "error",
        "m",
        json!({ "ecs.version": "1.2.0", "event.dataset": "d", "error.type": "E", "trace.id": "4bf9" }),
    );
    assert_eq!(
        (&shown["process"], &shown["thread"], &shown["category"]),
        (&json!("shop"), &json!("w"), &json!("a.B"))
    );
    let shown = check(
        r#"{"@timestamp":"2026-01-02T15:04:05.123Z","log":{"level":"warn","logger":"l","origin":{"file":{"name":"a.c","line":3},"function":"f"},"x":1},"message":"m","process":{"pid":9,"thread":{"name":"t","id":8},"args":["a"]}}"#,
        MS,
        "warn",
        "m",
        json!({ "log": { "x": 1 }, "process": { "args": ["a"] } }),
    );
    assert_eq!((&shown["file"], &shown["line"], &shown["function"]), (&json!("a.c"), &json!(3), &json!("f")));
    assert_eq!((&shown["pid"], &shown["tid"], &shown["thread"]), (&json!(9), &json!(8), &json!("t")));
    check(
        r#"{"@timestamp":"2026-01-02T15:04:05.123Z","@version":"1","message":"m","logger_name":"a","thread_name":"t","level":"INFO","level_value":20000}"#,
        MS,
        "info",
        "m",
        json!({ "@version": "1", "level_value": 20000 }),
    );
}

#[test]
fn serilog() {
    check(
        r#"{"@t":"2026-01-02T15:04:05.1230000Z","@mt":"{User} paid {Amount:0.00} of {{}} {Missing}","@r":["7.50"],"@l":"Warning","User":"ada","Amount":7.5,"@i":"0f","@tr":"4bf9"}"#,
        MS,
        "warn",
        "ada paid 7.50 of {} {Missing}",
        json!({ "@mt": "{User} paid {Amount:0.00} of {{}} {Missing}", "@r": ["7.50"], "User": "ada", "Amount": 7.5, "@i": "0f", "@tr": "4bf9" }),
    );
    check(
        r#"{"@t":"2026-01-02T15:04:05.123Z","@m":"m","@x":"System.E: x\r\n at F"}"#,
        MS,
        "info",
        "m",
        json!({ "@x": "System.E: x\r\n at F" }),
    );
    check(
        r#"{"Timestamp":"2026-01-02T16:04:05.1230000+01:00","Level":"Verbose","MessageTemplate":"{@P}!","Properties":{"P":{"x":1},"SourceContext":"A.B"}}"#,
        MS,
        "trace",
        "{\"x\":1}!",
        json!({ "Level": "Verbose", "MessageTemplate": "{@P}!", "Properties": { "P": { "x": 1 }, "SourceContext": "A.B" } }),
    );
}

#[test]
fn python() {
    let shown = check(
        r#"{"asctime":"2026-01-02 15:04:05,123","created":1767366245.123,"levelname":"WARNING","levelno":30,"name":"app.db","message":"m","pathname":"/a.py","lineno":7,"funcName":"f","process":42,"processName":"MainProcess","thread":140735,"threadName":"MainThread","exc_info":null}"#,
        MS,
        "warn",
        "m",
        json!({ "asctime": "2026-01-02 15:04:05,123", "levelno": 30, "exc_info": null }),
    );
    assert_eq!(
        (&shown["category"], &shown["file"], &shown["line"]),
        (&json!("app.db"), &json!("/a.py"), &json!(7))
    );
    assert_eq!(
        (&shown["pid"], &shown["process"], &shown["thread"]),
        (&json!(42), &json!("MainProcess"), &json!("MainThread"))
    );
    check(
        r#"{"event":"m","level":"info","timestamp":"2026-01-02T15:04:05.123Z","order":{"id":1}}"#,
        MS,
        "info",
        "m",
        json!({ "order": { "id": 1 } }),
    );
    check(
        r#"{"text":"x\n","record":{"level":{"icon":"i","name":"SUCCESS","no":25},"message":"m","name":"n","line":3,"function":"f","time":{"repr":"2026-01-02 16:04:05.123000+01:00","timestamp":1767366245.123},"process":{"id":5,"name":"Main"},"extra":{"k":1}}}"#,
        MS,
        "info",
        "m",
        json!({ "text": "x\n", "record": { "level": { "icon": "i", "name": "SUCCESS", "no": 25 }, "time": { "timestamp": 1767366245.123 }, "extra": { "k": 1 } } }),
    );
}

#[test]
fn rust_and_mongodb() {
    let shown = check(
        r#"{"timestamp":"2026-01-02T15:04:05.123Z","level":"ERROR","fields":{"message":"m","n":7,"user":"ada"},"target":"a::b","filename":"src/a.rs","line_number":9,"threadName":"main","threadId":"ThreadId(1)","span":{"name":"s"}}"#,
        MS,
        "error",
        "m",
        json!({ "n": 7, "user": "ada", "threadId": "ThreadId(1)", "span": { "name": "s" } }),
    );
    assert_eq!(
        (&shown["category"], &shown["file"], &shown["line"]),
        (&json!("a::b"), &json!("src/a.rs"), &json!(9))
    );
    let shown = check(
        r#"{"t":{"$date":"2026-01-02T16:04:05.123+01:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"m","attr":{"n":1}}"#,
        MS,
        "info",
        "m",
        json!({ "s": "I", "id": 22943, "attr": { "n": 1 } }),
    );
    assert_eq!((&shown["category"], &shown["thread"]), (&json!("NETWORK"), &json!("listener")));
}

#[test]
fn cloud_services() {
    let shown = check(
        r#"{"severity":"CRITICAL","timestamp":"2026-01-02T15:04:05.123Z","jsonPayload":{"message":"m","order":7},"resource":{"type":"gce"},"sourceLocation":{"file":"a.js","line":"12","function":"f"},"insertId":"x","trace":"projects/p/traces/1"}"#,
        MS,
        "fatal",
        "m",
        json!({ "severity": "CRITICAL", "order": 7, "resource": { "type": "gce" }, "insertId": "x", "trace": "projects/p/traces/1" }),
    );
    assert_eq!((&shown["file"], &shown["line"]), (&json!("a.js"), &json!(12)));
    check(
        r#"{"severity":"INFO","textPayload":"m","timestamp":{"seconds":1767366245,"nanos":123000000},"labels":{"a":"b"}}"#,
        MS,
        "info",
        "m",
        json!({ "labels": { "a": "b" } }),
    );
    check(
        r#"{"timestamp":"2026-01-02T15:04:05Z","level":"WARN","message":"m","requestId":"79b4","type":"app.log"}"#,
        TIME,
        "warn",
        "m",
        json!({ "requestId": "79b4", "type": "app.log" }),
    );
    let events = r#"{"messageType":"DATA_MESSAGE","owner":"1","logEvents":[{"id":"a","timestamp":1767366245123,"message":"m"},{"id":"b","timestamp":1767366245124,"message":"n"}]}"#;
    let shown = self::shown("jsonl", events);
    assert_eq!(shown.len(), 2);
    assert_eq!(shown[0]["time"], MS);
    assert_eq!(
        shown[1]["args"],
        json!({ "message": "n", "id": "b", "messageType": "DATA_MESSAGE", "owner": "1" })
    );
}

#[test]
fn journald_docker_and_gelf() {
    let shown = check(
        r#"{"__REALTIME_TIMESTAMP":"1767366245123456","PRIORITY":"4","MESSAGE":"m","_PID":"77","_COMM":"sshd","SYSLOG_IDENTIFIER":"sshd","CODE_FILE":"a.c","CODE_LINE":"5","CODE_FUNC":"f","__CURSOR":"s=1","_BOOT_ID":"b"}"#,
        "2026-01-02T15:04:05.123456000Z",
        "warn",
        "m",
        json!({ "SYSLOG_IDENTIFIER": "sshd", "__CURSOR": "s=1", "_BOOT_ID": "b" }),
    );
    assert_eq!((&shown["pid"], &shown["process"], &shown["line"]), (&json!(77), &json!("sshd"), &json!(5)));
    check(
        r#"{"__REALTIME_TIMESTAMP":"1767366245123000","PRIORITY":"1","MESSAGE":[195,164,7]}"#,
        MS,
        "fatal",
        "ä\u{7}",
        json!({ "PRIORITY": "1" }),
    );
    check(
        r#"{"log":"m\n","stream":"stderr","time":"2026-01-02T15:04:05.123Z"}"#,
        MS,
        "info",
        "m\n",
        json!({ "stream": "stderr" }),
    );
    check(
        r#"{"version":"1.1","host":"h","short_message":"m","full_message":"mm","timestamp":1767366245.123,"level":3,"_user":9}"#,
        MS,
        "error",
        "m",
        json!({ "version": "1.1", "host": "h", "full_message": "mm", "_user": 9 }),
    );
}

#[test]
fn opentelemetry() {
    let request = json!({ "resourceLogs": [{
        "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": "shop" } }, { "key": "host.name", "value": { "stringValue": "h" } }] },
        "scopeLogs": [{ "scope": { "name": "lib", "version": "2" }, "logRecords": [
            { "timeUnixNano": "1767366245123000000", "observedTimeUnixNano": "1767366245200000000", "severityNumber": 13, "severityText": "WARN",
              "body": { "stringValue": "m" }, "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "flags": 1,
              "attributes": [
                { "key": "n", "value": { "intValue": "9223372036854775807" } }, { "key": "d", "value": { "doubleValue": 0.5 } },
                { "key": "time", "value": { "stringValue": "later" } }, { "key": "b", "value": { "boolValue": true } },
                { "key": "list", "value": { "arrayValue": { "values": [{ "intValue": 1 }, { "stringValue": "x" }, {}] } } },
                { "key": "map", "value": { "kvlistValue": { "values": [{ "key": "k", "value": { "bytesValue": "AQI=" } }] } } },
                { "key": "code.line.number", "value": { "intValue": "12" } } ] },
            { "timeUnixNano": "0", "observedTimeUnixNano": 1767366245123000000_u64, "body": { "kvlistValue": { "values": [] } } },
        ] }],
    }] });
    let shown = shown("jsonl", &request.to_string());
    assert_eq!(shown.len(), 2);
    let first = &shown[0];
    assert_eq!(
        (&first["time"], &first["level"], &first["process"]),
        (&json!(MS), &json!("warn"), &json!("shop"))
    );
    assert_eq!((&first["category"], &first["line"]), (&json!("lib"), &json!(12)));
    assert_eq!(
        first["context"],
        json!({ "trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174" })
    );
    assert_eq!(
        first["args"],
        json!({ "message": "m", "observedTimeUnixNano": "1767366245200000000", "severityText": "WARN", "flags": 1,
            "n": i64::MAX, "d": 0.5, "time": "later", "b": true, "list": [1, "x", null], "map": { "k": "0102" },
            "resource": { "host.name": "h" }, "scope": { "version": "2" } })
    );
    assert_eq!((&shown[1]["time"], &shown[1]["args"]["message"]), (&json!(MS), &json!({})));
    assert_eq!(shown[1]["args"]["timeUnixNano"], "0");
    let spans = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"ab","spanId":"cd","name":"GET","kind":2,"startTimeUnixNano":"1767366245123000000","endTimeUnixNano":"1767366245124000000"}]}]}]}"#;
    let span = one(spans);
    assert_eq!(
        (&span["time"], &span["context"]),
        (&json!(MS), &json!({ "trace_id": "ab", "span_id": "cd" }))
    );
    assert_eq!(span["args"], json!({ "name": "GET", "kind": 2, "endTimeUnixNano": "1767366245124000000" }));
    // Requests without a record, however many.
    let many = "{\"resourceLogs\":[]}\n".repeat(50_000);
    assert!(all("jsonl", many.as_bytes()).is_empty());
}

#[test]
fn tables_and_other_formats_know_the_same_names() {
    let table = "ts,severity,msg,pid,n\n1767366245.123,WARNING,m,9,7\n";
    let shown = shown("csv", table);
    assert_eq!(
        (&shown[0]["time"], &shown[0]["level"], &shown[0]["pid"]),
        (&json!(MS), &json!("warn"), &json!(9))
    );
    assert_eq!(shown[0]["args"], json!({ "message": "m", "n": 7 }));
    let cells = "ts\tlevel\tmsg\n1767366245.123\t40\t\"m\"\n";
    assert_eq!(self::shown("tsv", cells)[0]["level"], "warn");
    let marked = "\u{FEFF}{\"time\":1767366245123,\"msg\":\"m\"}\n";
    assert_eq!(self::shown("jsonl", marked)[0]["time"], MS);
    assert_eq!(self::shown("json", &format!("\u{FEFF}[{}]", r#"{"time":1767366245123}"#))[0]["time"], MS);
    assert_eq!(self::shown("tsv", &format!("\u{FEFF}{cells}"))[0]["time"], MS);
}
