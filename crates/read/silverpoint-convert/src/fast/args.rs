//! Arguments of a site whose values are plain: what stands between them is known, so only they are read.

use silverpoint_trace::Site;
use silverpoint_wire::signature::Type;

use super::{Cursor, Dialect};

/// Types that have a short way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    Bool,
    /// Bits (at most 64); whether it is signed.
    Int(u8, bool),
    /// An unsigned number that no i64 holds: without a signature only those are u64.
    Large,
    Float32,
    Float64,
    Text,
}

#[derive(Debug)]
struct Step {
    /// What stands before the value.
    before: Vec<u8>,
    value: Simple,
}

/// The way through the arguments.
#[derive(Debug)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    after: Vec<u8>,
}

fn simple(ty: &Type, is_inferred: bool) -> Option<Simple> {
    Some(match ty {
        Type::Meta(_, _, inner) => simple(inner, is_inferred)?,
        Type::Enumeration(enumeration) => simple(enumeration.underlying(), is_inferred)?,
        Type::Bool => Simple::Bool,
        Type::Int { bits: 64, signed: false } if is_inferred => Simple::Large,
        Type::Int { bits, signed } if *bits <= 64 => Simple::Int(*bits, *signed),
        Type::Duration => Simple::Int(64, true),
        Type::Float32 => Simple::Float32,
        Type::Float64 => Simple::Float64,
        Type::Text8 => Simple::Text,
        _ => return None,
    })
}

/// The way through the arguments of a site, which begin at the cursor; none, where a value has no short way.
pub(super) fn steps<D: Dialect>(site: &Site, is_inferred: bool, cursor: &Cursor<'_>) -> Option<Steps> {
    let count = site.types.len();
    // Names that stand beside the values are the site's.
    let is_possible = |is_named: bool| site.names.is_empty() != is_named || count == 0;
    let is_named = [true, false].into_iter().find(|is_named| {
        is_possible(*is_named) && cursor.rest().starts_with(&D::around(*is_named, count).0)
    })?;
    let (mut before, after) = D::around(is_named, count);
    let mut steps = Vec::new();
    for (index, ty) in site.types.iter().enumerate() {
        let value = simple(ty, is_inferred)?;
        let name = if is_named { Some(site.names.get(index)?.as_str()) } else { None };
        let (ahead, behind) = D::beside(index, name, value);
        before.extend_from_slice(&ahead);
        steps.push(Step { before: std::mem::replace(&mut before, behind), value });
    }
    before.extend_from_slice(&after);
    Some(Steps { steps, after: before })
}

impl Steps {
    /// Reads the arguments; appends them, packed.
    #[inline]
    pub fn read<D: Dialect>(&self, cursor: &mut Cursor<'_>, args: &mut Vec<u8>) -> Option<()> {
        for step in &self.steps {
            cursor.eat(&step.before)?;
            D::value(cursor, step.value, args)?;
        }
        cursor.eat(&self.after)?;
        args.resize(args.len().next_multiple_of(8), 0);
        Some(())
    }
}

/// Appends an integer, if its type holds it.
#[inline]
pub(super) fn integer(value: i128, bits: u8, signed: bool, out: &mut Vec<u8>) -> Option<()> {
    let fits = if signed {
        let half = 1_i128 << (bits - 1);
        (-half..half).contains(&value)
    } else {
        (0..1_i128 << bits).contains(&value)
    };
    let low = value as u64;
    fits.then(|| out.extend_from_slice(&low.to_le_bytes()[..usize::from(bits) / 8]))
}

/// Appends a text; its bytes are put by the function.
#[inline]
pub(super) fn text(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<()> {
    let hole = out.len();
    out.extend_from_slice(&[0; 4]);
    put(out)?;
    let len = u32::try_from(out.len() - hole - 4).ok().filter(|len| *len < 1 << 31)?;
    out[hole..hole + 4].copy_from_slice(&len.to_le_bytes());
    std::str::from_utf8(&out[hole + 4..]).is_ok().then_some(())
}
