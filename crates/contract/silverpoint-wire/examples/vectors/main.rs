//! Writes the conformance vectors into spec/vectors: `cargo run -p silverpoint-wire --example vectors`. The
//! README there describes them.
//!
//! Files of an earlier run that are no longer made are removed; not those of `bind` and `atrace.tsv`, which are written by hand.

mod generate;

use std::path::{Path, PathBuf};
use std::{fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors");
    let files = generate::all();
    for (path, contents) in &files {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, contents)?;
    }
    for stale in present(&root)? {
        // Those were not made here.
        let kept = files.iter().any(|(path, _)| root.join(path) == stale);
        if !kept
            && !stale.ends_with("README.md")
            && !stale.ends_with("atrace.tsv")
            && !stale.starts_with(root.join("bind"))
        {
            fs::remove_file(stale)?;
        }
    }
    println!(
        "{} files, {} bytes",
        files.len(),
        files.iter().map(|(_, contents)| contents.len()).sum::<usize>()
    );
    Ok(())
}

/// All files of the directory and of those within it.
fn present(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}
