//! Every command on every sort of file: clear words that name the file, the documented exit code (docs/exit-codes.md), bounded memory and time.
//!
//! The commands come from the program itself: one without a row in [`ROWS`] fails the test. A new command is one more row.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::harness::{Ended, Scratch, example};

/// A file that a command is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Empty,
    Intact,
    /// Without the end of its last block.
    Cut,
    /// Bytes within it are others.
    Damaged,
    /// A trace file of version 2.0.
    OtherVersion,
    /// 10 GiB without a byte that is stored.
    Sparse,
    /// A trace file that is larger than the memory that the commands get.
    Big,
    /// A program that is cut.
    Elf,
    /// A program with a list of sites.
    Program,
    Png,
    Gzip,
    Text,
    Directory,
    /// A pipe into which somebody writes a text.
    Fifo,
    /// A pipe into which somebody writes a megabyte of text and then a trace.
    Pipe,
    /// `/dev/zero`, by a link.
    Zeros,
    Unreadable,
    Missing,
    /// A link to itself.
    Loop,
}

use Input::*;

const INPUTS: [Input; 19] = [
    Empty,
    Intact,
    Cut,
    Damaged,
    OtherVersion,
    Sparse,
    Big,
    Elf,
    Program,
    Png,
    Gzip,
    Text,
    Directory,
    Fifo,
    Pipe,
    Zeros,
    Unreadable,
    Missing,
    Loop,
];

/// What a command does with a file: the exit codes that are right for each sort of it; none: it is not called.
type Codes = fn(Input) -> &'static [i32];

/// A command, its calls, and how each must end. `FILE` is the file, `OUT` the name of a new one, `OUT-{}`
/// that of several, `~` a space within a word.
struct Row {
    command: &'static str,
    calls: &'static [&'static str],
    codes: Codes,
}

/// One row or more for each command.
const ROWS: &[Row] = &[
    Row {
        command: "cat",
        calls: &["FILE", "--json FILE", "--count FILE", "--tail 3 FILE", "--level warn FILE", "--only FILE"],
        codes: reads,
    },
    Row { command: "cat", calls: &["--follow --head 1 FILE"], codes: follows },
    Row { command: "tail", calls: &["FILE", "--json -n 3 FILE"], codes: reads },
    Row { command: "tail", calls: &["-f -n 3 FILE"], codes: follows_to_the_end },
    // Files are followed by `tail`.
    Row { command: "debug", calls: &["FILE", "FILE -o OUT"], codes: usage },
    Row { command: "top", calls: &["-n 1 -i 100ms FILE", "--json -n 1 -i 100ms FILE"], codes: reads },
    Row {
        command: "view",
        calls: &["--no-open --idle 10ms FILE", "--no-open --idle 10ms --only FILE"],
        codes: shows,
    },
    Row { command: "stats", calls: &["FILE", "--json FILE", "--rates --histograms FILE"], codes: reads },
    Row { command: "sites", calls: &["FILE", "--json FILE"], codes: lists_sites },
    Row { command: "verify", calls: &["FILE", "--quick FILE"], codes: reads },
    Row { command: "repair", calls: &["FILE -o OUT --force"], codes: repairs },
    Row {
        command: "merge",
        calls: &["FILE -o OUT --force", "FILE -o OUT --force --compress lz4"],
        codes: reads,
    },
    Row {
        command: "trim",
        calls: &[
            "--level info FILE -o OUT --force",
            "FILE -o OUT --force --only --thread main --compress zstd",
        ],
        codes: reads,
    },
    Row {
        command: "split",
        calls: &[
            "FILE -o OUT-{} --force --parts 3",
            "--only FILE -o OUT-{} --force --size 40M --compress lz4",
            "FILE -o OUT-{} --force --every 1h",
        ],
        codes: reads,
    },
    Row {
        command: "convert",
        calls: &[
            "FILE OUT --force",
            "--to jsonl --lossless FILE -",
            "--to cbor --level warn FILE -",
            "--to ctf FILE OUT",
            "--to etl FILE OUT --force",
            "--to csv FILE -",
            "--to perfetto FILE -",
            "--to sqlite --level error FILE OUT --force",
            "--to otlp FILE -",
        ],
        codes: reads,
    },
    Row { command: "convert", calls: &["--to sqlite FILE OUT --force"], codes: reads_if_small },
    Row {
        command: "convert",
        calls: &["--from csv --keep-going --to csv FILE OUT --force"],
        codes: reads_as_table,
    },
    Row {
        command: "convert",
        calls: &["--from sqlite --keep-going FILE OUT --force"],
        codes: is_no_database,
    },
    Row {
        command: "replay",
        calls: &["--speed max FILE", "--speed max --json --level warn FILE --sink |cat"],
        codes: reads,
    },
    Row {
        command: "sql",
        calls: &["FILE select~count(*)~from~records", "--json FILE select~*~from~spans"],
        codes: reads,
    },
    Row { command: "recover", calls: &["FILE -o OUT"], codes: recovers },
    Row {
        command: "run",
        calls: &["-o FILE -- true", "-o FILE --compact --rotate-size 1M -- true"],
        codes: runs,
    },
    Row { command: "run", calls: &["-- FILE"], codes: executes },
    Row { command: "collect", calls: &["FILE"], codes: usage },
    // Any argument that is no session, shell or option of theirs is wrong usage.
    Row { command: "attach", calls: &["FILE", "FILE -o OUT"], codes: usage },
    // The name of a process; none has this one.
    Row { command: "ctl", calls: &["FILE"], codes: is_no_process },
    Row { command: "ls", calls: &["FILE"], codes: usage },
    Row { command: "config", calls: &["check FILE"], codes: is_no_configuration },
    Row { command: "doctor", calls: &["FILE", "--json FILE"], codes: examines },
    Row { command: "tracegen", calls: &["FILE", "--rust FILE -o OUT --force"], codes: has_no_tracepoints },
    Row { command: "completions", calls: &["FILE"], codes: usage },
    Row { command: "man", calls: &["FILE"], codes: usage },
    Row { command: "man", calls: &["--out FILE"], codes: writes_into },
    Row { command: "help", calls: &["FILE"], codes: usage },
];

/// An empty configuration is right: nothing is kept.
fn is_no_configuration(input: Input) -> &'static [i32] {
    match input {
        Empty => &[0],
        _ => &[1],
    }
}

fn reads(input: Input) -> &'static [i32] {
    match input {
        Intact | Cut | Big => &[0],
        Damaged | Pipe => &[3],
        Empty | OtherVersion | Sparse | Elf | Program | Png | Gzip | Text | Fifo | Zeros => &[4],
        Directory | Unreadable | Missing | Loop => &[1],
    }
}

/// What is missing stands in the page.
fn shows(input: Input) -> &'static [i32] {
    match input {
        Damaged | Pipe => &[0],
        _ => reads(input),
    }
}

/// What is written of a big one is several times as big: left to the other forms.
fn reads_if_small(input: Input) -> &'static [i32] {
    match input {
        Big => &[],
        _ => reads(input),
    }
}

/// None of them is a table with times; an empty one has no records.
fn reads_as_table(input: Input) -> &'static [i32] {
    match input {
        Empty => &[0],
        Directory | Unreadable | Missing | Loop => &[1],
        _ => &[3],
    }
}

fn is_no_database(_: Input) -> &'static [i32] {
    &[1]
}

/// Of programs, too.
fn lists_sites(input: Input) -> &'static [i32] {
    match input {
        Program => &[0],
        _ => reads(input),
    }
}

/// Files may grow: of an empty one nobody can say what it will be, so that it is followed until somebody ends it.
fn follows(input: Input) -> &'static [i32] {
    match input {
        Empty => &[],
        // What lies behind the first record does not matter.
        Damaged | Pipe => &[0, 3],
        _ => reads(input),
    }
}

/// To the end of the file, which one that was never closed does not have.
fn follows_to_the_end(input: Input) -> &'static [i32] {
    match input {
        Empty | Cut => &[],
        _ => reads(input),
    }
}

fn recovers(input: Input) -> &'static [i32] {
    match input {
        Intact | Big => &[0],
        Cut | Damaged => &[5],
        Fifo | Pipe | Zeros => &[1],
        _ => reads(input),
    }
}

fn repairs(input: Input) -> &'static [i32] {
    match input {
        Cut | Damaged | Pipe => &[5],
        _ => reads(input),
    }
}

/// The file is one to be made.
fn runs(input: Input) -> &'static [i32] {
    match input {
        // Only what is a trace file is replaced without being asked.
        Empty | Intact | Cut | Damaged | OtherVersion | Big | Missing => &[0],
        _ => &[125],
    }
}

/// The file is a program.
fn executes(input: Input) -> &'static [i32] {
    match input {
        Missing => &[127],
        _ => &[126],
    }
}

fn is_no_process(_: Input) -> &'static [i32] {
    &[6]
}

/// The file is to define tracepoints: none of these does.
fn has_no_tracepoints(_: Input) -> &'static [i32] {
    &[1]
}

fn usage(_: Input) -> &'static [i32] {
    &[2]
}

/// The file is a program that is to be traced: none of these is one.
fn examines(_: Input) -> &'static [i32] {
    &[7]
}

/// The file is the directory that gets files.
fn writes_into(input: Input) -> &'static [i32] {
    match input {
        Directory | Missing => &[0],
        _ => &[1],
    }
}

/// Bytes of the big file, and of the address space of a command that reads it.
const BIG: usize = 88 << 20;
const LESS_THAN_BIG: usize = 80 << 20;
/// Of the address space of other commands: an input that never ends is read up to a limit.
const MEMORY: usize = 160 << 20;
/// A command that has not ended by then does not end.
const PATIENCE: Duration = Duration::from_secs(600);

/// The commands that the program has.
fn commands(scratch: &Scratch) -> Vec<String> {
    let help = scratch.run(["--help"]).out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let first = |line: &str| {
        line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next().map(str::to_owned)
    };
    // Commands that the help does not show.
    list.lines().filter_map(first).chain(["collect".to_owned()]).collect()
}

#[test]
fn every_command_has_a_row() {
    let scratch = Scratch::new();
    let commands = commands(&scratch);
    assert!(commands.len() >= 11, "{commands:?}");
    for command in &commands {
        assert!(ROWS.iter().any(|row| row.command == command), "`{command}` has no row in tests/it/table.rs");
    }
    for row in ROWS {
        assert!(commands.iter().any(|command| command == row.command), "`{}` is no command", row.command);
        assert!(row.calls.iter().all(|call| call.contains("FILE")), "{:?}", row.calls);
    }
}

/// A trace with one stream of texts, and then the additions of `more`.
fn trace(records: u32) -> Builder {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/table", 1);
    b.site(1, 16, &log(Level::Info, "table", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for number in 0..records {
        b.record(1, 1, 16, u64::from(number), &text("one of several"));
        b.flush(1, 1, false);
    }
    b
}

/// A trace file that was closed.
fn whole() -> Vec<u8> {
    let mut b = trace(5);
    b.end();
    b.bytes
}

/// Writes a big file of one part, again and again, block by block.
fn big(path: &Path) {
    let mut b = trace(0);
    let long = text(&"x".repeat(60 << 10));
    let mut file = File::create(path).unwrap();
    let mut written = 0;
    while written < BIG {
        for number in 0..4 {
            b.record(1, 1, 16, (written + number) as u64, &long);
        }
        b.flush(1, 1, false);
        file.write_all(&b.bytes).unwrap();
        written += b.bytes.len();
        b.written = written as u64;
        b.bytes.clear();
    }
    b.end_with_index();
    file.write_all(&b.bytes).unwrap();
}

/// Makes a file and gives its path.
fn make(scratch: &Scratch, input: Input) -> PathBuf {
    let path = scratch.path(&format!("{input:?}.silver").to_lowercase());
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    let write = |bytes: &[u8]| fs::write(&path, bytes).unwrap();
    match input {
        Empty => write(b""),
        Intact => write(&whole()),
        Cut => {
            let bytes = trace(5).bytes;
            write(&bytes[..bytes.len() - 30]);
        }
        Damaged => {
            let mut bytes = whole();
            let at = bytes.len() - 250;
            bytes[at..at + 20].fill(0xFF);
            write(&bytes);
        }
        OtherVersion => {
            let mut b = Builder::default();
            b.block(silverpoint_wire::block::BlockKind::FILE, 0, 0, b"format=2.0\nwriter=later\n");
            write(&b.bytes);
        }
        Sparse => File::create(&path).unwrap().set_len(10 << 30).unwrap(),
        Big => big(&path),
        Elf => {
            let own = fs::read(std::env::current_exe().unwrap()).unwrap();
            write(&own[..own.len().min(300_000)]);
        }
        Program => write(&fs::read(example("listed")).unwrap()),
        Png => write(&[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[7; 5000]].concat()),
        Gzip => write(&[b"\x1f\x8b\x08\0\0\0\0\0\0\x03".as_slice(), &[0x9E; 5000]].concat()),
        Text => write("a line of text\n".repeat(1000).as_bytes()),
        Directory => fs::create_dir_all(&path).unwrap(),
        Fifo | Pipe => {
            let made = Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
        }
        Zeros => symlink("/dev/zero", &path).unwrap(),
        Unreadable => {
            write(&whole());
            fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        }
        Missing => {}
        Loop => symlink(&path, &path).unwrap(),
    }
    path
}

/// Writes bytes to a pipe as soon as it has a reader, until it is asked to stop.
fn feed(path: &Path, bytes: Vec<u8>, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let path = path.to_owned();
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            let opened = File::options()
                .write(true)
                .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
                .open(&path);
            match opened {
                Ok(mut pipe) => {
                    rustix::io::ioctl_fionbio(&pipe, false).unwrap();
                    // A reader that has gone meanwhile does not want it.
                    let _ = pipe.write_all(&bytes);
                }
                Err(error) => assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NXIO.raw_os_error())),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    })
}

/// The call of a row, with bounded memory and time; as another user where root may read everything.
fn call(scratch: &Scratch, row: &Row, words: &str, path: &Path, input: Input) -> Ended {
    let out = scratch.path("out.silver");
    let _ = fs::remove_file(&out).or_else(|_| fs::remove_dir_all(&out));
    let program = env!("CARGO_BIN_EXE_silverpoint");
    let mut command = scratch
        .command("/bin/sh", ["-c", "ulimit -c 0; ulimit -v \"$1\"; shift; exec timeout -k 1 \"$@\"", "sh"]);
    // `run` starts programs, a collector, and maps rings: virtual memory is no measure of it.
    let memory = match (row.command, input) {
        ("run", _) => "unlimited".to_owned(),
        (_, Big) => (LESS_THAN_BIG >> 10).to_string(),
        _ => (MEMORY >> 10).to_string(),
    };
    // A second thread reserves 64 MiB of addresses for an arena of its own where there is room: that is no use of memory.
    command.env("MALLOC_ARENA_MAX", "1");
    command.arg(memory).arg(PATIENCE.as_secs().to_string()).arg(program).arg(row.command);
    for word in words.split(' ') {
        match word {
            "FILE" => command.arg(path),
            "OUT" => command.arg(&out),
            "OUT-{}" => command.arg(scratch.path("out-{}.silver")),
            other => command.arg(other.replace('~', " ")),
        };
    }
    command.stdin(Stdio::null());
    if input == Unreadable && rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534).env_remove("SILVERPOINT_DIR");
    }
    match input {
        Big => command.stdout(Stdio::null()),
        _ => command.stdout(Stdio::piped()),
    };
    command.stderr(Stdio::piped()).output().unwrap().into()
}

#[test]
fn every_command_on_every_sort_of_file() {
    every_command_on(|input| !matches!(input, Big | Fifo | Pipe | Zeros));
}

#[test]
fn every_command_on_what_has_no_end() {
    every_command_on(|input| matches!(input, Fifo | Pipe | Zeros));
}

#[test]
fn every_command_on_a_file_larger_than_its_memory() {
    every_command_on(|input| matches!(input, Big));
}

fn every_command_on(is_tried: impl Fn(Input) -> bool) {
    let scratch = Scratch::new();
    fs::set_permissions(scratch.path(""), Permissions::from_mode(0o777)).unwrap();
    let mut wrong = Vec::new();
    for input in INPUTS.into_iter().filter(|input| is_tried(*input)) {
        for row in ROWS {
            for words in row.calls {
                let expected = (row.codes)(input);
                if expected.is_empty() {
                    continue;
                }
                // Made again each time: a command may have replaced it.
                let is_new = input != Big || row.command == "run" || !scratch.path("big.silver").exists();
                let path = if is_new { make(&scratch, input) } else { scratch.path("big.silver") };
                let stop = Arc::new(AtomicBool::new(false));
                let fed = match input {
                    Fifo => Some(vec![b'x'; 2000]),
                    // More than a pipe holds.
                    Pipe => Some([vec![b'x'; 200_000], whole()].concat()),
                    _ => None,
                };
                let feeder = fed.map(|bytes| feed(&path, bytes, stop.clone()));
                let ended = call(&scratch, row, words, &path, input);
                stop.store(true, Ordering::Relaxed);
                if let Some(feeder) = feeder {
                    feeder.join().unwrap();
                }
                let mut complain = |what: &str| {
                    let (command, code) = (row.command, ended.code());
                    wrong.push(format!(
                        "{input:?}: {command} {words}: {what}; it ended with {code:?} and said {:?}",
                        ended.err
                    ));
                };
                if !expected.iter().any(|code| ended.code() == Some(*code)) {
                    complain(&format!("expected {expected:?}"));
                }
                let name = path.file_name().unwrap().to_str().unwrap();
                // The findings of `doctor` are what it is asked for.
                let said = if row.command == "doctor" { &ended.out } else { &ended.err };
                if expected != [0] && input != Big && !said.contains(name) {
                    complain("it does not name the file");
                }
                if ["panicked", "RUST_BACKTRACE", "memory allocation"]
                    .iter()
                    .any(|word| ended.err.contains(word))
                {
                    complain("it panicked");
                }
                if ended.err.len() > 3000 {
                    complain("too many words");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls went wrong:\n{}", wrong.len(), wrong.join("\n"));
}
