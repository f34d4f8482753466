//! Definitions of tracepoints, and the code that records them.
//!
//! **The invariant.** Input is untrusted: it ends in a model or in [`Mistake`]s with file, line and column,
//! never in a panic. The crate opens no file.
//!
//! [`read`] takes files of definitions, and C++ sources with `Q_TRACE_POINT` and its like. The grammars are Qt's and a short form (docs/guide/tracegen.md).
//! It gives a [`Model`]. [`cpp::header`] and [`rust::module`] write code from it.
//!
//! ```
//! use std::path::Path;
//!
//! use silverpoint_tracegen::{Input, NoHeaders, cpp, read};
//!
//! let input = Input { path: Path::new("shop.tracepoints"), text: "sold(id: u64, price: f64)\n" };
//! let model = read(&[input], None, &mut NoHeaders).unwrap();
//! assert!(cpp::header(&model, "shop.h").contains("trace_sold("));
//!
//! let wrong = Input { text: "sold(id: u65)\n", ..input };
//! let mistakes = read(&[wrong], None, &mut NoHeaders).unwrap_err();
//! assert!(mistakes[0].to_string().starts_with("shop.tracepoints:1:"));
//! ```
//!
//! ```text
//!  files of definitions ─ definitions ─┐                                ┌─ cpp   a C++ header
//!                                      ├─▶ arguments, types ─▶ Model ─▶─┤
//!  C++ sources ───────── sources ──────┘   lookup, labels: enumerations └─ rust  a Rust module
//! ```
//!
//! Who calls it gives it the texts, and a [`Headers`] for those that a source includes.
#![forbid(unsafe_code)]

mod arguments;
pub mod cpp;
mod cursor;
mod definitions;
mod expression;
mod labels;
mod lookup;
mod model;
pub mod rust;
mod sources;
mod text;
mod tokens;
mod types;

pub use lookup::{Headers, NoHeaders};
pub use model::{Argument, Enumeration, Label, Level, Model, Point, Scalar, Shape, Width};
pub use text::{Mistake, Place};

use std::collections::HashMap;
use std::path::Path;

use lookup::Lookup;
use text::{Mistakes, Text};

/// A file to read.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its path, for messages. Its ending says what it is, its stem the provider of a file of definitions.
    pub path: &'a Path,
    /// Its content.
    pub text: &'a str,
}

/// Endings of files that are C++ sources: what they define stands in macros.
const SOURCES: &[&str] = &["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "ipp", "inl", "mm", "m"];

/// Reads all files into one model, in their order.
///
/// `provider`: reads only this provider's tracepoints from sources; without it, all.
///
/// # Errors
/// All mistakes, at most 10 a file.
pub fn read(
    inputs: &[Input<'_>],
    provider: Option<&str>,
    headers: &mut dyn Headers,
) -> Result<Model, Vec<Mistake>> {
    let mut model = Model::default();
    let mut all = Vec::new();
    let lookup = &mut Lookup::new(headers);
    for input in inputs {
        let mut mistakes = Mistakes::default();
        let ending = input.path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if SOURCES.contains(&ending) {
            sources::read(input, provider, lookup, &mut model, &mut mistakes);
        } else {
            let text = Text::of_file(input.path, input.text);
            let stem = input.path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let stem = stem.split('.').next().unwrap_or("");
            definitions::read(&text, stem, lookup, &mut model, &mut mistakes);
        }
        all.extend(mistakes.all);
    }
    finish(&mut model, &mut all);
    if all.is_empty() { Ok(model) } else { Err(all) }
}

/// Checks that need all files: names that are taken, and which arguments are enumerations.
fn finish(model: &mut Model, mistakes: &mut Vec<Mistake>) {
    let mut points: HashMap<(&str, &str), &Place> = HashMap::new();
    for point in &model.points {
        if let Some(first) = points.insert((&point.namespace, &point.name), &point.place) {
            let expected = format!("a name that is not taken: {} is defined at {first}", point.name);
            mistakes.push(Mistake::new(&point.place, expected));
        }
    }
    for point in &model.points {
        let other =
            point.name.strip_suffix("_enabled").and_then(|name| points.get(&(&*point.namespace, name)));
        if let Some(other) = other {
            let expected = format!("another name: the tracepoint at {other} has trace_{}, too", point.name);
            mistakes.push(Mistake::new(&point.place, expected));
        }
    }
    let mut enumerations: HashMap<(&str, &str), usize> = HashMap::new();
    for (index, one) in model.enumerations.iter().enumerate() {
        if let Some(first) = enumerations.insert((&one.provider, &one.name), index) {
            // The same may stand in several sources of a provider.
            let earlier = &model.enumerations[first];
            if earlier.labels != one.labels || one.is_own {
                let expected =
                    format!("a name that is not taken: {} is defined at {}", one.name, earlier.place);
                mistakes.push(Mistake::new(&one.place, expected));
            }
        }
    }
    for point in &mut model.points {
        for argument in &mut point.arguments {
            types::resolve(&point.provider, argument, &enumerations, mistakes);
        }
        arguments::check_lengths(&point.arguments, mistakes);
    }
}
