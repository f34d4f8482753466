//! What is written is what was recorded: read back by Arrow's own readers, and by pyarrow and DuckDB where they are there.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use silverpoint_arrow::{ArrowWriter, Form};
use silverpoint_convert::json::{JsonReader, JsonWriter, Shape};
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Input, Reader, WriteError, Writer};
use silverpoint_formats::filter::Filter;
use silverpoint_formats::tracefile::Trace;

/// A folder that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("silverpoint-arrow-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
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
                DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
                DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
                DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
                DataType::Binary => format!("{:?}", array.as_binary::<i32>().value(row)),
                DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => {
                    array.as_primitive::<TimestampNanosecondType>().value(row).to_string()
                }
                other => panic!("{name}: {other}"),
            }));
        }
    }
    all
}

fn vector(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/files");
    Trace::open(&[folder.join(name)]).unwrap()
}

fn lines(text: &str) -> JsonReader {
    JsonReader::new(Input::new(Box::new(Cursor::new(text.to_owned()))), 1)
}

#[test]
fn every_type_of_value_stands_in_the_tables_as_in_json_lines() {
    let scratch = Scratch::new();
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
            let path = scratch.0.join("out");
            let mut reader = TraceReader::new(&trace, &Filter::default(), 0);
            write(&mut reader, &path, form, None).unwrap();
            let batches = read(&path, form);
            assert_eq!(column(&batches, "time"), times, "{name} {form:?}");
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
    let scratch = Scratch::new();
    for form in FORMS {
        let path = scratch.0.join("out");
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
    let scratch = Scratch::new();
    let path = scratch.0.join("out");
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
    let scratch = Scratch::new();
    let line = |n| {
        format!(
            "{{\"time\":\"2026-11-20T19:02:11Z\",\"kind\":\"event\",\"template\":\"n\",\"args\":{{\"n\":{n}}}}}\n"
        )
    };
    let text: String = (0..COUNT).map(line).collect();
    for form in FORMS {
        let path = scratch.0.join("out");
        write(&mut lines(&text), &path, form, Some("n")).unwrap();
        let batches = read(&path, form);
        assert!(batches.len() > 1);
        let numbers = column(&batches, "n");
        assert!(numbers.into_iter().map(Option::unwrap).eq((0..COUNT).map(|n| n.to_string())));
    }
}

/// Rows as pyarrow and DuckDB see them.
const JUDGE: &str = r#"
import json, sys
import duckdb, pyarrow.ipc, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
assert pyarrow.ipc.open_file(sys.argv[2]).read_all().equals(table)
assert pyarrow.ipc.open_stream(sys.argv[3]).read_all().equals(table)
assert [(table.num_rows,)] == duckdb.sql(f"select count(*) from '{sys.argv[1]}'").fetchall()
rows = duckdb.sql(f"select epoch_ns(time), level, thread, message, args from '{sys.argv[1]}'").fetchall()
columns = [table.column(name).to_pylist() for name in ("level", "thread", "message", "args")]
assert [tuple(row[1:]) for row in rows] == list(zip(*columns))
for row in rows:
    print(json.dumps(row))
"#;

#[test]
fn pyarrow_and_duckdb_read_the_same() {
    let Some(python) = std::env::var_os("SILVERPOINT_ARROW_JUDGES").filter(|path| !path.is_empty()) else {
        silverpoint_tests::skipped!(
            "what pyarrow and DuckDB say: SILVERPOINT_ARROW_JUDGES is not set (`make arrow` sets it)"
        );
        return;
    };
    let scratch = Scratch::new();
    let trace = vector("every-type.raw.silver");
    let paths = ["all.parquet", "all.arrow", "all.arrows"].map(|name| scratch.0.join(name));
    for (path, form) in paths.iter().zip(FORMS) {
        write(&mut TraceReader::new(&trace, &Filter::default(), 0), path, form, None).unwrap();
    }
    let output = Command::new(python).arg("-c").arg(JUDGE).args(&paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = String::from_utf8(output.stdout).unwrap();
    let batches = read(&paths[0], Form::Parquet);
    let own = |name: &str| column(&batches, name);
    let columns = [own("time"), own("level"), own("thread"), own("message"), own("args")];
    assert_eq!(seen.lines().count(), columns[0].len());
    for (number, line) in seen.lines().enumerate() {
        let time = columns[0][number].as_ref().unwrap();
        assert!(line.starts_with(&format!("[{time}, ")), "{line}");
    }
}
