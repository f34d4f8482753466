//! A filter on one line, with the words of `silverpoint cat`: `-l warn -c net -w 'id=7 and px>3.5'`. What begins with no option is an expression: `id=7`.

use std::fmt;

use silverpoint_render::{time::TimeZone, time::When};

use super::{Expression, FilePattern, Filter, WhoPattern};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Column of the place, from 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl std::error::Error for LineError {}

/// A word, without its quotes.
struct Word {
    text: String,
    /// From 1.
    column: usize,
}

impl Filter {
    /// Reads a line; times of day are those of `zone`. An empty line wants everything.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn from_line(line: &str, zone: &TimeZone) -> Result<Self, LineError> {
        let mut filter = Self { zone: Some(zone.clone()), ..Self::default() };
        let begin = line.len() - line.trim_start().len();
        if !line.trim_start().starts_with('-') {
            if !line.trim().is_empty() {
                filter.expression = Some(expression(line, 1)?);
            }
            return Ok(filter);
        }
        let mut words = words(&line[begin..], line[..begin].chars().count() + 1)?.into_iter();
        while let Some(word) = words.next() {
            let wrong = |what: String| LineError { column: word.column, what };
            let (name, given) = match word.text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word.text.as_str(), None),
            };
            let value = || match given {
                Some(value) => {
                    let column = word.column + name.chars().count() + 1;
                    Ok(Word { text: value.to_owned(), column })
                }
                None => words.next().ok_or_else(|| wrong(format!("{name} needs a value"))),
            };
            filter.take(name, value, zone, wrong)?;
        }
        Ok(filter)
    }

    fn take(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Result<Word, LineError>,
        zone: &TimeZone,
        wrong: impl FnOnce(String) -> LineError,
    ) -> Result<(), LineError> {
        let when = |word: Word| {
            When::parse(&word.text, zone)
                .map_err(|error| LineError { column: word.column, what: error.to_string() })
        };
        match name {
            "-l" | "--level" => {
                let word = value()?;
                let level = word.text.parse().map_err(|_| LineError {
                    column: word.column,
                    what: format!(
                        "'{}' is no level: trace, debug, info, warn, error and fatal are",
                        word.text
                    ),
                })?;
                self.level = Some(level);
            }
            "-c" | "--category" => {
                let word = value()?;
                let wrong = |what| LineError { column: word.column, what };
                self.categories.push(super::category(&word.text).map_err(wrong)?);
            }
            "--file" => self.files.push(FilePattern::parse(&value()?.text)),
            "--function" => self.functions.push(value()?.text),
            "-t" | "--thread" => self.threads.push(WhoPattern::parse(&value()?.text)),
            "-p" | "--process" => self.processes.push(WhoPattern::parse(&value()?.text)),
            "--since" => self.since = Some(when(value()?)?),
            "--until" => self.until = Some(when(value()?)?),
            "-w" | "--where" => {
                let word = value()?;
                self.expression = Some(expression(&word.text, word.column)?);
            }
            _ => {
                return Err(wrong(format!(
                    "'{name}' is no filter; valid are --level, --category, --file, --function, --thread, --process, --since, --until and --where"
                )));
            }
        }
        Ok(())
    }
}

fn expression(text: &str, column: usize) -> Result<Expression, LineError> {
    Expression::parse(text).map_err(|error| LineError {
        column: column + error.column - 1,
        what: format!("expected {}", error.expected),
    })
}

/// Words as a shell takes them: with quotes of both kinds, and `\` before what stands for itself.
fn words(line: &str, column: usize) -> Result<Vec<Word>, LineError> {
    let mut words: Vec<Word> = Vec::new();
    let mut characters = (column..).zip(line.chars());
    // The word that is being read.
    let mut open: Option<Word> = None;
    while let Some((column, c)) = characters.next() {
        if c.is_whitespace() {
            words.extend(open.take());
            continue;
        }
        let word = open.get_or_insert_with(|| Word { text: String::new(), column });
        if c == '\\' {
            word.text.extend(characters.next().map(|(_, c)| c));
        } else if c == '\'' || c == '"' {
            if word.text.is_empty() {
                word.column = column + 1;
            }
            loop {
                match characters.next() {
                    Some((_, end)) if end == c => break,
                    Some((_, '\\')) if c == '"' => word.text.extend(characters.next().map(|(_, c)| c)),
                    Some((_, c)) => word.text.push(c),
                    None => return Err(LineError { column, what: "the quote is not closed".into() }),
                }
            }
        } else {
            word.text.push(c);
        }
    }
    words.extend(open);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::level::Level;

    use super::*;

    fn read(line: &str) -> Result<Filter, String> {
        Filter::from_line(line, &TimeZone::UTC).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_says_what_the_options_of_cat_say() {
        assert!(read("").unwrap().is_empty() && read("  ").unwrap().is_empty());
        let filter =
            read("-l warn --category=net -c 'a b' --thread \"w*\" --process 7 --file x.cpp:3 -w 'id=7 and n~\"*\"'")
                .unwrap();
        assert_eq!(filter.level, Some(Level::Warn));
        assert_eq!(filter.categories, ["net", "a b"]);
        assert!(filter.threads[0].matches(1, "worker") && filter.processes[0].matches(7, ""));
        assert_eq!(filter.files[0].line, Some(3));
        assert_eq!(filter.expression, Some(Expression::parse("id=7 and n~\"*\"").unwrap()));
        let times = read("  --since 2026-11-20T19:02:11Z --until +1m --function Pump::start").unwrap();
        assert!(times.since.is_some() && times.until.is_some() && times.functions == ["Pump::start"]);
        assert_eq!(read(" id = 7 ").unwrap().expression, Some(Expression::parse("id=7").unwrap()));
        assert_eq!(read("--where id=7").unwrap().expression, Some(Expression::parse("id=7").unwrap()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_column() {
        for (line, told) in [
            ("id=", "column 4: expected"),
            ("-l loud", "column 4: 'loud' is no level"),
            ("-c net=warning", "column 4: 'net=warning': 'warning' after = is no level"),
            ("  --colour red", "column 3: '--colour' is no filter"),
            ("-c", "column 1: -c needs a value"),
            ("-c 'net", "column 4: the quote is not closed"),
            ("-w 'id='", "column 8: expected"),
            ("--where=id=", "column 12: expected"),
            ("--since noon", "column 9: "),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.starts_with(told), "{line}: {error}");
        }
    }
}
