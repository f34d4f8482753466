//! lz4 blocks and zstd frames, by the texts of those formats alone (RFC 8878 for zstd). The encoders are
//! plain, so that the bytes are always the same.
//!
//! Both have the same content: copy these bytes, then this many from that far back. zstd is written with raw
//! literals and the format's own distributions.

use std::collections::HashMap;

/// New bytes, then a copy of `len` bytes from `back` bytes before; the last one copies nothing.
struct Piece<'a> {
    new: &'a [u8],
    back: usize,
    len: usize,
}

/// Shortest copy.
const LEAST: usize = 4;
/// lz4's rules of the end: no copy begins in the last 12 bytes, none touches the last 5.
const END_BEGIN: usize = 12;
const END_TOUCH: usize = 5;
/// Farthest copy of lz4.
const FAR: usize = 65_535;

/// What repeats, found greedily.
fn pieces(bytes: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    let (mut from, mut at) = (0, 0);
    while at + END_BEGIN < bytes.len() {
        let found = seen.insert(&bytes[at..at + LEAST], at).filter(|before| at - before <= FAR);
        let Some(before) = found else {
            at += 1;
            continue;
        };
        let most = bytes.len() - END_TOUCH - at;
        let len = (0..most).take_while(|i| bytes[before + i] == bytes[at + i]).count();
        pieces.push(Piece { new: &bytes[from..at], back: at - before, len });
        at += len;
        from = at;
    }
    pieces.push(Piece { new: &bytes[from..], back: 0, len: 0 });
    pieces
}

/// An lz4 block.
pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for Piece { new, back, len } in pieces(bytes) {
        let copied = len.saturating_sub(LEAST);
        out.push((new.len().min(15) << 4 | copied.min(15)) as u8);
        lz4_length(&mut out, new.len());
        out.extend_from_slice(new);
        if len > 0 {
            out.extend_from_slice(&(back as u16).to_le_bytes());
            lz4_length(&mut out, copied);
        }
    }
    out
}

/// What of a length does not fit into its four bits.
fn lz4_length(out: &mut Vec<u8>, length: usize) {
    if let Some(rest) = length.checked_sub(15) {
        out.extend(std::iter::repeat_n(255, rest / 255));
        out.push((rest % 255) as u8);
    }
}

/// A zstd frame of one block, of at most 128 KiB. Its header states the size of the content, or only the window.
pub fn zstd(bytes: &[u8], states_size: bool) -> Vec<u8> {
    assert!(bytes.len() <= 128 << 10);
    let mut out = 0xFD2F_B528_u32.to_le_bytes().to_vec();
    if states_size {
        out.push(0xA0);
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    } else {
        out.extend_from_slice(&[0, 8 << 3]);
    }
    let pieces = pieces(bytes);
    let literals = pieces.iter().map(|piece| piece.new).collect::<Vec<_>>().concat();
    let mut block = ((literals.len() as u32) << 4 | 3 << 2).to_le_bytes()[..3].to_vec();
    block.extend_from_slice(&literals);
    let copies: Vec<[Coded; 3]> = pieces.iter().filter(|piece| piece.len > 0).map(coded).collect();
    match copies.len() {
        few @ 0..128 => block.push(few as u8),
        many => block.extend_from_slice(&[(many >> 8) as u8 + 128, many as u8]),
    }
    if !copies.is_empty() {
        block.push(0);
        block.extend_from_slice(&sequences(&copies));
    }
    let (last, compressed) = (1, 2 << 1);
    out.extend_from_slice(&((block.len() as u32) << 3 | compressed | last).to_le_bytes()[..3]);
    out.extend_from_slice(&block);
    out
}

/// A number as zstd writes it: a code, and bits beside it.
#[derive(Clone, Copy)]
struct Coded {
    code: u8,
    rest: (u32, u32),
}

/// Bits beside the codes from 16 (lengths of new bytes) and from 32 (of copies).
const NEW_BITS: [u32; 20] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const COPY_BITS: [u32; 21] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Length of new bytes, distance, length of the copy.
fn coded(piece: &Piece<'_>) -> [Coded; 3] {
    let distance = piece.back as u32 + 3;
    let bits = distance.ilog2();
    [
        length(piece.new.len() as u32, 16, &NEW_BITS),
        Coded { code: bits as u8, rest: (distance - (1 << bits), bits) },
        length(piece.len as u32 - 3, 32, &COPY_BITS),
    ]
}

/// Small ones are their own codes; those above share codes, ever more of them.
fn length(value: u32, own: u32, bits: &[u32]) -> Coded {
    if value < own {
        return Coded { code: value as u8, rest: (0, 0) };
    }
    let mut base = own;
    for (code, &bits) in (own as u8..).zip(bits) {
        if value < base + (1 << bits) {
            return Coded { code, rest: (value - base, bits) };
        }
        base += 1 << bits;
    }
    panic!("no length of {value}");
}

/// How often each code is expected; -1: less than once.
const NEW: (u32, &[i8]) = (
    6,
    &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1,
        -1, -1, -1,
    ],
);
const DISTANCE: (u32, &[i8]) =
    (5, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]);
const COPY: (u32, &[i8]) = (
    6,
    &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
);

/// A state of the machine that reads codes: its code, and where the next state is looked for: from `base`, among 2^`bits`.
#[derive(Clone, Copy, Default)]
struct State {
    code: u8,
    base: u32,
    bits: u32,
}

/// The states of the machine for these expectations.
fn machine((log, expected): (u32, &[i8])) -> Vec<State> {
    let size = 1_usize << log;
    let mut states = vec![State::default(); size];
    let mut free = size;
    let mut next: Vec<u32> = Vec::new();
    for (code, &times) in expected.iter().enumerate() {
        if times < 0 {
            free -= 1;
            states[free].code = code as u8;
        }
        next.push(times.unsigned_abs().into());
    }
    let mut at = 0;
    for (code, &times) in expected.iter().enumerate() {
        for _ in 0..times.max(0) {
            states[at].code = code as u8;
            loop {
                at = (at + size / 2 + size / 8 + 3) % size;
                if at < free {
                    break;
                }
            }
        }
    }
    for state in &mut states {
        let turn = &mut next[usize::from(state.code)];
        state.bits = log - turn.ilog2();
        state.base = (*turn << state.bits) - size as u32;
        *turn += 1;
    }
    states
}

/// The bits of all copies. They are read from the end, so that what is read first is written last.
fn sequences(copies: &[[Coded; 3]]) -> Vec<u8> {
    let kinds = [NEW, DISTANCE, COPY];
    // The states of each machine, found from the last to the first.
    let paths: Vec<Vec<(u32, State)>> = (0..3)
        .map(|kind| {
            let states = machine(kinds[kind]);
            let mut path: Vec<(u32, State)> = Vec::new();
            for copy in copies.iter().rev() {
                let after = path.last().map(|(number, _)| *number);
                let leads = |state: &State| {
                    state.code == copy[kind].code
                        && after
                            .is_none_or(|next| (state.base..state.base + (1 << state.bits)).contains(&next))
                };
                let found = (0..).zip(&states).find(|(_, state)| leads(state));
                let (number, state) = found.expect("each code leads to every state");
                path.push((number, *state));
            }
            path.reverse();
            path
        })
        .collect();
    let mut read: Vec<(u32, u32)> = Vec::new();
    read.extend((0..3).map(|kind| (paths[kind][0].0, kinds[kind].0)));
    for (turn, [new, distance, copy]) in copies.iter().enumerate() {
        read.extend([distance.rest, copy.rest, new.rest]);
        for kind in [0, 2, 1] {
            let state = paths[kind][turn].1;
            if let Some((next, _)) = paths[kind].get(turn + 1) {
                read.push((next - state.base, state.bits));
            }
        }
    }
    let mut out = Vec::new();
    let (mut held, mut count) = (0_u64, 0);
    for (value, bits) in read.into_iter().rev().chain([(1, 1)]) {
        held |= u64::from(value) << count;
        count += bits;
        while count >= 8 {
            out.push(held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        out.push(held as u8);
    }
    out
}
