//! files.json: whole trace files; and what cutting and flipping costs.
//!
//! Compressed files are read when the feature `compression` is on, as it is in a build of the workspace.

use serde_json::{Value, json};
use silverpoint_wire::block::{BlockHeader, BlockKind, push_block, site_bit};
use silverpoint_wire::compact::{Signatures, compact};
use silverpoint_wire::record::Records;

use crate::reader::{Contents, read, scan};
use crate::vectors::{bytes, load, number, text};

/// The vectors whose files are read whole.
fn good() -> Vec<Value> {
    load("files.json").into_iter().filter(|vector| vector["records"].is_array()).collect()
}

/// What reading came to.
fn verdict(contents: &Contents) -> &'static str {
    let mut next = 0;
    let missing = contents.blocks.iter().any(|(_, header)| {
        // Files may have been joined.
        let begins = header.kind == BlockKind::FILE && header.sequence == 0;
        let expected = if begins { 0 } else { next };
        next = header.sequence + 1;
        header.sequence != expected
    });
    match contents {
        Contents { blocks, .. } if blocks.is_empty() => "not a trace file",
        Contents { contradictions, .. } if !contradictions.is_empty() => "damaged",
        Contents { damages, .. } if missing || damages.iter().any(|damage| !damage.is_cut) => "damaged",
        Contents { damages, .. } if damages.is_empty() => "ok",
        _ => "cut",
    }
}

/// Every file of the good vectors.
fn whole() -> Vec<(String, Vec<u8>)> {
    good().iter().flat_map(paths).map(|path| (path.clone(), bytes(&path))).collect()
}

fn paths(vector: &Value) -> Vec<String> {
    let all = vector["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned());
    all.filter(|path| cfg!(feature = "compression") || !is_compressed(path)).collect()
}

fn is_compressed(path: &str) -> bool {
    path.contains("lz4.") || path.contains("zstd.")
}

#[test]
fn every_file_gives_every_record() {
    for vector in &good() {
        for path in paths(vector) {
            let contents = read(&bytes(&path));
            assert_eq!(contents.damages, [], "{path}");
            assert_eq!(verdict(&contents), text(vector, "verdict"), "{path}");
            assert_eq!(contents.contradictions, [""; 0], "{path}");
            assert_eq!(json!(contents.records), vector["records"], "{path}");
            assert_eq!(json!(contents.losses), vector["losses"], "{path}");
            assert_eq!(json!(contents.gaps), vector["gaps"], "{path}");
            assert_eq!(json!(contents.notes), vector["notes"], "{path}");
            assert_eq!(contents.blocks.len() as u64, number(vector, "blocks"), "{path}");
            assert_eq!(contents.skipped, number(vector, "skipped"), "{path}");
            assert_eq!(contents.index, text(vector, "index"), "{path}");
        }
    }
}

#[test]
fn broken_files_are_what_they_are() {
    let vectors = load("files.json");
    let broken: Vec<&Value> = vectors.iter().filter(|vector| !vector["records"].is_array()).collect();
    assert!(!broken.is_empty());
    for vector in broken {
        for path in paths(vector) {
            let contents = read(&bytes(&path));
            assert_eq!(verdict(&contents), text(vector, "verdict"), "{path}: {contents:?}");
        }
    }
}

/// Of each way of storing there is a file with blocks of that encoding; and one that leaves a block as it is.
#[test]
fn every_encoding_occurs() {
    let encodings = |way: &str| -> Vec<u8> {
        let file = bytes(&format!("files/many-records.{way}.silver"));
        let records = scan(&file).blocks.into_iter().filter(|(_, header)| header.kind == BlockKind::RECORDS);
        records.map(|(_, header)| header.encoding).collect()
    };
    assert_eq!(encodings("raw"), [0; 4]);
    assert_eq!(encodings("compact"), [1; 4]);
    assert_eq!(encodings("lz4"), [0x10, 0, 0x10, 0x10]);
    assert_eq!(encodings("zstd"), [0x20, 0, 0x20, 0x20]);
    assert_eq!(encodings("compact-lz4")[1..3], [1, 0x11]);
    assert_eq!(encodings("compact-zstd")[1..3], [1, 0x21]);
}

#[test]
fn headers_and_records_blocks_are_written_as_they_were() {
    for (path, file) in whole() {
        let mut signatures = Signatures::new();
        for (at, header) in read(&file).blocks {
            let payload =
                &file[at as usize + usize::from(header.header_size)..][..header.stored_size as usize];
            if header.header_size == 96 {
                let mut written = Vec::new();
                push_block(&mut written, &header, payload);
                assert!(file[at as usize..].starts_with(&written), "{path} at {at}");
                let fresh = BlockHeader::new(header.kind, payload);
                assert_eq!((fresh.payload_crc, fresh.stored_size), (header.payload_crc, header.stored_size));
            }
            if header.kind == BlockKind::SITES {
                for (id, site) in silverpoint_wire::block::sites(payload) {
                    signatures.insert(id, &site.unwrap().signature).unwrap();
                }
            }
            if header.kind == BlockKind::RECORDS && header.encoding == 1 && path.contains(".compact.") {
                // The same block of the raw file, made small by this crate.
                let raw_file = bytes(&path.replace(".compact.", ".raw."));
                let blocks = read(&raw_file).blocks;
                let (at, raw) = blocks.iter().find(|(_, raw)| raw.sequence == header.sequence).unwrap();
                let raw =
                    &raw_file[*at as usize + usize::from(raw.header_size)..][..raw.stored_size as usize];
                let mut small = Vec::new();
                compact(raw, &signatures, &mut small).unwrap();
                assert!(small == payload, "{path} at {at}: {small:02x?}\n{payload:02x?}");
                let filter = Records::new(raw)
                    .without_pads()
                    .fold(0, |sites, record| sites | site_bit(record.unwrap().header.site));
                assert_eq!(filter, header.sites, "{path}");
            }
        }
    }
}

/// Offsets of blocks and of the ends of their payloads.
fn spans(contents: &Contents) -> Vec<(u64, u64)> {
    let end =
        |at: u64, header: &BlockHeader| at + u64::from(header.header_size) + u64::from(header.stored_size);
    contents.blocks.iter().map(|(at, header)| (*at, end(*at, header))).collect()
}

#[test]
fn a_file_cut_at_every_byte_gives_every_block_that_is_whole() {
    for (path, file) in whole() {
        let spans = spans(&scan(&file));
        for len in 0..file.len() {
            let contents = scan(&file[..len]);
            let expected = spans.iter().filter(|(_, end)| *end <= len as u64).count();
            assert_eq!(contents.blocks.len(), expected, "{path} cut at {len}");
            assert!(contents.damages.iter().all(|damage| damage.is_cut), "{path} cut at {len}");
        }
    }
}

#[test]
fn what_is_left_of_a_file_gives_records_of_the_file_alone() {
    for (path, file) in whole() {
        let all = read(&file).records;
        for at in (0..file.len()).step_by(41) {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << (at % 8);
            for rest in [&file[..at], &flipped] {
                assert!(read(rest).records.iter().all(|record| all.contains(record)), "{path} at {at}");
            }
        }
    }
}

#[test]
fn a_bit_flipped_at_every_byte_costs_one_block_at_most() {
    for (path, file) in whole() {
        let whole = scan(&file);
        let spans = spans(&whole);
        for at in 0..file.len() {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << (at % 8);
            let contents = scan(&flipped);
            let others = whole
                .blocks
                .iter()
                .zip(&spans)
                .filter(|(_, (start, end))| !(*start..*end).contains(&(at as u64)));
            for (block, _) in others {
                assert!(contents.blocks.contains(block), "{path} flipped at {at}: {block:?}");
            }
            assert!(contents.blocks.len() + 1 >= whole.blocks.len(), "{path} flipped at {at}");
        }
    }
}
