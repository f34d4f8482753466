//! What one record of a block tells the next.

use std::collections::HashMap;

use super::error::ExpandError;
use super::number::{push_varint, unzigzag, zigzag};
use super::pack::{Shape, shape};
use super::path::Path;
use super::signatures::Signatures;
use super::unpack::Input;
use crate::signature::Type;

/// The bit of a record's first byte that tells that its arguments are written as they are.
pub(super) const IRREGULAR: u8 = 1;

/// A site with a signature, and where its numbers are kept.
#[derive(Clone, Copy)]
pub(super) struct Known<'s> {
    pub(super) types: &'s [Type],
    /// The way through its packed arguments, when it is simple.
    pub(super) path: Option<&'s Path>,
    first: usize,
    count: usize,
}

/// Sites that are found without a hash. Sites of one loop rarely meet in it.
const RECENT: usize = 64;

pub(super) struct State<'s> {
    signatures: &'s Signatures,
    site: u32,
    ticks: u64,
    /// By id mod [`RECENT`].
    recent: [Option<(u32, Known<'s>)>; RECENT],
    known: HashMap<u32, Known<'s>>,
    /// The numbers among the top-level arguments of each known site's last regular record; 0 before the first. Room is taken for sites that occur,
    /// so that it is bounded by the dictionary.
    numbers: Vec<u64>,
    /// Those of the record in progress.
    fresh: Vec<u64>,
}

impl<'s> State<'s> {
    pub(super) fn new(signatures: &'s Signatures, first_ticks: u64) -> State<'s> {
        State {
            signatures,
            site: 0,
            ticks: first_ticks,
            recent: [None; RECENT],
            known: HashMap::new(),
            numbers: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// The site with this id, if it has a signature.
    #[inline]
    pub(super) fn site(&mut self, id: u32) -> Option<Known<'s>> {
        match self.recent[id as usize % RECENT] {
            Some((recent, known)) if recent == id => Some(known),
            _ => self.find(id),
        }
    }

    fn find(&mut self, id: u32) -> Option<Known<'s>> {
        let known = match self.known.get(&id) {
            Some(known) => *known,
            None => {
                let types = self.signatures.get(id)?;
                let count = types.iter().filter(|ty| matches!(shape(ty), Shape::Number(..))).count();
                let known = Known { types, path: self.signatures.path(id), first: self.numbers.len(), count };
                self.numbers.resize(known.first + count, 0);
                self.known.insert(id, known);
                known
            }
        };
        self.recent[id as usize % RECENT] = Some((id, known));
        Some(known)
    }

    /// The numbers of the site's record before, and room for those of this one.
    #[inline]
    pub(super) fn numbers(&mut self, known: Known<'_>) -> (&[u64], &mut Vec<u64>) {
        self.fresh.clear();
        (&self.numbers[known.first..known.first + known.count], &mut self.fresh)
    }

    /// The numbers of the site's record before, which become those of this one.
    #[inline]
    pub(super) fn last(&mut self, known: Known<'_>) -> &mut [u64] {
        &mut self.numbers[known.first..known.first + known.count]
    }

    /// The record in progress is now the one before.
    #[inline]
    pub(super) fn remember(&mut self, known: Known<'_>) {
        self.numbers[known.first..known.first + known.count].copy_from_slice(&self.fresh);
    }

    /// Appends the site of a regular record; [`IRREGULAR`] may be set in the first byte later.
    #[inline]
    pub(super) fn push_site(&mut self, site: u32, out: &mut Vec<u8>) {
        push_varint(zigzag(i64::from(site) - i64::from(self.site)) << 1, out);
        self.site = site;
    }

    #[inline]
    pub(super) fn read_site(&mut self, input: &mut Input<'_>) -> Result<(u32, bool), ExpandError> {
        let word = input.varint()?;
        let site = i64::from(self.site).wrapping_add(unzigzag(word >> 1));
        self.site = u32::try_from(site).map_err(|_| input.error("a site id is impossible"))?;
        Ok((self.site, word & u64::from(IRREGULAR) != 0))
    }

    #[inline]
    pub(super) fn push_ticks(&mut self, ticks: u64, out: &mut Vec<u8>) {
        push_varint(zigzag(ticks.wrapping_sub(self.ticks) as i64), out);
        self.ticks = ticks;
    }

    #[inline]
    pub(super) fn read_ticks(&mut self, input: &mut Input<'_>) -> Result<u64, ExpandError> {
        self.ticks = self.ticks.wrapping_add(unzigzag(input.varint()?) as u64);
        Ok(self.ticks)
    }
}
