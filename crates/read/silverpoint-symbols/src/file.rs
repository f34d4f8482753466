//! One file with symbols.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use addr2line::{Context, demangle_auto};
use flate2::bufread::ZlibDecoder;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::read::ReadCache;
use object::{
    BinaryFormat, CompressedData, CompressionFormat, Object, ObjectSection, ObjectSymbol, SymbolKind,
};

use crate::{Fault, Place, open};

type Slice = EndianArcSlice<RunTimeEndian>;

/// Bytes of debug information that are read of one file; with more of it, its symbol table alone is used.
const DEBUG_MAX: u64 = 1 << 30;
/// Symbols of a table.
const SYMBOLS_MAX: usize = 1 << 22;
/// Functions that are inlined in each other at one address.
const INLINED_MAX: usize = 64;

pub(crate) struct File {
    /// Of its addresses; 0 but for programs of Windows, whose addresses begin where the linker wanted them to be.
    base: u64,
    context: Option<Context<Slice>>,
    /// By address.
    symbols: Vec<Symbol>,
}

struct Symbol {
    begin: u64,
    size: u64,
    name: Box<str>,
}

impl File {
    /// Reads a file whose build id is this.
    pub(crate) fn open(path: &Path, build_id: &[u8]) -> Result<Self, Fault> {
        // Looked at before it is opened: opening a device may do something.
        let is_file = |metadata: fs::Metadata| metadata.is_file();
        if !fs::metadata(path).map(is_file).map_err(|_| Fault::Missing)? {
            return Err(Fault::NoProgram);
        }
        let file = open::at_once(path).map_err(|_| Fault::Missing)?;
        if !file.metadata().map(is_file).map_err(|_| Fault::Missing)? {
            return Err(Fault::NoProgram);
        }
        let cache = ReadCache::new(file);
        let object = object::File::parse(&cache).map_err(|_| Fault::NoProgram)?;
        if identity(&object)?.as_deref() != Some(build_id) {
            return Err(Fault::OtherBuild);
        }
        let context = context(&object);
        // Functions without debug information are in the table alone.
        let symbols = symbols(&object);
        if context.is_none() && symbols.is_empty() {
            return Err(Fault::NoSymbols);
        }
        Ok(Self { base: object.relative_address_base(), context, symbols })
    }

    /// Whether it knows lines of source, not functions alone.
    pub(crate) fn has_lines(&self) -> bool {
        self.context.is_some()
    }

    /// See [`crate::Symbols::places`].
    pub(crate) fn places(&self, address: u64) -> Vec<Place> {
        // Debug information puts at 0 what the linker has left out; no file has addresses beyond the sign.
        let address = match self.base.checked_add(address) {
            Some(there) if address != 0 && i64::try_from(there).is_ok() => there,
            _ => return Vec::new(),
        };
        let mut places = self.lines(address);
        if places.last().is_none_or(|place| place.function.is_none()) {
            if let Some(name) = self.symbol(address) {
                match places.last_mut() {
                    Some(place) => place.function = Some(name),
                    None => places.push(Place { function: Some(name), ..Place::default() }),
                }
            }
        }
        places
    }

    fn lines(&self, address: u64) -> Vec<Place> {
        let mut places = Vec::new();
        let frames = self.context.as_ref().map(|context| context.find_frames(address).skip_all_loads());
        let Some(Ok(mut frames)) = frames else { return places };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| name.demangle().ok().map(Cow::into_owned));
            let location = frame.location.as_ref();
            places.push(Place {
                function,
                file: location.and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line).filter(|line| *line > 0),
            });
            if places.len() == INLINED_MAX {
                break;
            }
        }
        places
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|symbol| symbol.begin <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let has = symbol.size == 0 || address - symbol.begin < symbol.size;
        has.then(|| demangle_auto(Cow::Borrowed(&symbol.name), None).into_owned())
    }
}

/// The build id; of a program for Windows the GUID and the age by which debuggers find its symbols.
fn identity<'d, R: object::ReadRef<'d>>(object: &object::File<'d, R>) -> Result<Option<Vec<u8>>, Fault> {
    if object.format() == BinaryFormat::Pe {
        let info = object.pdb_info().map_err(|_| Fault::NoProgram)?;
        return Ok(info.map(|info| [&info.guid()[..], &info.age().to_le_bytes()].concat()));
    }
    Ok(object.build_id().map_err(|_| Fault::NoProgram)?.map(<[u8]>::to_vec))
}

/// What debug information there is, if it is not too much.
fn context<'d, R: object::ReadRef<'d>>(object: &object::File<'d, R>) -> Option<Context<Slice>> {
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let is_debug = |name: &str| name.starts_with(".debug_") || name.starts_with(".zdebug_");
    let size = |section: object::Section<'d, '_, R>| {
        let is_wanted = section.name().is_ok_and(is_debug);
        let compressed = section.compressed_file_range().map_or(u64::MAX, |range| range.uncompressed_size);
        if is_wanted { compressed } else { 0 }
    };
    let total = object.sections().map(size).fold(0_u64, u64::saturating_add);
    if total == 0 || total > DEBUG_MAX || object.section_by_name(".debug_info").is_none() {
        return None;
    }
    let load = |id: SectionId| -> Result<Slice, ()> {
        let data = match object.section_by_name(id.name()) {
            Some(section) => section.compressed_data().ok().and_then(data).ok_or(())?,
            None => Cow::Borrowed([].as_slice()),
        };
        Ok(Slice::new(Arc::from(&*data), endian))
    };
    Context::from_dwarf(Dwarf::load(load).ok()?).ok()
}

/// The data of a section as it was before it was compressed. (`object` would bring a second zstd for that, which needs a newer Rust.)
fn data(section: CompressedData<'_>) -> Option<Cow<'_, [u8]>> {
    let from: Box<dyn Read + '_> = match section.format {
        CompressionFormat::None => return Some(Cow::Borrowed(section.data)),
        CompressionFormat::Zlib => Box::new(ZlibDecoder::new(section.data)),
        CompressionFormat::Zstandard => Box::new(zstd::Decoder::with_buffer(section.data).ok()?),
        _ => return None,
    };
    let size = section.uncompressed_size;
    let mut data = Vec::new();
    data.try_reserve_exact(size.try_into().ok()?).ok()?;
    // One byte more, so that a size that is too small is noticed.
    from.take(size.saturating_add(1)).read_to_end(&mut data).ok()?;
    (data.len() as u64 == size).then_some(Cow::Owned(data))
}

fn symbols<'d, R: object::ReadRef<'d>>(object: &object::File<'d, R>) -> Vec<Symbol> {
    let all = object.symbols().chain(object.dynamic_symbols()).take(SYMBOLS_MAX);
    let functions = all.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let mut symbols: Vec<Symbol> = functions
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some(Symbol { begin: symbol.address(), size: symbol.size(), name: name.into() })
        })
        .collect();
    // Of several names of one place, the first of the static table.
    symbols.sort_by_key(|symbol| symbol.begin);
    symbols.dedup_by_key(|symbol| symbol.begin);
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This program itself: it has debug information, and a build id where the linker makes one.
    fn own() -> (std::path::PathBuf, Vec<u8>) {
        let path = std::env::current_exe().unwrap();
        let bytes = fs::read(&path).unwrap();
        let build_id = object::File::parse(&*bytes).unwrap().build_id().unwrap().unwrap_or_default();
        (path.clone(), build_id.to_vec())
    }

    #[test]
    fn addresses_of_this_program_have_names() {
        let (path, build_id) = own();
        let file = File::open(&path, &build_id).unwrap();
        let symbol = file.symbols.iter().find(|symbol| symbol.name.contains("of_this_program")).unwrap();
        let places = file.places(symbol.begin);
        let function = places.last().unwrap().function.clone().unwrap();
        assert!(function.contains("addresses_of_this_program_have_names"), "{places:?}");
        assert!(!function.starts_with("_R") && !function.starts_with("_ZN"), "{function}");
        assert!(places[0].file.as_ref().unwrap().ends_with("file.rs"), "{places:?}");
        assert!(places[0].line.is_some());
        assert_eq!(file.places(0), [], "nothing is at the file's beginning");
        assert_eq!(file.places(u64::MAX), []);
    }

    #[test]
    fn other_files_are_refused() {
        let (path, mut build_id) = own();
        build_id[0] ^= 1;
        let fault = |path: &str, id: &[u8]| File::open(Path::new(path), id).err();
        assert_eq!(fault(path.to_str().unwrap(), &build_id), Some(Fault::OtherBuild));
        assert_eq!(fault("/nowhere/at/all", &build_id), Some(Fault::Missing));
        assert_eq!(fault("/dev/zero", &build_id), Some(Fault::NoProgram));
        assert_eq!(fault("/proc", &build_id), Some(Fault::NoProgram));
        assert_eq!(fault("/etc/passwd", &build_id), Some(Fault::NoProgram));
    }

    #[test]
    fn damaged_files_are_no_trouble() {
        let (path, build_id) = own();
        let bytes = fs::read(path).unwrap();
        let folder = tempfile::TempDir::with_prefix("silverpoint-symbols-").unwrap();
        let damaged = folder.path().join("damaged");
        for len in [0, 3, 64, 4096, bytes.len() / 2] {
            fs::write(&damaged, &bytes[..len]).unwrap();
            if let Ok(file) = File::open(&damaged, &build_id) {
                file.places(0x1000);
            }
        }
    }
    #[test]
    fn compressed_sections_are_read() {
        let plain = b"debug information, ".repeat(100);
        let mut zlib = Vec::new();
        flate2::bufread::ZlibEncoder::new(&*plain, Default::default()).read_to_end(&mut zlib).unwrap();
        let zstd = zstd::encode_all(&*plain, 1).unwrap();
        for (format, bytes) in [
            (CompressionFormat::None, &plain),
            (CompressionFormat::Zlib, &zlib),
            (CompressionFormat::Zstandard, &zstd),
        ] {
            let of_size = |data, size| self::data(CompressedData { format, data, uncompressed_size: size });
            let size = plain.len() as u64;
            assert_eq!(of_size(bytes, size).unwrap(), plain, "{format:?}");
            if format != CompressionFormat::None {
                for wrong in [0, size - 1, size + 1, u64::MAX] {
                    assert_eq!(of_size(bytes, wrong), None, "{format:?} with a size of {wrong}");
                }
                assert_eq!(of_size(&bytes[..bytes.len() / 2], size), None, "half of {format:?}");
            }
        }
        assert_eq!(
            data(CompressedData { format: CompressionFormat::Unknown, data: &plain, uncompressed_size: 9 }),
            None
        );
    }
}
