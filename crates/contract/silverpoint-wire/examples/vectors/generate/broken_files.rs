//! Files of files.json that are damaged, cut or none: what their verdict is, without records.

use super::blocks::{Header, site_bit};
use super::files::{CASES, How, LZ4, Row, START, Trace, ZSTD, numbers, pack, raw};

/// Files that are damaged, cut or none.
pub fn broken() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let make =
        |name: &str| CASES.iter().find(|case| case.0 == name).map(|case| case.1(How::default()).file.out);
    let whole = make("one stream").unwrap_or_default();
    let damaged = |at: usize| {
        let mut out = whole.clone();
        out[at] ^= 4;
        out
    };
    // A block whose checksums agree and whose payload is not what its encoding says.
    let packed = |how: u8, change: fn(&mut Header, &mut Vec<u8>)| {
        let mut trace = Trace::begin(How::default(), 1, 1);
        let rows: Vec<Row> = (0..30).map(|at| numbers(at, 7)).collect();
        let bytes: Vec<u8> = rows.iter().flat_map(raw).collect();
        let size = bytes.len() as u32;
        let (encoding, mut stored) = pack(how, bytes, true);
        let mut header = Header {
            kind: 5,
            encoding,
            session: 1,
            stream: 1,
            ring: (0, size.into()),
            ticks: (START, START + 29),
            records: 30,
            levels: 1 << 2,
            sites: site_bit(17),
            raw_size: Some(size),
            flags: 0,
        };
        change(&mut header, &mut stored);
        trace.file.block(header, &stored);
        trace.file.end(1);
        trace.file.out
    };
    vec![
        ("empty", Vec::new(), "not a trace file"),
        ("text", b"2024-01-01 12:00:00 [info] some other log file\n".repeat(8), "not a trace file"),
        ("zeros", vec![0; 300], "not a trace file"),
        ("marks alone", b"\x9ESPBLK\r\n".repeat(40), "not a trace file"),
        ("cut in the last header", whole[..whole.len() - 50].to_vec(), "cut"),
        ("damaged first header", damaged(40), "damaged"),
        ("damaged first payload", damaged(100), "damaged"),
        ("damaged size", damaged(14), "damaged"),
        ("half is missing at the front", whole[400..].to_vec(), "damaged"),
        ("lz4 that ends within", packed(LZ4, |_, stored| stored.truncate(stored.len() - 1)), "damaged"),
        (
            "lz4 that copies from before the start",
            packed(LZ4, |_, stored| stored.splice(4.., [0, 9, 0]).for_each(drop)),
            "damaged",
        ),
        ("zstd that ends within", packed(ZSTD, |_, stored| stored.truncate(stored.len() - 1)), "damaged"),
        ("zstd of another magic", packed(ZSTD, |_, stored| stored[4] ^= 1), "damaged"),
        (
            "zstd followed by something",
            packed(ZSTD, |_, stored| stored.extend_from_slice(b"more")),
            "damaged",
        ),
        ("both lz4 and zstd", packed(ZSTD, |header, _| header.encoding |= LZ4), "damaged"),
        ("unknown encoding", packed(LZ4, |header, _| header.encoding = 1 << 6), "damaged"),
        ("compressed without a size", packed(LZ4, |_, stored| stored.truncate(3)), "damaged"),
        ("compressed of a larger size", packed(LZ4, |_, stored| stored[0] += 8), "damaged"),
        ("compressed of a smaller size", packed(ZSTD, |_, stored| stored[0] -= 8), "damaged"),
        ("compressed of 4 GiB", packed(ZSTD, |_, stored| stored[..4].fill(0xFF)), "damaged"),
    ]
}
