//! Colours and paging, as in git: chosen once for the whole program, by flags, by the environment, and by what standard output is.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use crate::platform;

/// When to use colours.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal; not when NO_COLOR is set; always when CLICOLOR_FORCE is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The flags of every command.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Choice {
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto, global = true)]
    color: Colour,
    /// Do not show long output in a pager ($SILVERPOINT_PAGER, $PAGER, less -FRX)
    #[arg(long, global = true)]
    no_pager: bool,
    /// Print only errors, and that records were lost; the exit status does not change
    #[arg(short, long, global = true)]
    quiet: bool,
}

static CHOICE: OnceLock<Choice> = OnceLock::new();

/// Remembers what the flags say. The first call counts.
pub fn choose(choice: Choice) {
    let _ = CHOICE.set(choice);
}

/// Whether only errors and losses are printed.
pub fn quiet() -> bool {
    choice().quiet
}

fn choice() -> Choice {
    CHOICE.get().copied().unwrap_or_default()
}

/// Whether standard output gets colours: the flag, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether it is a terminal that can.
pub fn colour() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match choice().color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR").is_some() => false,
        Colour::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Colour::Auto => io::stdout().is_terminal() && set("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Whether standard output can show other characters than ASCII: by the locale, as every program decides it.
pub fn unicode() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Columns of the terminal that standard output is; 80 when it is none or does not say.
pub fn width() -> usize {
    platform::terminal::columns().unwrap_or(80).clamp(40, 400)
}

/// A program that shows text page by page.
pub struct Pager {
    child: Child,
    /// `None` when the text is complete.
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts it. `None`: standard output is no terminal, a pager is not wanted, or it cannot be started.
    pub fn start() -> Option<Self> {
        if choice().no_pager || !io::stdout().is_terminal() {
            return None;
        }
        let program = std::env::var_os("SILVERPOINT_PAGER").or_else(|| std::env::var_os("PAGER"));
        let program = program.unwrap_or_else(|| "less".into());
        if program.is_empty() || program == "cat" {
            return None;
        }
        let mut command = Command::new("sh");
        command.arg("-c").arg(program).stdin(Stdio::piped());
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take();
        // From now on the pager handles interrupts: if this program died before it, two readers would share
        // the terminal.
        platform::terminal::outlive_interrupts();
        Some(Self { child, input })
    }

    /// Writes text to the pager. Fails with `BrokenPipe` when the pager has ended.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(text).and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Pager {
    /// Closes the pager's input, and waits until its user has read it.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
