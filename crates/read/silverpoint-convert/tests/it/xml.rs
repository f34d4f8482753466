//! XML that others wrote: what is well-formed is read, what is not is refused where it stands. And bytes that are no UTF-8, in every format of text.

use silverpoint_convert::{Formats, ReadError};

use crate::support::{all, convert, with_reader};

fn record(elements: &str) -> String {
    format!(
        "<silverpoint version=\"1\"><record><time name=\"time\">2026-01-01T00:00:00Z</time>{elements}</record></silverpoint>"
    )
}

fn error(format: &str, bytes: &[u8]) -> ReadError {
    match convert(format, bytes, "cbor") {
        Err(error) => *error.downcast::<ReadError>().unwrap(),
        Ok(_) => panic!("{} was read", String::from_utf8_lossy(bytes)),
    }
}

/// The message of the one record.
fn message(text: &str) -> String {
    let line = String::from_utf8(convert("xml", text.as_bytes(), "jsonl").unwrap()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    value["args"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn marks_comments_and_instructions_are_passed_over() {
    for (text, expected) in [
        ("a", "a"),
        ("a<!-- c -->b", "ab"),
        ("<!-- - -->a<?x y?>b<!---->", "ab"),
        ("a&#x20AC;]] &gt; <!-- <int> & -->]]&gt;", "a€]] > ]]>"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("tab\t&#13;", "tab\t\r"),
    ] {
        let whole = record(&format!("<text name=\"message\">{text}</text>"));
        assert_eq!(message(&whole), expected, "{text}");
        assert_eq!(message(&format!("\u{FEFF}{whole}")), expected, "{text}");
        let among = whole
            .replace("<record>", "<!-- a --><record ><!-- b -->")
            .replace("</record>", "<?c?></record\n>");
        assert_eq!(
            message(&format!("<?xml version='1.0'?>\n<!-- x -->{among}<!-- y -->\n")),
            expected,
            "{text}"
        );
    }
}

#[test]
fn what_is_not_well_formed_is_refused_where_it_stands() {
    for (elements, at, expected) in [
        ("<text name=\"x\" name=\"y\">a</text>", "name=\"y\"", "each attribute once"),
        ("<text name=\"x\"hex=\"true\">61</text>", "hex=", "a space before the attribute"),
        ("<text name=\"x\">a&#0;b</text>", "&#0;", "a reference"),
        ("<text name=\"x\">a&#xFFFE;b</text>", "&#xFFFE;", "a reference"),
        ("<text name=\"x\">a&#xD800;b</text>", "&#xD800;", "a reference"),
        ("<text name=\"x\">a&nbsp;b</text>", "&nbsp;", "a reference"),
        ("<text name=\"x\">b]]></text>", "></text>", "&gt; behind ]]"),
        ("<text name=\"x\">b]]]></text>", "></text>", "&gt; behind ]]"),
        ("<text name=\"x\">a\u{1}b</text>", "\u{1}", "a character that XML has"),
        ("<text name=\"x\">a\u{FFFE}b</text>", "\u{FFFE}", "a character that XML has"),
        ("<text name=\"a<b\">c</text>", "<b\"", "the end of the text"),
        ("<text name=\"x\">a<!-- b -- c --></text>", " c --", "`--` ends a comment"),
        ("<text name=\"x\">a<b>c</b></text>", "b>c<", "an element of text has no others"),
        ("<text name=\"x\">a<![CDATA[b]]></text>", "[CDATA", "--"),
    ] {
        let text = record(elements);
        let error = error("xml", text.as_bytes());
        assert_eq!(error.place.offset as usize, text.find(at).unwrap(), "{elements}: {error}");
        assert!(error.expected.contains(expected), "{elements}: {error}");
    }
}

#[test]
fn numbers_that_no_type_holds_are_refused() {
    let wide = "340282366920938463463374607431768211456";
    for (element, expected) in [
        (format!("<int name=\"x\">{wide}</int>"), "an integer that 128 bits hold"),
        (format!("<int name=\"x\">-{wide}</int>"), "an integer that 128 bits hold"),
        ("<float name=\"x\">1e400</float>".into(), "a float that 64 bits hold"),
        ("<int name=\"x\">seven</int>".into(), "a number"),
    ] {
        let text = record(&element);
        let error = error("xml", text.as_bytes());
        assert_eq!(&*error.expected, expected, "{element}: {error}");
        assert_eq!(error.place.offset as usize, text.find(&element).unwrap(), "{error}");
    }
    for number in ["340282366920938463463374607431768211455", "-170141183460469231731687303715884105728"] {
        let text = record(&format!("<int name=\"x\">{number}</int>"));
        let lines = String::from_utf8(convert("xml", text.as_bytes(), "jsonl").unwrap()).unwrap();
        assert!(lines.contains(&format!("\"x\":{number}")), "{lines}");
    }
}

/// The byte itself is reported, not where its text begins. It is so with escapes before it, line breaks,
/// quotes, and over the end of what is read at once.
#[test]
fn a_byte_that_is_no_utf_8_is_told_where_it_stands() {
    let long = "é".repeat(70_000);
    for before in ["", "ab", "aé", "tab\\t\\u00e9", &long] {
        for format in ["jsonl", "json", "tsv", "csv", "xml", "cbor"] {
            let plain = before.replace("\\t", "\t").replace("\\u00e9", "é");
            let line = serde_json::json!({ "time": "2026-01-01T00:00:00Z", "message": format!("{plain}@") })
                .to_string();
            let line = line.replace(&plain, before);
            let mut bytes = match format {
                "jsonl" => line.into_bytes(),
                "json" => format!("[{line}]").into_bytes(),
                "tsv" => format!("time\tmessage\n\"2026-01-01T00:00:00Z\"\t\"{before}@\"\n").into_bytes(),
                "csv" => format!("time,message\n2026-01-01T00:00:00Z,\"a\"\"\n{plain}@\"\n").into_bytes(),
                "xml" => record(&format!("<text name=\"message\">a&amp;\n{plain}@</text>")).into_bytes(),
                _ => convert("jsonl", line.as_bytes(), format).unwrap(),
            };
            for (bad, found) in
                [(&b"\xFF"[..], "the byte 0xff"), (b"\xC3", "the byte 0xc3"), (b"\xED\xA0", "the byte 0xed")]
            {
                let at = bytes.iter().rposition(|byte| *byte == b'@').unwrap();
                let mut broken = bytes.clone();
                if format == "cbor" && bad.len() > 1 {
                    continue;
                }
                broken.splice(at..=at, bad.iter().copied());
                let error = error(format, &broken);
                assert_eq!(
                    (error.place.offset as usize, error.found.as_str()),
                    (at, found),
                    "{format} {before:.20}: {error}"
                );
                if format != "cbor" {
                    let line_at = broken[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                    assert_eq!(error.place.column as usize, at - line_at + 1, "{format}: {error}");
                }
            }
            bytes.clear();
        }
    }
}

#[test]
fn every_format_of_text_is_read_behind_a_mark() {
    let line = "{\"time\":\"2026-11-20T19:02:11Z\",\"message\":\"ä\"}\n";
    for format in
        Formats::default().all().iter().filter(|format| format.reader.is_some() && format.name != "cbor")
    {
        let bytes = convert("jsonl", line.as_bytes(), format.name).unwrap();
        let marked = [b"\xEF\xBB\xBF", &bytes[..]].concat();
        assert_eq!(all(format.name, &marked), all(format.name, &bytes), "{}", format.name);
        with_reader(format.name, b"\xEF\xBB", |reader| assert!(reader.advance().is_err(), "{}", format.name));
    }
}
