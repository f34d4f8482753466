//! Tools that sort the members of maps change no value: names decide which argument is which.

use serde_json::{Map, Value, json};

use crate::support::{all, convert};

/// The same with the members of every map in the opposite order of their names.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|a, b| b.0.cmp(a.0));
            Value::Object(members.into_iter().map(|(k, v)| (k.clone(), reversed(v))).collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.iter().map(reversed).collect()),
        other => other.clone(),
    }
}

const RECORD: &str = r#"{"time":"2026-01-02T03:04:06.2Z","level":"info","process":"p","pid":7,"tid":3,"thread":"t","kind":"event","category":"c","file":"f.c","line":3,"function":"f","template":"mix","signature":"dl<P|z:d,a:l,>s","names":"z\na\np\nname\n","args":{"z":1.5,"a":2,"p":{"z":2.5,"a":3},"name":"n"}}"#;

#[test]
fn sorted_members_keep_their_types() {
    let records = all("jsonl", RECORD.as_bytes());
    let exact = convert("jsonl", RECORD.as_bytes(), "jsonl").unwrap();
    // serde_json sorts the members of its maps.
    let sorted: Value = serde_json::from_slice(&exact).unwrap();
    assert!(sorted.to_string().starts_with("{\"args\":{\"a\""));
    assert_eq!(all("jsonl", sorted.to_string().as_bytes()), records);
    // Text in the opposite order.
    let opposite: String = {
        let Value::Object(map) = reversed(&sorted) else { unreachable!() };
        let mut members: Vec<String> = map.iter().map(|(k, v)| format!("{}:{v}", json!(k))).collect();
        members.reverse();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(all("jsonl", opposite.as_bytes()), records);
}

#[test]
fn every_whole_format_tells_the_order_of_names() {
    let records = all("jsonl", RECORD.as_bytes());
    for format in ["jsonl", "json", "cbor", "tsv", "csv", "xml"] {
        let bytes = convert("jsonl", RECORD.as_bytes(), format).unwrap();
        assert_eq!(all(format, &bytes), records, "{format}");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("names"), "{format}: {text}");
    }
}

#[test]
fn sorted_members_without_names_are_refused_where_types_differ() {
    let sorted = |signature: &str| {
        let mut record: Value = serde_json::from_str(RECORD).unwrap();
        let map = record.as_object_mut().unwrap();
        map.remove("names");
        map.insert("signature".into(), signature.into());
        map.insert("args".into(), json!({ "a": 2, "z": 1 }));
        record.to_string()
    };
    let error = convert("jsonl", sorted("dl").as_bytes(), "silver").unwrap_err().to_string();
    assert!(error.contains("in another order") && error.contains("`names`"), "{error}");
    assert_eq!(all("jsonl", sorted("ll").as_bytes()).len(), 1);
}

#[test]
fn names_that_do_not_fit_the_arguments_are_told() {
    let wrong = |names: &str| {
        let text = RECORD.replace(r"z\na\np\nname\n", names);
        convert("jsonl", text.as_bytes(), "silver").unwrap_err().to_string()
    };
    assert!(wrong(r"z\nb\np\nname\n").contains("no argument \"b\""));
    assert!(wrong(r"z\na\np\n").contains(".args.name"));
}

#[test]
fn a_signature_that_cannot_be_read_is_told_where_it_stands() {
    for signature in ["{ll}", "?", "<P|a:l", "ll)"] {
        let text = format!(
            r#"{{"time":"2026-01-01T00:00:00Z","template":"ev","kind":"event","signature":"{signature}","args":{{"m":[[1,2]]}}}}"#
        );
        let error = convert("jsonl", text.as_bytes(), "silver").unwrap_err();
        let error = error.downcast::<silverpoint_convert::ReadError>().unwrap();
        assert_eq!(error.path, "[0].signature", "{error}");
        assert!(error.found.contains(signature) && error.expected.contains("signature"), "{error}");
        assert_eq!(error.place.offset as usize, text.find(&format!("\"{signature}\"")).unwrap());
    }
}

#[test]
fn equal_names_of_arguments_come_back() {
    let text = r#"{"time":"2026-01-01T00:00:02Z","kind":"event","template":"move","signature":"ls","names":"id\nid\n","args":[7,"x"]}"#;
    let records = all("jsonl", text.as_bytes());
    for format in ["jsonl", "json", "cbor", "tsv", "csv", "xml", "silver"] {
        let bytes = convert("jsonl", text.as_bytes(), format).unwrap();
        assert_eq!(all(format, &bytes), records, "{format}");
    }
    let usual = r#"{"time":"2026-01-01T00:00:02Z","kind":"event","template":"move","args":{"id":7,"id":8}}"#;
    let exact = String::from_utf8(convert("jsonl", usual.as_bytes(), "jsonl").unwrap()).unwrap();
    assert!(exact.contains(r#""names":"id\nid\n""#) && exact.contains(r#""args":[7,8]"#), "{exact}");
    let chrome = String::from_utf8(convert("jsonl", usual.as_bytes(), "chrome").unwrap()).unwrap();
    assert!(chrome.contains(r#""id":7,"id_2":8"#), "{chrome}");
}
