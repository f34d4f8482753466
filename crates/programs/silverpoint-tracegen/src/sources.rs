//! C++ sources with Qt's macros: `Q_TRACE_POINT`, `Q_TRACE_INSTRUMENT`, `Q_TRACE_PARAM_REPLACE`, `Q_TRACE_PREFIX`, `Q_TRACE_METADATA`.

use crate::Input;
use crate::arguments;
use crate::cursor::{Cursor, begins_name, is_of_name};
use crate::definitions::{self, Owner, QT};
use crate::lookup::Lookup;
use crate::model::{Level, Model, Point, Shape};
use crate::text::{Mistake, Mistakes, Text};
use crate::types;

/// Reads a source.
pub fn read(
    input: &Input<'_>,
    provider: Option<&str>,
    lookup: &mut Lookup<'_>,
    model: &mut Model,
    mistakes: &mut Mistakes,
) {
    let text = Text::of_file(input.path, &code(input.text));
    let mut reader = Reader { provider, lookup, model, instrumented: None };
    let mut cursor = Cursor::new(&text);
    reader.model.is_qt = true;
    while let Some(character) = cursor.peek() {
        if character == '"' || character == '\'' {
            skip_quoted(&mut cursor);
        } else if begins_name(character) {
            let at = cursor.at();
            let word = cursor.name();
            if let Err(mistake) = reader.word(word, at, &mut cursor) {
                mistakes.add(mistake);
            }
        } else if character.is_ascii_digit() {
            // With all that belongs to it: 1'000 begins no character.
            while cursor.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '\'') {
                cursor.next();
            }
        } else {
            cursor.next();
        }
    }
}

/// The text with blanks for comments, lines of the preprocessor and continued line ends: every character keeps its place.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(character) = rest.chars().next() {
        let (len, is_kept) = if character == '#' && is_line_start {
            let mut len = 0;
            for line in rest.split_inclusive('\n') {
                len += line.len();
                if !line.trim_end().ends_with('\\') {
                    break;
                }
            }
            // A comment that begins in the line may end in a later one.
            (comment_in_line(&rest[..len]).unwrap_or(len), false)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |at| at + 4), false)
        } else if is_of_name(character) {
            let is_number = character.is_ascii_digit();
            let is_inner = |c: char| is_of_name(c) || (is_number && c == '\'');
            let len = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
            if rest[..len].ends_with('R') && rest[len..].starts_with('"') {
                // A raw text may contain everything.
                (len + raw_text(&rest[len..]), false)
            } else {
                (len, true)
            }
        } else if character == '"' || character == '\'' {
            (quoted_len(rest, character), true)
        } else if character == '\\' {
            (1, false)
        } else {
            (character.len_utf8(), true)
        };
        let (taken, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        if is_kept {
            out.push_str(taken);
        } else {
            out.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        }
        is_line_start = taken.ends_with('\n') || (is_line_start && taken.trim().is_empty());
        rest = after;
    }
    out
}

/// Where a comment begins that has no end in this line of the preprocessor.
fn comment_in_line(line: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(character) = line[at..].chars().next() {
        let rest = &line[at..];
        at += match character {
            _ if rest.starts_with("//") => return None,
            _ if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(end) => end + 4,
                None => return Some(at),
            },
            '"' | '\'' => quoted_len(rest, character),
            _ => character.len_utf8(),
        };
    }
    None
}

fn raw_text(text: &str) -> usize {
    let Some(open) = text.find('(') else { return text.len() };
    let delimiter = text.get(1..open).unwrap_or("");
    let close = format!("){delimiter}\"");
    text[open..].find(&close).map_or(text.len(), |at| open + at + close.len())
}

/// Length of a quoted text with its quotes; to the end of the line if it has no end.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' if !is_escaped => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            other if other == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn skip_quoted(cursor: &mut Cursor<'_>) {
    let quote = cursor.peek().unwrap_or('"');
    cursor.go_to(cursor.at() + quoted_len(cursor.rest(), quote));
}

struct Reader<'r, 'h> {
    provider: Option<&'r str>,
    lookup: &'r mut Lookup<'h>,
    model: &'r mut Model,
    /// The entry of the last instrumented function, for replacements in its body.
    instrumented: Option<usize>,
}

impl Reader<'_, '_> {
    fn word(&mut self, word: &str, at: usize, cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
        match word {
            "Q_TRACE_POINT" => self.point(cursor),
            "Q_TRACE_INSTRUMENT" => self.instrument(cursor),
            "Q_TRACE_PARAM_REPLACE" => self.replace(cursor),
            "Q_TRACE_PREFIX" => self.prefix(cursor),
            "Q_TRACE_METADATA" => self.metadata(cursor, at),
            _ => Ok(()),
        }
    }

    /// `(PROVIDER`; `None`: it is not the one that is wanted.
    fn owner(&self, cursor: &mut Cursor<'_>) -> Result<Option<Owner>, Mistake> {
        cursor.expect('(', "`(` behind the macro")?;
        let provider = cursor.expect_name("the provider's name")?;
        let is_wanted = self.provider.is_none_or(|wanted| wanted == provider);
        Ok(is_wanted.then(|| Owner { provider: provider.to_owned(), namespace: QT.to_owned() }))
    }

    fn push(
        &mut self,
        owner: &Owner,
        name: String,
        arguments: Vec<crate::Argument>,
        cursor: &Cursor<'_>,
        at: usize,
    ) {
        self.model.points.push(Point {
            provider: owner.provider.clone(),
            namespace: owner.namespace.clone(),
            name,
            level: Level::default(),
            arguments,
            place: cursor.text().place(at),
        });
    }

    /// `(provider, name, type argument, …)`
    fn point(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
        let Some(owner) = self.owner(cursor)? else { return Ok(()) };
        cursor.expect(',', "`,` behind the provider")?;
        cursor.skip_space();
        let at = cursor.at();
        let name = cursor.expect_name("the tracepoint's name")?;
        cursor.skip_space();
        let begin = cursor.at();
        let has_arguments = cursor.take(',');
        let (from, to) = until_closed(cursor, begin)?;
        if !has_arguments && from != to && !cursor.slice(from, to).trim().is_empty() {
            return Err(cursor.text().mistake(begin, "`,` or `)` behind the tracepoint's name"));
        }
        let arguments = arguments::read(cursor.text(), from, to)?;
        self.push(&owner, name.to_owned(), arguments, cursor, at);
        Ok(())
    }

    /// `(provider) Class::function(type argument, …) {`: an entry with the arguments, and an exit.
    fn instrument(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
        let owner = self.owner(cursor)?;
        cursor.expect(')', "`)` behind the provider")?;
        self.instrumented = None;
        let Some(owner) = owner else { return Ok(()) };
        // The name is what stands directly before the parenthesis; a type may stand before it.
        let expected = "a function `Class::name(type argument, …)`";
        let (mut name, mut at) = ("", cursor.at());
        loop {
            cursor.skip_space();
            match cursor.peek() {
                Some('(') if !name.is_empty() => break,
                Some(character) if begins_name(character) => {
                    at = cursor.at();
                    name = cursor.path();
                }
                Some('*' | '&' | '<' | '>' | ',') => {
                    name = "";
                    cursor.next();
                }
                _ => return Err(cursor.mistake(expected)),
            }
        }
        cursor.next();
        let begin = cursor.at();
        let (from, to) = until_closed(cursor, begin)?;
        let name = name.replace("::", "_");
        let arguments = arguments::read(cursor.text(), from, to)?;
        self.instrumented = Some(self.model.points.len());
        self.push(&owner, format!("{name}_entry"), arguments, cursor, at);
        self.push(&owner, format!("{name}_exit"), Vec::new(), cursor, at);
        Ok(())
    }

    /// `(type, other type)` in the body of an instrumented function.
    fn replace(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
        cursor.expect('(', "`(` behind the macro")?;
        let begin = cursor.at();
        let (from, to) = until_closed(cursor, begin)?;
        let whole = cursor.slice(from, to);
        let mut depth = 0_i32;
        let comma = whole.char_indices().find_map(|(at, character)| {
            depth += i32::from(character == '<') - i32::from(character == '>');
            (character == ',' && depth <= 0).then_some(from + at)
        });
        let Some(comma) = comma else {
            return Err(cursor.text().mistake(to, "two types: what to replace, and by what"));
        };
        let (replaced, _) = types::written(&mut Cursor::part(cursor.text(), from, comma))?;
        let (by, _) = types::written(&mut Cursor::part(cursor.text(), comma + 1, to))?;
        let Some(entry) = self.instrumented.and_then(|index| self.model.points.get_mut(index)) else {
            return Ok(());
        };
        let mut is_found = false;
        for argument in &mut entry.arguments {
            let written = argument.written.as_deref().unwrap_or("");
            let Some(mut changed) = types::replaced(written, &replaced, &by) else { continue };
            match &argument.shape {
                Shape::Array(_, length) => changed += &format!("[{length}]"),
                Shape::Counted(_, length) => changed += &format!("[{length}]"),
                _ => {}
            }
            let text = Text::at_place(&changed, &cursor.text().place(comma + 1));
            let (written, shape) = types::written(&mut Cursor::new(&text))?;
            (argument.written, argument.shape) = (Some(written), shape);
            is_found = true;
        }
        if !is_found {
            let expected = format!("a type of an argument of this function: none has `{replaced}`");
            return Err(cursor.text().mistake(from, expected));
        }
        Ok(())
    }

    /// `(provider, "line" "line")`
    fn prefix(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
        let Some(_) = self.owner(cursor)? else { return Ok(()) };
        cursor.expect(',', "`,` behind the provider")?;
        let lines = literals(cursor)?;
        for line in lines.as_str().lines() {
            // Sources of a provider repeat what they need.
            let is_new = !line.starts_with("#include") || !self.model.prefix.iter().any(|one| one == line);
            if is_new {
                self.model.prefix.push(line.to_owned());
            }
        }
        Ok(())
    }

    /// `(provider, "ENUM { A, B } Type;")`
    fn metadata(&mut self, cursor: &mut Cursor<'_>, at: usize) -> Result<(), Mistake> {
        let Some(owner) = self.owner(cursor)? else { return Ok(()) };
        cursor.expect(',', "`,` behind the provider")?;
        let text = literals(cursor)?;
        let mut inner = Cursor::new(&text);
        loop {
            inner.skip_space();
            if inner.peek().is_none() {
                return Ok(());
            }
            let word = inner.expect_name("ENUM or FLAGS")?;
            if !["ENUM", "FLAGS"].contains(&word) {
                return Err(inner.mistake("ENUM or FLAGS before this"));
            }
            let mut one = definitions::metadata(&mut inner, &owner, word == "FLAGS", 0, self.lookup)?;
            one.place = cursor.text().place(at);
            self.model.enumerations.push(one);
        }
    }
}

/// The range up to the parenthesis that closes, which is passed.
fn until_closed(cursor: &mut Cursor<'_>, begin: usize) -> Result<(usize, usize), Mistake> {
    let from = cursor.at();
    let mut depth = 1_u32;
    while let Some(character) = cursor.next() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ';' | '{' => break,
            _ => {}
        }
        if depth == 0 {
            return Ok((from, cursor.at() - 1));
        }
    }
    cursor.go_to(begin);
    Err(cursor.text().mistake(begin, "`)`"))
}

/// Literals up to the parenthesis that closes: a line each.
fn literals(cursor: &mut Cursor<'_>) -> Result<Text, Mistake> {
    let mut lines = Text::empty(cursor.text().file().clone());
    loop {
        cursor.skip_space();
        if cursor.take(')') {
            return Ok(lines);
        }
        if cursor.peek() != Some('"') {
            return Err(cursor.mistake("a text in quotes, or `)`"));
        }
        cursor.next();
        loop {
            let place = cursor.place();
            match cursor.next() {
                Some('"') => {
                    lines.push('\n', &place);
                    break;
                }
                Some('\\') => {
                    let escaped = match cursor.next() {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some(other @ ('"' | '\\' | '\'')) => other,
                        _ => return Err(cursor.mistake("`\\n`, `\\t`, `\\\\` or `\\\"`")),
                    };
                    lines.push(escaped, &place);
                }
                Some('\n') | None => {
                    return Err(cursor.text().mistake(cursor.at(), "`\"` in the line before"));
                }
                Some(other) => lines.push(other, &place),
            }
        }
    }
}
