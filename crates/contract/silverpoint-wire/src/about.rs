//! The text of a *file* block (`spec/file.md` section 2): the lines that a writer states of its file.
//!
//! ```
//! use silverpoint_wire::about::About;
//!
//! let about = About { writer: "example", created: 7, id: 255, part: Some(2), ..About::default() };
//! assert_eq!(about.text(), format!("format=1.0\nwriter=example\ncreated=7\nfile_id={:032x}\npart=2\n", 255));
//! ```

use crate::process::push_line;
use crate::version::FormatVersion;

/// Key of the line with the machine's name.
pub const HOST: &str = "host";
/// Key of the line that distinguishes files.
pub const FILE_ID: &str = "file_id";
/// Key of the line with the name of the file before a rotated one.
pub const PREVIOUS: &str = "previous";
/// Key of the line that says how the writer began to compress.
pub const COMPRESSION: &str = "compression";
/// Key of the line with the number of a rotated file, from 1.
pub const PART: &str = "part";
/// Key of the line that says which records the file was trimmed to.
pub const TRIMMED: &str = "trimmed";
/// Key of the line that says by what a trace was split of which the file is a part.
pub const SPLIT: &str = "split";

/// What is stated of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The program that writes.
    pub writer: &'a str,
    /// Nanoseconds since 1970.
    pub created: u128,
    /// See [`HOST`].
    pub host: Option<&'a str>,
    /// See [`FILE_ID`].
    pub id: u128,
    /// See [`PREVIOUS`].
    pub previous: Option<&'a str>,
    /// See [`COMPRESSION`]; `None` where nothing is compressed.
    pub compression: Option<&'a str>,
    /// See [`PART`].
    pub part: Option<u64>,
    /// See [`SPLIT`].
    pub split: Option<&'a str>,
    /// See [`TRIMMED`].
    pub trimmed: Option<&'a str>,
}

impl About<'_> {
    /// The lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        push_line(&mut text, "format", &FormatVersion::CURRENT.to_string());
        push_line(&mut text, "writer", self.writer);
        push_line(&mut text, "created", &self.created.to_string());
        let mut stated =
            |key, value: Option<&str>| value.into_iter().for_each(|value| push_line(&mut text, key, value));
        stated(HOST, self.host);
        stated(FILE_ID, Some(&format!("{:032x}", self.id)));
        stated(PREVIOUS, self.previous);
        stated(COMPRESSION, self.compression);
        stated(PART, self.part.map(|part| part.to_string()).as_deref());
        stated(SPLIT, self.split);
        stated(TRIMMED, self.trimmed);
        text
    }
}
