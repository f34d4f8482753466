//! What is malformed: where, what was found, what was expected.

use silverpoint_convert::{Formats, ReadError};

use crate::support::{all, convert, with_reader};

fn error(format: &str, bytes: &[u8]) -> ReadError {
    match convert(format, bytes, "cbor") {
        Err(error) => *error.downcast::<ReadError>().unwrap(),
        Ok(_) => panic!("{format} was read"),
    }
}

#[test]
fn a_wrong_value_is_told_with_its_place() {
    let line =
        r#"{"time":"2026-11-20T19:02:11Z","template":"t","signature":"<|x:[i,>","args":[{"x":[1,true]}]}"#;
    let text = format!("{}\n{line}\n", r#"{"time":"2026-11-20T19:02:11Z"}"#);
    let error = error("jsonl", text.as_bytes());
    assert_eq!(error.path, "[1].args[0].x[1]");
    assert_eq!(error.place.line, 2);
    assert_eq!(error.place.column as usize, line.find("true").unwrap() + 1);
    assert_eq!(error.place.offset as usize, text.find("true").unwrap());
    assert!(error.may_go_on);
    let told = error.to_string();
    assert!(told.contains("found true") && told.contains("expected an integer"), "{told}");
}

#[test]
fn broken_text_is_told_with_its_place_and_passed_over() {
    let text = "{\"time\":\"2026-11-20T19:02:11Z\",\"a\":[1,}\n{\"time\":\"2026-11-20T19:02:12Z\"}\n";
    let error = error("jsonl", text.as_bytes());
    assert_eq!((error.path.as_str(), error.found.as_str()), ("[0].a[1]", "'}'"));
    assert_eq!(error.place.offset as usize, text.find("}").unwrap());
    let (mut errors, mut records) = (0, 0);
    with_reader("jsonl", text.as_bytes(), |reader| {
        loop {
            match reader.advance() {
                Ok(true) => records += 1,
                Ok(false) => break,
                Err(error) => {
                    assert!(error.may_go_on);
                    errors += 1;
                }
            }
        }
    });
    assert_eq!((errors, records), (1, 1));
}

/// Of three records the middle one has a date-time that is none, in every format that is read.
#[test]
fn every_reader_tells_where_it_is_and_goes_on() {
    let line =
        |second: u8| format!("{{\"time\":\"2026-11-20T19:02:1{second}Z\",\"a\":7,\"message\":\"ä\"}}\n");
    let lines: String = [1, 2, 3].map(line).concat();
    for format in Formats::default().all().iter().filter(|format| format.reader.is_some()) {
        let mut bytes = convert("jsonl", lines.as_bytes(), format.name).unwrap();
        let time = b"2026-11-20T19:02:12";
        let at = bytes.windows(time.len()).position(|window| window == time).unwrap();
        bytes[at] = b'x';
        let (mut errors, mut records) = (Vec::new(), 0);
        with_reader(format.name, &bytes, |reader| {
            loop {
                match reader.advance() {
                    Ok(true) => records += 1,
                    Ok(false) => break,
                    Err(error) => {
                        assert!(error.may_go_on, "{}: {error}", format.name);
                        errors.push(error);
                    }
                }
            }
        });
        assert_eq!((records, errors.len()), (2, 1), "{}", format.name);
        let error = &errors[0];
        assert_eq!(error.path, "[1].time", "{}", format.name);
        assert!(
            error.found.starts_with("the text \"x026-11-20T19:02:12"),
            "{}: {}",
            format.name,
            error.found
        );
        assert!(error.expected.contains("date-time"), "{}: {error}", format.name);
        // The value begins a little before its text: a quote, a head, a tag.
        let offset = error.place.offset as usize;
        assert!((at - 24..=at).contains(&offset), "{}: {offset}, and the text at {at}", format.name);
        let before = &bytes[..offset];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count() as u64;
        let expected = if format.name == "cbor" { (0, 0) } else { (line, column) };
        assert_eq!((error.place.line, error.place.column), expected, "{}", format.name);
        assert!(format.name == "json" || format.name == "cbor" || line > 1, "{}", format.name);
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = "[".repeat(100_000);
    assert!(error("jsonl", format!("{{\"a\":{deep}").as_bytes()).found.contains("nested deeper"));
    let mut cbor = vec![0x81; 100_000];
    cbor.push(1);
    assert!(error("cbor", &cbor).found.contains("nested deeper"));
}

#[test]
fn lengths_are_not_trusted() {
    // A text, bytes, an array, a map of 4 GB that end at once.
    for major in [2_u8, 3, 4, 5] {
        let bytes = [0xA1, 0x61, b'a', major << 5 | 26, 0xFF, 0xFF, 0xFF, 0xFF, 0x00];
        let error = error("cbor", &bytes);
        assert!(error.found.contains("the end of the input"), "{error}");
    }
}

#[test]
fn an_empty_input_has_no_records() {
    for format in ["jsonl", "json", "cbor", "tsv", "csv"] {
        assert!(all(format, b"").is_empty());
    }
    assert!(all("json", b" [ ] ").is_empty());
    assert!(error("json", b"[{\"time\":\"2026-11-20T19:02:11Z\"}] x").expected.contains("nothing after"));
}

#[test]
fn xml_tells_where_and_knows_no_document_types() {
    let text = "<?xml version=\"1.0\"?>\n<silverpoint>\n<record><list name=\"args\"><int>seven</int></list></record>";
    let wrong = error("xml", text.as_bytes());
    assert_eq!((wrong.path.as_str(), wrong.place.line), ("[0].args[0]", 3));
    assert!(wrong.found.contains("seven"));
    assert!(error("xml", b"<!DOCTYPE a [<!ENTITY b \"c\">]><a/>").expected.contains("document types"));
    assert!(error("xml", b"<silverpoint><record><int name=\"x\">1</text>").expected.contains("</int>"));
    let deep = format!("<silverpoint>{}", "<list name=\"a\">".repeat(10_000));
    assert!(error("xml", deep.as_bytes()).found.contains("nested deeper"));
}

#[test]
fn tsv_tells_column_and_line() {
    let text = "time\tx\n\"2026-11-20T19:02:11Z\"\t[1,}\n\"2026-11-20T19:02:11Z\"\n";
    let wrong = error("tsv", text.as_bytes());
    assert_eq!((wrong.path.as_str(), wrong.place.line, wrong.found.as_str()), ("[0].x[1]", 2, "'}'"));
    let short = error("tsv", b"time\tx\n\"2026-11-20T19:02:11Z\"\n");
    assert_eq!((short.found.as_str(), &*short.expected), ("1 cells", "as many as there are columns: 2"));
}

#[test]
fn csv_tells_where_behind_quotes_and_line_breaks() {
    // Each quote of the JSON stands there twice, and a line break stands in a cell before it.
    let head = "time,kind,template,signature,args\r\n";
    let row = "2026-11-20T19:02:11Z,event,\"two\r\nlines\",\"<|x:[i,>\",\"[{\"\"x\"\":[1,true]}]\"\r\n";
    let text = format!("{head}{row}");
    let wrong = error("csv", text.as_bytes());
    assert_eq!(wrong.path, "[0].args[0].x[1]");
    assert_eq!(wrong.place.offset as usize, text.find("true").unwrap());
    assert_eq!(wrong.place.line, 3);
    let line = text.split("\r\n").nth(2).unwrap();
    assert_eq!(wrong.place.column as usize, line.find("true").unwrap() + 1);
    assert!(wrong.found.contains("true") && wrong.may_go_on, "{wrong}");

    let broken = text.replace("[1,true]}]", "[1,");
    let wrong = error("csv", broken.as_bytes());
    assert_eq!(wrong.found, "the end of the cell");
    assert_eq!(wrong.place.offset as usize, broken.find("[1,\"").unwrap() + 3);
}

#[test]
fn csv_goes_on_after_what_is_damaged() {
    let good = "2026-11-20T19:02:11Z,7\r\n";
    let cases = [
        ("2026-11-20T19:02:11Z\r\n", "1 cells", "as many as there are columns: 2"),
        ("2026-11-20T19:02:11Z,7,8\r\n", "3 cells", "as many as there are columns: 2"),
        ("2026-11-20T19:02:11Z,\"7\"8\r\n", "'8'", "a comma or the end of the row"),
        ("yesterday,7\r\n", "\"yesterday\"", "a date-time, or seconds"),
        ("2026-11-20T19:02:11Z,\u{7}\u{80}\r\n", "", ""),
    ];
    for (bad, found, expected) in cases {
        let text = format!("time,x\r\n{good}{bad}{good}");
        let (mut errors, mut records) = (Vec::new(), 0);
        with_reader("csv", text.as_bytes(), |reader| {
            loop {
                match reader.advance() {
                    Ok(true) => records += 1,
                    Ok(false) => break,
                    Err(error) => {
                        assert!(error.may_go_on, "{error}");
                        assert_eq!(error.place.line, 3, "{error}");
                        errors.push(error);
                    }
                }
            }
        });
        if found.is_empty() {
            assert_eq!((errors.len(), records), (0, 3));
            continue;
        }
        assert_eq!((errors.len(), records), (1, 2), "{bad}");
        assert!(errors[0].found.contains(found) && errors[0].expected.contains(expected), "{}", errors[0]);
    }
    let open = error("csv", b"time,x\n\"2026-11-20T19:02:11Z\",\"open\n\n");
    assert_eq!(
        (open.found.as_str(), &*open.expected),
        ("the end of the input", "the quote that closes the cell")
    );
    let bytes = error("csv", b"time,x\n2026-11-20T19:02:11Z,\xFF\n");
    assert_eq!((bytes.found.as_str(), bytes.place.offset), ("the byte 0xff", 28));
    assert!(error("csv", b"a,b\n1,2\n").found.contains("without the column `time`"));
    assert!(error("csv", b"time,x,x\n").found.contains("for the second time"));
}
