//! Examples for the manual pages. Each is parsed by the definition of the commands in a test, so that none can be wrong.

/// One example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its command; `None`: of the program as a whole.
    pub command: Option<&'static str>,
    /// As typed.
    pub line: &'static str,
    /// What it does.
    pub does: &'static str,
}

/// The examples of a command.
pub fn of(command: Option<&str>) -> impl Iterator<Item = &'static Example> {
    ALL.iter().filter(move |example| example.command == command)
}

const fn example(command: &'static str, line: &'static str, does: &'static str) -> Example {
    Example { command: Some(command), line, does }
}

/// All of them.
pub const ALL: &[Example] = &[
    Example {
        command: None,
        line: "silverpoint run -- ./app",
        does: "Run a program and record what it traces into app.silver.",
    },
    Example { command: None, line: "silverpoint cat app.silver", does: "Read it." },
    example(
        "run",
        "silverpoint run -o app.silver -- ./app --verbose",
        "Record into app.silver; what follows -- is the command.",
    ),
    example(
        "run",
        "silverpoint run --filter 'info,net=debug' --echo -- ./app",
        "Record info and above, of the category net also debug, and show it as it comes.",
    ),
    example(
        "run",
        "silverpoint run --policy drop -- ./app",
        "The program never waits: when its ring is full it counts what it drops.",
    ),
    example(
        "run",
        "silverpoint run --backtrace -o bad.silver -- ./app",
        "Write only the last moments before a warning or worse, and before a crash.",
    ),
    example(
        "attach",
        "silverpoint attach 4312 -o now.silver",
        "Record what a running program traces, from now on.",
    ),
    example(
        "ls",
        "silverpoint ls",
        "The programs that can be attached to, and the dead ones that left records.",
    ),
    example("recover", "silverpoint recover --all", "Store what dead programs left."),
    example("recover", "silverpoint recover app.silver", "Mend a trace file whose collector died."),
    example(
        "cat",
        "silverpoint cat --level warn --since -5s app.silver",
        "Warnings and worse of the last five seconds.",
    ),
    example(
        "cat",
        "silverpoint cat --json --where 'id=7 and px>3.5' app.silver",
        "Records by the values of their arguments, as JSON lines.",
    ),
    example("cat", "silverpoint cat --follow app.silver", "Go on as the file grows."),
    example(
        "debug",
        "silverpoint debug -o session.silver 'worker*'",
        "Show the debug output of these programs, and save it.",
    ),
    example("tail", "silverpoint tail -f", "What all traced programs record, from now on."),
    example(
        "tail",
        "silverpoint tail -f --level warn 4312 'worker*'",
        "Warnings and worse of one process, and of all whose name begins with worker.",
    ),
    example("top", "silverpoint top", "Which sites record most, now; h shows the keys."),
    example(
        "top",
        "silverpoint top --batch --tables 1 --interval 10s --sort lost app",
        "Once, as text: what the program app recorded and lost in ten seconds.",
    ),
    example("view", "silverpoint view app.silver", "Timeline, records and statistics in the browser."),
    example(
        "view",
        "silverpoint view --no-open --idle 1h app.silver",
        "Only print the address; end when nobody has looked for an hour.",
    ),
    example(
        "stats",
        "silverpoint stats app.silver",
        "What was recorded by site and thread, latencies of spans, what was lost and why.",
    ),
    example(
        "stats",
        "silverpoint stats --rates --histograms app.silver",
        "Also when it was recorded, and the latencies of each span as bars.",
    ),
    example(
        "stats",
        "silverpoint stats --json --category net app.silver",
        "The same of one category, for programs.",
    ),
    example("sites", "silverpoint sites app.silver", "Every site that the trace describes."),
    example("verify", "silverpoint verify app.silver", "Whether the file is whole, to the last record."),
    example(
        "repair",
        "silverpoint repair broken.silver -o app.silver",
        "All that is intact, in a clean file.",
    ),
    example(
        "merge",
        "silverpoint merge client.silver server.silver -o both.silver --compress zstd",
        "Several processes' traces as one file.",
    ),
    example(
        "trim",
        "silverpoint trim --category net --since -10s app.silver -o net.silver --compress zstd",
        "The last ten seconds of one category, to be sent to somebody.",
    ),
    example("split", "silverpoint split app.silver -o parts/ --every 10m", "A file for each ten minutes."),
    example(
        "sql",
        "silverpoint sql app.silver 'select level, count(*) from records group by level'",
        "Ask by SQL; docs/sql.md has the tables.",
    ),
    example("sql", "silverpoint sql app.silver -o app.sqlite", "The same tables as a SQLite database."),
    example(
        "split",
        "silverpoint split app.silver -o 'app-{}.silver' --size 20M --compress zstd",
        "Files that are small enough to be sent.",
    ),
    example(
        "convert",
        "silverpoint convert --level warn app.silver warnings.cbor",
        "Warnings and worse as a sequence of CBOR items.",
    ),
    example(
        "convert",
        "silverpoint convert --from jsonl --to silver --keep-going - all.silver",
        "JSON lines from a pipe as a trace file; malformed lines are counted and skipped.",
    ),
    example(
        "convert",
        "silverpoint convert --event order_filled app.silver orders.parquet",
        "One event with a typed column for each argument, for DuckDB, pandas and polars.",
    ),
    example(
        "replay",
        "silverpoint replay --speed 10 --max-gap 2s --json app.silver --sink '| jq .message'",
        "What happened, ten times as fast and without long pauses, for a command.",
    ),
    example(
        "replay",
        "silverpoint replay app.silver --config log.toml",
        "Through the sinks of a logger, to test its configuration.",
    ),
    example("ctl", "silverpoint ctl 4312", "Which sites of a running program record."),
    example("ctl", "silverpoint ctl 4312 'net=debug,io::*=off,pump.cpp:88=on'", "Change it, at once."),
    example("ctl", "silverpoint ctl 4312 --dump", "Write what `run --backtrace` keeps back."),
    example("doctor", "silverpoint doctor --quiet", "What prevents tracing here."),
    example(
        "doctor",
        "silverpoint doctor --json ./app",
        "The same for programs, and whether ./app may be traced.",
    ),
    example("man", "silverpoint man --output share/man/man1", "Write all manual pages."),
    example("man", "silverpoint man cat", "The page of one command, as roff."),
    example(
        "completions",
        "silverpoint completions bash",
        "For ~/.local/share/bash-completion/completions/silverpoint.",
    ),
    example(
        "config",
        "silverpoint config check log.toml",
        "Say whether a logger would accept this configuration, and where the first mistake is.",
    ),
    example(
        "tracegen",
        "silverpoint tracegen qtcore.tracepoints -o qtcore_tracepoints_p.h",
        "A C++ header with a function for each tracepoint.",
    ),
    example(
        "tracegen",
        "silverpoint tracegen --rust shop.tracepoints -o src/shop.rs --force",
        "The same definitions as a Rust module.",
    ),
];

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;

    /// Words as a shell takes them: single quotes keep spaces.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        assert!(!quoted, "{line}");
        words
    }

    #[test]
    fn every_example_is_understood_and_every_command_has_one() {
        for example in ALL {
            let words = words(example.line);
            assert!(example.command.is_none_or(|name| name == words[1]), "{example:?}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{}: {error}", example.line);
            }
        }
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(of(Some(command.get_name())).next().is_some(), "{} has no example", command.get_name());
        }
    }
}
