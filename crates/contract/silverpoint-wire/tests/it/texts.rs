//! signatures.json, templates.json, directives.json: small languages.

use serde_json::Value;
use silverpoint_wire::directive::{SiteFacts, check, decide};
use silverpoint_wire::signature;
use silverpoint_wire::template::{self, Argument, Piece};

use crate::vectors::{load, number, refusal, text};

#[test]
fn signatures_mean_what_they_say() {
    for vector in load("signatures.json") {
        let (name, text_of) = (text(&vector, "name"), text(&vector, "text"));
        match (signature::parse(text_of), refusal(&vector)) {
            (Ok(types), None) => {
                let printed: String = types.iter().map(ToString::to_string).collect();
                assert_eq!(printed, text(&vector, "canonical"), "{name}");
                assert_eq!(types.len() as u64, number(&vector, "args"), "{name}");
                assert_eq!(signature::parse(&printed), Ok(types), "{name}");
            }
            (Err(error), Some(_)) => assert_eq!(error.at as u64, number(&vector, "at"), "{name}: {error}"),
            (outcome, verdict) => panic!("{name}: {outcome:?}, not {verdict:?}"),
        }
    }
}

#[test]
fn a_signature_may_have_16384_bytes() {
    let of_length = |len: usize| format!("<{}|>", "n".repeat(len - 3));
    assert_eq!(signature::parse(&of_length(16_384)).map(|types| types.len()), Ok(1));
    assert_eq!(signature::parse(&of_length(16_385)).map_err(|error| error.at), Err(16_384));
}

#[test]
fn templates_mean_what_they_say() {
    for vector in load("templates.json") {
        let text_of = text(&vector, "text");
        match (template::parse(text_of), refusal(&vector)) {
            (Ok(pieces), None) => {
                let mut literal = String::new();
                let mut placeholders = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Literal(text) => literal.push_str(&text),
                        Piece::Placeholder { argument: Argument::Index(index), .. } => {
                            placeholders.push(Value::from(index));
                        }
                        Piece::Placeholder { argument: Argument::Name(name), .. } => {
                            placeholders.push(name.into())
                        }
                    }
                }
                assert_eq!(literal, text(&vector, "literal"), "{text_of}");
                assert_eq!(Value::from(placeholders), vector["placeholders"], "{text_of}");
            }
            (Err(error), Some(_)) => assert_eq!(error.at as u64, number(&vector, "at"), "{text_of}: {error}"),
            (outcome, verdict) => panic!("{text_of}: {outcome:?}, not {verdict:?}"),
        }
    }
}

pub fn facts(vector: &Value) -> SiteFacts<'_> {
    SiteFacts {
        level: text(vector, "level").parse().unwrap(),
        category: text(vector, "category"),
        file: text(vector, "file"),
        line: number(vector, "line") as u32,
        function: text(vector, "function"),
    }
}

#[test]
fn directives_decide_as_the_contract_says() {
    for vector in load("directives.json") {
        let (name, directives) = (text(&vector, "name"), text(&vector, "directives"));
        match refusal(&vector) {
            None => assert_eq!(Value::from(decide(directives, &facts(&vector))), vector["on"], "{name}"),
            Some(_) => {
                let error = check(directives).expect_err(name);
                assert_eq!(error.column as u64, number(&vector, "column"), "{name}: {error}");
            }
        }
    }
}
