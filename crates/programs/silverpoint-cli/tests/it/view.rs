//! `silverpoint view` and the browser that it opens.

use std::fs;

use rustix::process::Signal;

use crate::builder::Builder;
use crate::harness::{Running, Scratch};

/// Files that lead a browser to the page.
fn leading(scratch: &Scratch) -> Vec<String> {
    let names = fs::read_dir(scratch.root()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".html")).collect()
}

#[test]
fn a_browser_is_opened_where_a_killed_server_left_its_file_and_a_note_tells_the_other_way() {
    let scratch = Scratch::new();
    let mut b = Builder::new();
    b.end();
    fs::write(scratch.path("t.silver"), &b.bytes).unwrap();
    scratch.script("xdg-open", "cat \"$1\" > part && mv part opened");
    let path = std::env::join_paths(
        [scratch.path("")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    // A server of the same number was killed.
    let script = "touch root/silverpoint-view-$$.html && exec \"$0\" view t.silver";
    let mut command = scratch.command("sh", ["-c", script, env!("CARGO_BIN_EXE_silverpoint")]);
    command.env("PATH", path.unwrap()).env("DISPLAY", ":0").env("XDG_RUNTIME_DIR", scratch.root());
    let mut server = Running::start(&mut command);
    let address = server.line();
    scratch.wait("the browser", || scratch.path("opened").exists());
    let opened = fs::read_to_string(scratch.path("opened")).unwrap();
    assert!(opened.contains(&format!("url={address}\"")), "{address}: {opened}");
    assert_eq!(leading(&scratch).len(), 2);
    server.signal(Signal::INT);
    let ended = server.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("if the browser shows no page, open the address above"), "{ended:?}");
    assert_eq!(leading(&scratch).len(), 1, "its own file goes with it");
}
