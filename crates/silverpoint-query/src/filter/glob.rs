//! Patterns with `*` (any characters) and `?` (one). Those of directives count bytes (`spec/directives.md`).

/// Whether `pattern` matches the whole of `text`. Case matters. Cost: at most the product of the lengths, no allocation.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (mut p, mut t) = (pattern.chars(), text.chars());
    // Where to continue when the text after the last `*` does not fit: after it in the pattern, one character
    // later in the text.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        match p.next() {
            Some('*') => {
                retry = Some((p.clone(), t.clone()));
                continue;
            }
            Some(wanted) => {
                let fits = t.next().is_some_and(|c| wanted == '?' || wanted == c);
                if fits {
                    continue;
                }
            }
            None if t.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after_star, mut from)) = retry.take() else { return false };
        if from.next().is_none() {
            return false;
        }
        (p, t) = (after_star.clone(), from.clone());
        retry = Some((after_star, from));
    }
}

/// Whether `pattern` matches the whole of `text`, or its end after one of `separators` (`Pump::start` in `app::Pump::start`).
pub fn matches_end(pattern: &str, text: &str, separator: &str) -> bool {
    let mut rest = text;
    loop {
        if matches(pattern, rest) {
            return true;
        }
        match rest.find(separator) {
            Some(at) => rest = &rest[at + separator.len()..],
            None => return false,
        }
    }
}

/// Whether `pattern` matches a category or one above it: `net` matches `net::tcp`, `net.tcp`, `net/tcp`, not `network`.
pub fn matches_category(pattern: &str, category: &str) -> bool {
    if matches(pattern, category) {
        return true;
    }
    let cuts =
        category.char_indices().filter(|(at, c)| matches!(c, '.' | '/') || category[*at..].starts_with("::"));
    cuts.map(|(at, _)| &category[..at]).any(|above| matches(pattern, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_text() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "anything"),
            ("a?c", "abc"),
            ("a*c", "ac"),
            ("a*b*c", "a-bb-c"),
            ("*ab", "aab"),
            ("?", "é"),
            ("**x", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", ""), ("a?c", "ac"), ("a*c", "ab"), ("?", ""), ("*a", "b"), ("A", "a")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        assert!(!matches(&"*a".repeat(50), &"a".repeat(49)), "no exponential cost");
    }

    #[test]
    fn ends_and_categories() {
        assert!(matches_end("Pump::start", "app::Pump::start", "::"));
        assert!(matches_end("*.rs", "src/main.rs", "/"));
        assert!(matches_end("main.rs", "src/main.rs", "/"));
        assert!(!matches_end("ain.rs", "src/main.rs", "/"));
        assert!(matches_category("net", "net"));
        assert!(matches_category("net", "net::tcp"));
        assert!(matches_category("net", "net.tcp"));
        assert!(matches_category("n*", "net/tcp"));
        assert!(matches_category("net::*", "net::tcp::v6"));
        assert!(!matches_category("net", "network"));
        assert!(!matches_category("net", ""));
    }
}
