//! Looks up an enumeration's values in the text of C++ headers: `AUTO`.
//!
//! It reads tokens, and expands no macro. What it cannot compute has no label, and neither have the values that count on from it.

use std::collections::HashMap;

use crate::cursor::{begins_name, is_of_name};
use crate::labels::{self, Labels};
use crate::model::Label;

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

/// The labels of an enumeration by its name in C++; else what was expected.
pub fn labels(
    name: &str,
    is_flags: bool,
    given: &Labels,
    headers: &mut dyn Headers,
) -> Result<Vec<Label>, String> {
    // `Qt::MouseButtons` are flags of `Qt::MouseButton`.
    let singular = name.strip_suffix('s').filter(|_| is_flags);
    let mut found = None;
    headers.each(&mut |text| {
        let tokens = tokens(text);
        found = [Some(name), singular].into_iter().flatten().find_map(|name| search(&tokens, name));
        found.is_some()
    });
    let Some(mut all) = found else {
        return Err(format!(
            "an enumeration {name} in a header that is included here (-I DIR names where headers are), or its values"
        ));
    };
    for (first, last) in &given.ranges {
        for end in [first, last] {
            if !all.iter().any(|one| one.name == *end) {
                return Err(format!("an enumeration {name} with a value {end}"));
            }
        }
    }
    for extra in &given.all {
        all.retain(|one| one.value != extra.value && one.name != extra.name);
        all.push(extra.clone());
    }
    // A second name of a value says nothing new.
    all.sort_by_key(|one| one.value);
    all.dedup_by_key(|one| one.value);
    labels::check(&all)?;
    Ok(all)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Mark(char),
    Scope,
}

/// Without comments, texts and lines of the preprocessor.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(character) = rest.chars().next() {
        let skipped = if character == '#' && is_line_start {
            line_of_preprocessor(rest)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |at| at + 4)
        } else if character == '"' || character == '\'' {
            quoted(rest, character)
        } else if begins_name(character) || character.is_ascii_digit() {
            // (A number may have `'` in it.)
            let is_inner = |c: char| is_of_name(c) || (c == '\'' && character.is_ascii_digit());
            let len = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
            found.push(Token::Word(&rest[..len]));
            len
        } else if rest.starts_with("::") {
            found.push(Token::Scope);
            2
        } else {
            if !character.is_whitespace() {
                found.push(Token::Mark(character));
            }
            character.len_utf8()
        };
        is_line_start = character == '\n' || (is_line_start && character.is_whitespace());
        rest = rest.get(skipped..).unwrap_or("");
    }
    found
}

/// A line with those that continue it.
fn line_of_preprocessor(text: &str) -> usize {
    let mut len = 0;
    for line in text.split_inclusive('\n') {
        len += line.len();
        if !line.trim_end().ends_with('\\') {
            return len - usize::from(line.ends_with('\n'));
        }
    }
    len
}

fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            other if other == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The enumeration with this path, in any scopes.
fn search(tokens: &[Token<'_>], path: &str) -> Option<Vec<Label>> {
    let parts: Vec<&str> = path.split("::").collect();
    let (name, outer) = parts.split_last()?;
    let mut scopes: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Word("enum") => {
                let (found, open) = heading(tokens, at);
                let Some(open) = open else { continue };
                let is_it = found == *name && scopes_match(&scopes, outer);
                let values = values(tokens, open + 1);
                if is_it {
                    return Some(values.0);
                }
                at = values.1;
            }
            Token::Word("class" | "struct" | "namespace" | "union") => {
                let (name, open) = heading(tokens, at);
                if let Some(open) = open {
                    scopes.push(name);
                    at = open + 1;
                }
            }
            Token::Mark('{') => scopes.push(""),
            Token::Mark('}') => {
                scopes.pop();
            }
            _ => {}
        }
    }
    None
}

/// Whether the innermost named scopes are these.
fn scopes_match(scopes: &[&str], wanted: &[&str]) -> bool {
    let named: Vec<&str> =
        scopes.iter().flat_map(|scope| scope.split("::")).filter(|scope| !scope.is_empty()).collect();
    named.ends_with(wanted)
}

/// Behind `enum`, `class`, `namespace`: the name, and where its `{` is, if it is a definition.
fn heading<'t>(tokens: &[Token<'t>], from: usize) -> (&'t str, Option<usize>) {
    let mut name = "";
    let mut is_named = false;
    for (at, token) in tokens.iter().enumerate().skip(from).take(200) {
        match token {
            Token::Mark('{') => return (name, Some(at)),
            Token::Mark(';' | ')' | '(' | '=' | '>' | '}') => break,
            Token::Mark(':') => is_named = true,
            Token::Word("class" | "struct" | "final") => {}
            Token::Word(word) if !is_named => name = word,
            _ => {}
        }
    }
    (name, None)
}

/// The values from behind `{`, and where the tokens behind `}` begin.
fn values(tokens: &[Token<'_>], from: usize) -> (Vec<Label>, usize) {
    let mut found: Vec<Label> = Vec::new();
    let mut known: HashMap<&str, i128> = HashMap::new();
    let mut next = Some(0_i128);
    let mut at = from;
    loop {
        let begin = at;
        let mut depth = 0_u32;
        while let Some(token) = tokens.get(at) {
            match token {
                Token::Mark('}' | ',') if depth == 0 => break,
                Token::Mark('(' | '{' | '[') => depth += 1,
                Token::Mark(')' | '}' | ']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        let one = tokens.get(begin..at).unwrap_or(&[]);
        if let Some(Token::Word(name)) = one.first() {
            let equals = one.iter().position(|token| *token == Token::Mark('='));
            let value = equals.map_or(next, |equals| compute(&one[equals + 1..], &known));
            if let Some(value) = value {
                known.insert(name, value);
                found.push(Label { name: (*name).to_owned(), value });
            }
            next = value.and_then(|value| value.checked_add(1));
        }
        match tokens.get(at) {
            Some(Token::Mark(',')) => at += 1,
            Some(_) => return (found, at + 1),
            None => return (found, at),
        }
    }
}

/// An expression of integers, earlier names, `-`, `~`, `+`, `|`, `<<` and parentheses.
fn compute(tokens: &[Token<'_>], known: &HashMap<&str, i128>) -> Option<i128> {
    let mut at = 0;
    let value = disjunction(tokens, &mut at, known, 0)?;
    (at == tokens.len() && value.unsigned_abs() < 1 << 64).then_some(value)
}

const DEEPEST: u32 = 32;

fn disjunction(
    tokens: &[Token<'_>],
    at: &mut usize,
    known: &HashMap<&str, i128>,
    depth: u32,
) -> Option<i128> {
    let mut value = term(tokens, at, known, depth)?;
    loop {
        value = match (tokens.get(*at), tokens.get(*at + 1)) {
            (Some(Token::Mark('|')), _) => {
                *at += 1;
                value | term(tokens, at, known, depth)?
            }
            (Some(Token::Mark('+')), _) => {
                *at += 1;
                value.checked_add(term(tokens, at, known, depth)?)?
            }
            (Some(Token::Mark('-')), _) => {
                *at += 1;
                value.checked_sub(term(tokens, at, known, depth)?)?
            }
            (Some(Token::Mark('<')), Some(Token::Mark('<'))) => {
                *at += 2;
                let by = u32::try_from(term(tokens, at, known, depth)?).ok().filter(|by| *by < 64)?;
                value.checked_mul(1 << by)?
            }
            _ => return Some(value),
        };
    }
}

fn term(tokens: &[Token<'_>], at: &mut usize, known: &HashMap<&str, i128>, depth: u32) -> Option<i128> {
    if depth > DEEPEST {
        return None;
    }
    let token = *tokens.get(*at)?;
    *at += 1;
    match token {
        Token::Mark('-') => term(tokens, at, known, depth + 1)?.checked_neg(),
        Token::Mark('~') => Some(!term(tokens, at, known, depth + 1)?),
        Token::Mark('(') => {
            let value = disjunction(tokens, at, known, depth + 1)?;
            (tokens.get(*at) == Some(&Token::Mark(')'))).then(|| *at += 1)?;
            Some(value)
        }
        Token::Word(word) => known.get(word).copied().or_else(|| number(word)),
        _ => None,
    }
}

fn number(word: &str) -> Option<i128> {
    let word = word.replace('\'', "");
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.get(..2) {
        Some("0x" | "0X") => i128::from_str_radix(&digits[2..], 16).ok(),
        Some("0b" | "0B") => i128::from_str_radix(&digits[2..], 2).ok(),
        _ if digits.len() > 1 && digits.starts_with('0') => i128::from_str_radix(&digits[1..], 8).ok(),
        _ => digits.parse().ok(),
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
        let all = labels(name, name.ends_with('s'), &Labels::default(), &mut One(text))?;
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
    fn unbalanced_text_ends() {
        for text in
            ["enum A {", "enum A { B = (", "} } enum A", "enum A { B = ((((((", "enum", "'", "\"\\", "/*"]
        {
            let _ = found("A", text);
        }
    }
}
