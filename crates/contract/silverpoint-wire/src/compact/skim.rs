//! Going through a compact payload without expanding it: sites, times and sizes of its records, and the arguments of some sites only.
//!
//! Most signatures are a few numbers, scalars and texts: passing over them takes no more than finding the ends of varints. The others are unpacked
//! into room that is used again. What is accepted is exactly what [`expand`](super::expand()) accepts.

use super::error::ExpandError;
use super::signatures::Signatures;
use super::state::State;
use super::unpack::{Input, unpack_args};
use crate::bytes::{round_up_8, u64_at};
use crate::layout::block::PAYLOAD_MAX;
use crate::layout::record::{HEADER_SIZE, PAD, PAD_MIN};

/// A record, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skimmed<'a> {
    /// Site id; pads are given too.
    pub site: u32,
    /// When; 0 for a pad.
    pub ticks: u64,
    /// Bytes of the raw record.
    pub size: u32,
    /// Everything after the header, for sites whose arguments were asked for; else empty.
    pub args: &'a [u8],
}

/// Gives the records of a compact payload to `visit`, pads included. It gives the arguments only of sites for
/// which `wants_args` is true, which must always answer the same for one site. Fails where
/// [`expand`](super::expand()) fails; by then the records before that place, or a part of them, were given
/// out.
pub fn skim(
    compact: &[u8],
    raw_size: usize,
    signatures: &Signatures,
    wants_args: impl Fn(u32) -> bool,
    mut visit: impl FnMut(Skimmed<'_>),
) -> Result<(), ExpandError> {
    let mut left = raw_size.min(PAYLOAD_MAX);
    let first = u64_at(compact, 0).ok_or(ExpandError { at: 0, what: "it ends within its first ticks" })?;
    let mut input = Input::new(compact, 8);
    let mut state = State::new(signatures, first);
    let mut room = Vec::new();
    let mut current = None;
    let more = "more comes out than the block states";
    while !input.is_empty() {
        let (site, irregular) = state.read_site(&mut input)?;
        let ticks = if site == PAD { 0 } else { state.read_ticks(&mut input)? };
        let (size, args): (usize, &[u8]) = if irregular {
            let size = usize::try_from(input.varint()?).unwrap_or(usize::MAX);
            let least = if site == PAD { PAD_MIN } else { HEADER_SIZE };
            if size < least || size % 8 != 0 || size > left {
                return Err(input.error("a record's size is impossible"));
            }
            input.skip(1)?;
            (size, input.take(size - least)?)
        } else {
            // Mostly it is that of the record before.
            let (known, path) = match current {
                Some((current, known, path)) if current == site => (known, path),
                _ => {
                    let known = state.site(site).ok_or_else(|| input.error("the site has no signature"))?;
                    let path = known.path.filter(|_| !wants_args(site));
                    current = Some((site, known, path));
                    (known, path)
                }
            };
            match path {
                Some(path) => (round_up_8(HEADER_SIZE + path.pass(&mut input)?), &[]),
                None => {
                    room.clear();
                    room.resize(HEADER_SIZE, 0);
                    let (before, fresh) = state.numbers(known);
                    unpack_args(known.types, before, fresh, &mut input, left, &mut room)?;
                    state.remember(known);
                    room.resize(round_up_8(room.len()), 0);
                    (room.len(), &room[HEADER_SIZE..])
                }
            }
        };
        left = left.checked_sub(size).ok_or_else(|| input.error(more))?;
        visit(Skimmed { site, ticks, size: size as u32, args });
    }
    if left > 0 { Err(input.error("less comes out than the block states")) } else { Ok(()) }
}
