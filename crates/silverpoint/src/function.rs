//! The name of the function that a tracepoint stands in, from the path of a type declared there.

/// Longest name that is kept, in bytes.
pub(crate) const MAX: usize = 512;

/// `a::<impl a::Pump>::start::{{closure}}::__Here` becomes `a::Pump::start`.
///
/// Pieces that only the compiler knows (closures, impl blocks) go; the type of an impl block stays, for it is how people name a method.
pub(crate) fn of_marker<'a>(path: &str, buffer: &'a mut [u8; MAX]) -> &'a str {
    let mut len = 0;
    let mut put = |from_start: bool, text: &str| {
        if from_start {
            len = 0;
        }
        let mut n = text.len().min(MAX - len);
        while !text.is_char_boundary(n) {
            n -= 1;
        }
        buffer[len..len + n].copy_from_slice(&text.as_bytes()[..n]);
        len += n;
    };
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
                put(true, kind);
            }
            None => {
                if !first {
                    put(false, "::");
                }
                put(false, segment);
            }
        }
        first = false;
    }
    // Only whole characters of valid texts were put.
    std::str::from_utf8(&buffer[..len]).unwrap_or("")
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
            ("app::net::<impl app::net::Pump>::start::__Here", "app::net::Pump::start"),
            ("<app::net::Pump as app::Run>::run::__Here", "app::net::Pump::run"),
            (
                "app::<impl app::Run for app::Pump<T>>::run::{{closure}}::{{closure}}::__Here",
                "app::Pump<T>::run",
            ),
            ("app::f::g::__Here", "app::f::g"),
            ("__Here", ""),
        ] {
            assert_eq!(of_marker(path, &mut [0; MAX]), name, "{path}");
        }
        let long = format!("{}::__Here", "ä".repeat(MAX));
        assert_eq!(of_marker(&long, &mut [0; MAX]).len(), MAX);
    }
}
