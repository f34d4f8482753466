//! XML: one element a record, each value an element that is called after its type: `spec/xml.md`.

mod read;
mod write;

pub use read::XmlReader;
pub use write::XmlWriter;
