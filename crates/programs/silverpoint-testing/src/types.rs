//! Names of types, as failure messages show them: `i32`, `text`, `[f64]`, `{text: i32}`, `Order`.

use silverpoint_wire::signature::Type;

/// The name of a type. What nests deeper than three is shortened to `…`.
pub(crate) fn name_of(ty: &Type) -> String {
    name(ty, 0)
}

/// The metadata of a value as a whole, and of what an optional may have.
pub(crate) fn meta_of(mut ty: &Type) -> Vec<(String, String)> {
    let mut all = Vec::new();
    loop {
        ty = match ty {
            Type::Meta(key, text, inner) => {
                all.push((key.to_string(), text.to_string()));
                inner
            }
            Type::Optional(inner) => inner,
            _ => return all,
        };
    }
}

fn name(ty: &Type, depth: u32) -> String {
    if depth > 3 {
        return "…".to_owned();
    }
    let inner = |ty: &Type| name(ty, depth + 1);
    match ty {
        Type::Null => "null".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int { bits, signed } => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
        Type::Float32 => "f32".to_owned(),
        Type::Float64 => "f64".to_owned(),
        Type::Char8 | Type::Char16 | Type::Char32 => "char".to_owned(),
        Type::Pointer => "pointer".to_owned(),
        Type::Text8 | Type::Text16 | Type::Text32 => "text".to_owned(),
        Type::Bytes => "bytes".to_owned(),
        Type::Uuid => "uuid".to_owned(),
        Type::Time => "time".to_owned(),
        Type::Duration => "duration".to_owned(),
        Type::Any => "any".to_owned(),
        Type::Optional(ty) => inner(ty) + "?",
        Type::Sequence(ty) => format!("[{}]", inner(ty)),
        Type::Set(ty) => format!("{{{}}}", inner(ty)),
        Type::Array(count, ty) => format!("[{}; {count}]", inner(ty)),
        Type::Map(key, value) => format!("{{{}: {}}}", inner(key), inner(value)),
        Type::Tuple(tuple) => format!("({})", list(tuple.types(), ", ", inner)),
        Type::Record(record) => record.name().to_owned(),
        Type::Enumeration(enumeration) => enumeration.name().to_owned(),
        Type::Variant(alternatives) => list(alternatives, "|", inner),
        Type::Meta(_, _, ty) => name(ty, depth),
    }
}

fn list(types: &[Type], separator: &str, name: impl Fn(&Type) -> String) -> String {
    /// More than so many are not shown.
    const MOST: usize = 4;
    let mut names: Vec<String> = types.iter().take(MOST).map(name).collect();
    if types.len() > MOST {
        names.push("…".to_owned());
    }
    names.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names() {
        let names = |signature: &str| {
            let types = silverpoint_wire::signature::parse(signature).expect("a signature");
            list(&types, " ", name_of)
        };
        assert_eq!(names("ib?d"), "i32 bool f64?");
        assert_eq!(names("[s{sL#3:f(iW)"), "[text] {text: u64} [f32; 3] (i32, char)");
        assert_eq!(names("<Order|id:L,>"), "Order");
        assert_eq!(names("eSide|A|0=Buy,;@unit=ms;L/is|"), "Side u64 i32|text");
        assert_eq!(names("[[[[[i"), "[[[[…]]]]");
    }
}
