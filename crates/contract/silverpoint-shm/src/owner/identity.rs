//! Who this process is: what a session's name, header and process text say.

use super::control::PROCESS_CAP;
use crate::root::decimal;
use crate::sys;

/// Field 22 of `/proc/self/stat`, in clock ticks since boot; 0 when it cannot be read.
pub(crate) fn start_time() -> u64 {
    let mut buffer = [0u8; 1024];
    let len = sys::read_file(c"/proc/self/stat", &mut buffer);
    start_time_of(&buffer[..len]).unwrap_or(0)
}

/// The command's name, in parentheses, may hold anything: fields count from the last one that closes.
fn start_time_of(stat: &[u8]) -> Option<u64> {
    let after = stat.iter().rposition(|byte| *byte == b')')? + 2;
    let field = stat.get(after..)?.split(|byte| *byte == b' ').nth(19)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// `/proc/sys/kernel/random/boot_id` as 16 bytes; zero when it cannot be read.
pub(crate) fn boot_id() -> [u8; 16] {
    let mut buffer = [0u8; 64];
    let len = sys::read_file(c"/proc/sys/kernel/random/boot_id", &mut buffer);
    let mut id = [0u8; 16];
    let mut digits = buffer[..len].iter().filter_map(|byte| char::from(*byte).to_digit(16));
    for byte in &mut id {
        let (Some(high), Some(low)) = (digits.next(), digits.next()) else { return [0; 16] };
        *byte = (high * 16 + low) as u8;
    }
    id
}

/// Inode of `/proc/self/ns/pid`; 0 when unknown.
pub(crate) fn pid_namespace() -> u32 {
    rustix::fs::stat(c"/proc/self/ns/pid").map_or(0, |stat| stat.st_ino as u32)
}

/// The process text (spec/wire.md, section 3.6), cut where it does not fit.
pub(crate) struct ProcessText {
    len: usize,
    bytes: [u8; PROCESS_CAP],
}

impl ProcessText {
    pub(crate) fn of_this_process() -> Self {
        let mut text = Self { len: 0, bytes: [0; PROCESS_CAP] };
        // The command line last: it may be long.
        text.line(b"language", &[b"rust"]);
        text.line(b"frontend", &[b"silverpoint-rust ", env!("CARGO_PKG_VERSION").as_bytes()]);
        let mut buffer = [0u8; 1024];
        if let Some(len) = read_link(c"/proc/self/exe", &mut buffer) {
            text.line(b"exe", &[&buffer[..len]]);
        }
        let mut id = [0u8; 64];
        if let Some(len) = build_id(&mut id) {
            let mut hex = [0u8; 128];
            for (i, byte) in id[..len].iter().enumerate() {
                hex[2 * i] = HEX[usize::from(byte >> 4)];
                hex[2 * i + 1] = HEX[usize::from(byte & 15)];
            }
            text.line(b"build_id", &[&hex[..2 * len]]);
        }
        if let Some(len) = read_link(c"/proc/self/cwd", &mut buffer) {
            text.line(b"cwd", &[&buffer[..len]]);
        }
        let len = sys::read_file(c"/proc/self/cmdline", &mut buffer);
        let arguments = buffer[..len].strip_suffix(b"\0").unwrap_or(&buffer[..len]);
        let end = arguments.len();
        for byte in &mut buffer[..end] {
            if *byte == 0 {
                *byte = b' ';
            }
        }
        text.line(b"cmdline", &[&buffer[..end]]);
        text
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn line(&mut self, key: &[u8], value: &[&[u8]]) {
        // Lossy where it is not UTF-8, since the text is UTF-8: a byte that does not belong becomes `\xHH` as well.
        let room = PROCESS_CAP - 1;
        let start = self.len;
        let mut put = |bytes: &[u8]| {
            if self.len + bytes.len() <= room {
                self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
                self.len += bytes.len();
            }
        };
        put(key);
        put(b"=");
        for part in value {
            for chunk in part.utf8_chunks() {
                for c in chunk.valid().chars() {
                    if c.is_control() || c == '\\' {
                        let mut utf8 = [0; 4];
                        c.encode_utf8(&mut utf8).bytes().for_each(|byte| put(&escaped(byte)));
                    } else {
                        put(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                chunk.invalid().iter().for_each(|byte| put(&escaped(*byte)));
            }
        }
        if self.len + 1 > PROCESS_CAP {
            self.len = start;
            return;
        }
        self.bytes[self.len] = b'\n';
        self.len += 1;
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn escaped(byte: u8) -> [u8; 4] {
    [b'\\', b'x', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}

fn read_link(name: &std::ffi::CStr, buffer: &mut [u8]) -> Option<usize> {
    rustix::fs::readlinkat_raw(rustix::fs::CWD, name, buffer).ok()
}

/// The GNU build id of the program's own file, as its notes in memory say it.
fn build_id(id: &mut [u8; 64]) -> Option<usize> {
    struct Search<'a>(&'a mut [u8; 64], Option<usize>);
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader gives a valid description of the program (the first object), whose segments are mapped; `data` is the Search below.
        unsafe {
            let search = &mut *data.cast::<Search<'_>>();
            let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
            for header in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
                let address = ((*info).dlpi_addr as usize + header.p_vaddr as usize) as *const u8;
                let notes = std::slice::from_raw_parts(address, header.p_memsz as usize);
                if let Some(found) = gnu_build_id(notes) {
                    let len = found.len().min(64);
                    search.0[..len].copy_from_slice(&found[..len]);
                    search.1 = Some(len);
                }
            }
        }
        1 // the program comes first; the others do not matter
    }
    let mut search = Search(id, None);
    // SAFETY: the callback is as dl_iterate_phdr wants it, and the pointer outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut search).cast()) };
    search.1
}

/// Finds note type 3 of "GNU" in a segment of notes.
fn gnu_build_id(mut notes: &[u8]) -> Option<&[u8]> {
    while notes.len() >= 12 {
        let word = |i: usize| u32::from_ne_bytes(std::array::from_fn(|k| notes[4 * i + k])) as usize;
        let (name_len, desc_len, kind) = (word(0), word(1), word(2));
        let desc_at = 12usize.checked_add(name_len.checked_next_multiple_of(4)?)?;
        let end = desc_at.checked_add(desc_len)?;
        let (name, desc) = (notes.get(12..12 + name_len)?, notes.get(desc_at..end)?);
        if kind == 3 && name == b"GNU\0" {
            return Some(desc);
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
    None
}

/// Name of a session's directory, ended by zero.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    len: usize,
    bytes: [u8; 80],
}

impl Name {
    pub(crate) const EMPTY: Self = Self { len: 0, bytes: [0; 80] };

    /// `<pid>-<start>-<n>`
    pub(crate) fn of_session(pid: u32, start: u64, n: u64) -> Self {
        let mut name = Self::EMPTY;
        let mut digits = [0; 20];
        name.push(decimal(pid.into(), &mut digits));
        name.push(b"-");
        name.push(decimal(start, &mut digits));
        name.push(b"-");
        name.push(decimal(n, &mut digits));
        name
    }

    /// `.new-<pid>-<random>`
    pub(crate) fn of_new(pid: u32, random: u64) -> Self {
        let mut name = Self::EMPTY;
        let mut digits = [0; 20];
        name.push(b".new-");
        name.push(decimal(pid.into(), &mut digits));
        name.push(b"-");
        name.push(decimal(random, &mut digits));
        name
    }

    /// A name found in a directory; `None` when it is too long to be a session's.
    pub(crate) fn found(bytes: &[u8]) -> Option<Self> {
        (bytes.len() < 80).then(|| {
            let mut name = Self::EMPTY;
            name.push(bytes);
            name
        })
    }

    fn push(&mut self, part: &[u8]) {
        self.bytes[self.len..self.len + part.len()].copy_from_slice(part);
        self.len += part.len();
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn as_c_str(&self) -> &std::ffi::CStr {
        std::ffi::CStr::from_bytes_with_nul(&self.bytes[..=self.len]).unwrap_or(c"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_survives_hostile_names() {
        let stat = b"12 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_time_of(stat), Some(4711));
        assert_eq!(start_time_of(b"12 (a"), None);
        assert_eq!(start_time_of(b"12 (a)"), None);
        assert!(start_time() > 0);
    }

    #[test]
    fn the_process_text_is_lines_without_control_characters() {
        let mut text = ProcessText { len: 0, bytes: [0; PROCESS_CAP] };
        text.line(b"cmdline", &[b"a\nb\\c\xffd \xc3\xa4"]);
        assert_eq!(text.as_bytes(), "cmdline=a\\x0ab\\x5cc\\xffd ä\n".as_bytes());
        let own = ProcessText::of_this_process();
        let own = std::str::from_utf8(own.as_bytes()).unwrap();
        assert!(
            own.contains("exe=/") && own.contains("cmdline=") && own.contains("language=rust\n"),
            "{own}"
        );
        let mut long = ProcessText { len: 0, bytes: [0; PROCESS_CAP] };
        long.line(b"cmdline", &[&[b'x'; 2 * PROCESS_CAP]]);
        assert_eq!(long.as_bytes().len(), PROCESS_CAP);
        assert_eq!(long.as_bytes().last(), Some(&b'\n'));
    }

    #[test]
    fn notes_are_bounded() {
        assert_eq!(
            gnu_build_id(b"\x04\0\0\0\x02\0\0\0\x03\0\0\0GNU\0\xab\xcd\0\0"),
            Some(b"\xab\xcd".as_slice())
        );
        assert_eq!(gnu_build_id(b"\xff\xff\xff\xff\x02\0\0\0\x03\0\0\0GNU\0\xab\xcd\0\0"), None);
        assert_eq!(gnu_build_id(b"\x04\0\0\0\xff\xff\0\0\x03\0\0\0GNU\0\xab\xcd\0\0"), None);
    }

    #[test]
    fn names_have_the_documented_form() {
        assert_eq!(Name::of_session(12, 345, 0).as_bytes(), b"12-345-0");
        assert_eq!(Name::of_session(u32::MAX, u64::MAX, u64::MAX).as_bytes().len(), 10 + 1 + 20 + 1 + 20);
        assert_eq!(Name::of_new(1, 2).as_c_str(), c".new-1-2");
    }
}
