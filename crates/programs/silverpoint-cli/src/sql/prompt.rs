//! The prompt of `silverpoint sql`: queries typed, with history and completion.

use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use silverpoint_sql::{Database, Error, KEYWORDS};

use super::output::{Mode, Printer};
use super::{Interrupts, failed};
use crate::exit::{Exit, Failed, Outcome, at, note};
use crate::input::Output;

/// Commands of the prompt itself.
const COMMANDS: [(&str, &str); 5] = [
    (".help", "these lines"),
    (".tables", "names of tables and views"),
    (".schema", "columns of all tables, or of the one named"),
    (".mode", "how rows are shown: table, csv, json, json-array"),
    (".quit", "leave (or Ctrl-D)"),
];

/// Lines of the history that are kept.
const KEPT: usize = 1000;

/// Reads and runs queries until the user leaves.
pub fn run(database: &Database, mode: Mode, interrupts: &Interrupts) -> Result<(), Failed> {
    let tables = database.tables().map_err(failed)?;
    let mut mode = mode;
    let config =
        Config::builder().max_history_size(KEPT).map_err(at("the prompt"))?.auto_add_history(true).build();
    let mut editor: Editor<Words, FileHistory> = Editor::with_config(config).map_err(at("the terminal"))?;
    editor.set_helper(Some(Words::new(&tables)));
    let history = history();
    if let Some(path) = &history {
        // There is none the first time.
        let _ = editor.load_history(path);
    }
    note("end a query with ; and see .help, .tables, .schema; Ctrl-C ends a query, Ctrl-D the program");
    loop {
        match editor.readline("sql> ") {
            Ok(line) => {
                interrupts.forget();
                let words: Vec<&str> = line.split_whitespace().collect();
                match words.first() {
                    None => {}
                    Some(&(".quit" | ".exit")) => break,
                    Some(command) if command.starts_with('.') => {
                        match command_line(command, words.get(1).copied(), &tables, &mut mode) {
                            Some(text) => print!("{text}"),
                            None => note(format_args!("{command}: no such command; .help lists them")),
                        }
                    }
                    Some(_) => query(database, &line, mode)?,
                }
            }
            // An unfinished line is dropped.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(at("the terminal")(error)),
        }
    }
    if let Some(path) = &history {
        // Without a directory for it there is no history.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Runs what was typed. Errors are reported, and end nothing.
fn query(database: &Database, line: &str, mode: Mode) -> Result<(), Failed> {
    let mut printer = Printer::new(mode, Output::paged());
    let ended = database.run(line, &mut printer);
    printer.out.finish()?;
    match ended {
        // The pager was closed, or the error was reported already.
        Ok(()) | Err(Error::Rows(_)) => {}
        Err(error) => note(error),
    }
    Ok(())
}

/// Whether a text is a command of the prompt.
pub(super) fn is_command(text: &str) -> bool {
    let mut chars = text.trim_start().chars();
    chars.next() == Some('.')
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && text.split_whitespace().next().is_some_and(|word| !word.contains('/') && !word[1..].contains('.'))
}

/// Runs a command that stands in place of a query.
pub(super) fn print(database: &Database, line: &str) -> Outcome {
    let words: Vec<&str> = line.split_whitespace().collect();
    let tables = database.tables().map_err(failed)?;
    let command = words.first().copied().unwrap_or_default();
    let text = match command {
        ".tables" | ".schema" | ".help" => {
            command_line(command, words.get(1).copied(), &tables, &mut Mode::Csv).unwrap_or_default()
        }
        _ => {
            let why = format!("{command}: no such command beside files: .tables, .schema [TABLE] or .help");
            return Err(Failed::new(Exit::Usage, why));
        }
    };
    if text.is_empty() {
        let why = format!("{line}: no such table or view; .tables lists them");
        return Err(Failed::new(Exit::Usage, why));
    }
    let mut out = Output::paged();
    out.text.push_str(&text);
    out.finish()?;
    Ok(Exit::Success)
}

/// The output of a command; `None`: there is no such command.
fn command_line(
    command: &str,
    word: Option<&str>,
    tables: &[(String, Vec<String>)],
    mode: &mut Mode,
) -> Option<String> {
    Some(match command {
        ".tables" => listed(tables.iter().map(|(name, _)| name.as_str())) + "\n",
        ".schema" => {
            let is_wanted = |name: &str| word.is_none_or(|word| name.eq_ignore_ascii_case(word));
            let wanted = tables.iter().filter(|(name, _)| is_wanted(name));
            let line = |(name, columns): &(String, Vec<String>)| {
                format!("{name}({})\n", listed(columns.iter().map(String::as_str)))
            };
            wanted.map(line).collect()
        }
        ".mode" => match Mode::ALL.iter().find(|(name, _)| Some(*name) == word) {
            Some((name, chosen)) => {
                *mode = *chosen;
                note(format_args!("rows are shown as {name} from now on"));
                String::new()
            }
            None => {
                note(".mode: expected table, csv, json or json-array");
                String::new()
            }
        },
        ".help" => COMMANDS.iter().map(|(name, what)| format!("{name:<9} {what}\n")).collect(),
        _ => return None,
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Where the history is kept: `$XDG_STATE_HOME/silverpoint/sql-history`.
fn history() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("silverpoint/sql-history"))
}

/// What can be completed: keywords, tables, columns, commands.
struct Words {
    words: Vec<String>,
}

impl Words {
    fn new(tables: &[(String, Vec<String>)]) -> Self {
        let names = tables.iter().flat_map(|(table, columns)| std::iter::once(table).chain(columns)).cloned();
        let fixed = KEYWORDS.iter().copied().chain(COMMANDS.iter().map(|(name, _)| *name));
        let mut words: Vec<String> = names.chain(fixed.map(str::to_owned)).collect();
        words.sort_unstable();
        words.dedup();
        Self { words }
    }

    /// Where the word before the cursor begins, and what it may become.
    fn of(&self, line: &str, at: usize) -> (usize, Vec<&str>) {
        let before = line.get(..at).unwrap_or(line);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let begin = before.trim_end_matches(is_part).len();
        // A command of the prompt has its dot at the beginning of the line; elsewhere it stands between table and column.
        let begin = if before.starts_with('.') && begin == 1 { 0 } else { begin };
        let typed = before[begin..].to_lowercase();
        if typed.is_empty() {
            return (begin, Vec::new());
        }
        (
            begin,
            self.words.iter().map(String::as_str).filter(|w| w.to_lowercase().starts_with(&typed)).collect(),
        )
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (begin, words) = self.of(line, at);
        let pair = |word: &str| Pair { display: word.to_owned(), replacement: word.to_owned() };
        Ok((begin, words.into_iter().map(pair).collect()))
    }
}

impl Validator for Words {
    /// A query goes on over several lines up to its semicolon.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let line = context.input().trim();
        let is_whole = line.is_empty() || line.starts_with('.') || line.ends_with(';');
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed() {
        let tables = [("records".to_owned(), vec!["time_ns".to_owned(), "Größe".to_owned()])];
        let words = Words::new(&tables);
        assert_eq!(words.of("select tim", 10), (7, vec!["time_ns"]));
        assert_eq!(words.of("select * from RECO", 18), (14, vec!["records"]));
        assert_eq!(words.of("records.tim", 11), (8, vec!["time_ns"]));
        assert_eq!(words.of(".ta", 3), (0, vec![".tables"]));
        assert_eq!(words.of("select gr", 9), (7, vec!["Größe", "group", "groups"]));
        assert_eq!(words.of("select ", 7), (7, vec![]));
    }
}
