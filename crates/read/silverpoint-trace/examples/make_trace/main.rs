//! Makes a big trace file for tests and measurements: `make_trace FILE [records] [threads] [compact|raw] [numbers|mixed] [none|lz4|zstd[:LEVEL]]`.
//!
//! Half of the records are `order {} at {:.2f} x {}` (i64, f64, u32), the others texts, events with fields, counters and spans.

mod builder;

use std::io::Write;

use builder::{Builder, log, text};
use silverpoint_wire::layout::block::SEGMENT;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

/// Bytes of a block.
const BLOCK: usize = 256 << 10;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: make_trace FILE [records] [threads] [compact|raw] [numbers|mixed] [COMPRESSION]");
        std::process::exit(2);
    };
    let records: u64 = args.next().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let threads: u32 = args.next().and_then(|n| n.parse().ok()).unwrap_or(4);
    let compact = args.next().is_some_and(|word| word == "compact");
    let numbers = args.next().is_some_and(|word| word == "numbers");
    let compression = args.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut b = Builder::new();
    b.session(1, "/usr/bin/indexer", 4312);
    let named = |kind, line, names: &str, template: &str, signature: &str| SiteDescription {
        kind,
        names: names.into(),
        ..log(Level::Info, "index::tree", line, template, signature)
    };
    b.site(1, 16, &log(Level::Info, "net::tcp", 88, "order {} at {:.2f} x {}", "ldI"));
    b.site(1, 17, &log(Level::Debug, "net", 90, "opened {}", "s"));
    b.site(1, 18, &named(Kind::Event, 91, "path\nbytes\n", "file.indexed", "sL"));
    b.site(1, 19, &named(Kind::Counter, 92, "", "queue.length", "L"));
    b.site(1, 20, &named(Kind::Span, 93, "dir\n", "scan", "s"));
    for stream in 1..=threads {
        b.stream(1, stream, 4312 + stream, &format!("worker-{stream}"));
    }
    let mut segment_end = SEGMENT;
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    for n in 0..records {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let stream = (random % u64::from(threads)) as u32 + 1;
        let ticks = n * 50 + random % 40;
        match if numbers { 0 } else { random >> 32 & 7 } {
            4 => b.record(1, stream, 17, ticks, &text("/usr/include/c++/12/bits/stl_vector.h")),
            5 => {
                let mut args = text("/usr/include/stdio.h");
                args.extend_from_slice(&(random >> 40).to_le_bytes());
                b.record(1, stream, 18, ticks, &args);
            }
            6 => b.record(1, stream, 19, ticks, &(random >> 50).to_le_bytes()),
            7 => {
                b.record(1, stream, 20, ticks, &text("/usr/include"));
                b.span_end(1, stream, 20, ticks, ticks + 5);
            }
            _ => {
                let mut args = (n as i64).to_le_bytes().to_vec();
                args.extend_from_slice(&((random >> 44) as f64 / 100.0).to_le_bytes());
                args.extend_from_slice(&((random >> 20) as u32 & 0xFFFF).to_le_bytes());
                b.record(1, stream, 16, ticks, &args);
            }
        }
        if b.pending(1, stream) >= BLOCK {
            b.flush_as(1, stream, compact, compression);
            file.write_all(&b.bytes)?;
            b.written += b.bytes.len() as u64;
            b.bytes.clear();
            if b.written >= segment_end {
                b.index();
                segment_end = (b.written / SEGMENT + 1) * SEGMENT;
            }
        }
    }
    for stream in 1..=threads {
        b.flush_as(1, stream, compact, compression);
    }
    b.anchor(1, records * 50);
    b.end_with_index();
    file.write_all(&b.bytes)?;
    file.flush()
}
