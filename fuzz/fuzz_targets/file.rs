//! A trace file: the scanner covers every byte exactly once, and dictionaries and compact payloads of whole blocks are read without harm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use silverpoint_wire::block::{self, BlockKind, LossInfo, SessionInfo, StreamInfo};
use silverpoint_wire::compact::{Signatures, expand};
use silverpoint_wire::record::Records;
use silverpoint_wire::scan::{Found, Scanner};

fuzz_target!(|bytes: &[u8]| {
    let mut scanner = Scanner::new(bytes, 0, true);
    let mut signatures = Signatures::new();
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
            BlockKind::STREAMS => StreamInfo::decode_all(payload).for_each(|stream| drop(stream.thread_name())),
            BlockKind::LOSSES => LossInfo::decode_all(payload).for_each(drop),
            BlockKind::RECORDS if header.encoding == 1 => {
                let mut raw = Vec::new();
                let _ = expand(payload, header.raw_size as usize, &signatures, &mut raw);
                Records::new(&raw).for_each(drop);
            }
            BlockKind::RECORDS => Records::new(payload).for_each(drop),
            _ => {}
        }
    }
});
