//! The sites of a program or shared library that need not have run, from its section `silverpoint_sites` (spec/sites-section.md).
//!
//! ```text
//!  elf      sections, and what lies at an address
//!  entry    an entry of the section ─▶ the description of a site
//!  names    of arguments, from their source in C++
//! ```

mod elf;
mod entry;
mod names;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

use silverpoint_trace::files;
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::level::Kind;
use silverpoint_wire::site::SiteDescription;

use crate::exit::{Exit, Failed};
use elf::{Elf, ElfError};
use entry::{Entries, Entry, SIZES};

const SECTION: &str = "silverpoint_sites";
/// Longest section that is read: some hundred thousand sites.
const SECTION_MOST: u64 = 64 << 20;
/// Most bytes of texts that are read.
const TEXTS_MOST: usize = 128 << 20;
/// Most notes on entries that cannot be read.
const NOTES_MOST: usize = 10;

/// What a program's section says.
pub struct List {
    /// Sorted by file, line and the rest; each once.
    pub sites: Vec<SiteDescription>,
    /// What could not be read, and where.
    pub notes: Vec<String>,
    /// Some entry is wrong.
    pub is_damaged: bool,
}

/// Whether this is a file that begins as programs and shared libraries do. Pipes and devices are not touched.
pub fn is_program(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.is_file()
        && File::open(path).is_ok_and(|file| files::read_exact_at(&file, &mut magic, 0).is_ok())
        && magic == *elf::MAGIC
}

/// Lists its sites. Reads headers and what the sites need, not the whole file.
pub fn sites(path: &Path) -> Result<List, Failed> {
    let failed = |error| match error {
        ElfError::Io(error) => Failed::new(Exit::Failure, format!("{}: {error}", path.display())),
        ElfError::Wrong(what) => Failed::new(Exit::NotATraceFile, format!("{}: {what}", path.display())),
    };
    let elf = File::open(path).map_err(ElfError::Io).and_then(Elf::open).map_err(failed)?;
    let sections = elf.sections(SECTION).map_err(failed)?;
    if sections.is_empty() {
        return Err(Failed::new(
            Exit::NotATraceFile,
            format!(
                "{}: no list of sites (section {SECTION}): it has no tracepoints of Silverpoint, or was compiled without the list \
                 (SP_NO_SITE_SECTION, feature no_site_section); those of a shared library are in its own file",
                path.display()
            ),
        ));
    }
    let mut list = List { sites: Vec::new(), notes: Vec::new(), is_damaged: false };
    let (mut room, mut later, mut wrong) = (TEXTS_MOST, 0u64, 0usize);
    for section in sections {
        if section.size > SECTION_MOST {
            let what = format!("a section {SECTION} of {} bytes (at most {SECTION_MOST})", section.size);
            return Err(failed(ElfError::Wrong(what)));
        }
        let bytes = elf.read(SECTION, section.offset, section.size).map_err(failed)?;
        let mut entries = Entries { elf: &elf, bytes: &bytes, address: section.address, room: &mut room };
        let mut at = 0;
        while at < bytes.len() {
            // Between what compilers made, linkers align.
            if u64_at(&bytes, at) == Some(0) {
                at += 8;
                continue;
            }
            let size = u32_at(&bytes, at).unwrap_or(0) as usize;
            let mut note = |what: &dyn std::fmt::Display| {
                wrong += 1;
                if wrong <= NOTES_MOST {
                    let offset = section.offset + at as u64;
                    list.notes.push(format!("{}: {SECTION}, offset {offset}: {what}", path.display()));
                }
            };
            if !SIZES.contains(&size) || !size.is_multiple_of(8) || size > bytes.len() - at {
                note(&format_args!("an entry of {size} bytes: the rest of the section is not read"));
                break;
            }
            match entries.read(at, size) {
                Ok(Entry::Site(site)) => list.sites.push(*site),
                Ok(Entry::Later) => later += 1,
                Err(ElfError::Io(error)) => return Err(failed(ElfError::Io(error))),
                Err(ElfError::Wrong(what)) => note(&what),
            }
            at += size;
        }
    }
    list.is_damaged = wrong > 0;
    if wrong > NOTES_MOST {
        list.notes.push(format!("{}: … and {} more like these", path.display(), wrong - NOTES_MOST));
    }
    if later > 0 {
        let what = format!("{later} sites of a later version are not listed: a newer silverpoint knows them");
        list.notes.push(format!("{}: {what}", path.display()));
    }
    leave_out_streams_that_are_none(&mut list.sites);
    let key = |site: &SiteDescription| (site.line, site.kind as u8, site.level as u8, site.flags);
    list.sites.sort_by(|a, b| {
        (&a.file, a.line, &a.category, &a.function, &a.template, &a.signature, &a.names, key(a)).cmp(&(
            &b.file,
            b.line,
            &b.category,
            &b.function,
            &b.template,
            &b.signature,
            &b.names,
            key(b),
        ))
    });
    list.sites.dedup();
    Ok(list)
}

/// Removes streams without any description where a text is listed for the same place: in C++ one macro begins
/// both.
fn leave_out_streams_that_are_none(sites: &mut Vec<SiteDescription>) {
    let place = |site: &SiteDescription| {
        (site.file.clone(), site.line, site.function.clone(), site.category.clone(), site.level as u8)
    };
    let is_unknown =
        |site: &SiteDescription| site.kind == Kind::Stream && site.is_pending() && site.template.is_empty();
    let texts: HashSet<_> =
        sites.iter().filter(|site| site.kind == Kind::Log && !site.template.is_empty()).map(place).collect();
    sites.retain(|site| !is_unknown(site) || !texts.contains(&place(site)));
}
