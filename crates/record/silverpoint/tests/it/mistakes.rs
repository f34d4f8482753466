//! Programs of `tests/ui` that the macros refuse: each with its errors beside it, as the compiler prints them in short form.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::{Scene, Test};

pub const TESTS: &[Test] = &[("mistakes_are_refused_when_compiled", refused)];

/// The crate, as it was compiled for this program. With other features it may lie there too, but is older.
fn library(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let ours = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libsilverpoint-") && name.ends_with(".rlib")
    });
    ours.max_by_key(|path| path.metadata().and_then(|found| found.modified()).unwrap())
        .expect("libsilverpoint-*.rlib")
}

/// Only what the macros say themselves: the compiler's own words change with its versions. Types that do not fit are tested beside the check.
fn refused() {
    let own = env::current_exe().unwrap();
    let folder = own.parent().unwrap();
    let library = library(folder);
    let scene = Scene::new();
    fs::create_dir(scene.root()).unwrap();
    for name in ["derive", "instrument", "recursive", "templates"] {
        let source = format!("tests/ui/{name}.rs");
        // The compiler that Cargo calls.
        let output = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["--edition=2024", "--emit=metadata", "--error-format=short", "--out-dir"])
            .arg(scene.root())
            .arg("-L")
            .arg(format!("dependency={}", folder.display()))
            .arg("--extern")
            .arg(format!("silverpoint={}", library.display()))
            .arg(&source)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let errors: Vec<&str> = told.lines().filter(|line| line.starts_with(&source)).collect();
        let expected =
            fs::read_to_string(format!("{}/tests/ui/{name}.stderr", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert_eq!(errors, expected.lines().collect::<Vec<_>>(), "{told}");
        assert_eq!(output.status.code(), Some(1), "{told}");
    }
}
