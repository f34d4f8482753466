//! The values of an enumeration: `{ A = 0, B, RANGE(C, 3 ... 10) }`, and `{ AUTO, RANGE First ... Last }`.

use std::collections::HashSet;

use crate::cursor::Cursor;
use crate::model::Label;
use crate::text::Mistake;

/// Each value of a range has the label, up to this many; of a longer one the first alone.
pub const LONGEST_RANGE: i128 = 64;
/// Most labels. A signature has 16,384 characters, which is checked apart.
const MOST: usize = 4096;
/// Characters of all labels together.
const MOST_CHARACTERS: usize = 12_000;

/// What stands in the braces.
#[derive(Debug, Default)]
pub struct Labels {
    pub all: Vec<Label>,
    /// Further names of values that have one.
    pub aliases: Vec<Label>,
    /// Whether the names shall be looked up.
    pub is_auto: bool,
    /// (first, last) of `RANGE First ... Last`, by name.
    pub ranges: Vec<(String, String)>,
}

/// Reads from behind the opening brace to behind the closing one. A comma or a new line ends each value.
pub fn read(cursor: &mut Cursor<'_>, is_flags: bool) -> Result<Labels, Mistake> {
    let mut labels = Labels::default();
    let (mut values, mut names) = (HashSet::new(), HashSet::new());
    let mut next = 0_i128;
    loop {
        skip_comments(cursor);
        if cursor.take('}') {
            break;
        }
        let begin = cursor.at();
        let name = cursor.expect_name("a name or `}`")?;
        let (mut first, mut last) = (next, next);
        let mut label = name;
        if name == "AUTO" {
            labels.is_auto = true;
            separator(cursor)?;
            continue;
        }
        let name_end = cursor.at();
        cursor.skip_space();
        if name == "RANGE" && !cursor.rest().starts_with(['(', '=', ',', '}']) {
            let from = cursor.expect_name("the name of the first value")?;
            dots(cursor)?;
            let to = cursor.expect_name("the name of the last value")?;
            labels.ranges.push((from.to_owned(), to.to_owned()));
            separator(cursor)?;
            continue;
        }
        if name == "RANGE" && cursor.take('(') {
            label = cursor.expect_name("the name of the range")?;
            cursor.expect(',', "`,` behind the name of the range")?;
            first = cursor.integer()?;
            dots(cursor)?;
            last = cursor.integer()?;
            if last < first {
                return Err(cursor.mistake("a last value that is not below the first"));
            }
            cursor.expect(')', "`)` behind the range")?;
        } else if cursor.take('=') {
            first = cursor.integer()?;
            last = first;
        } else {
            // The new line may end the value.
            cursor.go_to(name_end);
        }
        if !names.insert(label) {
            return Err(cursor.text().mistake(begin, format!("another name: `{label}` is taken")));
        }
        let labelled = if last - first < LONGEST_RANGE { last } else { first };
        for value in first..=labelled {
            // The first name of a value is its label.
            let all = if values.insert(value) { &mut labels.all } else { &mut labels.aliases };
            all.push(Label { name: label.to_owned(), value });
        }
        check(&labels.all, is_flags).map_err(|expected| cursor.text().mistake(begin, expected))?;
        next = last + 1;
        separator(cursor)?;
    }
    if labels.all.is_empty() {
        labels.is_auto = true;
    }
    Ok(labels)
}

/// Whether a site's description has room for them.
pub fn check(labels: &[Label], is_flags: bool) -> Result<(), String> {
    let characters: usize = labels.iter().map(|one| one.name.len() + 6).sum();
    if labels.len() > MOST || characters > MOST_CHARACTERS {
        return Err(format!(
            "fewer labels: the description of a tracepoint has room for {MOST_CHARACTERS} characters of them"
        ));
    }
    let has = |test: fn(i128) -> bool| labels.iter().any(|one| test(one.value));
    if is_flags && has(|value| value < 0) {
        return Err("flags that are not negative".to_owned());
    }
    let is_beyond = has(|value| value < i64::MIN.into()) || has(|value| value > u64::MAX.into());
    if is_beyond || (has(|value| value < 0) && has(|value| value > i64::MAX.into())) {
        return Err("values of one integer of 64 bits, with or without a sign".to_owned());
    }
    Ok(())
}

fn dots(cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
    cursor.skip_space();
    if cursor.take_text("...") { Ok(()) } else { Err(cursor.mistake("`...`")) }
}

/// A comma or the end of the line, unless the brace comes.
fn separator(cursor: &mut Cursor<'_>) -> Result<(), Mistake> {
    cursor.skip_blanks();
    let is_line_end = matches!(cursor.peek(), Some('\n' | '#'));
    skip_comments(cursor);
    if cursor.take(',') || cursor.peek() == Some('}') || (is_line_end && cursor.peek().is_some()) {
        Ok(())
    } else {
        Err(cursor.mistake("`,`, a new line or `}`"))
    }
}

/// Skips white space, and comments to the ends of their lines.
fn skip_comments(cursor: &mut Cursor<'_>) {
    cursor.skip_space();
    while cursor.peek() == Some('#') {
        cursor.skip_line();
        cursor.skip_space();
    }
}
