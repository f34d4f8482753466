//! What values are read from.

use crate::Error;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value.
    Null,
    /// A truth value.
    Bool,
    /// An integer of up to 128 bits.
    Integer,
    /// Another number.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A UUID, where the format says so.
    Uuid,
    /// A date-time, where the format says so.
    Time,
    /// Elements in order.
    Array,
    /// Members with names.
    Object,
    /// Keys that are no texts, and values.
    Pairs,
}

/// An integer of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Below zero.
    Negative(i128),
    /// Zero and above.
    Positive(u128),
}

/// Gives one value after the other, by what is asked for: something else is an error that says where it stands.
pub trait Source {
    /// What comes next; nothing is taken.
    ///
    /// # Errors
    /// Broken input, as of all functions here.
    fn kind(&mut self) -> Result<Kind, Error>;
    /// Takes a null, if it comes next.
    ///
    /// # Errors
    /// As [`Source::kind`].
    fn null(&mut self) -> Result<bool, Error>;
    /// Takes a truth value.
    ///
    /// # Errors
    /// Something else stands there.
    fn bool(&mut self) -> Result<bool, Error>;
    /// Takes an integer between these.
    ///
    /// # Errors
    /// Something else stands there.
    fn i64(&mut self, least: i64, greatest: i64) -> Result<i64, Error>;
    /// Takes an integer.
    ///
    /// # Errors
    /// Something else stands there.
    fn u64(&mut self, greatest: u64) -> Result<u64, Error>;
    /// Takes an integer of up to 128 bits.
    ///
    /// # Errors
    /// Something else stands there.
    fn integer(&mut self) -> Result<Integer, Error>;
    /// Takes a number as a float; null and the texts of specials, too.
    ///
    /// # Errors
    /// Something else stands there.
    fn f64(&mut self) -> Result<f64, Error>;
    /// As [`Source::f64`], rounded once.
    ///
    /// # Errors
    /// Something else stands there.
    fn f32(&mut self) -> Result<f32, Error> {
        Ok(self.f64()? as f32)
    }
    /// Takes a text.
    ///
    /// # Errors
    /// Something else stands there.
    fn text(&mut self) -> Result<&str, Error>;
    /// Takes bytes.
    ///
    /// # Errors
    /// Something else stands there.
    fn bytes(&mut self) -> Result<Vec<u8>, Error>;
    /// Takes a UUID.
    ///
    /// # Errors
    /// Something else stands there.
    fn uuid(&mut self) -> Result<[u8; 16], Error>;
    /// Takes a date-time: seconds since 1970, nanoseconds of the second.
    ///
    /// # Errors
    /// Something else stands there.
    fn time(&mut self) -> Result<(i64, u32), Error>;

    /// Takes the next value as the item of CBOR that it is; `None`, and nothing is taken, of other formats.
    ///
    /// # Errors
    /// Broken input.
    fn item(&mut self) -> Result<Option<&[u8]>, Error> {
        Ok(None)
    }
    /// Whether [`Source::digits`] gives numbers.
    fn has_digits(&self) -> bool {
        false
    }
    /// Takes the number that comes next as JSON has it, digit by digit.
    ///
    /// # Errors
    /// Something else stands there; formats without digits say so always.
    fn digits(&mut self) -> Result<&str, Error> {
        let at = self.position()?;
        Err(self.unexpected(at, "a number"))
    }
    /// Whether the float that comes next has at most 32 bits.
    ///
    /// # Errors
    /// Broken input.
    fn is_single(&mut self) -> Result<bool, Error> {
        Ok(false)
    }
    /// Takes the bytes of an integer beyond 128 bits, the highest first, and whether it is negative: then it is one less than their opposite.
    /// `None`, and nothing is taken, of all others.
    ///
    /// # Errors
    /// Broken input.
    fn bignum(&mut self) -> Result<Option<(bool, &[u8])>, Error> {
        Ok(None)
    }

    /// An array begins; gives how many elements it has, where the format says it and that many can follow.
    ///
    /// # Errors
    /// Something else stands there, or it is nested too deep.
    fn begin_array(&mut self) -> Result<Option<usize>, Error>;
    /// Whether another element comes; at the end, the array is taken.
    ///
    /// # Errors
    /// Broken input.
    fn next_element(&mut self) -> Result<bool, Error>;
    /// An object begins, as [`Source::begin_array`].
    ///
    /// # Errors
    /// Something else stands there, or it is nested too deep.
    fn begin_object(&mut self) -> Result<Option<usize>, Error>;
    /// Takes the name of the next member; at the end, the object is taken.
    ///
    /// # Errors
    /// Broken input.
    fn next_member(&mut self) -> Result<Option<&str>, Error>;
    /// A map whose keys are no texts begins: keys and values come in turn, after each [`Source::next_pair`].
    ///
    /// # Errors
    /// Something else stands there; formats without such maps say so always.
    fn begin_pairs(&mut self) -> Result<Option<usize>, Error>;
    /// Whether another key comes.
    ///
    /// # Errors
    /// Broken input.
    fn next_pair(&mut self) -> Result<bool, Error>;
    /// Skips a value of any kind.
    ///
    /// # Errors
    /// Broken input.
    fn skip(&mut self) -> Result<(), Error>;

    /// Passes over the value of the member whose name was taken last.
    ///
    /// # Errors
    /// Broken input.
    fn skip_member(&mut self) -> Result<(), Error>;

    /// Offset of the value that comes next.
    ///
    /// # Errors
    /// Broken input.
    fn position(&mut self) -> Result<usize, Error>;
    /// Offset of the name that was taken last.
    fn name_position(&self) -> usize;
    /// Offset of the end of the object that was taken last.
    fn end_position(&self) -> usize;
    /// An error at an offset.
    fn error(&self, offset: usize, found: String, expected: String) -> Error;
    /// An error about the value at an offset.
    fn unexpected(&self, offset: usize, expected: &str) -> Error;

    /// A member that has no default is missing.
    #[cold]
    fn missing(&self, name: &str) -> Error {
        self.error(self.end_position(), format!("an object without `{name}`"), format!("the member `{name}`"))
    }
    /// The member whose name was taken last came before.
    #[cold]
    fn repeated(&self, name: &str) -> Error {
        let found = format!("the member `{name}` again");
        self.error(self.name_position(), found, "each member once".to_owned())
    }
    /// The member whose name was taken last is unknown.
    #[cold]
    fn unknown(&self, name: &str, known: &[&str]) -> Error {
        self.error(self.name_position(), format!("the member `{}`", cut(name)), one_of(known))
    }
}

/// "one of `a`, `b`".
#[cold]
pub fn one_of(names: &[&str]) -> String {
    format!("one of `{}`", names.join("`, `"))
}

/// The first 40 characters.
pub(crate) fn cut(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(at, _)| &text[..at])
}

/// A value that can be read.
pub trait Take: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// What stands there is none.
    fn take<S: Source>(source: &mut S) -> Result<Self, Error>;

    /// What a member without value is: none, but for optionals.
    fn absent() -> Option<Self> {
        None
    }

    /// It from the key of a map, if its type is that of texts; `None`: it is none of this type.
    fn from_key(_key: &str) -> Option<Self> {
        None
    }
    /// Whether all values of the type are texts: maps of such keys are objects.
    const IS_TEXT: bool = false;
}
