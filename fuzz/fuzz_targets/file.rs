//! A trace file: the scanner covers every byte exactly once, and dictionaries, compact and compressed payloads of whole blocks are read without harm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use silverpoint_wire::block::{self, BlockKind, LossInfo, SessionInfo, StreamInfo};
use silverpoint_wire::compact::{Signatures, expand, skim};
use silverpoint_wire::compression::Decompressor;
use silverpoint_wire::record::Records;
use silverpoint_wire::scan::{Found, Scanner};

fuzz_target!(|bytes: &[u8]| {
    let mut scanner = Scanner::new(bytes, 0, true);
    let mut signatures = Signatures::new();
    let mut decompressor = Decompressor::default();
    let mut expected = 0;
    while let Ok(Some(found)) = scanner.next() {
        let header = match found {
            Found::Damage(damage) => {
                assert!(damage.at == expected && damage.bytes > 0);
                expected += damage.bytes;
                continue;
            }
            Found::Block { at, header } => {
                assert_eq!(at, expected);
                expected += header.block_size();
                header
            }
        };
        let payload = scanner.payload();
        match header.kind {
            BlockKind::SESSION => drop(SessionInfo::decode(payload)),
            BlockKind::SITES => {
                for (id, site) in block::sites(payload) {
                    if let Ok(site) = site {
                        let _ = signatures.insert(id, &site.signature);
                    }
                }
            }
            BlockKind::STREAMS => {
                StreamInfo::decode_all(payload).for_each(|stream| drop(stream.thread_name()))
            }
            BlockKind::LOSSES => LossInfo::decode_all(payload).for_each(drop),
            BlockKind::RECORDS if header.encoding != 0 => {
                let mut inner = payload.to_vec();
                if header.encoding > 1
                    && decompressor.decompress(header.encoding, payload, header.raw_size, &mut inner).is_err()
                {
                    assert!(inner.is_empty());
                    continue;
                }
                let mut raw = Vec::new();
                let expanded = expand(&inner, header.raw_size as usize, &signatures, &mut raw);
                let skimmed =
                    skim(&inner, header.raw_size as usize, &signatures, |site| site % 2 == 0, |_| {});
                assert_eq!(expanded.is_ok(), skimmed.is_ok());
                Records::new(&raw).for_each(drop);
            }
            BlockKind::RECORDS => Records::new(payload).for_each(drop),
            _ => {}
        }
    }
});
