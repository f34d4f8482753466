//! For any bytes: no panic, and the size of the output is bounded by that of the input.

use proptest::collection::vec;
use proptest::prelude::*;
use silverpoint_wire::block::{
    BlockHeader, BlockKind, LossInfo, SessionInfo, StreamInfo, anchors, positions, push_block, sites,
};
use silverpoint_wire::compact::{Signatures, compact, expand};
use silverpoint_wire::record::{RecordHeader, Records};
use silverpoint_wire::signature::{self, Type};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::slice::{contents, judge_slice};
use silverpoint_wire::value::skip;
use silverpoint_wire::{directive, function, process, template};

use crate::reader::read;
use crate::tree::arguments;
use crate::types::any_types;
use crate::vectors::{bytes, load, text};

/// Bytes among which small numbers are frequent: lengths that fit, marks, indices.
fn plausible() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![4 => 0_u8..4, 1 => any::<u8>()], 0..200)
}

/// A text of the characters that mean something, and some others.
fn text_of(meaning: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(meaning).prop_map(String::from), 1 => "\\PC{0,3}"];
    vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// What signatures are made of, and mistakes.
#[rustfmt::skip]
const SIGNATURE_PIECES: &[&str] = &[
    "n", "b", "a", "i", "L", "o", "s", "S", "?", "[", "$", "#3:", "#", "{", "(", ")", "<P|", "x:",
    ",", ">", "eE|", "A|", "1=a,", "-1=", ";", "/", "|", "@k=v;", "%", "%C3", "%BC", "0", "99999999999", "v", "y", "t", "T",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn signatures(text in text_of(SIGNATURE_PIECES)) {
        match signature::parse(&text) {
            Ok(types) => {
                let printed: String = types.iter().map(Type::to_string).collect();
                prop_assert_eq!(signature::parse(&printed), Ok(types));
            }
            Err(error) => prop_assert!(error.at <= text.len()),
        }
    }

    #[test]
    fn printed_signatures_give_the_same_types(types in any_types()) {
        let printed: String = types.iter().map(Type::to_string).collect();
        prop_assert!(printed.is_ascii());
        prop_assert_eq!(signature::parse(&printed), Ok(types));
    }

    #[test]
    fn values(types in any_types(), bytes in plausible()) {
        match arguments(&types, &bytes) {
            Ok((_, end)) => {
                prop_assert!(end <= bytes.len());
                prop_assert_eq!(types.iter().try_fold(0, |at, ty| skip(ty, &bytes, at)), Ok(end));
            }
            Err(error) => prop_assert!(error.at <= bytes.len()),
        }
    }

    #[test]
    fn records_made_small(types in any_types(), rows in vec((any::<u64>(), plausible(), 0_u32..3), 0..8)) {
        let printed: String = types.iter().map(Type::to_string).collect();
        let mut signatures = Signatures::new();
        prop_assert!(signatures.insert(16, &printed).is_ok());
        let mut raw = Vec::new();
        for (ticks, args, flags) in &rows {
            let size = (16 + args.len()).next_multiple_of(8);
            let header = RecordHeader { size: size as u32, flags: flags << 24, site: 16, ticks: *ticks };
            let end = raw.len() + size;
            raw.extend_from_slice(&header.encode());
            raw.extend_from_slice(args);
            raw.resize(end, 0);
        }
        let (mut small, mut back) = (Vec::new(), Vec::new());
        prop_assert!(compact(&raw, &signatures, &mut small).is_ok());
        prop_assert_eq!(expand(&small, raw.len(), &signatures, &mut back), Ok(()));
        prop_assert_eq!(back, raw);
    }

    #[test]
    fn payloads_of_all_kinds(bytes in plausible(), size in 0_usize..4096) {
        for record in Records::new(&bytes) {
            prop_assert!(record.is_err() || record.is_ok_and(|record| record.offset < bytes.len()));
        }
        prop_assert!(sites(&bytes).count() <= bytes.len());
        prop_assert!(anchors(&bytes).count() <= bytes.len() / 24);
        prop_assert!(positions(&bytes).count() <= bytes.len() / 16);
        prop_assert!(StreamInfo::decode_all(&bytes).count() <= bytes.len() / StreamInfo::SIZE);
        prop_assert!(LossInfo::decode_all(&bytes).count() <= bytes.len() / LossInfo::SIZE);
        prop_assert!(SessionInfo::decode(&bytes).is_none_or(|info| info.process.len() <= bytes.len()));
        prop_assert!(process::lines(&bytes).len() <= bytes.len());
        prop_assert!(SiteDescription::decode(&bytes).is_err());
        prop_assert!(BlockHeader::decode(&bytes).is_err());
        let mut out = Vec::new();
        let _ = expand(&bytes, size, &Signatures::new(), &mut out);
        prop_assert!(out.len() <= size + bytes.len() + 64);
    }

    #[test]
    fn blocks_with_right_checksums_and_any_contents(
        parts in vec((1_u8..16, 0_u8..2, plausible(), any::<u32>()), 0..6), junk in plausible(),
    ) {
        let mut file = Vec::new();
        for (sequence, (kind, encoding, payload, raw_size)) in (0..).zip(&parts) {
            let header = BlockHeader {
                encoding: *encoding,
                sequence,
                session: 1,
                stream: 1,
                raw_size: raw_size % 5000,
                ring_begin: sequence * 1000,
                ring_end: sequence * 1000 + 1000,
                ..BlockHeader::new(BlockKind(*kind), payload)
            };
            push_block(&mut file, &header, payload);
        }
        let blocks = read(&file).blocks.len();
        prop_assert_eq!(blocks, parts.len());
        file.extend_from_slice(&junk);
        prop_assert_eq!(read(&file).blocks.len(), blocks);
    }

    #[test]
    fn rings_with_any_bytes_changed(ring in 0_usize..50, changes in vec((0_usize..2048, any::<u8>()), 1..12)) {
        let rings = load("rings.json");
        let mut image = bytes(text(&rings[ring % rings.len()], "file"));
        for (at, byte) in changes {
            image[at] = byte;
        }
        let verdict = judge_slice(&image, |site| site < 19);
        prop_assert!(verdict.payload.len() <= image.len());
        prop_assert_eq!(verdict.records().count(), verdict.records as usize);
        prop_assert!(contents(&image).is_ok() || verdict.contradiction.is_some());
    }

    #[test]
    fn templates(text in text_of(&["{", "}", "{{", "}}", ":", "<", ">", "^", "+", "#", "0", "5", "1001", ".", "d", "q", "a", " "])) {
        match template::parse(&text) {
            Ok(pieces) => prop_assert!(pieces.len() <= text.len()),
            Err(error) => prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at)),
        }
    }

    #[test]
    fn directives(text in text_of(&["net", "=", ",", " ", "debug", "off", "*", "?", "::", "a.cpp", ":", "8", "()", "/", "\u{fc}"])) {
        if let Err(error) = directive::check(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{error:?}");
        }
    }

    #[test]
    fn function_names(text in text_of(&["void ", "ns::", "f", "(", ")", "<", ">", "operator", " [with T = int]", "*", "&", " "])) {
        prop_assert!(text.contains(function::function_name(&text)));
    }
}
