//! A Rust module of tracepoints: `trace_NAME` and `trace_NAME_enabled` for each, over the crate `silverpoint`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use crate::model::{Argument, Enumeration, Model, Point, Scalar, Shape};
use crate::text::Mistake;
use crate::types;

/// Qt's types that are records: name, type of the members, members.
const RECORDS: &[(&str, &str, &[&str])] = &[
    ("QPoint", "i32", &["x", "y"]),
    ("QPointF", "f64", &["x", "y"]),
    ("QSize", "i32", &["width", "height"]),
    ("QSizeF", "f64", &["width", "height"]),
    ("QRect", "i32", &["x", "y", "width", "height"]),
    ("QRectF", "f64", &["x", "y", "width", "height"]),
];

/// Words that Rust keeps for itself, C++'s apart.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "dyn", "final", "fn", "gen", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "trait", "type",
    "typeof", "unsafe", "unsized", "use", "where", "yield",
];
/// Types, traits and macros that a module has without `use`, and that generated code or its derives may name.
const PRELUDE: &[&str] = &[
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Clone",
    "Copy",
    "Debug",
    "PartialEq",
    "Eq",
    "Hash",
    "Send",
    "Sync",
    "Sized",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "AsRef",
    "AsMut",
    "Into",
    "From",
    "Default",
    "Iterator",
    "IntoIterator",
    "String",
    "Vec",
    "Box",
    "ToString",
    "ToOwned",
    "str",
    "char",
    "usize",
    "isize",
    "i128",
    "u128",
    "silverpoint",
    "core",
    "std",
];
/// Those that no `r#` makes a name.
const NEVER: &[&str] = &["crate", "self", "Self", "super"];

/// The module's text, for a file of its own or for `include!`.
///
/// # Errors
/// Arguments whose types Rust does not have.
pub fn module(model: &Model) -> Result<String, Vec<Mistake>> {
    let mut writer =
        Module { model, records: BTreeSet::new(), enumerations: BTreeSet::new(), mistakes: Vec::new() };
    let mut functions = String::new();
    let mut names = HashMap::new();
    for point in &model.points {
        // (Namespaces of C++ keep them separate.)
        if let Some(first) = names.insert(&point.name, &point.place) {
            let expected = format!("a module for each provider: {} is defined at {first}, too", point.name);
            writer.mistakes.push(Mistake::new(&point.place, expected));
        }
        writer.point(&mut functions, point);
    }
    for (index, one) in model.enumerations.iter().enumerate() {
        if one.is_own {
            writer.enumerations.insert(index);
        }
    }
    if !writer.mistakes.is_empty() {
        return Err(writer.mistakes);
    }
    let mut text = String::from("// Made by `silverpoint tracegen --rust`; do not edit.\n\n");
    for (name, kind, members) in RECORDS.iter().filter(|(name, ..)| writer.records.contains(name)) {
        let members: String = members.iter().map(|one| format!("    pub {one}: {kind},\n")).collect();
        let _ = write!(
            text,
            "/// `{name}` of Qt.\n#[derive(Clone, Copy, Debug, PartialEq, silverpoint::Trace)]\n#[allow(missing_docs)]\npub struct {name} {{\n{members}}}\n\n"
        );
    }
    let mut types = HashMap::new();
    for index in &writer.enumerations {
        if let Some(one) = model.enumerations.get(*index) {
            if let Some(first) = types.insert(type_name(one), &one.place) {
                let expected =
                    format!("a module for each provider: {} is defined at {first}, too", type_name(one));
                return Err(vec![Mistake::new(&one.place, expected)]);
            }
            enumeration(&mut text, one);
        }
    }
    text += &functions;
    text.truncate(text.trim_end().len());
    Ok(text + "\n")
}

/// `QEvent::Type` as a name of Rust.
///
/// Names that every Rust module has get a `_`, so that they keep their meaning.
fn type_name(one: &Enumeration) -> String {
    let name = one.name.replace("::", "");
    let is_taken = PRELUDE.contains(&&*name)
        || types::is_own(&name)
        || RECORDS.iter().any(|(record, ..)| *record == name);
    if is_taken { format!("{name}_") } else { variable(&name) }
}

fn scalar_name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "bool".to_owned(),
        Scalar::Char => "i8".to_owned(),
        Scalar::Signed(width) => format!("i{}", width as u8),
        Scalar::Unsigned(width) => format!("u{}", width as u8),
        Scalar::F32 => "f32".to_owned(),
        Scalar::F64 => "f64".to_owned(),
    }
}

/// A name that Rust accepts as a variable.
fn variable(name: &str) -> String {
    match () {
        () if NEVER.contains(&name) => format!("{name}_"),
        () if KEYWORDS.contains(&name) => format!("r#{name}"),
        () => name.to_owned(),
    }
}

/// A name that Rust accepts as a constant's.
fn constant(name: &str) -> String {
    variable(name)
}

fn enumeration(text: &mut String, one: &Enumeration) {
    let name = type_name(one);
    let kind = scalar_name(one.scalar());
    let what = if one.is_flags { "A set of flags" } else { "An enumeration" };
    let whole = if one.is_own { format!("{}::{}", one.namespace, one.name) } else { one.name.clone() };
    let _ = write!(
        text,
        "/// {what}: `{whole}`. Values without a name are possible.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub struct {name}(pub {kind});\n\n\
         #[allow(missing_docs, non_upper_case_globals, dead_code)]\nimpl {name} {{\n"
    );
    let mut names = HashSet::new();
    for label in one.labels.iter().chain(&one.aliases) {
        // (The values of a range have one name.)
        if names.insert(&label.name) {
            let _ = writeln!(text, "    pub const {}: Self = Self({});", constant(&label.name), label.value);
        }
    }
    text.push_str("}\n\n");
    if one.is_flags {
        let _ = write!(
            text,
            "impl core::ops::BitOr for {name} {{\n    type Output = Self;\n    \
             fn bitor(self, other: Self) -> Self {{\n        Self(self.0 | other.0)\n    }}\n}}\n\n"
        );
    }
    let _ = write!(
        text,
        "impl silverpoint::Trace for {name} {{\n    const SIGNATURE: silverpoint::Sig = silverpoint::Sig::List(&[\n"
    );
    let mut sign = |value: String| {
        let _ = writeln!(text, "        silverpoint::Sig::{value},");
    };
    if one.is_flags {
        sign("Text(\"@flags=\")".to_owned());
        for (index, label) in one.labels.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            sign(format!("Name(\"{comma}{}={}\")", label.value, label.name));
        }
        sign("Text(\";\")".to_owned());
    }
    sign("Text(\"e\")".to_owned());
    sign(format!("Name(\"{whole}\")"));
    sign("Text(\"|\")".to_owned());
    sign("List(&[<KIND as silverpoint::Trace>::SIGNATURE])".replace("KIND", &kind));
    sign("Text(\"|\")".to_owned());
    if !one.is_flags {
        for label in &one.labels {
            sign(format!("Number({})", label.value));
            sign(format!("Text(\"={},\")", label.name));
        }
    }
    sign("Text(\";\")".to_owned());
    let _ = write!(
        text,
        "    ]);\n    const FIXED: Option<usize> = <{kind} as silverpoint::Trace>::FIXED;\n\
         \x20   #[inline]\n    fn trace_size(&self) -> usize {{\n        silverpoint::Trace::trace_size(&self.0)\n    }}\n\
         \x20   #[inline]\n    fn trace_write(&self, writer: &mut silverpoint::Writer<'_>) {{\n        silverpoint::Trace::trace_write(&self.0, writer);\n    }}\n\
         \x20   fn trace_item(&self, item: &mut silverpoint::Item<'_>) {{\n        silverpoint::Trace::trace_item(&self.0, item);\n    }}\n}}\n\n"
    );
}

struct Module<'m> {
    model: &'m Model,
    records: BTreeSet<&'static str>,
    enumerations: BTreeSet<usize>,
    mistakes: Vec<Mistake>,
}

impl Module<'_> {
    fn point(&mut self, text: &mut String, point: &Point) {
        let mut parameters = Vec::new();
        let mut values = Vec::new();
        for argument in &point.arguments {
            let name = variable(&argument.name);
            // A slice knows its length.
            let mut counted = point
                .arguments
                .iter()
                .filter(|one| matches!(&one.shape, Shape::Counted(_, length) if *length == argument.name));
            if let (Some(first), Shape::Scalar(scalar)) = (counted.next(), &argument.shape) {
                if let Some(second) = counted.next() {
                    let expected = format!(
                        "a length of its own: slices of Rust may differ in length, and `{}` has that of `{}`",
                        second.name, first.name
                    );
                    self.mistakes.push(Mistake::new(&second.place, expected));
                }
                let kind = scalar_name(*scalar);
                // A length that the type does not have is recorded as the largest that it has.
                values.push(format!(
                    "{name} = {kind}::try_from({}.len()).unwrap_or({kind}::MAX)",
                    variable(&first.name)
                ));
                continue;
            }
            match self.parameter(argument) {
                Some(kind) => parameters.push(format!("{name}: {kind}")),
                None => continue,
            }
            values.push(match argument.shape {
                Shape::Bytes => format!("{name} = silverpoint::Bytes({name})"),
                _ => name,
            });
        }
        let values: String = values.iter().map(|value| format!(", {value}")).collect();
        let (name, provider, level) = (&point.name, &point.provider, point.level.name());
        let capital = level[..1].to_ascii_uppercase() + &level[1..];
        let _ = write!(
            text,
            "/// Records `{name}`, if it is on.\n#[allow(non_snake_case, dead_code, clippy::too_many_arguments)]\n#[inline]\npub fn trace_{name}({}) {{\n    \
             silverpoint::event!(target: \"{provider}\", level: {level}, \"{name}\"{values});\n}}\n\n\
             /// Whether `{name}` is on.\n#[allow(non_snake_case, dead_code)]\n#[inline]\npub fn trace_{name}_enabled() -> bool {{\n    \
             silverpoint::enabled!(target: \"{provider}\", {capital})\n}}\n\n",
            parameters.join(", "),
        );
    }

    /// The type of a parameter; none: Rust does not have it, and a mistake is noted.
    fn parameter(&mut self, argument: &Argument) -> Option<String> {
        let kind = match &argument.shape {
            Shape::Bytes => Some("&[u8]".to_owned()),
            shape => self.kind(shape),
        };
        if kind.is_none() {
            let expected = "a type that Rust has: numbers, texts, bytes, pointers, arrays of numbers, enumerations whose values stand here, QPoint, QSize, QRect";
            self.mistakes.push(Mistake::new(&argument.place, expected));
        }
        kind
    }

    fn kind(&mut self, shape: &Shape) -> Option<String> {
        Some(match shape {
            Shape::Scalar(scalar) => scalar_name(*scalar),
            Shape::Text => "&str".to_owned(),
            Shape::Bytes => "silverpoint::Bytes<'_>".to_owned(),
            Shape::Pointer => "*const ()".to_owned(),
            Shape::Array(element, _) | Shape::Counted(element, _) if element == "char" => "&str".to_owned(),
            Shape::Array(element, length) => format!("&[{}; {length}]", scalar_name(types::scalar(element)?)),
            Shape::Counted(element, _) => format!("&[{}]", scalar_name(types::scalar(element)?)),
            Shape::Sequence(inner) => format!("&[{}]", self.kind(inner)?),
            Shape::Optional(inner) => format!("Option<{}>", self.kind(inner)?),
            Shape::Enumeration(index) => {
                self.enumerations.insert(*index);
                type_name(self.model.enumerations.get(*index)?)
            }
            Shape::Named(name) => {
                let (record, ..) = RECORDS.iter().find(|(record, ..)| record == name)?;
                self.records.insert(record);
                (*record).to_owned()
            }
        })
    }
}
