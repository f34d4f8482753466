//! Renderings that are part of the specification. `SILVERPOINT_BLESS=1` writes them again.

use std::fs;
use std::path::PathBuf;

use crate::support::{all, convert};

const RECORDS: &str = concat!(
    r#"{"time":"2026-11-20T19:02:11.123456789Z","level":"info","process":"indexer","pid":4312,"tid":4313,"thread":"worker-2","#,
    r#""kind":"log","category":"net::tcp","file":"src/pump.cpp","line":88,"function":"Pump::start()","template":"order {} at {:.2f}","#,
    r#""signature":"id","args":[7,3.5],"context":{"request":7}}"#,
    "\n",
    r#"{"time":"2026-11-20T19:02:12Z","level":"warn","process":"indexer","pid":4312,"tid":4313,"thread":"worker-2","#,
    r#""kind":"event","category":"","file":"a.rs","line":1,"function":"f","template":"every","#,
    r#""signature":"oO?i[ue|h|1=a,;/sd|@unit=ms;T","args":{"low":-170141183460469231731687303715884105728,"#,
    r#""high":340282366920938463463374607431768211455,"none":null,"ids":["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],"#,
    r#""colour":1,"either":[0,"tab\t\u0001 <&> é"],"took":1500000}}"#,
    "\n",
    r#"{"time":"2026-11-20T19:02:13Z","process":"indexer","pid":4312,"tid":4313,"thread":"worker-2","kind":"loss","cause":"full","count":3,"span_ns":10}"#,
    "\n",
);

#[test]
fn renderings_are_those_of_the_specification() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let records = all("jsonl", RECORDS.as_bytes());
    assert_eq!(records.len(), 3);
    for format in ["tsv", "csv", "cbor", "xml"] {
        let path = root.join(format!("records.{format}"));
        let made = convert("jsonl", RECORDS.as_bytes(), format).unwrap();
        if std::env::var_os("SILVERPOINT_BLESS").is_some() {
            fs::write(&path, &made).unwrap();
        }
        assert!(fs::read(&path).unwrap() == made, "{} differs", path.display());
        assert_eq!(all(format, &made), records, "{format}");
    }
}
