//! The tokens of a C++ header.

use crate::cursor::{begins_name, is_of_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    Word(&'t str),
    Mark(char),
    Scope,
    Condition(Condition),
}

/// A line of the preprocessor that begins or ends code that may not be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    If,
    Else,
    End,
}

/// Without comments, texts and lines of the preprocessor, except for its conditions.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(character) = rest.chars().next() {
        let skipped = if character == '#' && is_line_start {
            found.extend(condition(rest).map(Token::Condition));
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

/// Of a line that begins with `#`.
fn condition(line: &str) -> Option<Condition> {
    let word = line[1..].trim_start_matches([' ', '\t']);
    let word = &word[..word.find(|c| !is_of_name(c)).unwrap_or(word.len())];
    Some(match word {
        "if" | "ifdef" | "ifndef" => Condition::If,
        "else" | "elif" | "elifdef" | "elifndef" => Condition::Else,
        "endif" => Condition::End,
        _ => return None,
    })
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
