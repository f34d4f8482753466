//! What is written is what was recorded: read back by Arrow's own readers, and by the engines of others where they are there.

use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use silverpoint_arrow::{ArrowWriter, Form};
use silverpoint_convert::json::{JsonReader, JsonWriter, Shape};
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Input, Reader, WriteError, Writer};
use silverpoint_query::filter::Filter;
use silverpoint_trace::Trace;
use tempfile::TempDir;

/// A folder that goes with the test.
fn scratch() -> TempDir {
    TempDir::with_prefix("silverpoint-arrow-").unwrap()
}

const FORMS: [Form; 3] = [Form::Parquet, Form::Arrow, Form::Stream];

/// Writes everything that a reader has.
fn write(reader: &mut dyn Reader, path: &Path, form: Form, event: Option<&str>) -> Result<(), WriteError> {
    let out = File::create(path).unwrap();
    let mut writer = match event {
        Some(event) => ArrowWriter::event(out, form, event),
        None => ArrowWriter::records(out, form),
    };
    while reader.advance().unwrap() {
        writer.write(&reader.record().unwrap())?;
    }
    Ok(writer.finish()?)
}

fn read(path: &Path, form: Form) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    match form {
        Form::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            reader.map(Result::unwrap).collect()
        }
        Form::Arrow => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        Form::Stream => StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
    }
}

/// A column as texts.
fn column(batches: &[RecordBatch], name: &str) -> Vec<Option<String>> {
    let mut all = Vec::new();
    for batch in batches {
        let array = batch.column_by_name(name).unwrap();
        for row in 0..array.len() {
            all.push(array.is_valid(row).then(|| match array.data_type() {
                DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
                DataType::Boolean => array.as_boolean().value(row).to_string(),
                DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
                DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
                DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
                DataType::Binary => format!("{:?}", array.as_binary::<i32>().value(row)),
                DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
                    array.as_primitive::<TimestampMicrosecondType>().value(row).to_string()
                }
                other => panic!("{name}: {other}"),
            }));
        }
    }
    all
}

fn vector(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
    Trace::open(&[folder.join(name)]).unwrap()
}

fn lines(text: &str) -> JsonReader {
    JsonReader::new(Input::new(Box::new(Cursor::new(text.to_owned()))), 1)
}

#[test]
fn every_type_of_value_stands_in_the_tables_as_in_json_lines() {
    let scratch = scratch();
    for name in ["every-type.raw.silver", "gap-and-notes.raw.silver", "wide-numbers.compact.silver"] {
        let trace = vector(name);
        let mut reader = TraceReader::new(&trace, &Filter::default(), 0);
        let mut text = Vec::new();
        let (mut times, mut levels) = (Vec::new(), Vec::new());
        let mut json = JsonWriter::new(&mut text, Shape::Lines, false);
        while reader.advance().unwrap() {
            let record = reader.record().unwrap();
            times.push(Some(record.wall_ns.to_string()));
            levels.push(Some(record.what.level().name().to_owned()));
            json.write(&record).unwrap();
        }
        json.finish().unwrap();
        drop(json);
        let text = String::from_utf8(text).unwrap();
        assert!(!times.is_empty(), "{name}");
        for form in FORMS {
            let path = scratch.path().join("out");
            let mut reader = TraceReader::new(&trace, &Filter::default(), 0);
            write(&mut reader, &path, form, None).unwrap();
            let batches = read(&path, form);
            assert_eq!(column(&batches, "time_ns"), times, "{name} {form:?}");
            let number = |text: Option<String>| text.unwrap().parse::<i64>().unwrap();
            let micros = column(&batches, "time").into_iter().map(number);
            assert!(
                micros.eq(times.iter().cloned().map(|ns| number(ns).div_euclid(1000))),
                "{name} {form:?}"
            );
            assert_eq!(column(&batches, "level"), levels);
            // Arguments are the same JSON, letter by letter.
            let args = column(&batches, "args");
            for (line, args) in text.lines().zip(&args) {
                if let Some(args) = args.as_ref().filter(|args| *args != "{}") {
                    assert!(line.contains(&format!("\"args\":{args}")), "{name}: {args} is not in {line}");
                }
            }
            assert_eq!(text.lines().count(), args.len());
        }
    }
}

/// Two records of `order`, whose arguments stand in another order in the second; and another record.
const ORDERS: &str = r#"{"time":"2026-11-20T19:02:11Z","level":"info","pid":7,"process":"app","tid":7,"thread":"main","kind":"event","template":"order","args":{"id":7,"px":2.5,"who":"ada","ok":true,"legs":[1,2]}}
{"time":"2026-11-20T19:02:12Z","level":"warn","pid":7,"process":"app","tid":8,"thread":"work","message":"second"}
{"time":"2026-11-20T19:02:13Z","level":"info","pid":7,"process":"app","tid":8,"thread":"work","kind":"event","template":"order","line":5,"args":{"who":"bob","id":8,"px":3.5,"ok":false}}
"#;

#[test]
fn an_event_has_typed_columns() {
    let scratch = scratch();
    for form in FORMS {
        let path = scratch.path().join("out");
        write(&mut lines(ORDERS), &path, form, Some("order")).unwrap();
        let batches = read(&path, form);
        let of = |name: &str| column(&batches, name);
        let some = |texts: [&str; 2]| texts.map(|text| Some(text.to_owned())).to_vec();
        assert_eq!(of("id"), some(["7", "8"]));
        assert_eq!(of("px"), some(["2.5", "3.5"]));
        assert_eq!(of("who"), some(["ada", "bob"]));
        assert_eq!(of("ok"), some(["true", "false"]));
        assert_eq!(of("legs"), [Some("[1,2]".to_owned()), None]);
        assert_eq!(of("thread"), some(["main", "work"]));
        let schema = batches[0].schema();
        let ty = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
        assert_eq!((ty("id"), ty("px"), ty("ok")), (DataType::Int64, DataType::Float64, DataType::Boolean));
    }
}

#[test]
fn what_an_event_cannot_hold_is_said() {
    let scratch = scratch();
    let path = scratch.path().join("out");
    let nobody = write(&mut lines(ORDERS), &path, Form::Parquet, Some("nobody")).unwrap_err();
    assert_eq!(nobody.to_string(), "there is no record of this name");
    for args in ["{\"id\":\"text\"}", "{\"id\":9,\"more\":1}"] {
        let line = format!(
            "{{\"time\":\"2026-11-20T19:02:14Z\",\"kind\":\"event\",\"template\":\"order\",\"file\":\"a.rs\",\"line\":9,\"args\":{args}}}\n"
        );
        let error =
            write(&mut lines(&format!("{ORDERS}{line}")), &path, Form::Arrow, Some("order")).unwrap_err();
        let WriteError::CannotHold(why) = error else { panic!("{error}") };
        assert!(why.starts_with("a.rs:9: the argument '"), "{why}");
    }
    // An empty input is an empty table all the same.
    for form in FORMS {
        write(&mut lines(""), &path, form, None).unwrap();
        assert_eq!(read(&path, form).iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    }
}

#[test]
fn batches_end_and_begin() {
    const COUNT: usize = 20_000;
    let scratch = scratch();
    let line = |n| {
        format!(
            "{{\"time\":\"2026-11-20T19:02:11Z\",\"kind\":\"event\",\"template\":\"n\",\"args\":{{\"n\":{n}}}}}\n"
        )
    };
    let text: String = (0..COUNT).map(line).collect();
    for form in FORMS {
        let path = scratch.path().join("out");
        write(&mut lines(&text), &path, form, Some("n")).unwrap();
        let batches = read(&path, form);
        assert!(batches.len() > 1);
        let numbers = column(&batches, "n");
        assert!(numbers.into_iter().map(Option::unwrap).eq((0..COUNT).map(|n| n.to_string())));
    }
}

/// An event with arguments of all types of columns; in its second record a time is missing.
const TYPES: &str = r#"{"time":"2026-11-20T19:02:11.123456789Z","level":"warn","pid":7,"process":"app","tid":7,"thread":"main","kind":"event","template":"all","file":"a.rs","line":3,"signature":"lLdby?tTps[lsiu","names":"n\nbig\nx\nok\nraw\nat\ntook\nwhere\nwho\nlist\nLevel\nN\nkey\n","args":{"n":-7,"big":9223372036854775807,"x":1.5,"ok":true,"raw":"0102","at":"2026-11-20T19:02:11.123456789Z","took":1500,"where":"0xffffffffffffffff","who":"ada","list":[1,2],"Level":"own","N":8,"key":"00112233-4455-6677-8899-aabbccddeeff"}}
{"time":"2026-11-20T19:02:11.5Z","level":"warn","pid":7,"process":"app","tid":7,"thread":"main","kind":"event","template":"all","file":"a.rs","line":3,"signature":"lLdby?tTps[lsiu","names":"n\nbig\nx\nok\nraw\nat\ntook\nwhere\nwho\nlist\nLevel\nN\nkey\n","args":{"n":-7,"big":9223372036854775807,"x":1.5,"ok":true,"raw":"0102","at":null,"took":1500,"where":"0xffffffffffffffff","who":"ada","list":[1,2],"Level":"own","N":8,"key":"00112233-4455-6677-8899-aabbccddeeff"}}
"#;

#[test]
fn columns_have_types_that_every_engine_reads() {
    use parquet::basic::{LogicalType, TimeUnit, Type};
    let scratch = scratch();
    let path = scratch.path().join("out");
    for event in [None, Some("all")] {
        write(&mut lines(TYPES), &path, Form::Parquet, event).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let metadata = reader.metadata().file_metadata();
        let version: Vec<_> = metadata
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|pair| (pair.key.as_str(), pair.value.as_deref()))
            .collect();
        assert!(version.contains(&("silverpoint.schema", Some("2"))), "{version:?}");
        for column in metadata.schema_descr().columns() {
            // Spark's documentation of Parquet: nanoseconds need a legacy option, unsigned 64 bits become decimals.
            let is_known = match (column.physical_type(), column.logical_type_ref()) {
                (Type::BOOLEAN | Type::INT64 | Type::DOUBLE | Type::BYTE_ARRAY, None)
                | (Type::BYTE_ARRAY, Some(LogicalType::String)) => true,
                (Type::INT64, Some(LogicalType::Timestamp(of))) => {
                    of.is_adjusted_to_u_t_c && of.unit == TimeUnit::MICROS
                }
                (Type::INT32, Some(LogicalType::Integer(of))) => of.bit_width == 32 && !of.is_signed,
                _ => false,
            };
            assert!(is_known, "{column:?}");
        }
    }
    let names_of = |form| {
        write(&mut lines(TYPES), &path, form, Some("all")).unwrap();
        let batches = read(&path, form);
        let schema = batches[0].schema();
        // The reader of Parquet leaves the metadata in the footer, which is looked at above.
        if form != Form::Parquet {
            assert_eq!(
                schema.metadata().get("silverpoint.schema").map(String::as_str),
                Some("2"),
                "{form:?}"
            );
        }
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let values: Vec<_> =
            names[8..].iter().map(|name| column(&batches, name)[0].clone().unwrap()).collect();
        assert!([&names[13], &names[14]].iter().all(|name| column(&batches, name)[1].is_none()), "{form:?}");
        (names, values)
    };
    for form in FORMS {
        let (names, values) = names_of(form);
        assert_eq!(names[..8], ["time", "time_ns", "level", "severity", "process", "pid", "tid", "thread"]);
        let own = [
            "n",
            "big",
            "x",
            "ok",
            "raw",
            "at",
            "at_ns",
            "took",
            "where",
            "who",
            "list",
            "arg_Level",
            "arg_N",
            "key",
        ];
        assert_eq!(names[8..], own);
        let expected = [
            "-7",
            "9223372036854775807",
            "1.5",
            "true",
            "[1, 2]",
            "1795201331123456",
            "1795201331123456789",
            "1500",
            "0xffffffffffffffff",
            "ada",
            "[1,2]",
            "own",
            "8",
            "00112233-4455-6677-8899-aabbccddeeff",
        ];
        assert_eq!(values, expected);
    }
}

#[test]
fn a_number_that_no_column_holds_is_named() {
    let scratch = scratch();
    let path = scratch.path().join("out");
    let line = |n: u64| {
        format!(
            "{{\"time\":\"2026-11-20T19:02:11Z\",\"kind\":\"event\",\"template\":\"n\",\"file\":\"a.rs\",\"line\":9,\"args\":{{\"n\":{n}}}}}\n"
        )
    };
    let most = i64::MAX.unsigned_abs();
    let text = line(most) + &line(most + 1);
    for form in FORMS {
        write(&mut lines(&line(most)), &path, form, Some("n")).unwrap();
        assert_eq!(column(&read(&path, form), "n"), [Some(most.to_string())]);
        let error = write(&mut lines(&text), &path, form, Some("n")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.rs:9: the column 'n' holds integers up to 9223372036854775807, not 9223372036854775808; convert without --event, then the column 'args' has it"
        );
        write(&mut lines(&text), &path, form, None).unwrap();
        let args = column(&read(&path, form), "args");
        assert_eq!(args[1].as_deref(), Some("{\"n\":9223372036854775808}"));
    }
}

/// What the engines that are here make of a table of all records and of one of an event.
const JUDGE: &str = include_str!("judge.py");

#[test]
fn engines_read_the_same() {
    let Some(python) = std::env::var_os("SILVERPOINT_ARROW_JUDGES").filter(|path| !path.is_empty()) else {
        silverpoint_tests::skipped!(
            "what engines read: SILVERPOINT_ARROW_JUDGES is not set (`make arrow` sets it)"
        );
        return;
    };
    let scratch = scratch();
    let trace = vector("every-type.raw.silver");
    for (ending, form) in ["parquet", "arrow", "arrows"].into_iter().zip(FORMS) {
        let path = |name: &str| scratch.path().join(format!("{name}.{ending}"));
        write(&mut TraceReader::new(&trace, &Filter::default(), 0), &path("records"), form, None).unwrap();
        write(&mut lines(TYPES), &path("event"), form, Some("all")).unwrap();
    }
    let output = Command::new(python).arg("-c").arg(JUDGE).arg(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = String::from_utf8(output.stdout).unwrap();
    let batches = read(&scratch.path().join("records.parquet"), Form::Parquet);
    // The judge prints the nanoseconds of each record, on which its engines agree.
    let (times, engines): (Vec<&str>, Vec<&str>) =
        seen.lines().partition(|line| !line.starts_with("engine "));
    let own = column(&batches, "time_ns");
    assert!(own.iter().map(|time| time.as_deref().unwrap()).eq(times), "{seen}");
    for engine in ["pyarrow", "duckdb"] {
        assert!(engines.contains(&format!("engine {engine}").as_str()), "{engine}: {seen}");
    }
    println!("{}", engines.join(", "));
}
