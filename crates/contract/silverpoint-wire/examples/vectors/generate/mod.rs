//! Every file of spec/vectors, made in memory.

mod blocks;
mod broken_files;
mod compact;
mod compress;
mod directives;
mod files;
mod hostile_values;
pub mod json;
mod memory;
pub mod pieced_files;
mod records;
mod rings;
mod settings;
mod signatures;
mod sites;
mod templates;
pub mod value;
pub mod values;

/// A file: path below spec/vectors and contents.
pub type File = (String, Vec<u8>);

/// All files, always the same bytes.
pub fn all() -> Vec<File> {
    let mut files = vec![
        ("values.json".into(), json::file(values::vectors())),
        ("signatures.json".into(), json::file(signatures::vectors())),
        ("records.json".into(), json::file(records::vectors())),
        ("records.tsv".into(), records::table()),
        ("sites.json".into(), json::file(sites::vectors())),
        ("directives.json".into(), json::file(directives::vectors())),
        ("settings.json".into(), json::file(settings::vectors())),
        ("memory.json".into(), json::file(memory::vectors())),
        ("templates.json".into(), json::file(templates::vectors())),
    ];
    files.extend(rings::files());
    files.extend(files::files());
    files
}
