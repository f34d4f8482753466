//! One option means one thing in every command (docs/options.md), by the definition of the commands itself.

use clap::{Arg, Command, CommandFactory};

use crate::Cli;

fn commands() -> Vec<Command> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

/// What a letter stands for, wherever it is used.
const LETTERS: &[(char, &[&str])] = &[
    ('b', &["batch"]),
    ('c', &["category"]),
    ('f', &["follow"]),
    ('g', &["grep"]),
    ('h', &["help"]),
    ('i', &["interval"]),
    ('l', &["level"]),
    // How many of what the command shows: records, or the tables of `top`.
    ('n', &["lines", "count"]),
    ('o', &["output"]),
    ('p', &["process"]),
    ('q', &["quiet"]),
    ('t', &["thread"]),
    ('V', &["version"]),
    ('w', &["where"]),
];

#[test]
fn a_letter_means_the_same_in_every_command() {
    for command in commands() {
        for arg in command.get_arguments() {
            let Some(letter) = arg.get_short() else { continue };
            let known = LETTERS.iter().find(|(known, _)| *known == letter);
            let name = arg.get_long().unwrap_or("");
            assert!(
                known.is_some_and(|(_, names)| names.contains(&name)),
                "{} -{letter}: --{name}",
                command.get_name()
            );
        }
    }
}

#[test]
fn every_command_can_be_quiet() {
    for command in commands() {
        let quiet = long(&command, "quiet").unwrap_or_else(|| panic!("{}", command.get_name()));
        assert_eq!(quiet.get_short(), Some('q'), "{}", command.get_name());
    }
}

#[test]
fn a_filter_is_of_directives_and_what_is_written_is_the_output() {
    for command in commands() {
        let name = command.get_name().to_owned();
        if let Some(filter) = long(&command, "filter") {
            let values: Vec<&str> =
                filter.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
            assert_eq!(values, ["DIRECTIVES"], "{name} --filter");
        }
        for old in ["save", "out", "tail", "query"] {
            assert!(long(&command, old).is_none(), "{name} --{old}");
        }
        // An existing file is replaced only on request.
        let writes = long(&command, "output").is_some() && name != "man";
        assert!(!writes || long(&command, "force").is_some(), "{name} has --output without --force");
        let output = long(&command, "output");
        assert!(output.is_none_or(|output| output.get_short() == Some('o')), "{name} --output");
    }
}
