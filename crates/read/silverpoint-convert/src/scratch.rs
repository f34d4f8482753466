//! One record as flat CBOR, as a format's parser puts it there, and where in the input each value stood.

use silverpoint_wire::cbor::{push_head, push_i128, push_u128};

use crate::Place;

/// Nesting of values that readers accept.
pub const NESTING_MAX: usize = 128;
/// Bytes of one record at most.
pub const RECORD_MAX: usize = 64 << 20;
/// Most values of a record whose places are kept; later ones are reported at the place of the last of these.
const PLACES_MAX: usize = 1 << 20;
/// Floats of a record whose digits are kept.
const DECIMALS_MAX: usize = 1 << 10;

/// See the module. Containers are of indefinite length: nobody need know beforehand how much comes.
#[derive(Debug, Default)]
pub struct Scratch {
    bytes: Vec<u8>,
    places: Vec<(usize, Place)>,
    /// Digits of floats that do not hold all of them, by their offsets.
    decimals: Vec<(usize, Box<str>)>,
}

impl Scratch {
    /// Forgets the record, keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.decimals.clear();
    }

    /// The float that is put next has these digits, more than it holds: a time may need them.
    pub(crate) fn decimal(&mut self, digits: &str) {
        if self.decimals.len() < DECIMALS_MAX {
            self.decimals.push((self.bytes.len(), digits.into()));
        }
    }

    /// The digits of a float at an offset, if it does not hold all of them.
    pub(crate) fn decimal_at(&self, at: usize) -> Option<&str> {
        let found = self.decimals.binary_search_by_key(&at, |(known, _)| *known).ok()?;
        self.decimals.get(found).map(|(_, digits)| &**digits)
    }

    /// The item.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value that is put next stood here.
    pub fn place(&mut self, place: Place) {
        self.place_at(self.bytes.len(), place);
    }

    /// The value that will stand at this offset of the item stood here.
    pub(crate) fn place_at(&mut self, at: usize, place: Place) {
        if self.places.len() < PLACES_MAX {
            self.places.push((at, place));
        }
    }

    /// How many places are kept.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// The places that were kept after the first ones.
    pub(crate) fn places_from(&mut self, first: usize) -> impl Iterator<Item = &mut Place> {
        self.places.iter_mut().skip(first).map(|(_, place)| place)
    }

    /// Where the value at this offset of the item stood, or what is known to stand before it.
    pub fn place_of(&self, at: usize) -> Place {
        let after = self.places.partition_point(|(known, _)| *known <= at);
        after.checked_sub(1).and_then(|i| self.places.get(i)).map_or_else(Place::default, |(_, p)| p.clone())
    }

    fn head(&mut self, major: u8, number: u64) {
        push_head(&mut self.bytes, major, number);
    }

    /// No value.
    pub fn null(&mut self) {
        self.bytes.push(0xF6);
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(if value { 0xF5 } else { 0xF4 });
    }

    /// An integer.
    pub fn unsigned(&mut self, value: u128) {
        push_u128(&mut self.bytes, value);
    }

    /// An integer.
    pub fn signed(&mut self, value: i128) {
        push_i128(&mut self.bytes, value);
    }

    /// A float.
    pub fn float(&mut self, value: f64) {
        self.bytes.push(0xFB);
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// Text.
    pub fn text(&mut self, text: &str) {
        self.head(3, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Bytes.
    pub fn octets(&mut self, bytes: &[u8]) {
        self.head(2, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// An item that is well-formed CBOR already.
    pub fn item(&mut self, item: &[u8]) {
        self.bytes.extend_from_slice(item);
    }

    /// Elements follow, up to [`Scratch::end`].
    pub fn begin_sequence(&mut self) {
        self.bytes.push(0x9F);
    }

    /// Keys (texts) and values follow in turn, up to [`Scratch::end`].
    pub fn begin_map(&mut self) {
        self.bytes.push(0xBF);
    }

    /// The innermost container is complete.
    pub fn end(&mut self) {
        self.bytes.push(0xFF);
    }
}
