//! Files of definitions: Qt's `.tracepoints` grammar, and the short form, line by line in any mixture.
//!
//! ```text
//! { lines for the C++ header }          each brace alone in its line
//! ENUM { A = 0, B, RANGE(C, 3 ... 10) } QEvent::Type;
//! FLAGS { A = 1, B = 2 } Mode;
//! provider shop
//! enum Side { buy = 1, sell }
//! flags Mode { read = 1, write = 2 }
//! name(const QString &text, int[4] numbers)
//! info name(text: text, numbers: [i32])
//! ```

use crate::arguments;
use crate::cursor::Cursor;
use crate::labels;
use crate::lookup::Lookup;
use crate::model::{Enumeration, Level, Model, Point};
use crate::text::{Mistake, Mistakes, Text};

/// The namespace of Qt's macros.
pub const QT: &str = "QtPrivate";

/// Whose definitions follow.
pub struct Owner {
    pub provider: String,
    pub namespace: String,
}

/// Reads a whole file; `stem` is its provider, unless it names one.
pub fn read(text: &Text, stem: &str, lookup: &mut Lookup<'_>, model: &mut Model, mistakes: &mut Mistakes) {
    let mut owner = Owner { provider: stem.to_owned(), namespace: QT.to_owned() };
    let mut cursor = Cursor::new(text);
    let begun = model.points.len();
    let mut is_named = false;
    while !skip_comments(&mut cursor) {
        let at = cursor.at();
        match item(&mut cursor, &mut owner, lookup, model) {
            Ok(Item::Provider) if is_named || model.points.len() > begun => {
                mistakes.add(text.mistake(at, "one `provider`, before all tracepoints"));
            }
            Ok(Item::Provider) => is_named = true,
            Ok(Item::Other) => {}
            Err(mistake) => {
                mistakes.add(mistake);
                recover(&mut cursor, at);
            }
        }
    }
    if !is_named {
        model.is_qt = true;
        if !is_name(stem) && model.points.len() > begun {
            let expected = format!(
                "a line `provider NAME` before all tracepoints, or another file name: `{stem}` is no name of a provider"
            );
            mistakes.add(text.mistake(0, expected));
        }
    }
}

/// Goes to where the next definition may begin, behind a mistake in the one that begins at `from`.
fn recover(cursor: &mut Cursor<'_>, from: usize) {
    let read = cursor.slice(from, cursor.at());
    let word = read.split(|character| !crate::cursor::is_of_name(character)).next().unwrap_or("");
    let is_in_braces = ["ENUM", "FLAGS", "enum", "flags"].contains(&word)
        && read.contains('{')
        && !read.contains('}')
        && !cursor.rest().lines().next().unwrap_or("").contains('}');
    if is_in_braces {
        // The values that follow are no definitions.
        while cursor.peek().is_some() {
            let line = cursor.at();
            cursor.skip_line();
            if cursor.slice(line, cursor.at()).trim_start().starts_with('}') {
                return;
            }
        }
    } else if cursor.at() == from || !cursor.slice(0, cursor.at()).ends_with('\n') {
        cursor.skip_line();
    }
}

fn is_name(text: &str) -> bool {
    let mut cursor = text.chars();
    cursor.next().is_some_and(crate::cursor::begins_name) && cursor.all(crate::cursor::is_of_name)
}

/// Skips white space and comments; true at the end.
fn skip_comments(cursor: &mut Cursor<'_>) -> bool {
    loop {
        cursor.skip_space();
        if cursor.peek() != Some('#') {
            return cursor.peek().is_none();
        }
        cursor.skip_line();
    }
}

enum Item {
    Provider,
    Other,
}

fn item(
    cursor: &mut Cursor<'_>,
    owner: &mut Owner,
    lookup: &mut Lookup<'_>,
    model: &mut Model,
) -> Result<Item, Mistake> {
    if cursor.peek() == Some('{') {
        prefix(cursor, model)?;
        return Ok(Item::Other);
    }
    let at = cursor.at();
    let word = cursor.expect_name(
        "a tracepoint `name(type argument, …)`, ENUM, FLAGS, enum, flags, provider, `{` or a comment `#`",
    )?;
    cursor.skip_space();
    let next = cursor.peek();
    match word {
        "ENUM" | "FLAGS" if next == Some('{') => {
            let enumeration = metadata(cursor, owner, word == "FLAGS", at, lookup)?;
            model.enumerations.push(enumeration);
        }
        "provider" if next != Some('(') => {
            let name = cursor.expect_name("the provider's name")?;
            if arguments::is_keyword(name) {
                return Err(cursor.mistake(format!("another name: `{name}` is a word of C++")));
            }
            owner.provider = name.to_owned();
            owner.namespace = name.to_owned();
            end_of_line(cursor)?;
            return Ok(Item::Provider);
        }
        "enum" | "flags" if next != Some('(') => {
            let enumeration = own_enumeration(cursor, owner, word == "flags")?;
            model.enumerations.push(enumeration);
        }
        _ => {
            let level = Level::ALL.iter().find(|(name, _)| *name == word).filter(|_| next != Some('('));
            let (name, at) = match level {
                Some(_) => {
                    let at = cursor.at();
                    (cursor.expect_name("the tracepoint's name behind its level")?, at)
                }
                None => (word, at),
            };
            let level = level.map_or_else(Level::default, |(_, level)| *level);
            let point = point(cursor, owner, level, name, at)?;
            model.points.push(point);
        }
    }
    Ok(Item::Other)
}

/// `(arguments)` behind a name, to the end of the line.
fn point(
    cursor: &mut Cursor<'_>,
    owner: &Owner,
    level: Level,
    name: &str,
    at: usize,
) -> Result<Point, Mistake> {
    cursor.expect('(', &format!("`(` behind `{name}`"))?;
    let from = cursor.at();
    let mut depth = 1_u32;
    while let Some(character) = cursor.next() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let to = cursor.at() - 1;
            let arguments = arguments::read(cursor.text(), from, to)?;
            end_of_line(cursor)?;
            return Ok(Point {
                provider: owner.provider.clone(),
                namespace: owner.namespace.clone(),
                name: name.to_owned(),
                level,
                arguments,
                place: cursor.text().place(at),
            });
        }
    }
    cursor.go_to(from);
    Err(cursor.text().mistake(from, "`)` behind the arguments"))
}

fn end_of_line(cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
    cursor.skip_blanks();
    cursor.take(';');
    cursor.skip_blanks();
    match cursor.peek() {
        None | Some('\n' | '#') => Ok(()),
        _ => Err(cursor.mistake("the end of the line")),
    }
}

/// Lines from `{` to `}`, each alone in its line, as they are.
fn prefix(cursor: &mut Cursor<'_>, model: &mut Model) -> Result<(), Mistake> {
    let begin = cursor.at();
    cursor.next();
    cursor.skip_blanks();
    if cursor.peek().is_some_and(|character| character != '\n') {
        return Err(cursor.mistake("`{` alone in its line: lines for the header follow it"));
    }
    cursor.next();
    while cursor.peek().is_some() {
        let from = cursor.at();
        cursor.skip_line();
        let line = cursor.slice(from, cursor.at()).trim();
        if line == "}" {
            return Ok(());
        }
        model.prefix.push(line.to_owned());
    }
    Err(cursor.text().mistake(begin, "a line `}` that ends the lines for the header"))
}

/// From `{` of an `ENUM` or `FLAGS`: labels of a type that the program has.
pub fn metadata(
    cursor: &mut Cursor<'_>,
    owner: &Owner,
    is_flags: bool,
    at: usize,
    lookup: &mut Lookup<'_>,
) -> Result<Enumeration, Mistake> {
    cursor.expect('{', "`{` before the values")?;
    let mut labels = labels::read(cursor, is_flags)?;
    cursor.skip_space();
    let name_at = cursor.at();
    let name = cursor.path();
    if name.is_empty() {
        return Err(cursor.mistake("the name of the enumeration behind `}`"));
    }
    cursor.skip_blanks();
    cursor.take(';');
    if labels.is_auto {
        labels.all = lookup
            .labels(name, is_flags, &labels)
            .map_err(|expected| cursor.text().mistake(name_at, expected))?;
    }
    Ok(Enumeration {
        provider: owner.provider.clone(),
        namespace: owner.namespace.clone(),
        name: name.to_owned(),
        is_flags,
        is_own: false,
        labels: labels.all,
        aliases: Vec::new(),
        place: cursor.text().place(at),
    })
}

/// `enum Side { buy = 1, sell }`: a type that is defined here.
fn own_enumeration(cursor: &mut Cursor<'_>, owner: &Owner, is_flags: bool) -> Result<Enumeration, Mistake> {
    let place = cursor.place();
    let name = cursor.expect_name("the enumeration's name")?;
    let name_end = cursor.at();
    cursor.expect('{', &format!("`{{` behind `{name}`"))?;
    let labels = labels::read(cursor, is_flags)?;
    if labels.is_auto {
        return Err(cursor.text().mistake(name_end, "values in the braces"));
    }
    let words = labels.all.iter().chain(&labels.aliases).map(|one| &*one.name);
    if let Some(word) = std::iter::once(name).chain(words).find(|word| arguments::is_keyword(word)) {
        let expected = format!("other names: `{word}` is a word of C++");
        return Err(Mistake::new(&place, expected));
    }
    let mut names = std::collections::HashSet::new();
    if !labels.all.iter().all(|one| names.insert(&one.name)) {
        return Err(Mistake::new(&place, "single values, no ranges"));
    }
    end_of_line(cursor)?;
    Ok(Enumeration {
        provider: owner.provider.clone(),
        namespace: owner.namespace.clone(),
        name: name.to_owned(),
        is_flags,
        is_own: true,
        labels: labels.all,
        aliases: labels.aliases,
        place,
    })
}
