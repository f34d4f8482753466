//! A site as a frontend registers it: its description in pieces, which need no memory (spec/wire.md, section 7).

/// A text that is given piece by piece: calls the function with one piece after the other, the same ones each time.
pub type Pieces<'a> = &'a dyn Fn(&mut dyn FnMut(&[u8]));

/// A site as it is registered.
pub struct Description<'a> {
    /// Number of the kind (wire.md, section 7).
    pub kind: u8,
    /// 0 trace to 5 fatal.
    pub level: u8,
    /// Line of the source, from 1.
    pub line: u32,
    /// Language that wrote it (2: Rust).
    pub language: u16,
    /// What directives go by first; modules in Rust.
    pub category: &'a str,
    /// Path as the compiler was given it.
    pub file: &'a str,
    /// Name without arguments and return type.
    pub function: &'a str,
    /// One name an argument, each ended by a newline; nothing when no argument has a name.
    pub names: Pieces<'a>,
    /// Text with placeholders, or the name of an event, span, counter or instant.
    pub template: Pieces<'a>,
    /// The arguments' types.
    pub signature: Pieces<'a>,
}
