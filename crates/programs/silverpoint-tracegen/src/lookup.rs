//! Looks up an enumeration's values in the text of C++ headers: `AUTO`.
//!
//! It reads tokens, and expands no macro. What it cannot compute has no label, and neither have the values that count on from it.

use std::collections::{HashMap, HashSet};

use crate::cursor::begins_name;
use crate::expression::{self, Number};
use crate::labels::{self, Labels};
use crate::model::Label;
use crate::tokens::{Condition, Token, tokens};

/// Where definitions of enumerations may stand.
pub trait Headers {
    /// Gives `look` the text of one file after the other, until it returns true: first those that are nearest.
    fn each(&mut self, look: &mut dyn FnMut(&str) -> bool);
}

/// None.
#[derive(Clone, Copy, Debug)]
pub struct NoHeaders;

impl Headers for NoHeaders {
    fn each(&mut self, _: &mut dyn FnMut(&str) -> bool) {}
}

/// An enumeration of a header.
struct Found {
    /// With its scopes: `QEvent::Type`.
    path: String,
    labels: Vec<Label>,
}

/// The enumerations of all headers. The headers are read once, when the first is looked up.
pub struct Lookup<'h> {
    headers: &'h mut dyn Headers,
    found: Option<Vec<Found>>,
}

impl<'h> Lookup<'h> {
    pub fn new(headers: &'h mut dyn Headers) -> Self {
        Self { headers, found: None }
    }

    /// The labels of an enumeration by its name in C++; else what was expected.
    pub fn labels(&mut self, name: &str, is_flags: bool, given: &Labels) -> Result<Vec<Label>, String> {
        let mut all = self.search(name, is_flags)?;
        for extra in &given.all {
            all.retain(|one| one.value != extra.value && one.name != extra.name);
            all.push(extra.clone());
        }
        let mut ranges = Vec::new();
        for (first, last) in &given.ranges {
            let value_of = |end: &String| match all.iter().find(|one| one.name == *end) {
                Some(one) => Ok(one.value),
                None => Err(format!("an enumeration {name} with a value {end}")),
            };
            ranges.push((first, value_of(first)?, value_of(last)?));
        }
        // A second name of a value says nothing new.
        all.sort_by_key(|one| one.value);
        all.dedup_by_key(|one| one.value);
        for (first, from, to) in ranges {
            if to - from >= labels::LONGEST_RANGE {
                continue;
            }
            for value in from..=to {
                if let Err(at) = all.binary_search_by_key(&value, |one| one.value) {
                    all.insert(at, Label { name: first.clone(), value });
                }
            }
        }
        labels::check(&all, is_flags)?;
        Ok(all)
    }

    /// By the whole path in all headers, then by its end.
    fn search(&mut self, name: &str, is_flags: bool) -> Result<Vec<Label>, String> {
        let headers = &mut self.headers;
        let found = self.found.get_or_insert_with(|| {
            let mut found = Vec::new();
            headers.each(&mut |text| {
                collect(&tokens(text), &mut found);
                false
            });
            found
        });
        let name = name.trim_start_matches("::");
        // `Qt::MouseButtons` are flags of `Qt::MouseButton`.
        let singular = name.strip_suffix('s').filter(|_| is_flags);
        for name in [Some(name), singular].into_iter().flatten() {
            if let Some(one) = found.iter().find(|one| one.path == name) {
                return Ok(one.labels.clone());
            }
        }
        for name in [Some(name), singular].into_iter().flatten() {
            let is_end = |path: &str| path.strip_suffix(name).is_some_and(|before| before.ends_with("::"));
            let mut those = found.iter().filter(|one| is_end(&one.path));
            let Some(first) = those.next() else { continue };
            if let Some(other) = those.find(|one| one.path != first.path) {
                return Err(format!("the whole name: {} and {} are enumerations", first.path, other.path));
            }
            return Ok(first.labels.clone());
        }
        Err(format!(
            "an enumeration {name} in a header that is included here (-I DIR names where headers are), or its values"
        ))
    }
}

/// Adds all enumerations that have a name.
fn collect(tokens: &[Token<'_>], all: &mut Vec<Found>) {
    let mut scopes: Vec<String> = Vec::new();
    let mut conditions: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Word("enum") => {
                let is_typedef = at >= 2 && tokens[at - 2] == Token::Word("typedef");
                let (name, has_type, open) = heading(tokens, at);
                let Some(open) = open else { continue };
                let (labels, behind) = values(tokens, open + 1, has_type);
                at = behind;
                let second = match tokens.get(at) {
                    Some(Token::Word(word)) if is_typedef => (*word).to_owned(),
                    _ => String::new(),
                };
                for name in [name, second] {
                    if !name.is_empty() {
                        let scopes = scopes.iter().filter(|scope| !scope.is_empty());
                        let parts: Vec<&str> = scopes.map(String::as_str).chain([&*name]).collect();
                        all.push(Found { path: parts.join("::"), labels: labels.clone() });
                    }
                }
            }
            Token::Word("class" | "struct" | "namespace" | "union") => {
                let is_inline = at >= 2 && tokens[at - 2] == Token::Word("inline");
                let (name, _, open) = heading(tokens, at);
                if let Some(open) = open {
                    scopes.push(if is_inline { String::new() } else { name });
                    at = open + 1;
                }
            }
            Token::Mark('{') => scopes.push(String::new()),
            Token::Mark('}') => {
                scopes.pop();
            }
            // Each branch may open the same scope.
            Token::Condition(Condition::If) => conditions.push(scopes.len()),
            Token::Condition(Condition::Else) => {
                scopes.truncate(conditions.last().copied().unwrap_or(usize::MAX))
            }
            Token::Condition(Condition::End) => {
                conditions.pop();
            }
            _ => {}
        }
    }
}

/// Behind `enum`, `class`, `namespace`: the name, whether `:` stands behind it, and where its `{` is, if it is a definition.
fn heading(tokens: &[Token<'_>], from: usize) -> (String, bool, Option<usize>) {
    let mut name = String::new();
    let (mut is_named, mut follows_scope) = (false, false);
    let (mut parentheses, mut angles) = (0_u32, 0_u32);
    for (at, token) in tokens.iter().enumerate().skip(from).take(200) {
        match token {
            Token::Mark('(') => {
                parentheses += 1;
                // A macro or `alignas`; what it names is no name of the type.
                if !is_named {
                    name.clear();
                }
            }
            Token::Mark(')') if parentheses > 0 => parentheses -= 1,
            _ if parentheses > 0 => {}
            Token::Mark('{') => return (name, is_named, Some(at)),
            Token::Mark('<') => angles += 1,
            Token::Mark('>') if angles > 0 => angles -= 1,
            Token::Mark(';' | ')' | '=' | '>' | '}') => break,
            _ if angles > 0 => {}
            Token::Mark(':') => is_named = true,
            Token::Scope if !is_named && !name.is_empty() => {
                name.push_str("::");
                follows_scope = true;
                continue;
            }
            Token::Word("class" | "struct" | "final" | "inline") => {}
            Token::Word(word) if !is_named => {
                if !follows_scope {
                    name.clear();
                }
                name.push_str(word);
            }
            _ => {}
        }
        follows_scope = false;
    }
    (name, is_named, None)
}

/// The values from behind `{`, and where the tokens behind `}` begin.
fn values(tokens: &[Token<'_>], from: usize, has_type: bool) -> (Vec<Label>, usize) {
    let mut found: Vec<Label> = Vec::new();
    let mut known: HashMap<&str, Number> = HashMap::new();
    // Names that have several values: which one counts, the preprocessor decides.
    let mut unclear: HashSet<&str> = HashSet::new();
    let mut next = Some(Number::ZERO);
    let mut at = from;
    loop {
        let begin = at;
        let mut depth = 0_u32;
        while let Some(token) = tokens.get(at) {
            match token {
                Token::Mark('}' | ',') | Token::Condition(_) if depth == 0 => break,
                Token::Mark('(' | '{' | '[') => depth += 1,
                Token::Mark(')' | '}' | ']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        let one = &tokens[begin..at];
        let conditions = tokens[at..].iter().take_while(|token| matches!(token, Token::Condition(_))).count();
        at += conditions;
        // A condition may end a value only where another one, or nothing, follows.
        let is_whole = conditions == 0
            || match tokens.get(at) {
                Some(Token::Word(word)) => word.starts_with(begins_name),
                Some(token) => matches!(token, Token::Mark('}' | ',')),
                None => true,
            };
        let name = one.first().and_then(|token| match token {
            Token::Word(word) => Some(*word).filter(|word| word.starts_with(begins_name)),
            _ => None,
        });
        if let Some(name) = name {
            let equals = one.iter().position(|token| *token == Token::Mark('='));
            let value = match equals {
                _ if !is_whole => None,
                Some(equals) => expression::value(&one[equals + 1..], &known, has_type),
                None => next,
            };
            match value {
                Some(value) => match known.insert(name, value) {
                    Some(earlier) if earlier.value != value.value => {
                        unclear.insert(name);
                    }
                    Some(_) => {}
                    None => found.push(Label { name: name.to_owned(), value: value.value }),
                },
                None if known.contains_key(name) => {
                    unclear.insert(name);
                }
                None => {}
            }
            next = value.and_then(Number::next);
        }
        if conditions > 0 {
            next = None;
        }
        match tokens.get(at) {
            Some(Token::Mark(',')) => at += 1,
            Some(Token::Word(_)) if conditions > 0 => {}
            other => {
                found.retain(|one| !unclear.contains(&*one.name));
                return (found, at + usize::from(other.is_some()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(&'static str);
    impl Headers for One {
        fn each(&mut self, look: &mut dyn FnMut(&str) -> bool) {
            look(self.0);
        }
    }

    fn found(name: &str, text: &'static str) -> Result<String, String> {
        let all = Lookup::new(&mut One(text)).labels(name, name.ends_with('s'), &Labels::default())?;
        Ok(all.iter().map(|one| format!("{}={}", one.name, one.value)).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn values_count_on_and_expressions_are_computed() {
        let text = "enum Mode { A, B = 1 << 4, C, /* D = 9, */ E = B | 0x1, F = (C), // G\n H = -3, I = sizeof(int), J };";
        assert_eq!(found("Mode", text).unwrap(), "H=-3 A=0 B=16 C=17");
    }

    #[test]
    fn the_scope_decides_and_declarations_are_no_definitions() {
        let text = "enum Type { Wrong };\nclass EXPORT Other : public Base { enum Type { Wrong2 = 2 }; };\nclass Event;\n\
            namespace N { class EXPORT Event final : Q { void f() { if (a < b) { } } \
            public: enum Unnamed : int; enum class Type : unsigned { None, Timer = 7, }; }; }";
        assert_eq!(found("Event::Type", text).unwrap(), "None=0 Timer=7");
        assert_eq!(found("N::Event::Type", text).unwrap(), "None=0 Timer=7");
        assert!(found("M::Event::Type", text).is_err());
    }

    #[test]
    fn flags_are_found_by_the_singular_and_lines_of_the_preprocessor_are_skipped() {
        let text = "namespace Qt {\n enum MouseButton {\n No = 0,\n#if 1 \\\n && X = 3,\n Left = 0x1,\n#endif\n Right = 2, Max = Right };\n}";
        assert_eq!(found("Qt::MouseButtons", text).unwrap(), "No=0 Left=1 Right=2");
    }

    #[test]
    fn expressions_have_the_values_that_they_have_in_cpp() {
        for (expression, value) in [
            ("1 << 0 | 1 << 1", "3"),
            ("1 << 2 + 1", "8"),
            ("2 | 1 + 1", "2"),
            ("8 - 2 - 1", "5"),
            ("~0", "-1"),
            ("~0u", "4294967295"),
            ("~0ul", "18446744073709551615"),
            ("~0xFFFFFFFF", "0"),
            ("-1u", "4294967295"),
            ("1 << 31", "-2147483648"),
            ("1u << 31", "2147483648"),
            ("-1 | 0u", "4294967295"),
            ("0x8000'0000 | 1", "2147483649"),
            ("B | 1", "3"),
            ("~B", "-3"),
            ("010 + 0b11", "11"),
        ] {
            let text: &'static str =
                Box::leak(format!("enum E {{ B = 2, A = {expression} }};").into_boxed_str());
            let all = found("E", text).unwrap();
            assert!(
                all.split(' ').any(|one| one == format!("A={value}") || (value == "2" && all == "B=2")),
                "{expression}: {all}"
            );
        }
        // No value: overflow, and what depends on the type that the enumeration names.
        for expression in ["2147483647 + 1", "1 << 32", "B * 2", "B ? 1 : 2", "1 |", "(1", "~B : unsigned"] {
            let (expression, kind) = expression.split_once(" : ").unwrap_or((expression, ""));
            let kind = if kind.is_empty() { String::new() } else { format!(" : {kind}") };
            let text: &'static str =
                Box::leak(format!("enum E{kind} {{ B = 2, A = {expression} }};").into_boxed_str());
            assert_eq!(found("E", text).unwrap(), "B=2", "{expression}");
        }
    }

    #[test]
    fn what_a_condition_may_change_has_no_label() {
        let text = concat!(
            "enum E { A,\n#ifdef X\n B,\n#else\n C,\n#endif\n D, F = 7, G,\n",
            "#if Y\n H = 9,\n I = 10\n#else\n H = 8,\n J = 11\n#endif\n};"
        );
        assert_eq!(found("E", text).unwrap(), "A=0 F=7 G=8 I=10 J=11");
        let text = "#if A\nclass X {\n#else\nclass X : Y {\n#endif\nenum E { A }; };\nenum After { B };";
        assert_eq!(found("X::E", text).unwrap(), "A=0");
        assert_eq!(found("After", text).unwrap(), "B=0");
    }

    #[test]
    fn the_whole_path_comes_first_and_an_unclear_end_is_a_mistake() {
        let text =
            "struct A { enum Type { Wrong }; }; struct B { enum Type { Wrong }; }; enum Type { Right };";
        assert_eq!(found("Type", text).unwrap(), "Right=0");
        let text = "struct A { enum Type { One }; }; struct B { enum Type { Two }; };";
        assert_eq!(found("Type", text).unwrap_err(), "the whole name: A::Type and B::Type are enumerations");
        assert_eq!(found("B::Type", text).unwrap(), "Two=0");
    }

    #[test]
    fn headings_of_all_kinds_are_understood() {
        for (name, text) in [
            ("K::Type", "class K : public Base<int>, Other<(1 > 2)> { enum Type { A }; };"),
            ("N::M::Z", "namespace N::M { enum Z { A }; }"),
            ("N::Z", "namespace N { inline namespace v1 { enum Z { A }; } }"),
            ("TD", "typedef enum { A } TD;"),
            ("Tag", "typedef enum Tag { A } TD;"),
            ("X::E", "class alignas(8) X { enum E { A }; };"),
            ("X::E", "class Q_DECL_X(\"text\") X final { enum E { A }; };"),
            ("X::E", "template <class T, class U = V<T>> class X { enum E : decltype(1) { A }; };"),
            ("E", "enum class [[nodiscard]] E : std::make_unsigned_t<int> { A };"),
        ] {
            assert_eq!(found(name, text).unwrap(), "A=0", "{text}");
        }
    }

    #[test]
    fn a_range_names_the_values_that_have_no_name() {
        let range =
            |last: &str| Labels { ranges: vec![("A".to_owned(), last.to_owned())], ..Labels::default() };
        let mut text = One("enum E { A = 1, B = 3, C = 4, D = 100 };");
        let mut lookup = Lookup::new(&mut text);
        let all = lookup.labels("E", false, &range("C")).unwrap();
        let all: Vec<String> = all.iter().map(|one| format!("{}={}", one.name, one.value)).collect();
        assert_eq!(all, ["A=1", "A=2", "B=3", "C=4", "D=100"]);
        assert_eq!(lookup.labels("E", false, &range("D")).unwrap().len(), 4);
        assert!(lookup.labels("E", false, &range("X")).is_err());
    }

    #[test]
    fn unbalanced_text_ends() {
        for text in
            ["enum A {", "enum A { B = (", "} } enum A", "enum A { B = ((((((", "enum", "'", "\"\\", "/*"]
        {
            let _ = found("A", text);
        }
    }
}
