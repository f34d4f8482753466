//! Programs that end without dropping their logger: what they have logged is out all the same.

use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use crate::harness::Scratch;

/// The messages of lines, without the category before and the place behind them.
fn messages(text: &str) -> Vec<String> {
    let message = |line: &str| {
        let (line, _) = line.rsplit_once("   exiting.rs:")?;
        Some(line.rsplit_once("exiting ")?.1.trim().to_owned())
    };
    text.lines().map(|line| message(line).unwrap_or_else(|| line.to_owned())).collect()
}

fn expected(more: &[&str]) -> Vec<String> {
    let last = ["last"].iter().chain(more).map(|word| (*word).to_owned());
    (0..50).map(|number| format!("number {number}")).chain(last).collect()
}

/// `std::process::exit` runs no destructor, and neither does a return from `main` for what a static holds.
#[test]
fn what_was_logged_before_an_exit_was_not_on_the_console() {
    let ways: [(&str, i32, &[&str]); 8] = [
        ("exit", 3, &[]),
        ("exit-of-thread", 3, &[]),
        ("exit-hook", 3, &["in an exit hook"]),
        ("static", 0, &[]),
        ("forget", 0, &[]),
        ("ending", 3, &[]),
        ("forked", 3, &["after the child"]),
        ("within-sink", 3, &[]),
    ];
    for (way, status, more) in ways {
        let scratch = Scratch::new();
        let ended = scratch.example("exiting", [way]).output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(status), "{way}: {err}");
        let mut shown = messages(&err);
        if way == "within-sink" {
            // The handler that exits never returns, so its sink cannot finish: only that sink is reported.
            let said = shown.pop().unwrap_or_default();
            assert!(said.starts_with("silverpoint: a handler: not everything is written"), "{err}");
        }
        assert_eq!(shown, expected(more), "{way}: standard error");
        assert_eq!(messages(&scratch.read("app.log")), expected(more), "{way}: file");
        // (A forked child has recorded in its own session; of a sink that exits something is left.)
        if !["ending", "within-sink", "forked"].contains(&way) {
            assert_eq!((scratch.names(), scratch.sessions()), (vec!["app.log".to_owned()], 0), "{way}");
        }
    }
}

#[test]
fn an_exit_delivers_what_other_threads_have_logged_before_it() {
    let scratch = Scratch::new();
    let ended = scratch.example("exiting", ["others-log"]).output().unwrap();
    let (out, err) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
    assert_eq!(ended.status.code(), Some(3), "{err}");
    let told: Vec<usize> = out.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!(told.len(), 2, "{out}");
    for text in [&err, &scratch.read("app.log")] {
        let messages = messages(text);
        for (thread, told) in told.iter().enumerate() {
            let begin = format!("thread {thread} made ");
            let found = messages.iter().filter_map(|message| message.strip_prefix(&begin));
            let found: Vec<usize> = found.map(|number| number.parse().unwrap()).collect();
            assert!(found.len() >= *told, "thread {thread}: {} of at least {told}", found.len());
            assert!(found.iter().copied().eq(0..found.len()), "thread {thread}: {found:?}");
        }
    }
}

/// A debug build's symbols may take longer to read than the dying process waits. They were read before older lines were written, so the console stayed empty.
#[test]
fn older_lines_and_what_happened_are_written_before_symbols_are_read() {
    let scratch = Scratch::new();
    // Each write is a message of its own.
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let mut running = scratch
        .example("exiting", ["abort"])
        .stderr(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    let mut writes: Vec<String> = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    while !writes.last().is_some_and(|text| text.contains("#0 ")) {
        let size = ours.recv(&mut buffer).unwrap();
        assert!(size > 0, "the program has ended: {writes:?}");
        writes.push(String::from_utf8(buffer[..size].to_vec()).unwrap());
    }
    assert_eq!(running.wait().unwrap().signal(), Some(6));
    let at = |word: &str| writes.iter().position(|text| text.contains(word)).unwrap();
    let (last, crash, stack) = (at(" last "), at("SIGABRT"), at("#0 "));
    assert!(last < crash && crash < stack, "{writes:#?}");
    let text = scratch.read("app.log");
    assert_eq!(messages(&text)[..51], expected(&[]), "{text}");
}
