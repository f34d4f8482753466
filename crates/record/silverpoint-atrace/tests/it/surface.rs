//! Rust and C++ have the same calls: what is public in either is in this table.

use std::collections::BTreeSet;

const RUST: &str = include_str!("../../src/lib.rs");
const TAGS: &str = include_str!("../../src/tag.rs");
const CPP: &str = include_str!("../../../../../cpp/include/silverpoint/atrace.hpp");

/// In Rust, in C++.
const SAME: &[(&str, &str)] = &[
    ("is_tag_enabled", "is_tag_enabled"),
    ("is_in_marker", "is_in_marker"),
    ("is_in_ring", "is_in_ring"),
    ("enabled_tags", "enabled_tags"),
    ("update_tags", "update_tags"),
    ("begin", "begin"),
    ("end", "end"),
    ("async_begin", "async_begin"),
    ("async_end", "async_end"),
    ("track_begin", "track_begin"),
    ("track_end", "track_end"),
    ("instant", "instant"),
    ("track_instant", "track_instant"),
    ("int", "int32"),
    ("int64", "int64"),
    // Guards: `scope` makes one, in C++ their constructors do.
    ("scope", "Scope"),
    ("Scope", "Scope"),
    ("async_scope", "async_scope"),
    ("AsyncScope", "AsyncScope"),
    ("Tag", "Tag"),
    // `atrace!("…")`, with a tag, with a name that is formatted, with both.
    ("atrace!", "SP_ATRACE"),
    ("atrace!", "SP_ATRACE_TAG"),
    ("atrace!", "SP_ATRACE_FORMAT"),
    ("atrace!", "SP_ATRACE_TAG_FORMAT"),
    // The attribute: a macro in a function's first line.
    ("traced", "SP_ATRACE"),
];
/// What adapters of other facades need, of which there are none in C++.
const RUST_ALONE: [&str; 2] = ["kernel", "on_change"];

/// The word that begins the text.
fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn public_in_rust() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_hidden = false;
    for line in RUST.lines() {
        for before in [
            "pub fn ",
            "pub struct ",
            "pub mod ",
            "pub use state::",
            "pub use tag::",
            "pub use silverpoint_derive::",
        ] {
            if let Some(rest) = line.strip_prefix(before) {
                if !is_hidden {
                    found.insert(word(rest));
                }
            }
        }
        if let Some(rest) = line.strip_prefix("macro_rules! ") {
            found.insert(word(rest) + "!");
        }
        is_hidden = line == "#[doc(hidden)]";
    }
    found
}

/// What follows a class's attributes.
fn class(line: &str) -> Option<&str> {
    Some(line.strip_prefix("class [[nodiscard")?.split_once("]] ")?.1)
}

fn public_in_cpp() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_public = false;
    for line in CPP.lines() {
        match line {
            "namespace atrace {" => is_public = true,
            "}  // namespace atrace" => is_public = false,
            _ => {}
        }
        if let Some(rest) = line.strip_prefix("#define ") {
            found.insert(word(rest));
        } else if !is_public {
            continue;
        } else if let Some(rest) = line.strip_prefix("using ").or_else(|| class(line)) {
            found.insert(word(rest));
        } else if let Some((declared, _)) = line.strip_prefix("inline ").and_then(|rest| rest.split_once('('))
        {
            found.insert(declared.rsplit(' ').next().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn rust_and_cpp_have_the_same_calls() {
    let of = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect::<BTreeSet<_>>();
    let rust = of(&mut SAME.iter().map(|(rust, _)| *rust).chain(RUST_ALONE));
    let cpp = of(&mut SAME.iter().map(|(_, cpp)| *cpp));
    assert_eq!(public_in_rust(), rust);
    assert_eq!(public_in_cpp(), cpp);
}

#[test]
fn rust_and_cpp_have_the_same_tags() {
    let table = TAGS.split_once("tags! {").unwrap().1.split_once('}').unwrap().0;
    let rust: BTreeSet<(String, u8)> = table
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_whitespace();
            let name = parts.next()?.replace('_', "").to_lowercase();
            Some((name, parts.next()?.parse().unwrap()))
        })
        .collect();
    let cpp: BTreeSet<(String, u8)> = CPP
        .split("u << ")
        .zip(CPP.split("u << ").skip(1))
        .map(|(before, after)| {
            let name = before.rsplit_once(" = ").unwrap().0.rsplit([' ', '\n']).next().unwrap();
            let bit = after.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            (name.strip_prefix('k').unwrap().to_lowercase(), bit.parse().unwrap())
        })
        .collect();
    assert_eq!(rust, cpp);
    assert_eq!(rust.len(), 28);
}
