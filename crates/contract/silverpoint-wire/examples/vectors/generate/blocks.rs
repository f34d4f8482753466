//! Trace files block by block, by the text of spec/file.md alone.

use super::sites::Site;

/// What a block's header says beside its payload.
#[derive(Clone, Copy, Default)]
pub struct Header {
    pub kind: u8,
    pub encoding: u8,
    pub session: u32,
    pub stream: u32,
    pub ring: (u64, u64),
    pub ticks: (u64, u64),
    pub records: u32,
    pub levels: u32,
    pub sites: u64,
    /// Size of the raw payload when it is stored otherwise.
    pub raw_size: Option<u32>,
    pub flags: u32,
}

/// A file that is being written.
#[derive(Default)]
pub struct File {
    pub out: Vec<u8>,
    pub sequence: u64,
    /// Bytes of the header beyond 96: a later version may have them.
    pub longer: u16,
    /// Not 0: the file and its sessions are others than those of the other vectors.
    pub other: u8,
    /// Headers since the last index, and where that stands.
    headers: Vec<u8>,
    last_index: u64,
}

impl File {
    /// Appends a block.
    pub fn block(&mut self, header: Header, payload: &[u8]) {
        let start = self.out.len();
        self.out.extend_from_slice(b"\x9ESPBLK\r\n");
        self.out.extend_from_slice(&(96 + self.longer).to_le_bytes());
        self.out.extend_from_slice(&[header.kind, header.encoding]);
        self.u32(payload.len() as u32);
        self.u64(self.sequence);
        self.u32(header.session);
        self.u32(header.stream);
        for word in [header.ring.0, header.ring.1, header.ticks.0, header.ticks.1] {
            self.u64(word);
        }
        self.u32(header.records);
        self.u32(header.levels);
        self.u64(header.sites);
        self.u32(header.raw_size.unwrap_or(payload.len() as u32));
        self.u32(header.flags);
        self.u32(crc32c(payload));
        let crc = crc32c(&self.out[start..]);
        self.u32(crc);
        let written = &self.out[start..];
        self.headers.extend_from_slice(written);
        self.out.extend(std::iter::repeat_n(0xAA, self.longer.into()));
        self.out.extend_from_slice(payload);
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        self.sequence += 1;
    }

    fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// A block of a dictionary or the like.
    pub fn plain(&mut self, kind: u8, session: u32, stream: u32, payload: &[u8]) {
        self.block(Header { kind, session, stream, ..Header::default() }, payload);
    }

    /// Kind 1: lines of text.
    pub fn about(&mut self, part: u32, previous: Option<&str>) {
        let previous = previous.map_or(String::new(), |name| format!("previous={name}\n"));
        let id = format!("00112233445566778899aabbccddee{:02x}", 0xFF - self.other);
        let created = 1_700_000_000_000_000_000_u64;
        let text = format!(
            "format=1.0\nwriter=vectors\ncreated={created}\nhost=example\nfile_id={id}\n{previous}part={part}\n"
        );
        self.plain(1, 0, 0, text.as_bytes());
    }

    /// Kind 2, and kind 6 with two anchors a second apart: one tick a nanosecond.
    pub fn session(&mut self, session: u32, start: u64) {
        let mut payload = vec![session as u8 + self.other; 16];
        payload.extend_from_slice(&1_u32.to_le_bytes());
        payload.extend_from_slice(&(4000 + session + u32::from(self.other)).to_le_bytes());
        payload.extend_from_slice(&12_345_u64.to_le_bytes());
        payload.extend_from_slice(&1_000_000_000_u64.to_le_bytes());
        payload.extend_from_slice(&[0xB0; 16]);
        payload.extend_from_slice(&[0; 8]);
        payload.extend_from_slice(b"exe=/usr/bin/example\ncmdline=example \\x5C\nlanguage=C++\n");
        self.plain(2, session, 0, &payload);
        let mut anchors = Vec::new();
        for second in 0..2_u64 {
            let passed = second * 1_000_000_000;
            for word in [start + passed, 5_000_000_000 + passed, 1_700_000_000_000_000_000 + passed] {
                anchors.extend_from_slice(&word.to_le_bytes());
            }
        }
        self.plain(6, session, 0, &anchors);
    }

    /// Kind 3.
    pub fn sites(&mut self, session: u32, sites: &[(u32, Site)]) {
        let mut payload = Vec::new();
        for (id, site) in sites {
            payload.extend_from_slice(&id.to_le_bytes());
            payload.extend_from_slice(&[0; 4]);
            payload.extend_from_slice(&site.bytes());
        }
        self.plain(3, session, 0, &payload);
    }

    /// Kind 4: streams from 1, of threads `worker-<n>`.
    pub fn streams(&mut self, session: u32, streams: u32, claimed: u64) {
        let mut payload = Vec::new();
        for stream in 1..=streams {
            for word in [stream, 5000 + stream, 0, 0] {
                payload.extend_from_slice(&word.to_le_bytes());
            }
            payload.extend_from_slice(&claimed.to_le_bytes());
            payload.extend_from_slice(&0_u64.to_le_bytes());
            let mut name = format!("worker-{stream}").into_bytes();
            name.resize(16, 0);
            payload.extend_from_slice(&name);
        }
        self.plain(4, session, 0, &payload);
    }

    /// Kind 7: one stream's losses by cause, stalls and their time.
    pub fn losses(&mut self, session: u32, stream: u32, losses: [u64; 8], stalls: (u64, u64)) {
        let mut payload = stream.to_le_bytes().to_vec();
        payload.extend_from_slice(&[0; 4]);
        for word in losses.into_iter().chain([stalls.0, stalls.1]) {
            payload.extend_from_slice(&word.to_le_bytes());
        }
        self.plain(7, session, stream, &payload);
    }

    /// Kind 8.
    pub fn watermark(&mut self, session: u32, ticks: u64) {
        self.plain(8, session, 0, &ticks.to_le_bytes());
    }

    /// Kind 9.
    pub fn end(&mut self, reason: u32) {
        self.plain(9, 0, 0, &reason.to_le_bytes());
    }

    /// Kind 9 that names the last index.
    pub fn end_with_index(&mut self) {
        let index = self.last_index;
        self.end_that_names(index);
    }

    /// Kind 9 that names this place.
    pub fn end_that_names(&mut self, index: u64) {
        self.plain(9, 0, 0, &[1_u64.to_le_bytes(), index.to_le_bytes()].concat());
    }

    /// Kind 13: the headers since the last one.
    pub fn index(&mut self) {
        self.index_of(|_| {});
    }

    /// Kind 13, with headers that were changed.
    pub fn index_of(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut headers = std::mem::take(&mut self.headers);
        change(&mut headers);
        let payload = [&self.last_index.to_le_bytes()[..], &headers].concat();
        self.last_index = self.out.len() as u64;
        self.plain(13, 0, 0, &payload);
        self.headers.clear();
    }
}

/// The bit of a site in a header.
pub fn site_bit(site: u32) -> u64 {
    let product = u64::from(site) * 0x9E37_79B1 % (1 << 32);
    1 << (product >> 26)
}

/// CRC-32C (Castagnoli), bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 != 0 { 0x82F6_3B78 } else { 0 })
    };
    !bytes.iter().fold(!0, step)
}
