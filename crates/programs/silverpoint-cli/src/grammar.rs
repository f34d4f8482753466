//! One option means one thing in every command (docs/options.md), by the definition of the commands itself.

use std::collections::BTreeMap;

use clap::{Arg, Command, CommandFactory, Parser};

use crate::{Cli, Lasting};

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
    ('I', &["include"]),
    ('l', &["level"]),
    // How many of what the command shows: records, or the tables of `top`.
    ('n', &["lines", "tables"]),
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
        for old in ["save", "out", "tail", "query", "jsonl"] {
            assert!(long(&command, old).is_none(), "{name} --{old}");
        }
        // An existing file is replaced only on request.
        let writes = long(&command, "output").is_some() && name != "man";
        assert!(!writes || long(&command, "force").is_some(), "{name} has --output without --force");
        let output = long(&command, "output");
        assert!(output.is_none_or(|output| output.get_short() == Some('o')), "{name} --output");
    }
}

/// The names of an argument's values; none: it is a flag.
fn values(arg: &Arg) -> Vec<String> {
    let names = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    if arg.get_action().takes_values() { names } else { Vec::new() }
}

#[test]
fn an_option_takes_the_same_value_in_every_command() {
    let mut known: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for command in commands() {
        for arg in command.get_arguments() {
            // A place to write to: a file, or a directory of files.
            let Some(option) = arg.get_long().filter(|option| *option != "output") else { continue };
            let (other, expected) = known
                .entry(option.to_owned())
                .or_insert_with(|| (command.get_name().to_owned(), values(arg)));
            assert_eq!(values(arg), *expected, "{} --{option}, and that of {other}", command.get_name());
        }
    }
}

#[test]
fn a_time_is_a_point_in_time_and_sizes_have_one_name() {
    for command in commands() {
        for arg in command.get_arguments() {
            let option = arg.get_long().unwrap_or_default();
            for value in values(arg) {
                let is_point = ["since", "until"].contains(&option);
                assert_eq!(value == "TIME", is_point, "{} --{option}", command.get_name());
                assert_ne!(value, "BYTES", "{} --{option}", command.get_name());
            }
        }
    }
}

#[test]
fn commands_that_stay_are_parsed_as_by_the_whole_grammar() {
    let (mut whole, mut lasting) = (Cli::command(), Lasting::command());
    whole.build();
    lasting.build();
    for command in lasting.get_subcommands() {
        let same = whole.find_subcommand(command.get_name()).unwrap();
        let arguments =
            |command: &Command| command.get_arguments().map(|arg| format!("{arg:?}")).collect::<Vec<_>>();
        assert_eq!(arguments(command), arguments(same), "{}", command.get_name());
    }
    let line = ["silverpoint", "run", "--color", "never", "-q", "-o", "a.silver", "--", "b", "--help"];
    assert!(Lasting::try_parse_from(line).is_ok());
    // Help, and what it reports of wrong arguments, come from the whole grammar, which is parsed next.
    for refused in [
        &["silverpoint", "run", "--help"][..],
        &["silverpoint", "run"],
        &["silverpoint", "run", "--color", "purple", "a"],
    ] {
        assert!(Lasting::try_parse_from(refused).is_err() && Cli::try_parse_from(refused).is_err());
    }
}
