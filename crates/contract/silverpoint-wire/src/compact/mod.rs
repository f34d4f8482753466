//! Payloads of records made small, and expanded again byte for byte (spec/file.md section 3).
//!
//! ```text
//!  skim      records passed over, without expanding them
//!  state     what one record tells the next: its site, its ticks, the numbers of the same site's record before
//!  path      arguments that are passed over and expanded without a look at their types
//!  pack      arguments to compact bytes            unpack    and back
//!  number    varints, zigzag, widths
//! ```

mod error;
mod number;
mod pack;
mod path;
mod signatures;
mod skim;
mod state;
mod unpack;

use crate::bytes::{round_up_8, u64_at};
use crate::layout::block::PAYLOAD_MAX;
use crate::layout::record::{HEADER_SIZE, PAD, PAD_MIN};
use crate::record::{RecordError, RecordHeader, Records};
pub use error::ExpandError;
use number::push_varint;
use pack::pack_args;
pub use signatures::Signatures;
pub use skim::{Skimmed, skim};
use state::State;
use unpack::{Input, unpack_args};

/// Appends the compact form of a raw payload, which must be a sequence of records; a site without signature is written as it is.
pub fn compact(raw: &[u8], signatures: &Signatures, out: &mut Vec<u8>) -> Result<(), RecordError> {
    let first = Records::new(raw).without_pads().next().transpose()?.map_or(0, |record| record.header.ticks);
    out.reserve(raw.len() / 2);
    out.extend_from_slice(&first.to_le_bytes());
    let mut state = State::new(signatures, first);
    for record in Records::new(raw) {
        let record = record?;
        let RecordHeader { size, flags, site, ticks } = record.header;
        let begin = out.len();
        state.push_site(site, out);
        if site != PAD {
            state.push_ticks(ticks, out);
        }
        let args_at = out.len();
        let known = if site != PAD && flags == 0 { state.site(site) } else { None };
        if let Some(known) = known {
            let (previous, fresh) = state.numbers(known);
            if pack_args(known.types, record.args, previous, fresh, out) {
                state.remember(known);
                continue;
            }
            out.truncate(args_at);
        }
        out[begin] |= state::IRREGULAR;
        push_varint(u64::from(size), out);
        out.push((flags >> 24) as u8);
        out.extend_from_slice(record.args);
    }
    Ok(())
}

/// Appends the raw payload that `compact` was made from. At most `raw_size` bytes come out (16 MiB if that is less), and a record's worth beyond when it
/// fails; the sum must agree. After an error `out` holds what was expanded so far, the last record perhaps in part.
pub fn expand(
    compact: &[u8],
    raw_size: usize,
    signatures: &Signatures,
    out: &mut Vec<u8>,
) -> Result<(), ExpandError> {
    let raw_size = raw_size.min(PAYLOAD_MAX);
    let limit = out.len() + raw_size;
    let first = u64_at(compact, 0).ok_or(ExpandError { at: 0, what: "it ends within its first ticks" })?;
    // A block of ordinary records grows less than so; what grows more pays for growing.
    out.reserve(raw_size.min(8 * compact.len()));
    let mut input = Input::new(compact, 8);
    let mut state = State::new(signatures, first);
    while !input.is_empty() {
        let (site, irregular) = state.read_site(&mut input)?;
        let ticks = if site == PAD { 0 } else { state.read_ticks(&mut input)? };
        let begin = out.len();
        if irregular {
            let size = usize::try_from(input.varint()?).unwrap_or(usize::MAX);
            let least = if site == PAD { PAD_MIN } else { HEADER_SIZE };
            if size < least || size % 8 != 0 || size > limit - begin.min(limit) {
                return Err(input.error("a record's size is impossible"));
            }
            let flags = u32::from(input.array::<1>()?[0]) << 24;
            push_header(RecordHeader { size: size as u32, flags, site, ticks }, out);
            out.extend_from_slice(input.take(size - least)?);
        } else {
            let known = state.site(site).ok_or_else(|| input.error("the site has no signature"))?;
            let header = RecordHeader { size: 0, flags: 0, site, ticks };
            if let Some(path) = known.path {
                path.expand(header, state.last(known), &mut input, limit, out)?;
                continue;
            }
            push_header(header, out);
            let (previous, fresh) = state.numbers(known);
            unpack_args(known.types, previous, fresh, &mut input, limit, out)?;
            state.remember(known);
            let size = round_up_8(out.len() - begin);
            out.resize(begin + size, 0);
            if out.len() > limit {
                return Err(input.error("more comes out than the block states"));
            }
            out[begin..begin + 4].copy_from_slice(&(size as u32).to_le_bytes());
        }
    }
    if out.len() != limit { Err(input.error("less comes out than the block states")) } else { Ok(()) }
}

fn push_header(header: RecordHeader, out: &mut Vec<u8>) {
    let bytes = header.encode();
    out.extend_from_slice(if header.site == PAD { &bytes[..PAD_MIN] } else { &bytes });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(site: u32, ticks: u64, args: &[u8]) -> Vec<u8> {
        let size = round_up_8(HEADER_SIZE + args.len());
        let mut out = RecordHeader { size: size as u32, flags: 0, site, ticks }.encode().to_vec();
        out.extend_from_slice(args);
        out.resize(size, 0);
        out
    }

    #[test]
    fn three_numbers_take_at_most_16_bytes() {
        let mut raw = Vec::new();
        let records = if cfg!(miri) { 20 } else { 1000 };
        for i in 0..records {
            let mut args = u32::to_le_bytes(i).to_vec();
            args.extend_from_slice(&(f64::from(i) * 1.37).to_le_bytes());
            args.extend_from_slice(&(1000 + u64::from(i) * 3).to_le_bytes());
            raw.extend(record(17, 1 << 50 | u64::from(i * 97 + i % 13), &args));
        }
        let mut signatures = Signatures::new();
        signatures.insert(17, "idL").unwrap();
        let mut small = Vec::new();
        compact(&raw, &signatures, &mut small).unwrap();
        assert!(small.len() <= 16 * records as usize, "{} bytes for {records} records", small.len());
        let mut back = Vec::new();
        expand(&small, raw.len(), &signatures, &mut back).unwrap();
        assert_eq!(back, raw);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        /// For any bytes of the records, their flags and pads, they are restored.
        #[test]
        fn expansion_is_exact(
            records in prop::collection::vec(
                (0_u32..24, any::<u64>(), prop_oneof![3 => Just(0_u8), 1 => any::<u8>()], prop::collection::vec(0_u8..4, 0..48)),
                0..20,
            ),
        ) {
            let mut signatures = Signatures::new();
            let kinds = ["idL", "s", "[i", "?l", "{si", "<P|x:h,y:$A,>", "/is|", "#2:(bn)", "eE|h|1=a,;", "@unit=ms;H", "", "fcwWputTvZS"];
            for (i, kind) in kinds.iter().enumerate() {
                signatures.insert(i as u32 + 10, kind).unwrap();
            }
            let mut raw = Vec::new();
            for (site, ticks, flags, args) in &records {
                let begin = raw.len();
                if *site == PAD {
                    raw.extend_from_slice(&16_u64.to_le_bytes());
                    raw.extend_from_slice(&ticks.to_le_bytes());
                } else {
                    raw.extend(record(*site, *ticks, args));
                }
                raw[begin + 3] = *flags;
            }
            let mut small = Vec::new();
            compact(&raw, &signatures, &mut small).unwrap();
            let mut back = Vec::new();
            expand(&small, raw.len(), &signatures, &mut back).unwrap();
            prop_assert_eq!(back, raw);
        }

        /// Skimming gives what expansion gives, and refuses what it refuses, for any requested arguments.
        #[test]
        fn skimming_agrees_with_expansion(
            records in prop::collection::vec((0_u32..24, any::<u32>(), prop::collection::vec(0_u8..4, 0..40)), 0..20),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            wanted in any::<u32>(),
            more in prop_oneof![4 => Just(0_usize), 1 => Just(8_usize)],
        ) {
            let mut signatures = Signatures::new();
            let kinds = ["idL", "s", "[i", "?l", "{si", "<P|x:h,y:$A,>", "SZy", "#2:(bn)", "eE|h|1=a,;", "@unit=ms;H", "", "fcwWputTv"];
            for (i, kind) in kinds.iter().enumerate() {
                signatures.insert(i as u32 + 10, kind).unwrap();
            }
            let mut raw = Vec::new();
            for (site, ticks, args) in &records {
                match *site {
                    PAD => raw.extend_from_slice(&8_u64.to_le_bytes()),
                    site => raw.extend(record(site, u64::from(*ticks), args)),
                }
            }
            let mut small = Vec::new();
            compact(&raw, &signatures, &mut small).unwrap();
            for (at, byte) in &flips {
                let at = at.index(small.len());
                small[at] = *byte;
            }
            let mut back = Vec::new();
            let expanded = expand(&small, raw.len() + more, &signatures, &mut back);
            let wants = |site: u32| wanted >> (site % 32) & 1 == 1;
            let mut seen = Vec::new();
            let skimmed = skim(&small, raw.len() + more, &signatures, wants, |skimmed| {
                seen.push((skimmed.site, skimmed.ticks, skimmed.size, skimmed.args.to_vec()));
            });
            prop_assert_eq!(expanded.is_ok(), skimmed.is_ok(), "{:?} {:?}", expanded, skimmed);
            if expanded.is_ok() {
                let given = Records::new(&back).map(|record| record.unwrap());
                prop_assert_eq!(given.clone().count(), seen.len());
                for (record, (site, ticks, size, args)) in given.zip(seen) {
                    let header = record.header;
                    prop_assert_eq!((header.site, header.ticks, header.size), (site, ticks, size));
                    prop_assert!(args == record.args || (args.is_empty() && !wants(site)));
                }
            }
        }

        /// Hostile bytes are refused, not obeyed.
        #[test]
        fn expansion_of_anything_is_bounded(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0_usize..4096) {
            let mut signatures = Signatures::new();
            for (i, kind) in ["[[#9:n", "s", "{[ii", "#65535:n"].iter().enumerate() {
                signatures.insert(i as u32 + 16, kind).unwrap();
            }
            let mut out = Vec::new();
            let _ = expand(&bytes, size, &signatures, &mut out);
            prop_assert!(out.len() <= size + 70_000);
        }
    }
}
