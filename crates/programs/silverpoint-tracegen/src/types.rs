//! What a type means for a record.

use std::collections::HashMap;

use crate::cursor::{Cursor, begins_name, is_of_name};
use crate::model::{Argument, Scalar, Shape, Width};
use crate::text::{Mistake, Place};

/// Names of the short form.
const OWN: &[(&str, Shape)] = &[
    ("bool", Shape::Scalar(Scalar::Bool)),
    ("i8", Shape::Scalar(Scalar::Signed(Width::W8))),
    ("i16", Shape::Scalar(Scalar::Signed(Width::W16))),
    ("i32", Shape::Scalar(Scalar::Signed(Width::W32))),
    ("i64", Shape::Scalar(Scalar::Signed(Width::W64))),
    ("u8", Shape::Scalar(Scalar::Unsigned(Width::W8))),
    ("u16", Shape::Scalar(Scalar::Unsigned(Width::W16))),
    ("u32", Shape::Scalar(Scalar::Unsigned(Width::W32))),
    ("u64", Shape::Scalar(Scalar::Unsigned(Width::W64))),
    ("f32", Shape::Scalar(Scalar::F32)),
    ("f64", Shape::Scalar(Scalar::F64)),
    ("text", Shape::Text),
    ("bytes", Shape::Bytes),
    ("pointer", Shape::Pointer),
];

/// Whether the short form has a type of this name.
pub fn is_own(name: &str) -> bool {
    OWN.iter().any(|(known, _)| *known == name)
}

const EXPECTED_OWN: &str = "a type: bool, i8 to i64, u8 to u64, f32, f64, text, bytes, pointer, ?T, [T], or an enumeration that this file defines";

/// Most types within each other.
const DEEPEST: usize = 8;

/// A type of the short form.
pub fn own(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, Mistake> {
    cursor.skip_space();
    if depth > DEEPEST {
        return Err(cursor.mistake(format!("at most {DEEPEST} types within each other")));
    }
    if cursor.take('?') {
        return Ok(Shape::Optional(Box::new(own(cursor, depth + 1)?)));
    }
    if cursor.take('[') {
        let inner = own(cursor, depth + 1)?;
        cursor.expect(']', "`]` behind the type of the elements")?;
        return Ok(Shape::Sequence(Box::new(inner)));
    }
    let from = cursor.at();
    let name = cursor.path();
    if name.is_empty() {
        return Err(cursor.text().mistake(from, EXPECTED_OWN));
    }
    let known = OWN.iter().find(|(known, _)| *known == name);
    Ok(known.map_or_else(|| Shape::Named(name.to_owned()), |(_, shape)| shape.clone()))
}

/// A type of C++ as it is written, without the name of its argument. Gives the type with single blanks, and what is recorded of it.
pub fn written(cursor: &mut Cursor<'_>) -> Result<(String, Shape), Mistake> {
    let mut tokens: Vec<&str> = Vec::new();
    let mut length = None;
    let mut depth = 0_u32;
    loop {
        cursor.skip_space();
        let from = cursor.at();
        let Some(character) = cursor.peek() else { break };
        if begins_name(character) {
            tokens.push(cursor.path());
        } else if character == '[' && depth == 0 && length.is_none() && !tokens.is_empty() {
            length = Some(array_length(cursor)?);
        } else if character.is_ascii_digit() && depth > 0 {
            while cursor.peek().is_some_and(is_of_name) {
                cursor.next();
            }
            tokens.push(cursor.slice(from, cursor.at()));
        } else if cursor.take_text("::") {
            let path = cursor.path();
            if path.is_empty() {
                return Err(cursor.mistake("a name behind `::`"));
            }
            tokens.push(cursor.slice(from, cursor.at()));
        } else if matches!(character, '*' | '&' | '<' | '>' | ',') && !tokens.is_empty() {
            cursor.next();
            match character {
                '<' => depth += 1,
                '>' if depth == 0 => return Err(cursor.text().mistake(from, "a type")),
                '>' => depth -= 1,
                ',' if depth == 0 => return Err(cursor.text().mistake(from, "a type")),
                _ => {}
            }
            tokens.push(cursor.slice(from, from + 1));
        } else {
            return Err(cursor.mistake("a type of C++: names, `::`, `<…>`, `*`, `&`, `[length]`"));
        }
    }
    if depth > 0 {
        return Err(cursor.mistake("`>`"));
    }
    let shape = match length {
        Some(Length::Fixed(length)) => Shape::Array(element(&tokens, cursor)?, length),
        Some(Length::Argument(name)) => Shape::Counted(element(&tokens, cursor)?, name),
        None => of_tokens(&tokens),
    };
    Ok((join(&tokens), shape))
}

/// A type with other tokens instead of some of its own: `const QString &` for `const Name &`. None: it does not have them.
pub fn replaced(written: &str, from: &str, by: &str) -> Option<String> {
    let (tokens, from) = (split(written), split(from));
    if from.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    let (mut at, mut is_found) = (0, false);
    while let Some(token) = tokens.get(at) {
        if tokens[at..].starts_with(&from) {
            all.extend(split(by));
            at += from.len();
            is_found = true;
        } else {
            all.push(*token);
            at += 1;
        }
    }
    is_found.then(|| join(&all))
}

/// The tokens of a type that [`written`] gave.
fn split(written: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = written.trim_start();
    while let Some(character) = rest.chars().next() {
        let is_inner = |c: char| is_of_name(c) || c == ':';
        let len = match is_inner(character) {
            true => rest.find(|c| !is_inner(c)).unwrap_or(rest.len()),
            false => character.len_utf8(),
        };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    tokens
}

enum Length {
    Fixed(u32),
    Argument(String),
}

/// Most elements of an array.
const LONGEST: i128 = 65_536;

fn array_length(cursor: &mut Cursor<'_>) -> Result<Length, Mistake> {
    cursor.next();
    cursor.skip_space();
    let place = cursor.at();
    let name = cursor.name();
    let length = if name.is_empty() {
        match cursor.integer() {
            Ok(length) if (1..=LONGEST).contains(&length) => Length::Fixed(length as u32),
            _ => {
                let expected = format!("a length from 1 to {LONGEST}, or the name of an argument");
                return Err(cursor.text().mistake(place, expected));
            }
        }
    } else {
        Length::Argument(name.to_owned())
    };
    cursor.expect(']', "`]` behind the length")?;
    Ok(length)
}

/// The type of an array's elements: a number or an enumeration, without `const`.
fn element(tokens: &[&str], cursor: &Cursor<'_>) -> Result<String, Mistake> {
    let tokens: Vec<&str> = tokens.iter().copied().filter(|one| *one != "const").collect();
    if tokens.iter().any(|one| ["*", "&", "volatile"].contains(one)) {
        return Err(cursor.mistake("an array of numbers, characters or enumerations"));
    }
    Ok(join(&tokens))
}

/// Tokens with blanks where C++ needs them, or where they are usual.
fn join(tokens: &[&str]) -> String {
    let mut text = String::new();
    for token in tokens {
        let is_word = token.starts_with(|c| begins_name(c) || c == ':');
        let follows_word = text.ends_with(is_of_name);
        if (is_word && !text.is_empty() && !text.ends_with(['<', '*']))
            || (follows_word && matches!(*token, "*" | "&"))
        {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

fn of_tokens(tokens: &[&str]) -> Shape {
    let mut depth = 0_u32;
    let mut stars = 0;
    let mut core: Vec<&str> = Vec::new();
    for token in tokens {
        match *token {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        match *token {
            "*" if depth == 0 => stars += 1,
            "const" | "volatile" | "struct" | "class" | "enum" | "typename" | "&" if depth == 0 => {}
            other => core.push(other),
        }
    }
    let name = join(&core);
    if stars > 0 {
        let is_text = stars == 1
            && !tokens.contains(&"volatile")
            && ["char", "char8_t", "char16_t", "char32_t", "wchar_t"].contains(&&*name);
        return if is_text { Shape::Text } else { Shape::Pointer };
    }
    if let Some(scalar) = scalar(&name) {
        return Shape::Scalar(scalar);
    }
    match &*name {
        "QString" | "QStringView" | "QLatin1String" | "QLatin1StringView" | "QUrl" | "std::string"
        | "std::string_view" => Shape::Text,
        "QByteArray" | "QByteArrayView" => Shape::Bytes,
        _ => Shape::Named(name),
    }
}

/// A number by its type in C++, without qualifiers.
pub fn scalar(name: &str) -> Option<Scalar> {
    let words: Vec<&str> = name.split(' ').collect();
    builtin(&words).or_else(|| alias(name.strip_prefix("std::").unwrap_or(name)))
}

/// By the words of C++, as they are on 64-bit Unix.
fn builtin(words: &[&str]) -> Option<Scalar> {
    let known = ["bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double"];
    if words.is_empty() || !words.iter().all(|word| known.contains(word)) {
        return None;
    }
    let has = |word: &str| words.contains(&word);
    Some(match () {
        () if has("bool") => Scalar::Bool,
        () if has("float") => Scalar::F32,
        () if has("double") => Scalar::F64,
        () if has("char") && words.len() == 1 => Scalar::Char,
        () => {
            let width = match () {
                () if has("char") => Width::W8,
                () if has("short") => Width::W16,
                () if has("long") => Width::W64,
                () => Width::W32,
            };
            if has("unsigned") { Scalar::Unsigned(width) } else { Scalar::Signed(width) }
        }
    })
}

/// An integer by a name of the standard library or of Qt.
fn alias(name: &str) -> Option<Scalar> {
    use Width::{W8, W16, W32, W64};
    Some(match name {
        "int8_t" | "qint8" => Scalar::Signed(W8),
        "int16_t" | "qint16" => Scalar::Signed(W16),
        "int32_t" | "qint32" => Scalar::Signed(W32),
        "int64_t" | "qint64" | "qlonglong" | "qsizetype" | "qptrdiff" | "ptrdiff_t" | "ssize_t"
        | "intptr_t" | "qintptr" => Scalar::Signed(W64),
        "uint8_t" | "quint8" | "uchar" => Scalar::Unsigned(W8),
        "uint16_t" | "quint16" | "ushort" => Scalar::Unsigned(W16),
        "uint32_t" | "quint32" | "uint" => Scalar::Unsigned(W32),
        "uint64_t" | "quint64" | "qulonglong" | "ulong" | "size_t" | "uintptr_t" | "quintptr" => {
            Scalar::Unsigned(W64)
        }
        "qreal" => Scalar::F64,
        _ => return None,
    })
}

/// Finds the enumerations among the types that are only names.
pub fn resolve(
    provider: &str,
    argument: &mut Argument,
    enumerations: &HashMap<(&str, &str), usize>,
    mistakes: &mut Vec<Mistake>,
) {
    let is_own = argument.written.is_none();
    resolve_shape(provider, &mut argument.shape, is_own, &argument.place, enumerations, mistakes);
}

fn resolve_shape(
    provider: &str,
    shape: &mut Shape,
    is_own: bool,
    place: &Place,
    enumerations: &HashMap<(&str, &str), usize>,
    mistakes: &mut Vec<Mistake>,
) {
    match shape {
        Shape::Sequence(inner) | Shape::Optional(inner) => {
            resolve_shape(provider, inner, is_own, place, enumerations, mistakes);
        }
        Shape::Named(name) => match enumerations.get(&(provider, &**name)) {
            Some(index) => *shape = Shape::Enumeration(*index),
            None if is_own => mistakes.push(Mistake::new(place, EXPECTED_OWN)),
            None => {}
        },
        _ => {}
    }
}
