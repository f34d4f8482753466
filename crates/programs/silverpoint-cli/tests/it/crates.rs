//! Programs that are crates of their own: with features, profiles or targets that the workspace's examples do not have.
//!
//! They are packages of one workspace with one target directory, so what they share is compiled once a profile.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::harness::{Scratch, compile};

/// What each package is, but for its name: its source, and what it depends on (`SP`: the folder of the crates).
const PACKAGES: [(&str, &str, &str); 5] = [
    ("listed", "examples/listed.rs", "silverpoint = { path = \"SP/silverpoint\" }"),
    ("shop", "tests/it/usdt/shop.rs", "silverpoint = { path = \"SP/silverpoint\", features = [\"usdt\"] }"),
    // The same without the feature.
    ("plain", "tests/it/usdt/shop.rs", "silverpoint = { path = \"SP/silverpoint\" }"),
    (
        "atrace",
        "tests/it/usdt/atrace.rs",
        r#"silverpoint = { path = "SP/silverpoint", features = ["usdt"] }
silverpoint-atrace = { path = "SP/silverpoint-atrace" }"#,
    ),
    (
        "facades",
        "tests/it/usdt/facades.rs",
        r#"silverpoint = { path = "SP/silverpoint", features = ["usdt"] }
silverpoint-log = { path = "SP/silverpoint-log" }
silverpoint-tracing = { path = "SP/silverpoint-tracing" }
log = "0.4"
tracing = { version = "0.1", default-features = false, features = ["std"] }
tracing-subscriber = { version = "0.3", default-features = false, features = ["registry", "std"] }"#,
    ),
];

/// Without debug information: these tests need none. Optimised are the programs and the crate that has their tracepoints' code. The rest
/// compiles faster as it is, and does the same.
const PROFILES: &str = r#"
[profile.dev]
debug = false
incremental = false
[profile.release.package."*"]
opt-level = 0
[profile.release.package.silverpoint]
opt-level = 3
"#;

/// Of the package `listed`: tracepoints that the library's users reach, and one that nobody reaches.
const LIBRARY: &str = r#"
fn within(value: u8) {
    silverpoint::info!("within {}", value);
}

fn nobody_calls() {
    silverpoint::info!("nobody");
}

#[unsafe(no_mangle)]
pub extern "C" fn exported(value: u8) {
    silverpoint::warn!("exported");
    within(value);
    let _ = nobody_calls as fn();
}
"#;

/// Runs `cargo COMMAND WORDS` in the workspace; gives its target directory. Cargo itself waits while another test compiles there.
pub fn cargo(scratch: &Scratch, command: &str, words: &[&str]) -> PathBuf {
    let target = workspace();
    let mut cargo = scratch.command(env!("CARGO"), [command, "-q", "--offline", "--target-dir", "."]);
    cargo.args(words).current_dir(target);
    compile(cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"));
    target.to_owned()
}

/// The folder of the workspace, which is written once in a process.
fn workspace() -> &'static Path {
    static WRITTEN: OnceLock<PathBuf> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let frontends = own.join("../../record");
        let folder = Path::new(env!("CARGO_BIN_EXE_silverpoint")).ancestors().nth(2).unwrap().join("crates");
        let names = PACKAGES.map(|(name, ..)| name);
        write(&folder.join("Cargo.toml"), &format!("[workspace]\nmembers = {names:?}\nresolver = \"3\"\n{PROFILES}"));
        write(&folder.join("Cargo.lock"), &fs::read_to_string(own.join("../../../Cargo.lock")).unwrap());
        write(&folder.join("listed/library.rs"), LIBRARY);
        for (name, source, dependencies) in PACKAGES {
            let library = match name {
                "listed" => "[lib]\nname = \"library\"\npath = \"library.rs\"\ncrate-type = [\"cdylib\"]\n",
                _ => "",
            };
            let manifest = format!(
                "[package]\nname = \"{name}\"\nedition = \"2024\"\n[[bin]]\nname = \"{name}\"\npath = {:?}\n{library}[dependencies]\n{}\n",
                own.join(source),
                dependencies.replace("SP", frontends.to_str().unwrap()),
            );
            write(&folder.join(name).join("Cargo.toml"), &manifest);
        }
        folder
    })
}

/// Writes a file of the workspace, unless it is there already: cargo compiles again what is newer.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
