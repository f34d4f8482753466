//! `silverpoint man` and `silverpoint completions`: manual pages and shell completions, made of the one definition of the commands and their flags.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::exit::{Exit, Failed, Outcome, at, failure};
use crate::input::Output;
use crate::{Cli, examples};

/// Write the manual pages: silverpoint.1 and one page for each command
#[derive(clap::Args, Debug)]
pub struct ManArgs {
    /// The directory for the pages, made if it is missing. Without it, the page of COMMAND goes to standard
    /// output
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
    /// Show the page of this command; without it the page of the program
    command: Option<String>,
}

/// Write completions of commands and flags for a shell to standard output
#[derive(clap::Args, Debug)]
pub struct CompletionsArgs {
    /// bash, zsh or fish
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// The definition, complete: with the flags that clap adds itself.
fn definition() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Commands that have a page.
fn documented(definition: &Command) -> impl Iterator<Item = &Command> {
    definition.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Runs `man`.
pub fn man(args: ManArgs) -> Outcome {
    let definition = definition();
    if let Some(out) = &args.out {
        write_all(&definition, out).map_err(|error| failure(format!("{}: {error}", out.display())))?;
        return Ok(Exit::Success);
    }
    let text = match &args.command {
        None => page(&definition, None),
        Some(name) => match documented(&definition).find(|command| command.get_name() == name) {
            Some(command) => page(command, Some(&definition)),
            None => {
                let names: Vec<_> = documented(&definition).map(Command::get_name).collect();
                let message = format!("'{name}' is not a command; the commands are {}", names.join(", "));
                return Err(Failed::new(Exit::Usage, message));
            }
        },
    };
    let mut out = Output::new();
    out.text.push_str(&text.map_err(at("the page"))?);
    out.flush()?;
    Ok(Exit::Success)
}

fn write_all(definition: &Command, out: &Path) -> io::Result<()> {
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("silverpoint.1"), page(definition, None)?)?;
    for command in documented(definition) {
        let name = format!("silverpoint-{}.1", command.get_name());
        std::fs::write(out.join(name), page(command, Some(definition))?)?;
    }
    Ok(())
}

/// The page of the program, or of one of its commands.
fn page(command: &Command, of: Option<&Command>) -> io::Result<String> {
    let name = match of {
        Some(_) => format!("silverpoint-{}", command.get_name()),
        None => command.get_name().to_owned(),
    };
    let source = format!("silverpoint {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name).source(source).manual("Silverpoint");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if of.is_none() {
        man.render_subcommands_section(&mut text)?;
    }
    man.render_extra_section(&mut text)?;
    let shown: Vec<_> = examples::of(of.map(|_| command.get_name())).collect();
    if !shown.is_empty() {
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES"]);
        for example in shown {
            roff.control("TP", []).text([bold(example.line)]).text([roman(example.does)]);
        }
        roff.to_writer(&mut text)?;
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let others = of.map(|_| "silverpoint(1)".to_owned()).into_iter().chain(
        documented(of.unwrap_or(command))
            .filter(|other| of.is_none() || other.get_name() != command.get_name())
            .map(|other| format!("silverpoint-{}(1)", other.get_name())),
    );
    roff.text([roman(others.collect::<Vec<_>>().join(", "))]);
    roff.to_writer(&mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Runs `completions`.
pub fn completions(args: CompletionsArgs) -> Outcome {
    let shell = match args.shell.as_str() {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        _ => Shell::Fish,
    };
    let mut text = Vec::new();
    generate(shell, &mut Cli::command(), "silverpoint", &mut text);
    let mut out = Output::new();
    out.text.push_str(&String::from_utf8_lossy(&text));
    out.flush()?;
    Ok(Exit::Success)
}
