//! Going through a compact payload without expanding it: sites, times and sizes of its records, and the arguments of some sites only.
//!
//! Most signatures are a few numbers, scalars and texts: passing over them takes no more than finding the ends of varints. The others are unpacked
//! into room that is used again. What is accepted is exactly what [`expand`](super::expand()) accepts.

use super::pack::{Shape, shape};
use super::state::State;
use super::unpack::{Input, unpack_args};
use super::{ExpandError, Signatures};
use crate::bytes::{round_up_8, u64_at};
use crate::layout::block::PAYLOAD_MAX;
use crate::layout::record::{HEADER_SIZE, PAD, PAD_MIN};
use crate::signature::Type;

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

/// One step over packed arguments.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// One varint.
    Varint,
    /// Bytes as they are.
    Bytes(u32),
    /// A length, and so many units of this size.
    Units(u32),
}

/// How to pass over the arguments of a site.
#[derive(Clone, Debug)]
pub(super) struct Path {
    steps: Box<[Step]>,
    /// Raw bytes of the arguments, but for the units.
    fixed: usize,
}

impl Path {
    /// `None` for signatures with optionals and containers: these are unpacked.
    pub(super) fn new(types: &[Type]) -> Option<Path> {
        let mut steps: Vec<Step> = Vec::new();
        let mut fixed = 0;
        for ty in types {
            let step = match shape(ty) {
                Shape::Number(size, _) => {
                    fixed += size;
                    Step::Varint
                }
                Shape::Scalar(size) => {
                    fixed += size;
                    if let Some(Step::Bytes(bytes)) = steps.last_mut() {
                        *bytes += size as u32;
                        continue;
                    }
                    Step::Bytes(size as u32)
                }
                Shape::Units(unit) => {
                    fixed += 4;
                    Step::Units(unit as u32)
                }
                Shape::Other(_) => return None,
            };
            steps.push(step);
        }
        Some(Path { steps: steps.into(), fixed })
    }

    /// Passes over the arguments; gives their raw bytes.
    #[inline]
    fn pass(&self, input: &mut Input<'_>) -> Result<usize, ExpandError> {
        let mut raw = self.fixed;
        for step in &self.steps {
            match *step {
                Step::Varint => input.skip_varint()?,
                Step::Bytes(bytes) => input.skip(bytes as usize)?,
                Step::Units(unit) => {
                    let len = input.checked_length()?;
                    let bytes = (len as usize)
                        .checked_mul(unit as usize)
                        .ok_or_else(|| input.error("a length is impossible"))?;
                    input.skip(bytes)?;
                    raw += bytes;
                }
            }
        }
        Ok(raw)
    }
}

/// Gives the records of a compact payload to `visit`, pads included; the arguments of those sites only for which `wants_args` is true, which must always say
/// the same of one site. Fails where [`expand`](super::expand()) fails; what was given out before then is the records before that place, or a part of them.
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
            let known = state.site(site).ok_or_else(|| input.error("the site has no signature"))?;
            match known.path {
                Some(path) if !wants_args(site) => (round_up_8(HEADER_SIZE + path.pass(&mut input)?), &[]),
                _ => {
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
