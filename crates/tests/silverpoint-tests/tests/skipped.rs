//! Skipped tests are reported and counted.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn who_skips_is_heard_although_the_test_passes() {
    const ROLE: &str = "SILVERPOINT_TESTS_ROLE";
    if env::var_os(ROLE).is_some() {
        println!("captured");
        silverpoint_tests::skipped!("no {}", "moon");
        return;
    }
    let name = "who_skips_is_heard_although_the_test_passes";
    let output = Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--test-threads=2"])
        .env(ROLE, "1")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(!String::from_utf8(output.stdout).unwrap().contains("captured"));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("\nSKIPPED: {name}: no moon\n"));
}

/// What `scripts/test` makes of what runners print.
fn counted(log: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/count-tests.awk");
    let mut awk = Command::new("awk")
        .args(["-f", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("awk is there");
    awk.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    String::from_utf8(awk.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn skipped_tests_are_counted_as_such_and_not_as_passed() {
    let result = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out\n";
    assert_eq!(counted(result), "5 0 1");
    // Twice by one test, and once by another, in the middle of the dots.
    let told = "\nSKIPPED: a::b: one\n..\nSKIPPED: a::b: two\n.SKIPPED: c: three\n";
    assert_eq!(counted(&format!("{told}{result}")), "3 0 3");
    // Tests of the same name in two programs are two.
    assert_eq!(counted(&format!("{told}{result}{told}{result}")), "6 0 6");
    // What a suite says of itself is no test that has passed.
    assert_eq!(counted(&format!("rust: SKIPPED: what others judge\n{result}")), "5 0 2");
    let ctest = "1/3 Test #1: cpp.a ...   Passed    0.10 sec\n\
                 2/3 Test #2: cpp.b ...***Skipped   0.10 sec\n\
                 3/3 Test #3: cpp.c ...***Failed   0.10 sec\n\
                 67% tests passed, 1 tests failed out of 3\n";
    assert_eq!(counted(ctest), "1 1 1");
    assert_eq!(
        counted("kill test: 60 passed, 1 failed, 2 skipped\nbench: 7 passed, 0 failed, 0 skipped\n"),
        "67 1 2"
    );
    // A runtime of .NET that is missing is in the closing line, too.
    assert_eq!(
        counted("SKIPPED: .NET 10: no package\nSKIPPED: a.b: why\ndotnet: 9 passed, 0 failed, 2 skipped\n"),
        "9 0 2"
    );
    assert_eq!(counted(""), "0 0 0");
}
