//! Fields of events and spans, in the order of the visit: encoded ([`Take`]), as words if they are numbers
//! ([`Words`]), or described ([`Description`]).

use std::error::Error;
use std::fmt;

use silverpoint::dynamic::{Encoder, FEW_WORDS, FewWords, Marks, PLACES, Places, TextAlone};
use tracing_core::Metadata;
use tracing_core::field::{Field, Visit};

use crate::role::field_name;
use crate::slots::Slot;

/// Encodes fields, and notes which they are: the record's site is looked for afterwards, so that each value is looked at once.
pub(crate) struct Take<'t, 'w> {
    encoder: &'t mut Encoder<'w>,
    marks: &'t mut Marks,
    /// The fields that are expected.
    plan: &'t [u32; PLANNED + 1],
    /// How many of them have come; [`PLANNED`] when another has: then marks have all.
    at: usize,
}

impl<'t, 'w> Take<'t, 'w> {
    #[inline(always)]
    pub(crate) fn new(encoder: &'t mut Encoder<'w>, marks: &'t mut Marks, plan: &'t Plan) -> Self {
        Self { encoder, marks, plan: &plan.fields, at: 0 }
    }

    /// The site of the plan, if the fields are its; otherwise 0, and marks have all.
    #[inline(always)]
    pub(crate) fn site(&mut self, plan: &Plan) -> u32 {
        if self.at == plan.count {
            return plan.site;
        }
        self.diverge();
        0
    }

    /// Whether the field has a place in the record.
    #[inline(always)]
    fn expects(&mut self, field: &Field, code: u8) -> bool {
        let mark = planned(field, code);
        if self.plan[self.at & PLANNED] == mark {
            self.at += 1;
            return true;
        }
        self.other(mark)
    }

    #[cold]
    #[inline(never)]
    fn other(&mut self, mark: u32) -> bool {
        self.diverge();
        self.marks.push(mark)
    }

    #[cold]
    #[inline(never)]
    fn diverge(&mut self) {
        if self.at != PLANNED {
            self.plan[..self.at].iter().for_each(|mark| _ = self.marks.push(*mark));
            self.at = PLANNED;
        }
    }
}

/// Fields of a record that its callsite expects, at most; the last place of a plan stays empty.
const PLANNED: usize = 15;

/// The shape that a callsite's first record had: the next ones are compared with it, which costs less than to find theirs.
#[derive(Debug)]
pub(crate) struct Plan {
    /// [`planned`] of each field; 0 behind the last.
    fields: [u32; PLANNED + 1],
    count: usize,
    /// What [`Words`] has of the fields; [`OTHERS`] where they are not the first ones of the callsite, [`FEW_WORDS`] at most, of 64 bits each.
    words: u64,
    /// Whether they are one text, and the callsite has no other field.
    is_text: bool,
    /// Such records, where they are a few numbers.
    few: FewWords,
    /// The site of such records.
    pub(crate) site: u32,
}

/// A field of a plan. Never 0.
#[inline(always)]
fn planned(field: &Field, code: u8) -> u32 {
    (field.index() as u32) << 8 | u32::from(code)
}

impl Plan {
    /// Of what has none: no fields are its.
    pub(crate) const NOTHING: &'static Self = &Self {
        fields: [0; PLANNED + 1],
        count: usize::MAX,
        words: OTHERS,
        is_text: false,
        few: FewWords::new(0, 0),
        site: 0,
    };

    /// `None`: there are too many fields.
    pub(crate) fn new(meta: &Metadata<'_>, described: &[u32], site: u32) -> Option<Self> {
        let mut fields = [0; PLANNED + 1];
        fields.get_mut(..described.len()).filter(|_| described.len() < PLANNED)?.copy_from_slice(described);
        let is_word = |(number, field): (usize, &u32)| {
            (*field >> 8) as usize == number && matches!(*field as u8, b'l' | b'L' | b'd')
        };
        let is_words = described.len() <= FEW_WORDS
            && described.iter().enumerate().all(is_word)
            && meta.fields().len() <= PLACES;
        let kind = |come, field: &u32| come | u64::from(kind_of(*field as u8)) << (8 * (*field >> 8));
        let words = if is_words { described.iter().fold(0, kind) } else { OTHERS };
        let few = FewWords::new(site, described.len());
        let is_text = meta.fields().len() == 1 && matches!(described, [field] if *field as u8 == b's');
        Some(Self { fields, count: described.len(), words, is_text, few, site })
    }

    /// Such records, where [`Plan::is_words`].
    #[inline(always)]
    pub(crate) fn few(&self) -> FewWords {
        self.few
    }

    /// Whether [`Words`] takes such records: [`Plan::count`] fields that are numbers of 64 bits.
    #[inline(always)]
    pub(crate) fn is_words(&self) -> bool {
        self.words != OTHERS
    }

    /// Whether [`Text`] takes such records.
    #[inline(always)]
    pub(crate) fn is_text(&self) -> bool {
        self.is_text
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Where numbers go, and what has come of them.
pub(crate) trait Store {
    fn set(&mut self, number: usize, word: u64, kind: u8);
    /// As [`Places::come`].
    fn come(&self) -> u64;
}

/// Into the record.
impl Store for &mut Places {
    #[inline(always)]
    fn set(&mut self, number: usize, word: u64, kind: u8) {
        Places::set(self, number, word, kind);
    }

    #[inline(always)]
    fn come(&self) -> u64 {
        Places::come(self)
    }
}

/// Into a span's slot.
pub(crate) struct Kept<'s> {
    slot: &'s Slot,
    come: [u8; PLACES],
}

impl Store for Kept<'_> {
    #[inline(always)]
    fn set(&mut self, number: usize, word: u64, kind: u8) {
        self.slot.set_word(number, word);
        let come = &mut self.come[number % PLACES];
        *come = come.wrapping_add(kind);
    }

    #[inline(always)]
    fn come(&self) -> u64 {
        u64::from_le_bytes(self.come)
    }
}

/// Takes the fields of such a plan: each number goes to the place of its field, and its kind is noted there. Which have come is one word, which is compared at the end.
pub(crate) struct Words<S>(S);

/// What is noted of a number of 64 bits. No sum of two or more is another of these: a field that comes twice is seen.
#[inline(always)]
const fn kind_of(code: u8) -> u8 {
    match code {
        b'l' => 4,
        b'L' => 5,
        _ => 6,
    }
}

/// Noted at the last place, which no plan has, of any other value.
const NO_NUMBER: u8 = 1;
const _: () = assert!(FEW_WORDS < PLACES);

/// Of a plan whose fields are not a few numbers.
const OTHERS: u64 = u64::MAX;

impl<S: Store> Words<S> {
    #[inline(always)]
    pub(crate) fn new(store: S) -> Self {
        Self(store)
    }

    /// Whether all have come, and nothing else.
    #[inline(always)]
    pub(crate) fn has_all(&self, plan: &Plan) -> bool {
        self.0.come() == plan.words
    }
}

impl<'s> Words<Kept<'s>> {
    #[inline(always)]
    pub(crate) fn kept(slot: &'s Slot) -> Self {
        Self(Kept { slot, come: [0; PLACES] })
    }
}

impl<S: Store> Visit for Words<S> {
    #[inline]
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.set(field.index(), value as u64, kind_of(b'l'));
    }
    #[inline]
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.set(field.index(), value, kind_of(b'L'));
    }
    #[inline]
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.set(field.index(), value.to_bits(), kind_of(b'd'));
    }
    /// Anything else is not as expected.
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {
        self.0.set(PLACES - 1, 0, NO_NUMBER);
    }
}

/// Takes the field of a callsite that has only one, if it is a text.
pub(crate) struct Text(pub(crate) TextAlone);

macro_rules! others {
    ($($method:ident $kind:ty;)*) => {$(
        fn $method(&mut self, _: &Field, _: $kind) {
            self.0.refuse();
        }
    )*};
}

impl Visit for Text {
    #[inline]
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.format(format_args!("{value:?}"));
    }

    fn record_str(&mut self, _: &Field, value: &str) {
        self.0.text(value);
    }

    others! {
        record_i64 i64;
        record_u64 u64;
        record_i128 i128;
        record_u128 u128;
        record_f64 f64;
        record_bool bool;
        record_bytes &[u8];
        record_error &(dyn Error + 'static);
    }

    #[cfg(all(tracing_unstable, feature = "valuable"))]
    fn record_value(&mut self, _: &Field, _: valuable::Value<'_>) {
        self.0.refuse();
    }
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

impl Visit for Take<'_, '_> {
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

/// Notes which fields there are, of which types; formats nothing.
pub(crate) struct Shape<'m>(pub(crate) &'m mut Marks);

macro_rules! noted {
    ($($method:ident $kind:ty, $code:literal;)*) => {$(
        fn $method(&mut self, field: &Field, _: $kind) {
            let _ = self.0.push(planned(field, $code));
        }
    )*};
}

impl Visit for Shape<'_> {
    noted! {
        record_i64 i64, b'l';
        record_u64 u64, b'L';
        record_i128 i128, b'o';
        record_u128 u128, b'O';
        record_f64 f64, b'd';
        record_bool bool, b'b';
        record_str &str, b's';
        record_bytes &[u8], b'y';
        record_error &(dyn Error + 'static), b'[';
        record_debug &dyn fmt::Debug, b's';
    }

    #[cfg(all(tracing_unstable, feature = "valuable"))]
    fn record_value(&mut self, field: &Field, _: valuable::Value<'_>) {
        let _ = self.0.push(planned(field, b'v'));
    }
}

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
}

impl Description {
    /// Adds an argument that is no field.
    pub(crate) fn argument(&mut self, name: &str, code: &str) {
        self.names.extend(name.chars().filter(|character| *character != '\n'));
        self.names.push('\n');
        self.signature.push_str(code);
        self.count += 1;
    }

    /// Adds fields of a callsite; of an event, one of the name `message` is its text.
    pub(crate) fn fields(&mut self, meta: &Metadata<'_>, marks: &[u32], has_text: bool) {
        for mark in marks {
            let name = name_of(meta, *mark);
            let is_message = has_text && name == "message" && self.message.is_none();
            if is_message {
                self.message = Some(self.count);
            }
            let name = if is_message { "".into() } else { field_name(name) };
            self.argument(&name, code_of(*mark));
        }
    }
}

/// The name of a field.
pub(crate) fn name_of<'m>(meta: &'m Metadata<'_>, mark: u32) -> &'m str {
    meta.fields().iter().nth((mark >> 8) as usize).map_or("", |field| field.name())
}

/// Its code in a signature.
fn code_of(mark: u32) -> &'static str {
    match mark as u8 {
        b'l' => "l",
        b'L' => "L",
        b'o' => "o",
        b'O' => "O",
        b'd' => "d",
        b'b' => "b",
        b's' => "s",
        b'y' => "y",
        b'[' => "[s",
        b'v' => "v",
        _ => "n",
    }
}
