//! values.json: packed arguments.

use silverpoint_wire::signature::{self, Type};
use silverpoint_wire::value::skip;

use crate::tree::arguments;
use crate::vectors::{hex, load, number, refusal, text};

fn types(signature: &str) -> Vec<Type> {
    signature::parse(signature).unwrap_or_else(|error| panic!("{signature}: {error}"))
}

#[test]
fn every_value_is_read_as_it_was_meant() {
    for vector in load("values.json").iter().filter(|vector| refusal(vector).is_none()) {
        let (types, bytes) = (types(text(vector, "signature")), hex(vector, "hex"));
        let (values, end) =
            arguments(&types, &bytes).unwrap_or_else(|error| panic!("{}: {error}", text(vector, "name")));
        assert_eq!(values, vector["json"], "{}", text(vector, "name"));
        assert_eq!(end, bytes.len(), "{}", text(vector, "name"));
        let skipped = types.iter().try_fold(0, |at, ty| skip(ty, &bytes, at));
        assert_eq!(skipped, Ok(end), "{}", text(vector, "name"));
    }
}

#[test]
fn every_contradiction_is_refused_where_it_stands() {
    for vector in load("values.json") {
        let Some(verdict) = refusal(&vector) else { continue };
        let outcome = arguments(&types(text(&vector, "signature")), &hex(&vector, "hex"));
        let error = outcome.expect_err(text(&vector, "name"));
        let at = number(&vector, "at") as usize;
        assert_eq!((error.kind.name(), error.at), (verdict, at), "{}", text(&vector, "name"));
    }
}

#[test]
fn every_start_of_a_value_is_refused() {
    for vector in load("values.json").iter().filter(|vector| refusal(vector).is_none()) {
        let (types, bytes) = (types(text(vector, "signature")), hex(vector, "hex"));
        for len in 0..bytes.len() {
            let error = arguments(&types, &bytes[..len]).expect_err(text(vector, "name"));
            let name = error.kind.name();
            assert!(matches!(name, "truncated" | "length"), "{} cut at {len}: {name}", text(vector, "name"));
            assert!(error.at <= len, "{} cut at {len}: {}", text(vector, "name"), error.at);
        }
    }
}

#[test]
fn as_many_values_of_zero_size_as_the_limit_allows() {
    let bytes = 65_536_u32.to_le_bytes();
    let (values, end) = arguments(&types("[n[n"), &[bytes, bytes].concat()).unwrap();
    assert_eq!(end, 8);
    assert!(values.as_array().unwrap().iter().all(|list| list.as_array().unwrap().len() == 65_536));
}
