//! sites.json: descriptions of sites.

use serde_json::Value;
use silverpoint_wire::level::Kind;
use silverpoint_wire::site::{SiteDescription, SiteError};

use crate::vectors::{hex, load, number, refusal, text};

/// The description that a vector's fields tell of.
pub fn site(vector: &Value) -> SiteDescription {
    SiteDescription {
        kind: Kind::ALL.into_iter().find(|kind| kind.name() == text(vector, "kind")).unwrap(),
        level: text(vector, "level").parse().unwrap(),
        flags: number(vector, "flags") as u16,
        line: number(vector, "line") as u32,
        language: number(vector, "language") as u16,
        category: text(vector, "category").into(),
        file: text(vector, "file").into(),
        function: text(vector, "function").into(),
        names: text(vector, "names").into(),
        template: text(vector, "template").into(),
        signature: text(vector, "signature").into(),
    }
}

fn verdict(error: SiteError) -> &'static str {
    match error {
        SiteError::Truncated => "truncated",
        SiteError::Size => "size",
        SiteError::Hash => "hash",
        SiteError::Kind(_) => "kind",
        SiteError::Level(_) => "level",
        SiteError::Text => "text",
    }
}

#[test]
fn descriptions_are_the_same_bytes_in_both_directions() {
    for vector in load("sites.json") {
        let (name, bytes) = (text(&vector, "name"), hex(&vector, "hex"));
        match refusal(&vector) {
            None => {
                let mut written = Vec::new();
                site(&vector).encode(&mut written);
                assert_eq!(written, bytes, "{name}");
                assert_eq!(SiteDescription::decode(&bytes), Ok((site(&vector), bytes.len())), "{name}");
                let longer = [&bytes[..], &[0xFF; 9]].concat();
                assert_eq!(SiteDescription::decode(&longer), Ok((site(&vector), bytes.len())), "{name}");
            }
            Some(expected) => {
                assert_eq!(SiteDescription::decode(&bytes).map_err(verdict), Err(expected), "{name}")
            }
        }
    }
}

#[test]
fn every_start_and_every_flipped_bit_is_refused() {
    for vector in load("sites.json").iter().filter(|vector| refusal(vector).is_none()) {
        let bytes = hex(vector, "hex");
        for len in 0..bytes.len() {
            assert_eq!(
                SiteDescription::decode(&bytes[..len]),
                Err(SiteError::Truncated),
                "{}",
                text(vector, "name")
            );
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            // Bytes 4 to 8 mean nothing and are not under the hash.
            let ignored = (4..8).contains(&at);
            assert_eq!(
                SiteDescription::decode(&flipped).is_ok(),
                ignored,
                "{} at {at}",
                text(vector, "name")
            );
        }
    }
}
