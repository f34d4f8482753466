//! One entry of the section (spec/sites-section.md) becomes the description of a site.

use silverpoint_wire::bytes::{u16_at, u32_at};
use silverpoint_wire::function::function_name;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::marker;
use silverpoint_wire::site::SiteDescription;

use super::elf::{Elf, ElfError};
use super::names;

/// Bytes of an entry, at least and at most.
pub const SIZES: std::ops::RangeInclusive<usize> = FIXED..=65_536;
const FIXED: usize = 64;
const VERSION: u8 = 1;

/// Longest text.
const TEXT_MOST: usize = 65_535;
/// Says that a text ends with a zero.
const TO_ZERO: u32 = u32::MAX;

const PENDING: u8 = 1;
const PERCENT: u8 = 2;
const NAMES_FROM_SOURCE: u8 = 4;
const MANGLED: u8 = 8;
const CUT: u8 = 16;
const NAMED_AFTER_FUNCTION: u8 = 32;
const FIRST_IS_OWN_NAME: u8 = 64;

/// Reads the entries of one section.
pub struct Entries<'e> {
    /// The file.
    pub elf: &'e Elf,
    /// The section's bytes.
    pub bytes: &'e [u8],
    /// Its address.
    pub address: u64,
    /// Bytes of texts that may still be read.
    pub room: &'e mut usize,
}

/// What an entry is.
pub enum Entry {
    /// A site.
    Site(Box<SiteDescription>),
    /// Of a version that is not known.
    Later,
}

impl Entries<'_> {
    /// The entry at an offset, of this size.
    pub fn read(&mut self, at: usize, size: usize) -> Result<Entry, ElfError> {
        let entry = &self.bytes[at..at + size];
        if entry[4] != VERSION {
            return Ok(Entry::Later);
        }
        let wrong = |what: String| ElfError::Wrong(what);
        let kind = Kind::from_u8(entry[5]).ok_or_else(|| wrong(format!("an unknown kind, {}", entry[5])))?;
        let level =
            Level::from_u8(entry[6]).ok_or_else(|| wrong(format!("an unknown level, {}", entry[6])))?;
        let flags = entry[7];
        let mut text = |number: usize| self.text(at + 16 + number * 8);
        let (category, file, function) = (text(0)?, text(1)?, text(2)?);
        let (mut names, mut template, signature) = (text(3)?, text(4)?, text(5)?);
        if flags & NAMES_FROM_SOURCE != 0 {
            names = names::of_source(&names);
            if flags & FIRST_IS_OWN_NAME != 0 {
                names = names::of_arguments(&names, kind);
            }
        }
        if flags & CUT != 0 {
            template.push('…');
        }
        let function = if flags & MANGLED != 0 { function_of_symbol(&function) } else { function };
        Ok(Entry::Site(Box::new(SiteDescription {
            kind,
            level,
            flags: u16::from(flags & (PENDING | PERCENT)),
            line: u32_at(entry, 8).unwrap_or(0),
            language: u16_at(entry, 12).unwrap_or(0),
            template: if flags & NAMED_AFTER_FUNCTION != 0 {
                function_name(&function).to_owned()
            } else {
                template
            },
            category,
            file,
            function,
            names,
            signature,
        })))
    }

    /// The text that a reference means.
    fn text(&mut self, at: usize) -> Result<String, ElfError> {
        let offset = u32_at(self.bytes, at).unwrap_or(0) as i32;
        let length = u32_at(self.bytes, at + 4).unwrap_or(0);
        if length == 0 {
            return Ok(String::new());
        }
        let most = if length == TO_ZERO { TEXT_MOST + 1 } else { length as usize };
        if length != TO_ZERO && most > TEXT_MOST {
            return Err(ElfError::Wrong(format!("a text of {length} bytes (at most {TEXT_MOST})")));
        }
        // In the section where it is there, so that nothing is read twice.
        let own = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(at + offset..));
        let read;
        let bytes = match own {
            Some(bytes) if !bytes.is_empty() => &bytes[..bytes.len().min(most)],
            _ => {
                let address = self.address.wrapping_add(at as u64).wrapping_add_signed(offset.into());
                read = self.read_text(address, length, most)?.ok_or_else(|| {
                    ElfError::Wrong(format!("a text at address {address:#x}, which no segment holds"))
                })?;
                &read
            }
        };
        let bytes = match length {
            TO_ZERO => bytes.iter().position(|byte| *byte == 0).map(|end| &bytes[..end]),
            _ => (bytes.len() == most).then_some(bytes),
        };
        let bytes = bytes.ok_or_else(|| ElfError::Wrong("a text without an end".to_owned()))?;
        *self.room = self.room.checked_sub(bytes.len()).ok_or_else(|| {
            ElfError::Wrong("more bytes of texts than a program has: they are not read on".to_owned())
        })?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// A text outside the section; of one that ends with a zero no more than it takes.
    fn read_text(&self, address: u64, length: u32, most: usize) -> Result<Option<Vec<u8>>, ElfError> {
        const USUAL: usize = 256;
        if length == TO_ZERO {
            let begin = self.elf.at_address(address, USUAL as u64)?;
            if begin.as_ref().is_none_or(|bytes| bytes.contains(&0)) {
                return Ok(begin);
            }
        }
        self.elf.at_address(address, most as u64)
    }
}

/// `<app::Pump::start::__Here as silverpoint::site::Meta>::site`, mangled, becomes `app::Pump::start`; anything else is what it is.
fn function_of_symbol(symbol: &str) -> String {
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    let inner = path.strip_prefix('<').and_then(|rest| rest.rsplit_once(" as ")).map(|(path, _)| path);
    let mut buffer = [0; marker::MAX];
    inner.map_or(path.clone(), |path| marker::of_marker(path, &mut buffer).to_owned())
}

#[cfg(test)]
mod tests {
    use super::function_of_symbol;

    #[test]
    fn symbols_name_functions() {
        for (symbol, function) in [
            (
                "_ZN65_$LT$subject..main..__Here$u20$as$u20$silverpoint..site..Meta$GT$4site17h7c2412b50a99a7a2E",
                "subject::main",
            ),
            (
                "_ZN126_$LT$subject..threads..$u7b$$u7b$closure$u7d$$u7d$..$u7b$$u7b$closure$u7d$$u7d$..__Here$u20$as$u20$silverpoint..site..Meta$GT$4site17h6dc898a1acc27859E",
                "subject::threads",
            ),
            ("anything", "anything"),
            ("", ""),
        ] {
            assert_eq!(function_of_symbol(symbol), function);
        }
    }
}
