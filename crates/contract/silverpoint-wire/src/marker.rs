//! The name of the function that a Rust tracepoint stands in, from the path of a type declared there.
//!
//! The path comes from the running program (`type_name`) or from a symbol of its file; both become the same
//! name. The arguments of generic types are written in one form: `_` for all parameters, no lifetimes, and a
//! space after each comma.

/// Longest name that is kept, in bytes.
pub const MAX: usize = 512;

/// `a::<impl a::Pump>::start::{{closure}}::__Here` becomes `a::Pump::start`.
///
/// Pieces that only the compiler knows (closures, impl blocks) go; the type of an impl block stays, for it is how people name a method.
pub fn of_marker<'a>(path: &str, buffer: &'a mut [u8; MAX]) -> &'a str {
    let mut name = Name { buffer, len: 0 };
    let mut first = true;
    let mut segments = Segments(path).peekable();
    while let Some(segment) = segments.next() {
        if segments.peek().is_none() {
            break; // the marker itself
        }
        if segment.starts_with("{{") || segment.starts_with("{closure") {
            continue;
        }
        // `<impl Pump>`, `<impl Run for Pump>`, `<Pump as Run>`: the name begins again with the type.
        let inner = segment.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
        match inner {
            Some(inner) => {
                let inner = inner.strip_prefix("impl ").unwrap_or(inner);
                let kind = inner.rsplit_once(" for ").map_or(inner, |(_, kind)| kind);
                let kind = kind.split_once(" as ").map_or(kind, |(kind, _)| kind);
                name.len = 0;
                name.put(kind);
            }
            None => {
                if !first {
                    name.add("::");
                }
                name.put(segment);
            }
        }
        first = false;
    }
    let Name { buffer, len } = name;
    // Only whole characters of valid texts were put.
    std::str::from_utf8(&buffer[..len]).unwrap_or("")
}

/// A name as it is being put together.
struct Name<'a> {
    buffer: &'a mut [u8; MAX],
    len: usize,
}

impl Name<'_> {
    /// Appends a piece of a path, with the arguments of generic types in the one way.
    fn put(&mut self, path: &str) {
        let mut depth = 0usize;
        let mut before = "";
        let mut rest = path;
        while let Some(word) = next_word(rest) {
            rest = &rest[word.len()..];
            match word {
                "<" => depth += 1,
                ">" if before != "-" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_bare = before != ":" && !rest.starts_with("::");
            if depth > 0 && word.starts_with('\'') {
                let after = rest.trim_start_matches([',', ' ']);
                // The last of several, or one behind `&`.
                if self.ends_with(b", ") && after.starts_with('>') {
                    self.len -= 2;
                }
                rest = after;
                continue;
            }
            if depth > 0 && word == "," {
                self.add(", ");
                rest = rest.trim_start();
            } else if depth > 0 && is_bare && is_parameter(word) {
                self.add("_");
            } else {
                self.add(word);
            }
            before = word;
        }
        // What had nothing but lifetimes.
        if self.ends_with(b"<>") {
            self.len -= 2;
        }
    }

    fn ends_with(&self, end: &[u8]) -> bool {
        self.buffer[..self.len].ends_with(end)
    }

    fn add(&mut self, text: &str) {
        let mut n = text.len().min(MAX - self.len);
        while !text.is_char_boundary(n) {
            n -= 1;
        }
        self.buffer[self.len..self.len + n].copy_from_slice(&text.as_bytes()[..n]);
        self.len += n;
    }
}

/// The word, lifetime or other character that a text begins with.
fn next_word(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let begin = if first == '\'' { 1 } else { 0 };
    let is_other = |c: char| !(c.is_alphanumeric() || c == '_');
    let len = text[begin..].find(is_other).map_or(text.len(), |len| begin + len);
    Some(&text[..len.max(first.len_utf8())])
}

/// A type that is no parameter has a path, or is one of the language's own.
fn is_parameter(word: &str) -> bool {
    const OWN: [&str; 28] = [
        "as", "bool", "char", "const", "dyn", "f128", "f16", "f32", "f64", "false", "fn", "for", "i128",
        "i16", "i32", "i64", "i8", "impl", "isize", "mut", "str", "true", "u128", "u16", "u32", "u64", "u8",
        "usize",
    ];
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && OWN.binary_search(&word).is_err()
}

/// Segments between `::` that stand in no `<>`.
struct Segments<'a>(&'a str);

impl<'a> Iterator for Segments<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let bytes = self.0.as_bytes();
        let mut depth = 0usize;
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' if i == 0 || bytes[i - 1] != b'-' => depth = depth.saturating_sub(1),
                b':' if depth == 0 && bytes.get(i + 1) == Some(&b':') => {
                    let segment = &self.0[..i];
                    self.0 = &self.0[i + 2..];
                    return Some(segment);
                }
                _ => {}
            }
        }
        Some(std::mem::take(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_people_use() {
        for (path, name) in [
            ("app::main::__Here", "app::main"),
            ("app::net::connect::{{closure}}::__Here", "app::net::connect"),
            ("app::net::connect::{closure#0}::__Here", "app::net::connect"),
            ("app::net::<impl app::net::Pump>::start::__Here", "app::net::Pump::start"),
            ("<app::net::Pump as app::Run>::run::__Here", "app::net::Pump::run"),
            (
                "app::<impl app::Run for app::Pump<T>>::run::{{closure}}::{{closure}}::__Here",
                "app::Pump<_>::run",
            ),
            ("app::f::g::__Here", "app::f::g"),
            ("__Here", ""),
        ] {
            assert_eq!(of_marker(path, &mut [0; MAX]), name, "{path}");
        }
        let long = format!("{}::__Here", "ä".repeat(MAX));
        assert_eq!(of_marker(&long, &mut [0; MAX]).len(), MAX);
    }

    #[test]
    fn arguments_of_types_are_written_in_one_way() {
        for (path, name) in [
            ("app::Pump<T>", "app::Pump<_>"),
            ("app::Pump<_>", "app::Pump<_>"),
            (
                "app::Pump<u8,app::T,&mut T,[T; 3],fn(U) -> str>",
                "app::Pump<u8, app::T, &mut _, [_; 3], fn(_) -> str>",
            ),
            ("app::Held<'_, N, T>", "app::Held<_, _>"),
            ("app::Held<_,_>", "app::Held<_, _>"),
            ("app::Held<T, '_>", "app::Held<_>"),
            ("app::Held<'a>", "app::Held"),
            ("app::Held<&'a str>", "app::Held<&str>"),
            ("app::Held<dyn app::Run<3>>", "app::Held<dyn app::Run<3>>"),
            (">>a<'", ">>a<"),
            ("<é", "<_"),
        ] {
            let mut name_of = Name { buffer: &mut [0; MAX], len: 0 };
            name_of.put(path);
            let Name { buffer, len } = name_of;
            assert_eq!(std::str::from_utf8(&buffer[..len]).unwrap(), name, "{path}");
        }
    }
}
