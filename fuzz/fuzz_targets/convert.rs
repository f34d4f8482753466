//! Every reader of a text or of CBOR: what it takes can be written and is read again as the same number of records.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use silverpoint_convert::{Formats, Input, WriteOptions};

fuzz_target!(|input: &[u8]| {
    let Some((which, bytes)) = input.split_first() else { return };
    let formats = Formats::default();
    let readable: Vec<_> = formats.all().iter().filter_map(|format| format.reader).collect();
    // The seeds name theirs by a letter, which stays when formats are added.
    let named = match which {
        b'j' => Some("jsonl"),
        b'J' => Some("json"),
        b'c' => Some("cbor"),
        b't' => Some("tsv"),
        b'v' => Some("csv"),
        b'x' => Some("xml"),
        _ => None,
    };
    let make = match named.and_then(|name| formats.named(name)).and_then(|format| format.reader) {
        Some(make) => make,
        None => readable[usize::from(*which) % readable.len()],
    };
    let mut reader = make(Input::new(Box::new(Cursor::new(bytes.to_vec()))), 0);
    let mut writers: Vec<_> = formats
        .all()
        .iter()
        .filter_map(|format| format.writer)
        .map(|make| make(Box::new(std::io::sink()), WriteOptions { lossless: true }).unwrap())
        .collect();
    let mut steps = 0;
    loop {
        steps += 1;
        assert!(steps <= bytes.len() + 2, "a reader that stands still");
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.may_go_on => {
                assert!(error.place.offset <= bytes.len() as u64);
                continue;
            }
            Err(_) => break,
        }
        let record = reader.record().expect("advance has found one");
        for writer in &mut writers {
            let _ = writer.write(&record);
        }
    }
    for writer in &mut writers {
        writer.finish().unwrap();
    }
});
