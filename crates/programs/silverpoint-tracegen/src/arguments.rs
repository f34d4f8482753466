//! What stands between the parentheses of a tracepoint: `const QString &name, int size` as in C++, `name: text, size: i32` in the short form.

use std::collections::HashSet;

use crate::cursor::{Cursor, begins_name, is_of_name};
use crate::model::{Argument, Shape};
use crate::text::{Mistake, Text};
use crate::types;

/// A tracepoint's limit in every language.
const MOST: usize = 255;

/// Words of C++ and of Rust that cannot name anything in a generated function.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Whether C++ has another use for a word.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The arguments in a range of a text.
pub fn read(text: &Text, from: usize, to: usize) -> Result<Vec<Argument>, Mistake> {
    let mut all = Vec::new();
    let whole = text.as_str().get(from..to).unwrap_or("");
    if whole.trim().is_empty() || whole.trim() == "void" {
        return Ok(all);
    }
    let mut names = HashSet::new();
    for (begin, end) in parts(whole, from) {
        let mut cursor = Cursor::part(text, begin, end);
        let argument = one(&mut cursor)?;
        if !names.insert(argument.name.clone()) {
            let expected = format!("another name: `{}` is taken", argument.name);
            return Err(text.mistake(begin, expected));
        }
        if all.len() == MOST {
            return Err(text.mistake(begin, format!("at most {MOST} arguments")));
        }
        all.push(argument);
    }
    Ok(all)
}

/// The ranges between commas that stand in no bracket.
fn parts(text: &str, offset: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0_i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth <= 0 => {
                found.push((offset + begin, offset + at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push((offset + begin, offset + text.len()));
    found
}

fn one(cursor: &mut Cursor<'_>) -> Result<Argument, Mistake> {
    cursor.skip_space();
    let begin = cursor.at();
    let place = cursor.place();
    let first = cursor.name();
    cursor.skip_space();
    let is_short = !first.is_empty() && cursor.peek() == Some(':') && !cursor.rest().starts_with("::");
    if is_short {
        check_name(first, cursor, begin)?;
        cursor.next();
        cursor.skip_space();
        let place = cursor.place();
        let shape = types::own(cursor, 0)?;
        cursor.skip_space();
        if cursor.peek().is_some() {
            return Err(cursor.mistake("`,` or `)` behind the type"));
        }
        return Ok(Argument { name: first.to_owned(), written: None, shape, place });
    }
    let (name_at, name_end, type_end) = split(cursor, begin)?;
    let name = cursor.slice(name_at, name_end);
    if type_end == begin {
        return Err(cursor.text().mistake(begin, "a type and a name, as in `int count`"));
    }
    check_name(name, cursor, name_at)?;
    let mut kind = Cursor::part(cursor.text(), begin, type_end);
    let (mut written, mut shape) = types::written(&mut kind)?;
    // `int values[10]`, as C has it.
    let trailing = cursor.slice(name_end, cursor.end()).trim();
    if !trailing.is_empty() {
        let combined = format!("{written}{trailing}");
        let mut own = Text::empty(cursor.text().file().clone());
        let place = cursor.text().place(name_end);
        combined.chars().for_each(|character| own.push(character, &place));
        (written, shape) = types::written(&mut Cursor::new(&own))?;
    }
    Ok(Argument { name: name.to_owned(), written: Some(written), shape, place })
}

/// Where the name of an argument begins and ends, and where its type ends. The name is the last word, except for a length in brackets.
fn split(cursor: &Cursor<'_>, begin: usize) -> Result<(usize, usize, usize), Mistake> {
    let mut whole = cursor.slice(begin, cursor.end());
    let mut end = whole.trim_end().len();
    let mut name_end = end;
    if whole[..end].ends_with(']') {
        // Of the length, if a name stands before it.
        let open = whole[..end].rfind('[').unwrap_or(0);
        let before = whole[..open].trim_end();
        if before.ends_with(is_of_name) && words(before) > 1 {
            end = before.len();
            name_end = end;
        }
    }
    whole = &whole[..end];
    let name_begin = whole
        .rfind(|character| !is_of_name(character))
        .map_or(0, |at| at + whole[at..].chars().next().map_or(1, char::len_utf8));
    let is_name = whole[name_begin..].starts_with(begins_name) && !whole[..name_begin].ends_with("::");
    if !is_name {
        let expected = "a name behind the type, as in `int count`";
        return Err(cursor.text().mistake(begin + end, expected));
    }
    let type_end = whole[..name_begin].trim_end().len();
    Ok((begin + name_begin, begin + name_end, begin + type_end))
}

/// How many words a type consists of, its qualifiers apart.
fn words(text: &str) -> usize {
    text.split(|character| !is_of_name(character)).filter(|word| !word.is_empty() && *word != "const").count()
}

fn check_name(name: &str, cursor: &Cursor<'_>, at: usize) -> Result<(), Mistake> {
    if is_keyword(name) {
        let expected = format!("a name behind the type: `{name}` is a word of C++");
        return Err(cursor.text().mistake(at, expected));
    }
    Ok(())
}

/// A length by another argument must be an integer among the arguments.
pub fn check_lengths(arguments: &[Argument], mistakes: &mut Vec<Mistake>) {
    use crate::model::Scalar::{Signed, Unsigned};
    for argument in arguments {
        let Shape::Counted(_, length) = &argument.shape else { continue };
        let is_there = arguments.iter().any(|other| {
            other.name == *length && matches!(other.shape, Shape::Scalar(Signed(_) | Unsigned(_)))
        });
        if !is_there {
            let expected = format!("an integer argument `{length}`: the length of `{}`", argument.name);
            mistakes.push(Mistake::new(&argument.place, expected));
        }
    }
}
