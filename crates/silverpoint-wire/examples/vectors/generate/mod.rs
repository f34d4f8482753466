//! Every file of spec/vectors, made in memory.

mod hostile_values;
pub mod json;
pub mod value;
pub mod values;

/// A file: path below spec/vectors and contents.
pub type File = (String, Vec<u8>);

/// All files, always the same bytes.
pub fn all() -> Vec<File> {
    vec![("values.json".into(), json::file(values::vectors()))]
}
