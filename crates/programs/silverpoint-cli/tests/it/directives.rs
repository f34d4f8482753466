//! Directives as commands accept them: invalid ones are refused, those that select nothing are reported, and
//! more can be added.

use crate::harness::{Ended, Running, Scratch, end, subject};

fn run_counting(scratch: &Scratch, filter: &str) -> Ended {
    let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--filter", filter, "--"]);
    end(command.arg(subject()).args(["count", "3"]))
}

#[test]
fn words_that_are_no_levels_are_refused_with_those_that_are() {
    let scratch = Scratch::new();
    for text in ["inof", "warning", "info,debgu", "net=warning", "critical", "my-crate"] {
        let ended = run_counting(&scratch, text);
        assert_eq!(ended.code(), Some(2), "{text}: {ended:?}");
        assert!(ended.err.contains("trace, debug, info, warn, error, fatal, on or off"), "{}", ended.err);
        assert!(!scratch.path("t.silver").exists());
        let ctl = scratch.run(["ctl", "1", text]);
        assert_eq!(ctl.code(), Some(2), "{text}: {ctl:?}");
        let attach = scratch.run(["attach", "1", "--filter", text]);
        assert_eq!(attach.code(), Some(2), "{text}: {attach:?}");
    }
    let spans = run_counting(&scratch, "c[span]=debug");
    assert_eq!(spans.code(), Some(2), "{spans:?}");
    assert!(spans.err.contains("no bracket in a category"), "{}", spans.err);
}

#[test]
fn a_program_says_which_of_its_directives_are_ignored() {
    let scratch = Scratch::new();
    let mut command = scratch.subject(["count", "3"]);
    let ended = end(command.env("SILVERPOINT_FILTER", "inof, error,c[span]=debug"));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said: Vec<&str> = ended.err.lines().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("SILVERPOINT_FILTER: 'inof' is ignored"), "{said:?}");
    assert!(said[1].contains("SILVERPOINT_FILTER: 'c[span]=debug' is ignored"), "{said:?}");
}

#[test]
fn a_filter_that_lets_nothing_through_is_not_taken_for_no_use() {
    let scratch = Scratch::new();
    let ended = run_counting(&scratch, "fatal");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("recorded nothing that --filter 'fatal' lets through"), "{}", ended.err);
    let ended = run_counting(&scratch, "my-crate=info,subject.rs=off,info");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("--filter: no site that ran matches my-crate=info\n"), "{}", ended.err);
    let none = scratch.run(["run", "-o", "t.silver", "--filter", "my-crate=info", "--", "true"]);
    assert!(none.err.contains("no process of the command used Silverpoint"), "{}", none.err);
    assert!(!none.err.contains("no site"), "{}", none.err);
}

#[test]
fn ctl_adds_directives_and_takes_names() {
    let scratch = Scratch::new();
    let mut program = Running::start_with_input(&mut scratch.subject(["watch"]));
    assert_eq!(program.line(), "ready");
    let pid = program.pid().to_string();
    let present = || scratch.run(["ctl", "subj*"]).out;
    let set = scratch.run(["ctl", &pid, "info,net=warn"]);
    assert_eq!(set.code(), Some(0), "{set:?}");
    let added = scratch.run(["ctl", "subject", "+file.c:8=off"]);
    assert_eq!(added.code(), Some(0), "{added:?}");
    assert!(added.err.contains("no known site matches 'file.c:8=off'"), "{}", added.err);
    assert!(present().ends_with(": info,net=warn,file.c:8=off\n"), "{}", present());
    let again = scratch.run(["ctl", &pid, "+net=debug"]);
    assert_eq!(again.code(), Some(0), "{again:?}");
    assert!(present().ends_with(": info,file.c:8=off,net=debug\n"), "{}", present());
    // The new directive is in force.
    assert_eq!(program.line(), "on");
    assert_eq!(scratch.run(["ctl", &pid, "+inof"]).code(), Some(2));
    let nobody = scratch.run(["ctl", "nobody", "info"]);
    assert_eq!(nobody.code(), Some(6), "{nobody:?}");
    assert!(nobody.err.contains("is called 'nobody'"), "{}", nobody.err);
    program.end();
}
