//! Fields of events and spans, in the order in which they are visited: encoded straight into a record (as expected: [`Follow`]; of whatever
//! shape: [`Encode`]), or described ([`Describe`]).

use std::error::Error;
use std::fmt;

use silverpoint::dynamic::{Encoder, FEW_WORDS};
use tracing_core::field::{Field, Visit};

use crate::callsite::field_name;
use crate::slots::Slot;

/// Fields of one record; a signature has no more than 255 arguments, of which some are the adapter's own. What is beyond is left out.
const MOST: u32 = 250;

/// Tells shapes (which fields, of which types) apart. A multiplication for each field.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    hash: u64,
    fields: u32,
}

impl Shape {
    /// Of something with no fields yet; `role` tells records of the same fields apart.
    pub(crate) const fn new(role: u64) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325 ^ role, fields: 0 }
    }

    /// Adds a field; false when there are too many.
    #[inline(always)]
    fn add(&mut self, field: &Field, code: u8) -> bool {
        if self.fields == MOST {
            return false;
        }
        self.fields += 1;
        let what = (field.index() as u64) << 8 | u64::from(code);
        self.hash = (self.hash ^ what).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        true
    }

    /// Never 0.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        (self.hash >> 32 ^ self.hash) as u32 | 1
    }
}

/// Puts fields into a record.
pub(crate) struct Encode<'e, 'w> {
    pub(crate) encoder: &'e mut Encoder<'w>,
    pub(crate) shape: Shape,
}

impl Encode<'_, '_> {
    /// Whether the field has a place in the record.
    #[inline(always)]
    fn expects(&mut self, field: &Field, code: u8) -> bool {
        self.shape.add(field, code)
    }
}

/// Fields of a record that its callsite expects, at most; the last place of a plan stays empty.
const PLANNED: usize = 15;

/// The shape that a callsite's first record had: the next ones are compared with it field by field, which costs less than to find theirs.
#[derive(Debug)]
pub(crate) struct Plan {
    /// [`planned`] of each field; 0 behind the last.
    fields: [u32; PLANNED + 1],
    count: usize,
    /// Whether they are no more than [`FEW_WORDS`], and of 64 bits each.
    is_words: bool,
    /// The site of such records.
    pub(crate) site: u32,
}

/// A field of a plan. Never 0.
#[inline(always)]
fn planned(field: &Field, code: u8) -> u32 {
    (field.index() as u32) << 8 | u32::from(code)
}

impl Plan {
    /// `None`: there are too many fields.
    pub(crate) fn new(described: &[u32], site: u32) -> Option<Self> {
        let mut fields = [0; PLANNED + 1];
        fields.get_mut(..described.len()).filter(|_| described.len() < PLANNED)?.copy_from_slice(described);
        let is_word = |field: &u32| matches!(*field as u8, b'l' | b'L' | b'd');
        let is_words = described.len() <= FEW_WORDS && described.iter().all(is_word);
        Some(Self { fields, count: described.len(), is_words, site })
    }

    /// Whether [`Words`] and [`Kept`] take such records: [`Plan::count`] fields that are numbers of 64 bits.
    #[inline(always)]
    pub(crate) fn is_words(&self) -> bool {
        self.is_words
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Encodes the fields that `visit` shows. `None`: they are others than those of the plan.
    #[inline(always)]
    pub(crate) fn follow(
        &self,
        encoder: &mut Encoder<'_>,
        visit: impl FnOnce(&mut Follow<'_, '_>),
    ) -> Option<u32> {
        let mut follow = Follow { encoder, plan: self, at: 0 };
        visit(&mut follow);
        (follow.at == self.count).then_some(self.site)
    }
}

/// Puts fields into a record as long as they are those of a plan.
pub(crate) struct Follow<'e, 'w> {
    encoder: &'e mut Encoder<'w>,
    plan: &'e Plan,
    /// Number of the next field; [`PLANNED`] when there was another.
    at: usize,
}

impl Follow<'_, '_> {
    #[inline(always)]
    fn expects(&mut self, field: &Field, code: u8) -> bool {
        let is_next = self.plan.fields[self.at & PLANNED] == planned(field, code);
        self.at = if is_next { self.at + 1 } else { PLANNED };
        is_next
    }
}

/// Where fields of a plan of a few numbers are: a power of two, of which the last place stays empty, so that nothing follows there.
const PLACES: usize = (FEW_WORDS + 2).next_power_of_two();

/// Takes the fields of such a plan, as long as they are those.
pub(crate) struct Words<'p> {
    plan: &'p Plan,
    at: usize,
    words: [u64; PLACES],
}

impl<'p> Words<'p> {
    #[inline(always)]
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan, at: 0, words: [0; PLACES] }
    }

    /// What was taken, if it was all.
    #[inline(always)]
    pub(crate) fn all(&self) -> Option<&[u64; FEW_WORDS]> {
        self.words.first_chunk().filter(|_| self.at == self.plan.count)
    }
}

/// The same into a span's slot.
pub(crate) struct Kept<'p> {
    plan: &'p Plan,
    at: usize,
    slot: &'p Slot,
}

impl<'p> Kept<'p> {
    #[inline(always)]
    pub(crate) fn new(plan: &'p Plan, slot: &'p Slot) -> Self {
        Self { plan, at: 0, slot }
    }

    /// Whether the slot has them all.
    #[inline(always)]
    pub(crate) fn has_all(&self) -> bool {
        self.at == self.plan.count
    }
}

/// Both take numbers, each if it is the plan's next, and nothing after one that is not.
macro_rules! numbers {
    ($($visitor:ident |$self:ident, $number:ident, $word:ident| $put:expr;)*) => {$(
        impl $visitor<'_> {
            #[inline(always)]
            fn put(&mut self, field: &Field, code: u8, word: u64) {
                let number = self.at % PLACES;
                if self.plan.fields[number] == planned(field, code) {
                    self.at = number + 1;
                    let ($self, $number, $word) = (self, number, word);
                    $put;
                } else {
                    self.at = PLACES - 1;
                }
            }
        }

        impl Visit for $visitor<'_> {
            #[inline]
            fn record_i64(&mut self, field: &Field, value: i64) {
                self.put(field, b'l', value.cast_unsigned());
            }
            #[inline]
            fn record_u64(&mut self, field: &Field, value: u64) {
                self.put(field, b'L', value);
            }
            #[inline]
            fn record_f64(&mut self, field: &Field, value: f64) {
                self.put(field, b'd', value.to_bits());
            }
            /// Anything else is not as expected.
            fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {
                self.at = PLACES - 1;
            }
        }
    )*};
}
numbers! {
    Words |visitor, number, word| visitor.words[number] = word;
    Kept |visitor, number, word| visitor.slot.set_word(number, word);
}

macro_rules! typed {
    ($($method:ident $kind:ty, $code:literal $put:ident;)*) => {$(
        #[inline]
        fn $method(&mut self, field: &Field, value: $kind) {
            if self.expects(field, $code) {
                self.encoder.$put(value);
            }
        }
    )*};
}

/// Both put the same: what they expect.
macro_rules! visit {
    ($visitor:ident) => {
        impl Visit for $visitor<'_, '_> {
            typed! {
                record_i64 i64, b'l' i64;
                record_u64 u64, b'L' u64;
                record_i128 i128, b'o' i128;
                record_u128 u128, b'O' u128;
                record_f64 f64, b'd' f64;
                record_bool bool, b'b' bool;
                record_str &str, b's' text;
                record_bytes &[u8], b'y' bytes;
                record_error &(dyn Error + 'static), b'[' error;
            }

            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                if self.expects(field, b's') {
                    self.encoder.formatted(format_args!("{value:?}"));
                }
            }

            #[cfg(all(tracing_unstable, feature = "valuable"))]
            fn record_value(&mut self, field: &Field, value: valuable::Value<'_>) {
                if self.expects(field, b'v') {
                    self.encoder.item(&|item| crate::values::put(item, &value));
                }
            }
        }
    };
}
visit!(Encode);
visit!(Follow);

/// What a site says of its fields.
#[derive(Default)]
pub(crate) struct Description {
    /// One line an argument.
    pub(crate) names: String,
    pub(crate) signature: String,
    /// Arguments so far.
    pub(crate) count: usize,
    /// Which of them is the message, if there is one.
    pub(crate) message: Option<usize>,
    /// The fields among them, for a [`Plan`].
    pub(crate) planned: Vec<u32>,
}

impl Description {
    /// Adds an argument that is no field.
    pub(crate) fn argument(&mut self, name: &str, code: &str) {
        self.names.extend(name.chars().filter(|character| *character != '\n'));
        self.names.push('\n');
        self.signature.push_str(code);
        self.count += 1;
    }
}

/// Describes fields.
pub(crate) struct Describe<'d> {
    pub(crate) description: &'d mut Description,
    /// Whether a field of this name is the text of an event.
    pub(crate) is_event: bool,
    pub(crate) shape: Shape,
}

impl Describe<'_> {
    fn add(&mut self, field: &Field, code: &str) {
        if !self.shape.add(field, code.as_bytes()[0]) {
            return;
        }
        self.description.planned.push(planned(field, code.as_bytes()[0]));
        let is_message = self.is_event && field.name() == "message" && self.description.message.is_none();
        if is_message {
            self.description.message = Some(self.description.count);
        }
        let name = if is_message { "".into() } else { field_name(field.name()) };
        self.description.argument(&name, code);
    }
}

macro_rules! describe {
    ($($method:ident $kind:ty, $code:literal;)*) => {$(
        fn $method(&mut self, field: &Field, _: $kind) {
            self.add(field, $code);
        }
    )*};
}

impl Visit for Describe<'_> {
    describe! {
        record_i64 i64, "l";
        record_u64 u64, "L";
        record_i128 i128, "o";
        record_u128 u128, "O";
        record_f64 f64, "d";
        record_bool bool, "b";
        record_str &str, "s";
        record_bytes &[u8], "y";
        record_error &(dyn Error + 'static), "[s";
        record_debug &dyn fmt::Debug, "s";
    }

    #[cfg(all(tracing_unstable, feature = "valuable"))]
    fn record_value(&mut self, field: &Field, _: valuable::Value<'_>) {
        self.add(field, "v");
    }
}
