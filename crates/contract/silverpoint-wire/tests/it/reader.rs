//! A small reader of trace files, as somebody would write it on top of this crate.

use std::collections::HashMap;

use serde_json::{Value, json};
use silverpoint_wire::block::{
    BlockHeader, BlockKind, Index, LossInfo, SessionInfo, StreamInfo, anchors, positions, sites,
};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::compact::{Signatures, expand};
use silverpoint_wire::layout::block::COMPACT;
use silverpoint_wire::record::Records;
use silverpoint_wire::scan::{Damage, Found, Scanner};

use crate::generate::json::Json;
use crate::tree::arguments;

/// Everything that a file says.
#[derive(Debug, Default)]
pub struct Contents {
    pub records: Vec<Value>,
    pub losses: Vec<Value>,
    pub gaps: Vec<Value>,
    pub notes: Vec<Value>,
    /// Whole blocks and their offsets.
    pub blocks: Vec<(u64, BlockHeader)>,
    pub skipped: u64,
    pub damages: Vec<Damage>,
    /// Payloads that contradict themselves.
    pub contradictions: Vec<String>,
    /// Whether there are indexes, and they may be believed.
    pub index: &'static str,
}

#[derive(Default)]
struct State {
    signatures: HashMap<u32, Signatures>,
    /// Last totals by session and stream.
    losses: HashMap<(u32, u32), LossInfo>,
    /// Up to where each stream was read.
    read: HashMap<(u32, u32), u64>,
    contents: Contents,
}

/// Finds all blocks in the order of the file, without reading what they hold.
pub fn scan(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut scanner = Scanner::new(bytes, 0, true);
    while let Ok(Some(found)) = scanner.next() {
        match found {
            Found::Damage(damage) => contents.damages.push(damage),
            Found::Block { at, header } => contents.blocks.push((at, header)),
        }
    }
    contents
}

/// Reads all blocks in the order of the file.
pub fn read(bytes: &[u8]) -> Contents {
    let mut state = State::default();
    let mut scanner = Scanner::new(bytes, 0, true);
    while let Ok(Some(found)) = scanner.next() {
        match found {
            Found::Damage(damage) => state.contents.damages.push(damage),
            Found::Block { at, header } => {
                state.contents.blocks.push((at, header));
                state.block(&header, scanner.payload());
            }
        }
    }
    let mut contents = state.contents;
    contents.index = index(bytes, &contents.blocks);
    let mut losses: Vec<_> = state.losses.into_iter().collect();
    losses.sort_by_key(|(whose, _)| *whose);
    for ((session, stream), info) in losses {
        contents.losses.push(json!({
            "session": session,
            "stream": stream,
            "losses": info.losses,
            "stalls": info.stalls,
            "stall_ns": info.stall_ns,
        }));
    }
    contents
}

/// Whether the *end* block leads to indexes that say what stands in the file.
fn index(bytes: &[u8], blocks: &[(u64, BlockHeader)]) -> &'static str {
    let payload = |at: u64, header: &BlockHeader| {
        &bytes[at as usize + usize::from(header.header_size)..][..header.stored_size as usize]
    };
    let last = blocks.last().filter(|(_, header)| header.kind == BlockKind::END);
    let named = last.and_then(|(at, header)| u64_at(payload(*at, header), 8)).filter(|at| *at > 0);
    let (Some((end_at, _)), Some(mut at)) = (last, named) else {
        return if blocks.iter().any(|(_, header)| header.kind == BlockKind::INDEX) {
            "unnamed"
        } else {
            "none"
        };
    };
    let mut chain = Vec::new();
    loop {
        let here = blocks.iter().find(|(offset, header)| *offset == at && header.kind == BlockKind::INDEX);
        let Some((_, header)) = here.filter(|_| chain.last().is_none_or(|(after, _)| *after > at)) else {
            return "false";
        };
        chain.push((at, header));
        match Index::previous(payload(at, header)) {
            Some(0) => break,
            Some(previous) => at = previous,
            None => return "false",
        }
    }
    let (mut described, mut from) = (Vec::new(), 0);
    for (at, header) in chain.into_iter().rev() {
        let Some(blocks) = Index::blocks(payload(at, header), from, at) else { return "false" };
        described.extend(blocks);
        described.push((at, *header));
        from = at + header.block_size();
    }
    if from == *end_at && described == blocks[..blocks.len() - 1] { "true" } else { "false" }
}

impl State {
    fn block(&mut self, header: &BlockHeader, payload: &[u8]) {
        let BlockHeader { session, stream, .. } = *header;
        match header.kind {
            BlockKind::SESSION => {
                if SessionInfo::decode(payload).is_none() {
                    self.contents.contradictions.push("session".into());
                }
            }
            BlockKind::SITES => {
                let signatures = self.signatures.entry(session).or_default();
                for (id, site) in sites(payload) {
                    let inserted = site.map(|site| signatures.insert(id, &site.signature).is_ok());
                    if inserted != Ok(true) {
                        self.contents.contradictions.push(format!("site {id}"));
                    }
                }
            }
            BlockKind::RECORDS => self.records(header, payload),
            BlockKind::LOSSES => {
                let all = LossInfo::decode_all(payload).map(|info| ((session, info.stream), info));
                self.losses.extend(all);
            }
            BlockKind::POSITIONS => {
                self.read.extend(positions(payload).map(|(stream, end)| ((session, stream), end)));
            }
            BlockKind::NOTE => self.contents.notes.push(String::from_utf8_lossy(payload).into()),
            BlockKind::GAP => {
                let [begin, end] = [0, 8].map(|at| {
                    payload
                        .get(at..at + 8)
                        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
                });
                self.contents.gaps.push(json!([session, stream, begin, end]));
            }
            BlockKind::STREAMS => drop(StreamInfo::decode_all(payload).count()),
            BlockKind::ANCHORS => drop(anchors(payload).count()),
            BlockKind::FILE | BlockKind::WATERMARK | BlockKind::END | BlockKind::INDEX => {}
            _ => self.contents.skipped += 1,
        }
    }

    fn records(&mut self, header: &BlockHeader, payload: &[u8]) {
        let whose = (header.session, header.stream);
        let read = self.read.entry(whose).or_default();
        if header.ring_end <= *read && header.ring_begin < header.ring_end {
            return;
        }
        *read = header.ring_end;
        let signatures = self.signatures.entry(header.session).or_default();
        let unpacked = match unpacked(header, payload) {
            Ok(unpacked) => unpacked,
            Err(error) => return self.contents.contradictions.push(error),
        };
        let payload = unpacked.as_deref().unwrap_or(payload);
        let mut raw = Vec::new();
        if header.encoding & COMPACT == 0 {
            raw.extend_from_slice(payload);
        } else if let Err(error) = expand(payload, header.raw_size as usize, signatures, &mut raw) {
            self.contents.contradictions.push(error.to_string());
            return;
        }
        for record in Records::new(&raw).without_pads() {
            let record = match record {
                Ok(record) => record,
                Err(error) => return self.contents.contradictions.push(error.to_string()),
            };
            let Some(types) = signatures.get(record.header.site) else {
                self.contents.contradictions.push(format!("unknown site {}", record.header.site));
                continue;
            };
            match arguments(types, record.args) {
                Ok((args, _)) => self.contents.records.push(json!({
                    "session": header.session,
                    "stream": header.stream,
                    "ticks": int(record.header.ticks),
                    "site": record.header.site,
                    "args": args,
                })),
                Err(error) => self.contents.contradictions.push(error.to_string()),
            }
        }
    }
}

/// What was compressed; `None`: it is stored as it is.
fn unpacked(header: &BlockHeader, payload: &[u8]) -> Result<Option<Vec<u8>>, String> {
    if header.encoding & !COMPACT == 0 {
        return Ok(None);
    }
    #[cfg(feature = "compression")]
    {
        let mut out = Vec::new();
        silverpoint_wire::compression::Decompressor::default()
            .decompress(header.encoding, payload, header.raw_size, &mut out)
            .map_err(|error| error.to_string())?;
        Ok(Some(out))
    }
    #[cfg(not(feature = "compression"))]
    Err(format!("{} bytes of encoding {}: built without compression", payload.len(), header.encoding))
}

fn int(value: u64) -> Value {
    serde_json::from_str(&Json::int(value).to_string()).unwrap_or_default()
}
