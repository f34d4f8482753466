//! A C++ header of tracepoints: `trace_NAME`, `do_trace_NAME` and `trace_NAME_enabled` for each.
//!
//! A function's tracepoint has file and line of its definition, by `#line`: messages of the compiler and records name them.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::definitions::QT;
use crate::model::{Argument, Enumeration, Model, Point, Scalar, Shape};
use crate::text::Place;

/// The header's text. `name`: its file name, for messages of the compiler.
pub fn header(model: &Model, name: &str) -> String {
    let mut out = Out { text: String::new(), lines: 0, name };
    let mut providers: Vec<&str> = Vec::new();
    for point in &model.points {
        if !providers.contains(&&*point.provider) {
            providers.push(&point.provider);
        }
    }
    out.line(format_args!(
        "// Tracepoints of {}. Made by `silverpoint tracegen`; do not edit.",
        providers.join(", ")
    ));
    out.line("#pragma once\n");
    let has_qt_space = model.points.iter().any(|point| point.namespace == QT);
    if model.is_qt && has_qt_space {
        out.line("#if __has_include(<QtCore/qglobal.h>)\n#    include <QtCore/qglobal.h>\n#endif");
    }
    let includes = includes(model);
    for include in &includes {
        out.line(format_args!("#include <{include}>"));
    }
    out.line("");
    for line in &model.prefix {
        out.line(line);
    }
    let used = used(model);
    for namespace in namespaces(model) {
        let of_space = model.enumerations.iter().enumerate().filter(|(_, one)| one.namespace == namespace);
        let enumerations: Vec<&Enumeration> =
            of_space.filter(|(index, one)| one.is_own || used.contains(index)).map(|(_, one)| one).collect();
        if !enumerations.is_empty() {
            out.open(namespace);
            for one in &enumerations {
                if one.is_own {
                    out.enumeration(one);
                }
                out.labels(one);
            }
            out.close(namespace);
        }
        for one in enumerations.iter().filter(|one| one.is_own) {
            let (name, labels) = (&one.name, table(one));
            out.line(format_args!("template <>\nstruct silverpoint::Enum<{namespace}::{name}> : silverpoint::tracegen::EnumOf<{namespace}::{name}, {namespace}::{labels}> {{}};\n"));
        }
        out.open(namespace);
        for point in model.points.iter().filter(|point| point.namespace == namespace) {
            out.point(model, point);
        }
        out.close(namespace);
    }
    if has_qt_space {
        out.line("// Q_TRACE and its like.\n#include <silverpoint/qt/trace.hpp>");
    }
    out.text
}

/// In the order in which they come first.
fn namespaces(model: &Model) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    let enumerations = model.enumerations.iter().map(|one| &*one.namespace);
    for one in enumerations.chain(model.points.iter().map(|point| &*point.namespace)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// Enumerations that an argument has.
fn used(model: &Model) -> BTreeSet<usize> {
    fn look(shape: &Shape, found: &mut BTreeSet<usize>) {
        match shape {
            Shape::Enumeration(index) => {
                found.insert(*index);
            }
            Shape::Sequence(inner) | Shape::Optional(inner) => look(inner, found),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for argument in model.points.iter().flat_map(|point| &point.arguments) {
        look(&argument.shape, &mut found);
    }
    found
}

/// Headers for the values, by the names of their types.
fn includes(model: &Model) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::from(["silverpoint/tracegen.hpp"]);
    for argument in model.points.iter().flat_map(|point| &point.arguments) {
        match &argument.written {
            Some(written) => of_written(written, &argument.shape, &mut found),
            None => of_shape(&argument.shape, &mut found),
        }
    }
    found
}

fn of_written(written: &str, shape: &Shape, found: &mut BTreeSet<&'static str>) {
    if matches!(shape, Shape::Pointer | Shape::Enumeration(_)) {
        return;
    }
    let words = written.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
    for word in words.filter(|word| word.len() > 1) {
        let mut letters = word.chars();
        let is_qt = letters.next() == Some('Q') && letters.next().is_some_and(|c| c.is_ascii_uppercase());
        let header = match word {
            "QString" | "QStringView" | "QLatin1String" | "QLatin1StringView" | "QByteArray"
            | "QByteArrayView" | "QChar" => "silverpoint/qt/text.hpp",
            "QUrl" | "QUuid" => "silverpoint/qt/ids.hpp",
            "QPoint" | "QPointF" | "QSize" | "QSizeF" | "QRect" | "QRectF" | "QLine" | "QLineF"
            | "QMargins" | "QMarginsF" => "silverpoint/qt/geometry.hpp",
            "QDate" | "QTime" | "QDateTime" => "silverpoint/qt/times.hpp",
            _ if is_qt || word.starts_with("Qt::") => "silverpoint/qt.hpp",
            "std::string" => "string",
            "std::string_view" => "string_view",
            "std::vector" => "vector",
            "std::optional" => "optional",
            _ => continue,
        };
        found.insert(header);
    }
}

fn of_shape(shape: &Shape, found: &mut BTreeSet<&'static str>) {
    match shape {
        Shape::Sequence(inner) => {
            found.insert("span");
            of_shape(inner, found);
        }
        Shape::Optional(inner) => {
            found.insert("optional");
            of_shape(inner, found);
        }
        Shape::Bytes => found.extend(["cstddef", "span"]),
        Shape::Text => found.extend(["string_view"]),
        _ => {}
    }
}

/// The name of the table of an enumeration's labels.
fn table(one: &Enumeration) -> String {
    format!("tracegen_labels_{}_{}", one.provider, one.name.replace("::", "_"))
}

/// The C++ type of a shape of the short form.
fn parameter(model: &Model, shape: &Shape) -> String {
    match shape {
        Shape::Scalar(scalar) => scalar_name(*scalar).to_owned(),
        Shape::Text => "std::string_view".to_owned(),
        Shape::Bytes => "std::span<const std::byte>".to_owned(),
        Shape::Sequence(inner) => {
            let element = parameter(model, inner);
            // `const` before a pointer would mean what it points to.
            if element.ends_with('*') {
                format!("std::span<{element}const>")
            } else {
                format!("std::span<const {element}>")
            }
        }
        Shape::Optional(inner) => format!("std::optional<{}>", parameter(model, inner)),
        Shape::Enumeration(index) => {
            model.enumerations.get(*index).map_or_else(String::new, |one| one.name.clone())
        }
        Shape::Named(name) => name.clone(),
        Shape::Pointer | Shape::Array(..) | Shape::Counted(..) => "const void *".to_owned(),
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    use crate::model::Width::{W8, W16, W32, W64};
    match scalar {
        Scalar::Bool => "bool",
        Scalar::Char => "char",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::Signed(W8) => "std::int8_t",
        Scalar::Signed(W16) => "std::int16_t",
        Scalar::Signed(W32) => "std::int32_t",
        Scalar::Signed(W64) => "std::int64_t",
        Scalar::Unsigned(W8) => "std::uint8_t",
        Scalar::Unsigned(W16) => "std::uint16_t",
        Scalar::Unsigned(W32) => "std::uint32_t",
        Scalar::Unsigned(W64) => "std::uint64_t",
    }
}

/// A value as C++ has it.
fn value(value: i128) -> String {
    match () {
        () if value == i128::from(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        () if value > i128::from(i64::MAX) => format!("{value}ULL"),
        () if value > i128::from(i32::MAX) || value < i128::from(i32::MIN) => format!("{value}LL"),
        () => value.to_string(),
    }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            other if other.is_control() => out.push('?'),
            other => out.push(other),
        }
    }
    out + "\""
}

struct Out<'n> {
    text: String,
    lines: usize,
    name: &'n str,
}

/// How a parameter becomes what is recorded.
struct Given {
    parameter: String,
    /// A statement before the tracepoint, or nothing.
    before: String,
}

impl Out<'_> {
    fn line(&mut self, text: impl std::fmt::Display) {
        let begun = self.text.len();
        let _ = writeln!(self.text, "{text}");
        self.lines += self.text[begun..].matches('\n').count();
    }

    fn open(&mut self, namespace: &str) {
        if namespace == QT {
            self.line("#ifdef QT_BEGIN_NAMESPACE\nQT_BEGIN_NAMESPACE\n#endif");
        }
        self.line(format_args!("namespace {namespace} {{\n"));
    }

    fn close(&mut self, namespace: &str) {
        self.line(format_args!("}}  // namespace {namespace}"));
        if namespace == QT {
            self.line("#ifdef QT_END_NAMESPACE\nQT_END_NAMESPACE\n#endif");
        }
        self.line("");
    }

    fn enumeration(&mut self, one: &Enumeration) {
        let name = &one.name;
        self.line(format_args!("enum class {name} : {} {{", scalar_name(one.scalar())));
        for label in one.labels.iter().chain(&one.aliases) {
            self.line(format_args!("    {} = {},", label.name, value(label.value)));
        }
        self.line("};\n");
        if one.is_flags {
            self.line(format_args!(
                "constexpr {name} operator|({name} one, {name} other) {{\n    return static_cast<{name}>(static_cast<{0}>(one) | static_cast<{0}>(other));\n}}\n",
                scalar_name(one.scalar())
            ));
        }
    }

    fn labels(&mut self, one: &Enumeration) {
        self.line(format_args!("struct {} {{", table(one)));
        let whole = if one.is_own { format!("{}::{}", one.namespace, one.name) } else { one.name.clone() };
        self.line(format_args!("    static constexpr std::string_view name = {};", quoted(&whole)));
        self.line(format_args!("    static constexpr bool is_flags = {};", one.is_flags));
        let is_beyond = one.labels.iter().any(|label| label.value > i64::MAX.into());
        self.line(format_args!("    static constexpr bool is_unsigned = {is_beyond};"));
        self.line("    static constexpr silverpoint::tracegen::Label all[] = {");
        for label in &one.labels {
            // The 64 bits of the value.
            let bits = label.value as i64;
            self.line(format_args!("        {{{}, {}}},", value(bits.into()), quoted(&label.name)));
        }
        self.line("    };\n};\n");
    }

    fn point(&mut self, model: &Model, point: &Point) {
        let name = &point.name;
        let given: Vec<Given> =
            point.arguments.iter().map(|argument| given(model, point, argument)).collect();
        let parameters = given.iter().map(|one| &*one.parameter).collect::<Vec<_>>().join(", ");
        let names: Vec<&str> = point.arguments.iter().map(|one| &*one.name).collect();
        // The one site. An overload gives it, so that its function has the name of the tracepoint.
        self.line(format_args!(
            "[[gnu::always_inline]] inline void *trace_{name}(silverpoint::tracegen::Asked &) {{"
        ));
        self.line(format_args!("    SP_CATEGORY({})", quoted(&point.provider)));
        let site = format!(
            "return SP_TRACEGEN_SITE({}, {}, {});",
            point.level.name(),
            quoted(&names.join(", ")),
            quoted(name)
        );
        self.at(&point.place, &site);
        self.line("}");
        self.line(format_args!("inline void trace_{name}({parameters}) {{"));
        let values: String = names.iter().map(|name| format!(", {name}")).collect();
        // All in the line of the definition: the compiler's message names it.
        let before: String = given
            .iter()
            .map(|one| one.before.clone())
            .filter(|one| !one.is_empty())
            .map(|one| one + " ")
            .collect();
        let checks: String = point.arguments.iter().filter_map(check).collect();
        let function = format!("{}::trace_{name}", point.namespace);
        let event = format!("{before}{checks}SP_TRACEGEN_RECORD({function}, {}{values});", quoted(name));
        self.at(&point.place, &event);
        self.line("}");
        // A tracepoint has one place: this is the same.
        let plain: Vec<String> =
            given.iter().zip(&names).map(|(one, name)| unwrapped(&one.parameter, name)).collect();
        let passed: Vec<String> = plain
            .iter()
            .zip(&names)
            .map(|(parameter, name)| match parameter.contains("&&") {
                true => format!("static_cast<decltype({name}) &&>({name})"),
                false => (*name).to_owned(),
            })
            .collect();
        self.line(format_args!(
            "inline void do_trace_{name}({}) {{ trace_{name}({}); }}",
            plain.join(", "),
            passed.join(", ")
        ));
        self.line(format_args!(
            "inline bool trace_{name}_enabled() {{ return trace_{name}(silverpoint::tracegen::asked) != nullptr; }}\n"
        ));
    }

    /// A statement that stands at a place of another file.
    fn at(&mut self, place: &Place, statement: &str) {
        self.line(format_args!("#line {} {}", place.line, quoted(&place.file)));
        self.line(format_args!("    {statement}"));
        let next = self.lines + 2;
        self.line(format_args!("#line {next} {}", quoted(self.name)));
    }
}

/// For a type that only has a name: the compiler checks that it can be recorded.
fn check(argument: &Argument) -> Option<String> {
    let Shape::Named(name) = &argument.shape else { return None };
    let message = format!(
        "`{name} {}` cannot be recorded: describe {name} with SP_STRUCT before this header, or pass something else",
        argument.name
    );
    Some(format!("static_assert(silverpoint::tracegen::Recordable<{name}>, {}); ", quoted(&message)))
}

/// A parameter with the argument's own name.
fn unwrapped(parameter: &str, name: &str) -> String {
    let at = parameter.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    format!("{}{name}", &parameter[..at])
}

fn given(model: &Model, point: &Point, argument: &Argument) -> Given {
    let name = &argument.name;
    let written = argument.written.clone().unwrap_or_else(|| parameter(model, &argument.shape));
    let separated = |kind: &str, name: &str| {
        let glue = if kind.ends_with(['*', '&']) { "" } else { " " };
        format!("{kind}{glue}{name}")
    };
    // Another name for the parameter, where the one of the argument is needed for what is recorded.
    let mut other = format!("given_{name}");
    while point.arguments.iter().any(|one| one.name == other) {
        other.insert_str(0, "given_");
    }
    let is_own = argument.written.is_none();
    match &argument.shape {
        Shape::Pointer if !is_own => {
            let kind = if written.contains("volatile") { "const volatile void" } else { "const void" };
            Given {
                parameter: separated(&written, &other),
                before: format!("{kind} *const {name} = {other};"),
            }
        }
        Shape::Array(element, length) => Given {
            parameter: format!("const {element} *{other}"),
            before: format!(
                "const {element}(&{name})[{length}] = *reinterpret_cast<const {element}(*)[{length}]>({other});"
            ),
        },
        Shape::Counted(element, length) => {
            let counter = point.arguments.iter().find(|one| one.name == *length);
            // (That of the length keeps its name: it is an integer.)
            let length = counter.map_or("0", |one| &one.name);
            Given {
                parameter: format!("const {element} *{other}"),
                before: format!("const auto {name} = silverpoint::tracegen::items({other}, {length});"),
            }
        }
        Shape::Enumeration(index) => match model.enumerations.get(*index) {
            Some(one) if !one.is_own => Given {
                parameter: separated(&written, &other),
                before: format!(
                    "const silverpoint::tracegen::Labelled<{}, {}> {name}{{{other}}};",
                    one.name,
                    table(one)
                ),
            },
            _ => Given { parameter: separated(&written, name), before: String::new() },
        },
        Shape::Optional(_) if is_own => {
            Given { parameter: format!("const {written} &{name}"), before: String::new() }
        }
        _ => Given { parameter: separated(&written, name), before: String::new() },
    }
}
