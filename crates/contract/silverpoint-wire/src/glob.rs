//! Patterns with `*` (any units) and `?` (one). Directives count bytes (`spec/directives.md`), filters count characters.
//!
//! A name comes from another process, and may have thousands of separators. So one pass compares a pattern with all parts of a name. The time is at most the
//! product of both lengths, and nothing is allocated.

/// What is left of a pattern or a name: bytes (`&[u8]`) or characters (`&str`).
pub trait Units: Copy {
    /// Its bytes.
    fn bytes(&self) -> &[u8];
    /// Takes the first unit.
    fn first(&mut self) -> Option<u32>;
    /// Takes the last unit.
    fn last(&mut self) -> Option<u32>;
}

impl Units for &[u8] {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn first(&mut self) -> Option<u32> {
        let (first, rest) = self.split_first()?;
        *self = rest;
        Some(u32::from(*first))
    }

    fn last(&mut self) -> Option<u32> {
        let (last, rest) = self.split_last()?;
        *self = rest;
        Some(u32::from(*last))
    }
}

impl Units for &str {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn first(&mut self) -> Option<u32> {
        let mut rest = self.chars();
        let first = rest.next()?;
        *self = rest.as_str();
        Some(u32::from(first))
    }

    fn last(&mut self) -> Option<u32> {
        let mut rest = self.chars();
        let last = rest.next_back()?;
        *self = rest.as_str();
        Some(u32::from(last))
    }
}

/// Whether the pattern matches the whole name. Case matters.
pub fn matches<T: Units>(pattern: T, name: T) -> bool {
    matches_to(pattern, name, T::first, |left| left.is_empty())
}

/// Whether the pattern matches the whole name, or its end after a separator (`Pump::start` in `app::Pump::start`).
pub fn matches_end<T: Units>(pattern: T, name: T, separator: &str) -> bool {
    let may_start = |before: &[u8]| before.is_empty() || before.ends_with(separator.as_bytes());
    matches_to(pattern, name, T::last, may_start)
}

/// Whether the pattern matches a category or one above it: `net` matches `net::tcp`, `net.tcp`, `net/tcp`, not `network`.
pub fn matches_category<T: Units>(pattern: T, category: T) -> bool {
    let may_end = |below: &[u8]| matches!(below, [] | [b'.' | b'/', ..]) || below.starts_with(b"::");
    matches_to(pattern, category, T::first, may_end)
}

/// Whether the pattern matches what `next` takes from the name, as far as `may_end` admits what is left of it then.
fn matches_to<T: Units>(
    pattern: T,
    name: T,
    next: impl Fn(&mut T) -> Option<u32>,
    may_end: impl Fn(&[u8]) -> bool,
) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // Where to go on when what follows the last star does not match: what precedes it has matched as early as it can.
    let mut retry: Option<(T, T)> = None;
    loop {
        let (mut further, mut rest) = (pattern, name);
        match next(&mut further).and_then(char::from_u32) {
            None if may_end(name.bytes()) => return true,
            Some('*') => {
                pattern = further;
                retry = Some((pattern, name));
                continue;
            }
            Some(wanted)
                if next(&mut rest).is_some_and(|unit| wanted == '?' || u32::from(wanted) == unit) =>
            {
                (pattern, name) = (further, rest);
                continue;
            }
            _ => {}
        }
        let Some((after_star, mut from)) = retry else { return false };
        if next(&mut from).is_none() {
            return false;
        }
        retry = Some((after_star, from));
        (pattern, name) = (after_star, from);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_names() {
        for (pattern, name) in [
            ("", ""),
            ("*", ""),
            ("*", "anything"),
            ("a?c", "abc"),
            ("a*c", "ac"),
            ("a*b*c", "a-bb-c"),
            ("*ab", "aab"),
            ("**x", "x"),
        ] {
            assert!(
                matches(pattern, name) && matches(pattern.as_bytes(), name.as_bytes()),
                "{pattern} {name}"
            );
        }
        for (pattern, name) in
            [("", "a"), ("a", ""), ("a?c", "ac"), ("a*c", "ab"), ("?", ""), ("*a", "b"), ("A", "a")]
        {
            assert!(
                !matches(pattern, name) && !matches(pattern.as_bytes(), name.as_bytes()),
                "{pattern} {name}"
            );
        }
        // A unit is a character or a byte.
        assert!(matches("?", "é") && !matches("?".as_bytes(), "é".as_bytes()));
        assert!(matches("??".as_bytes(), "é".as_bytes()));
        assert!(!matches(&*"*a".repeat(50), &*"a".repeat(49)), "no exponential cost");
    }

    #[test]
    fn ends_and_categories() {
        assert!(matches_end("Pump::start", "app::Pump::start", "::"));
        assert!(matches_end("*.rs", "src/main.rs", "/"));
        assert!(matches_end("main.rs", "src/main.rs", "/"));
        assert!(!matches_end("ain.rs", "src/main.rs", "/"));
        assert!(matches_end("é?", "src/éa", "/") && !matches_end("a", "src/éa", "/"));
        assert!(matches_category("net", "net"));
        assert!(matches_category("net", "net::tcp"));
        assert!(matches_category("net", "net.tcp"));
        assert!(matches_category("n*", "net/tcp"));
        assert!(matches_category("net::*", "net::tcp::v6"));
        assert!(!matches_category("net", "network"));
        assert!(!matches_category("net", ""));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn a_hostile_name_costs_one_pass() {
        // What takes a pass for each place of it does not come to an end.
        let name = "a.".repeat(1_000_000);
        assert!(!matches_category("*a*a*a*b", &*name));
        assert!(!matches_end("b*a*a*a*", &*name, "."));
    }

    /// The meaning of a pattern, by trying everything.
    fn tried(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| tried(rest, &name[at..])),
            Some(('?', rest)) => name.split_first().is_some_and(|(_, name)| tried(rest, name)),
            Some((wanted, rest)) => {
                name.split_first().is_some_and(|(first, name)| first == wanted && tried(rest, name))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        // Few letters, so that patterns and names meet.
        #[test]
        fn one_pass_finds_what_trying_every_end_finds(pattern in "[aé:./*?]{0,8}", name in "[aé:./]{0,12}") {
            let of = |text: &str| text.chars().collect::<Vec<_>>();
            let bytes = |text: &str| text.bytes().map(char::from).collect::<Vec<_>>();
            for (p, n, is_bytes) in [(of(&pattern), of(&name), false), (bytes(&pattern), bytes(&name), true)] {
                let found = |of_text: bool, of_bytes: bool| if is_bytes { of_bytes } else { of_text };
                let (pb, nb) = (pattern.as_bytes(), name.as_bytes());
                let whole = tried(&p, &n);
                prop_assert_eq!(found(matches(&*pattern, &*name), matches(pb, nb)), whole);
                let below = |at: usize| matches!(n[at], '.' | '/') || n[at..].starts_with(&[':', ':']);
                let category = whole || (0..n.len()).any(|at| below(at) && tried(&p, &n[..at]));
                prop_assert_eq!(found(matches_category(&*pattern, &*name), matches_category(pb, nb)), category);
                for separator in ["/", "::"] {
                    let end = whole || (1..=n.len()).any(|at| n[..at].ends_with(&of(separator)) && tried(&p, &n[at..]));
                    prop_assert_eq!(found(matches_end(&*pattern, &*name, separator), matches_end(pb, nb, separator)), end);
                }
            }
        }
    }
}
