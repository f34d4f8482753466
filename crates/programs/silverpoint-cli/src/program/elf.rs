//! As much of ELF as it takes to find a section and what lies at an address: 64 bits, little-endian. Everything in the file is hostile.
//!
//! Why not `object`, which finds the names of a crash's addresses: its errors name no offset, and those here do.

use std::fmt;
use std::fs::File;
use std::io;

use silverpoint_trace::files;
use silverpoint_wire::bytes::{u16_at, u32_at, u64_at};

/// What every ELF file begins with.
pub const MAGIC: &[u8; 4] = b"\x7fELF";

const HEADER: u64 = 64;
const SECTION: u64 = 64;
const SEGMENT: u64 = 56;
/// Most sections that are looked at.
const SECTIONS_MOST: u64 = 1 << 20;
/// Most bytes of their names.
const NAMES_MOST: u64 = 16 << 20;
/// Most bytes of a table that are read at a time.
const CHUNK: u64 = 64 << 10;

/// Why a file cannot be read as a program.
#[derive(Debug)]
pub enum ElfError {
    /// The file system's.
    Io(io::Error),
    /// What is wrong, and at which offset.
    Wrong(String),
}

impl From<io::Error> for ElfError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, ElfError> {
    Err(ElfError::Wrong(what.into()))
}

/// A section that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it is in memory.
    pub address: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// Bytes; all of them lie in the file.
    pub size: u64,
}

/// What of the file goes where in memory.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    offset: u64,
    size: u64,
}

/// A program or shared library.
pub struct Elf {
    file: File,
    len: u64,
    header: [u8; HEADER as usize],
    segments: Vec<Segment>,
}

impl Elf {
    /// Reads the header and the segments.
    pub fn open(file: File) -> Result<Self, ElfError> {
        let len = file.metadata()?.len();
        let mut header = [0; HEADER as usize];
        if len < HEADER {
            return wrong(format!("cut: an ELF header has {HEADER} bytes, the file {len}"));
        }
        files::read_exact_at(&file, &mut header, 0)?;
        if header[..4] != *MAGIC {
            return wrong("no ELF file");
        }
        if header[4] != 2 || header[5] != 1 {
            return wrong("an ELF file, but not of 64 bits and little-endian (offset 4)");
        }
        match u16_at(&header, 16) {
            Some(2 | 3) => {}
            Some(1) => {
                return wrong("an object file: link it first (a program or a shared library is wanted)");
            }
            kind => {
                let kind = kind.unwrap_or(0);
                return wrong(format!(
                    "an ELF file of type {kind} (offset 16): a program or a shared library is wanted"
                ));
            }
        }
        let mut elf = Self { file, len, header, segments: Vec::new() };
        let (at, size, count) = (elf.u64(32), elf.u16(54), elf.u16(56));
        if count > 0 && u64::from(size) != SEGMENT {
            return wrong(format!("program headers of {size} bytes (offset 54): {SEGMENT} are wanted"));
        }
        let table = elf.read("the table of program headers", at, u64::from(count) * SEGMENT)?;
        for entry in table.chunks_exact(SEGMENT as usize) {
            let long = |at| u64_at(entry, at).unwrap_or(0);
            if u32_at(entry, 0) == Some(1) {
                elf.segments.push(Segment { offset: long(8), address: long(16), size: long(32) });
            }
        }
        Ok(elf)
    }

    fn u16(&self, at: usize) -> u16 {
        u16_at(&self.header, at).unwrap_or(0)
    }

    fn u64(&self, at: usize) -> u64 {
        u64_at(&self.header, at).unwrap_or(0)
    }

    /// Bytes of the file, all of them; the caller bounds `size`.
    pub fn read(&self, what: &str, at: u64, size: u64) -> Result<Vec<u8>, ElfError> {
        if at.checked_add(size).is_none_or(|end| end > self.len) {
            return wrong(format!(
                "cut or damaged: {what} ({size} bytes at offset {at}) ends behind the file's {} bytes",
                self.len
            ));
        }
        let mut bytes = vec![0; size as usize];
        files::read_exact_at(&self.file, &mut bytes, at)?;
        Ok(bytes)
    }

    /// All sections of this name that hold bytes.
    pub fn sections(&self, name: &str) -> Result<Vec<Section>, ElfError> {
        let (at, size) = (self.u64(40), self.u16(58));
        if at == 0 {
            return Ok(Vec::new());
        }
        if u64::from(size) != SECTION {
            return wrong(format!("section headers of {size} bytes (offset 58): {SECTION} are wanted"));
        }
        let first = self.read("the table of section headers", at, SECTION)?;
        // Numbers that do not fit the header are in the first section's.
        let count = match self.u16(60) {
            0 => u64_at(&first, 32).unwrap_or(0),
            count => count.into(),
        };
        let names = match self.u16(62) {
            0xFFFF => u32_at(&first, 40).unwrap_or(0).into(),
            number => u64::from(number),
        };
        if count > SECTIONS_MOST {
            return wrong(format!("{count} sections (at most {SECTIONS_MOST} are looked at)"));
        }
        if names >= count {
            return wrong(format!("the section of names is number {names} of {count} (offset 62)"));
        }
        // The whole table lies in the file, so that what follows cannot overflow.
        let Some(end) = at.checked_add(count * SECTION).filter(|end| *end <= self.len) else {
            return self.read("the table of section headers", at, count * SECTION).map(|_| Vec::new());
        };
        let header = self.read("a section header", at + names * SECTION, SECTION)?;
        let (names_at, names_size) = (u64_at(&header, 24).unwrap_or(0), u64_at(&header, 32).unwrap_or(0));
        if names_size > NAMES_MOST {
            return wrong(format!("section names of {names_size} bytes (at most {NAMES_MOST})"));
        }
        let names = self.read("the section names", names_at, names_size)?;
        let mut found = Vec::new();
        let mut next = at;
        while next < end {
            let size = CHUNK.min(end - next);
            let chunk = self.read("the table of section headers", next, size)?;
            for entry in chunk.chunks_exact(SECTION as usize) {
                let long = |at| u64_at(entry, at).unwrap_or(0);
                let begin = u32_at(entry, 0).unwrap_or(0) as usize;
                let own = names.get(begin..).and_then(|rest| rest.strip_prefix(name.as_bytes()));
                // Type 8 holds no bytes.
                if own.is_some_and(|rest| rest.first() == Some(&0)) && u32_at(entry, 4) != Some(8) {
                    found.push(Section { address: long(16), offset: long(24), size: long(32) });
                }
            }
            next += size;
        }
        Ok(found)
    }

    /// What the file holds from an address on: at most `most` bytes; fewer where the segment ends. `None`: nothing.
    pub fn at_address(&self, address: u64, most: u64) -> Result<Option<Vec<u8>>, ElfError> {
        let Some((segment, into)) = self.segments.iter().find_map(|segment| {
            let into = address.checked_sub(segment.address)?;
            (into < segment.size).then_some((segment, into))
        }) else {
            return Ok(None);
        };
        let Some(offset) = segment.offset.checked_add(into) else { return Ok(None) };
        let size = most.min(segment.size - into).min(self.len.saturating_sub(offset));
        self.read("a segment", offset, size).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Elf {
        Elf::open(File::open(std::env::current_exe().unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn sections_and_addresses_agree() {
        let elf = own();
        let [section] = elf.sections(".rodata").unwrap()[..] else { panic!() };
        let by_offset = elf.read("it", section.offset, 100).unwrap();
        assert_eq!(elf.at_address(section.address, 100).unwrap().unwrap(), by_offset);
        assert!(by_offset.iter().any(|byte| *byte != 0));
        assert_eq!(elf.sections(".rodat").unwrap(), []);
        assert_eq!(elf.at_address(u64::MAX, 1).unwrap(), None);
        assert!(elf.read("it", elf.len - 1, 2).is_err());
        assert!(elf.read("it", u64::MAX, 2).is_err());
    }
}
