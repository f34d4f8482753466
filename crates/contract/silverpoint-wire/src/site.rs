//! Site descriptions (spec/wire.md section 7).

use std::fmt;

use crate::bytes::{floor_char_boundary, round_up_8, u16_at, u32_at, u64_at};
use crate::directive::SiteFacts;
use crate::layout::site::{FIXED_SIZE, PENDING, PERCENT, SIZE_MAX};
use crate::level::{Kind, Level};

/// The static description of one tracepoint. Texts are as the frontend wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteDescription {
    /// What it is.
    pub kind: Kind,
    /// Its level.
    pub level: Level,
    /// Bit 0: pending (see [`SiteDescription::is_pending`]); bit 1: [`SiteDescription::is_percent`].
    pub flags: u16,
    /// Line in the file, from 1; 0 when unknown.
    pub line: u32,
    /// Number of the language (spec), 1 C++, 2 Rust, 3 C.
    pub language: u16,
    /// Category, may be empty.
    pub category: String,
    /// Path of the source file as the compiler had it.
    pub file: String,
    /// Function, as the language gives it ([`crate::function::function_name`] finds the plain name).
    pub function: String,
    /// One name an argument, each ended by `\n`; empty when they have none.
    pub names: String,
    /// Template, or the name of an event, span, counter or instant.
    pub template: String,
    /// The arguments' types.
    pub signature: String,
}

/// A description in the bytes that it was read from.
struct Borrowed<'a> {
    size: usize,
    kind: Kind,
    level: Level,
    flags: u16,
    line: u32,
    language: u16,
    /// Category, file, function, names, template, signature.
    texts: [&'a str; 6],
}

impl<'a> Borrowed<'a> {
    fn read(bytes: &'a [u8]) -> Result<Borrowed<'a>, SiteError> {
        let size = u32_at(bytes, 0).ok_or(SiteError::Truncated)? as usize;
        if size % 8 != 0 || !(FIXED_SIZE..=SIZE_MAX).contains(&size) {
            return Err(SiteError::Size);
        }
        let bytes = bytes.get(..size).ok_or(SiteError::Truncated)?;
        let u16_field = |at| u16_at(bytes, at).ok_or(SiteError::Truncated);
        let u32_field = |at| u32_at(bytes, at).ok_or(SiteError::Truncated);
        if u64_at(bytes, 8) != Some(fnv1a64(&bytes[16..])) {
            return Err(SiteError::Hash);
        }
        let kind = Kind::from_u8(bytes[16]).ok_or(SiteError::Kind(bytes[16]))?;
        let level = Level::from_u8(bytes[17]).ok_or(SiteError::Level(bytes[17]))?;
        let mut rest = &bytes[FIXED_SIZE..];
        let mut text = |len: usize| {
            let (text, after) = rest.split_at_checked(len).ok_or(SiteError::Size)?;
            rest = after;
            std::str::from_utf8(text).map_err(|_| SiteError::Text)
        };
        let texts = [
            text(u16_field(28)?.into())?,
            text(u16_field(30)?.into())?,
            text(u16_field(32)?.into())?,
            text(u16_field(34)?.into())?,
            text(u32_field(36)? as usize)?,
            text(u32_field(40)? as usize)?,
        ];
        let (flags, line, language) = (u16_field(18)?, u32_field(20)?, u16_field(24)?);
        Ok(Borrowed { size, kind, level, flags, line, language, texts })
    }
}

/// Why bytes are no site description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteError {
    /// Fewer bytes than the size field says, or than any description has.
    Truncated,
    /// The size field is not a multiple of 8 within the limits, or smaller than the texts.
    Size,
    /// The hash does not agree.
    Hash,
    /// A kind that this version does not know.
    Kind(u8),
    /// A level above fatal.
    Level(u8),
    /// A text is not UTF-8.
    Text,
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteError::Truncated => f.write_str("site description is truncated"),
            SiteError::Size => f.write_str("site description has a wrong size field"),
            SiteError::Hash => f.write_str("site description does not agree with its hash"),
            SiteError::Kind(kind) => write!(f, "site description has the unknown kind {kind}"),
            SiteError::Level(level) => write!(f, "site description has the unknown level {level}"),
            SiteError::Text => f.write_str("site description has a text that is not UTF-8"),
        }
    }
}

impl std::error::Error for SiteError {}

impl SiteDescription {
    /// Whether template, names and signature are not known yet (a stream site before its first recording).
    pub fn is_pending(&self) -> bool {
        self.flags & PENDING != 0
    }

    /// Whether the template is of the `%` grammar: see [`crate::percent`].
    pub fn is_percent(&self) -> bool {
        self.flags & PERCENT != 0
    }

    /// The arguments' names, in order; empty when they have none.
    pub fn argument_names(&self) -> impl Iterator<Item = &str> {
        self.names.split_terminator('\n')
    }

    /// Appends the description. The result can always be read. Texts that exceed their length fields or,
    /// together, the limit of 65,536 bytes, are cut at a character boundary. The template is cut first, then
    /// category, function and file. Names or a signature without room are left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let mut room = SIZE_MAX - FIXED_SIZE;
        let mut take = |text: &str, most: usize, whole: bool| {
            let len = cut(text, most.min(room)).len();
            let len = if whole && len < text.len() { 0 } else { len };
            room -= len;
            len
        };
        let short = usize::from(u16::MAX);
        let signature = &self.signature[..take(&self.signature, SIZE_MAX, true)];
        let names = take(&self.names, short, true);
        let file = take(&self.file, short, false);
        let function = take(&self.function, short, false);
        let category = take(&self.category, short, false);
        let template = &self.template[..take(&self.template, SIZE_MAX, false)];
        let lens = [category, file, function, names];
        let size = round_up_8(FIXED_SIZE + lens.iter().sum::<usize>() + template.len() + signature.len());
        out.extend_from_slice(&(size as u32).to_le_bytes());
        out.extend_from_slice(&[0; 12]);
        out.push(self.kind as u8);
        out.push(self.level as u8);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&self.line.to_le_bytes());
        out.extend_from_slice(&self.language.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        for len in lens {
            out.extend_from_slice(&(len as u16).to_le_bytes());
        }
        out.extend_from_slice(&(template.len() as u32).to_le_bytes());
        out.extend_from_slice(&(signature.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for (text, len) in [&self.category, &self.file, &self.function, &self.names].into_iter().zip(lens) {
            out.extend_from_slice(&text.as_bytes()[..len]);
        }
        out.extend_from_slice(template.as_bytes());
        out.extend_from_slice(signature.as_bytes());
        out.resize(start + size, 0);
        let hash = fnv1a64(&out[start + 16..]);
        out[start + 8..start + 16].copy_from_slice(&hash.to_le_bytes());
    }

    /// Reads the description that `bytes` starts with; also gives its size in bytes.
    pub fn decode(bytes: &[u8]) -> Result<(SiteDescription, usize), SiteError> {
        let read = Borrowed::read(bytes)?;
        let [category, file, function, names, template, signature] = read.texts.map(str::to_owned);
        let site = SiteDescription {
            kind: read.kind,
            level: read.level,
            flags: read.flags,
            line: read.line,
            language: read.language,
            category,
            file,
            function,
            names,
            template,
            signature,
        };
        Ok((site, read.size))
    }

    /// What directives look at in the description that `bytes` starts with. Refuses what [`Self::decode`] refuses; allocates nothing.
    pub fn facts(bytes: &[u8]) -> Result<SiteFacts<'_>, SiteError> {
        let read = Borrowed::read(bytes)?;
        let [category, file, function, ..] = read.texts;
        Ok(SiteFacts { level: read.level, category, file, line: read.line, function })
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
pub const fn fnv1a64(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The longest start of `text` that has at most `max` bytes and ends at a character boundary.
fn cut(text: &str, max: usize) -> &str {
    &text[..floor_char_boundary(text, max)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        /// For any lengths, the written description can be read, and is unchanged unless it had to be cut.
        #[test]
        fn what_is_encoded_can_be_decoded(
            lens in prop::array::uniform6(prop_oneof![4 => 0_usize..40, 1 => 21_000_usize..23_000, 1 => 65_000_usize..70_000]),
            letter in prop::sample::select(vec!["a", "ü", "\u{1F600}"]),
        ) {
            let [category, file, function, names, template, signature] =
                lens.map(|len| letter.repeat(len / letter.len()));
            let site = SiteDescription {
                kind: Kind::Event,
                level: Level::Fatal,
                flags: 0,
                line: u32::MAX,
                language: 2,
                category,
                file,
                function,
                names,
                template,
                signature,
            };
            let mut bytes = vec![9; 8];
            site.encode(&mut bytes);
            let (back, size) = SiteDescription::decode(&bytes[8..]).unwrap();
            prop_assert_eq!(size, bytes.len() - 8);
            let facts = SiteDescription::facts(&bytes[8..]).unwrap();
            prop_assert_eq!(
                (facts.level, facts.category, facts.file, facts.line, facts.function),
                (back.level, back.category.as_str(), back.file.as_str(), back.line, back.function.as_str())
            );
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            prop_assert_eq!(SiteDescription::facts(&bytes[8..]).unwrap_err(), SiteDescription::decode(&bytes[8..]).unwrap_err());
            prop_assert!(site.file.starts_with(&back.file) && site.template.starts_with(&back.template));
            if lens.iter().sum::<usize>() <= SIZE_MAX - FIXED_SIZE && lens.iter().all(|len| *len < 65_536) {
                prop_assert_eq!(back, site);
            }
        }
    }
}
