//! A signature and packed bytes: parsing gives the same tree after printing, decoding ends within the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use silverpoint_wire::{signature, value};

fuzz_target!(|input: (&str, &[u8])| {
    let (text, bytes) = input;
    let Ok(types) = signature::parse(text) else { return };
    let printed: String = types.iter().map(ToString::to_string).collect();
    if printed.len() <= silverpoint_wire::layout::signature::SIZE_MAX {
        assert_eq!(signature::parse(&printed).as_ref(), Ok(&types), "{text} and {printed}");
    }
    let mut at = 0;
    for ty in &types {
        match value::skip(ty, bytes, at) {
            Ok(end) => {
                assert!(end >= at && end <= bytes.len());
                at = end;
            }
            Err(error) => {
                assert!(error.at <= bytes.len());
                return;
            }
        }
    }
});
