//! Values of which nothing is known beforehand.

use crate::copy::BIGNUM_MAX;
use crate::{CborSink, CborSource, Error, JsonSink, Put, Sink, Source, Take, copy};

/// Any value, kept as CBOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Any(Vec<u8>);

impl Default for Any {
    /// Null.
    fn default() -> Self {
        Self(vec![0xF6])
    }
}

impl Any {
    /// As CBOR: one item. What was read from CBOR is kept byte for byte, tags included.
    pub fn as_cbor(&self) -> &[u8] {
        &self.0
    }

    /// What a value comes to.
    pub fn of<T: Put + ?Sized>(value: &T) -> Self {
        Self(crate::to_cbor(value))
    }

    /// It as a type.
    ///
    /// # Errors
    /// It is none of this type; offsets are those in [`Any::as_cbor`].
    pub fn to<T: Take>(&self) -> Result<T, Error> {
        crate::from_cbor(&self.0)
    }
}

impl Put for Any {
    fn put<S: Sink>(&self, sink: &mut S) {
        // What is kept was copied when it was read: it can be copied.
        if copy(&mut CborSource::new(&self.0), sink).is_err() {
            sink.null();
        }
    }
}

impl Take for Any {
    fn take<S: Source>(source: &mut S) -> Result<Self, Error> {
        let at = source.position()?;
        let mut sink = CborSink::new(Vec::new());
        copy(source, &mut sink)?;
        let item = sink.into_bytes();
        // Writing cannot fail: what JSON cannot say is refused here. That is an integer of more than 1024 bytes.
        let may_be_large = item.len() > BIGNUM_MAX && item.iter().any(|byte| matches!(byte, 0xC2 | 0xC3));
        if may_be_large {
            copy(&mut CborSource::new(&item), &mut JsonSink::default())
                .map_err(|error| source.error(at, error.found().to_owned(), error.expected().to_owned()))?;
        }
        Ok(Self(item))
    }
}

/// Members that a type does not know, in the order in which they came: the type of the member that is marked `#[bind(rest)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest(Vec<(String, Any)>);

impl Rest {
    /// Names and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Any)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// That of a name.
    pub fn get(&self, name: &str) -> Option<&Any> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Adds one, behind the others; one of the same name is replaced.
    pub fn insert(&mut self, name: String, value: Any) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    #[doc(hidden)]
    pub fn put_members<S: Sink>(&self, sink: &mut S) {
        for (name, value) in &self.0 {
            sink.member(name);
            value.put(sink);
        }
    }

    #[doc(hidden)]
    pub fn take_member<S: Source>(&mut self, name: String, source: &mut S) -> Result<(), Error> {
        // Whether it came before is looked at in the end, of all together.
        let value = Any::take(source).map_err(|error| error.in_member(&name))?;
        self.0.push((name, value));
        Ok(())
    }

    #[doc(hidden)]
    pub fn check<S: Source>(&self, source: &S) -> Result<(), Error> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(source.repeated(pair[0])),
            None => Ok(()),
        }
    }
}
