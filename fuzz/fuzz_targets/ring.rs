//! A slice's image with any content: what is read from it lies within it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use silverpoint_wire::slice::{RingHeader, contents, summarize};

fuzz_target!(|slice: &[u8]| {
    let Some(header) = RingHeader::decode(slice) else { return };
    if let Ok((from, bytes)) = contents(slice) {
        assert!(bytes.len() <= slice.len());
        let (summary, error) = summarize(&bytes, from, header.capacity, |site| site < 64);
        assert!(summary.bytes <= bytes.len());
        assert!(error.is_some() || summary.bytes == bytes.len());
    }
});
