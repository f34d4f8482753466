//! The programs of the guide's page on own types in C++: compiled, run, and shown as the page says.

use std::path::Path;

use crate::harness::{Scratch, compile};

/// Programs of a page, each with the text that follows it.
fn programs(page: &str) -> Vec<(&str, &str)> {
    let end = |block: &str| block.find("```\n").unwrap_or(block.len());
    let both = |piece| {
        let (program, rest): (&str, &str) = str::split_at(piece, end(piece));
        let text = rest.split("```text\n").nth(1).expect("a program without the text that it makes");
        (program, &text[..end(text)])
    };
    page.split("```cpp\n").skip(1).map(both).collect()
}

#[test]
fn programs_of_the_page_show_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = std::fs::read_to_string(root.join("docs/guide/cpp-own-types.md")).unwrap();
    let include = format!("-I{}", root.join("cpp/include").display());
    let scratch = Scratch::new();
    let programs = programs(&page);
    assert!(programs.len() >= 6, "{}", programs.len());
    std::thread::scope(|scope| {
        for (number, (source, _)) in programs.iter().enumerate() {
            let (scratch, include) = (&scratch, &include);
            scope.spawn(move || {
                let file = format!("{number}.cpp");
                std::fs::write(scratch.path(&file), source).unwrap();
                let program = format!("program{number}");
                let words = ["-std=c++20", "-O0", include, &file, "-o", &program, "-lpthread"];
                compile(&mut scratch.command("g++", words));
            });
        }
    });
    for (number, (source, expected)) in programs.iter().enumerate() {
        let (trace, program) = (format!("{number}.silver"), format!("./program{number}"));
        let ended = scratch.run(["run", "-o", &trace, "--", &program]);
        assert_eq!(ended.code(), Some(0), "{}", ended.err);
        let shown = scratch.messages(&trace);
        assert_eq!(shown, expected.lines().collect::<Vec<_>>(), "{source}");
        // A secret is nowhere.
        let stored = std::fs::read(scratch.path(&trace)).unwrap();
        assert!(!stored.windows(7).any(|bytes| bytes == b"correct"), "a secret is in the trace");
    }
}
