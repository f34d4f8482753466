//! Reads Event Trace Logs as strictly as can be: each length, offset and filling is what it must be.

const BUFFER: usize = 64 << 10;
const HEAD: usize = 0x48;

/// A buffer.
#[derive(Debug)]
pub struct Buffer<'a> {
    /// Its flags.
    pub flags: u16,
    /// When it was full.
    pub time: u64,
    /// Of which processor its events are.
    pub processor: u16,
    /// What lies behind its head.
    pub records: &'a [u8],
}

/// An event that describes itself.
#[derive(Debug)]
pub struct Event<'a> {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// In steps of the file's clock.
    pub time: u64,
    /// As they lie in the file.
    pub provider: &'a [u8],
    /// Id, version, channel, level, opcode, task, keyword.
    pub descriptor: &'a [u8],
    /// As it lies in the file; zeros: none.
    pub activity: &'a [u8],
    /// Extended data items: kind and data.
    pub items: Vec<(u16, &'a [u8])>,
    /// The fields' values.
    pub payload: &'a [u8],
}

impl Event<'_> {
    /// The data of an item.
    pub fn item(&self, kind: u16) -> Option<&[u8]> {
        self.items.iter().find(|(of, _)| *of == kind).map(|(_, data)| *data)
    }

    /// Its name, with the category.
    ///
    /// # Panics
    /// If it has none.
    pub fn name(&self) -> String {
        let schema = self.item(11).expect("a schema");
        let name = schema[3..].split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8(name.to_vec()).expect("UTF-8")
    }

    /// All of it, as `tests/judges/event_log.py` of silverpoint-convert prints it.
    pub fn line(&self) -> String {
        let items: Vec<String> =
            self.items.iter().map(|(kind, data)| format!("{kind}:{}", hex(data))).collect();
        let (provider, descriptor, activity) = (hex(self.provider), hex(self.descriptor), hex(self.activity));
        format!(
            "{} {} {} {provider} {descriptor} {activity} {} {}",
            self.pid,
            self.tid,
            self.time,
            items.join(","),
            hex(self.payload)
        )
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A little-endian number of up to eight bytes.
///
/// # Panics
/// Beyond the end.
pub fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// The first event of a file, from its head on, and all buffers but the first.
///
/// # Panics
/// If anything is not as it must be.
pub fn read(file: &[u8]) -> (&[u8], Vec<Buffer<'_>>) {
    assert_eq!(file.len() % BUFFER, 0);
    let mut buffers = Vec::new();
    for (place, buffer) in file.chunks(BUFFER).enumerate() {
        let long = |at| number(buffer, at, 4);
        let filled = long(4) as usize;
        assert!(filled > HEAD && filled <= BUFFER);
        assert_eq!(
            [long(0), long(8), long(0xC), long(0x30)],
            [BUFFER as u64, filled as u64, 0, filled as u64]
        );
        assert_eq!(number(buffer, 0x18, 8), place as u64 + 1, "its number");
        assert_eq!(number(buffer, 0x20, 8), 1_000_000_000 << 3 | 1, "the clock");
        assert_eq!([number(buffer, 0x2A, 2), long(0x2C)], [1, 3]);
        assert_eq!(number(buffer, 0x36, 2), if place == 0 { 4 } else { 0 });
        assert!(buffer[0x38..HEAD].iter().all(|byte| *byte == 0));
        assert!(buffer[filled..].iter().all(|byte| *byte == 0xFF));
        buffers.push(Buffer {
            flags: number(buffer, 0x34, 2) as u16,
            time: number(buffer, 0x10, 8),
            processor: number(buffer, 0x28, 2) as u16,
            records: &buffer[HEAD..filled],
        });
    }
    let first = buffers.remove(0);
    assert_eq!(number(file, HEAD + 0x20 + 0x24, 4) as usize, buffers.len() + 1, "buffers in the header");
    (first.records, buffers)
}

impl<'a> Buffer<'a> {
    /// Its events.
    ///
    /// # Panics
    /// If anything is not as it must be.
    pub fn events(&self) -> Vec<Event<'a>> {
        let (mut rest, mut events) = (self.records, Vec::new());
        while !rest.is_empty() {
            let size = number(rest, 0, 2) as usize;
            let (event, after) = rest.split_at(size);
            assert_eq!(event[2..8], [0x13, 0xC0, 0x41, 0x02, 0, 0]);
            assert_eq!(event[0x38..0x40], [0; 8]);
            let (filling, next) = after.split_at(size.next_multiple_of(8) - size);
            assert!(filling.iter().all(|byte| *byte == 0));
            rest = next;
            let (mut at, mut items) = (0x50, Vec::new());
            loop {
                let item = |place: usize| number(event, at + 2 * place, 2) as usize;
                let (whole, kind, has_next, len) = (item(0), item(1), item(2), item(3));
                assert!(whole == (8 + len).next_multiple_of(8) && has_next <= 1);
                assert!(event[at + 8 + len..at + whole].iter().all(|byte| *byte == 0));
                items.push((kind as u16, &event[at + 8..at + 8 + len]));
                at += whole;
                if has_next == 0 {
                    break;
                }
            }
            events.push(Event {
                tid: number(event, 8, 4) as u32,
                pid: number(event, 0xC, 4) as u32,
                time: number(event, 0x10, 8),
                provider: &event[0x18..0x28],
                descriptor: &event[0x28..0x38],
                activity: &event[0x40..0x50],
                items,
                payload: &event[at..],
            });
        }
        events
    }
}

/// The events of all buffers.
///
/// # Panics
/// If anything is not as it must be.
pub fn events(file: &[u8]) -> Vec<Event<'_>> {
    let (_, buffers) = read(file);
    buffers.iter().flat_map(Buffer::events).collect()
}
