//! What values are written to.

/// A member's name, as formats want it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name.
    pub name: &'static str,
    /// As a JSON string, and a colon.
    pub json: &'static str,
}

/// Takes one value: a scalar, or a container from its beginning to its end. The order of calls is that of the
/// value; with another order the output is useless.
pub trait Sink {
    /// No value.
    fn null(&mut self);
    /// A truth value.
    fn bool(&mut self, value: bool);
    /// An integer.
    fn i64(&mut self, value: i64);
    /// An integer.
    fn u64(&mut self, value: u64);
    /// An integer.
    fn i128(&mut self, value: i128);
    /// An integer.
    fn u128(&mut self, value: u128);
    /// A float.
    fn f32(&mut self, value: f32);
    /// A float.
    fn f64(&mut self, value: f64);
    /// Text.
    fn text(&mut self, text: &str);
    /// Bytes.
    fn bytes(&mut self, bytes: &[u8]);
    /// A UUID.
    fn uuid(&mut self, uuid: [u8; 16]);
    /// A date-time: seconds since 1970-01-01T00:00Z, and nanoseconds of the second.
    fn time(&mut self, seconds: i64, nanoseconds: u32);

    /// Whether [`Sink::item`] takes items of CBOR.
    fn takes_items(&self) -> bool {
        false
    }
    /// An item of CBOR as it is.
    fn item(&mut self, _item: &[u8]) {}
    /// Whether [`Sink::digits`] takes numbers of JSON.
    fn takes_digits(&self) -> bool {
        false
    }
    /// A number of JSON as it is.
    fn digits(&mut self, _digits: &str) {}

    /// An array begins, of so many elements if that is known.
    fn begin_array(&mut self, len: Option<usize>);
    /// Before each element.
    fn element(&mut self);
    /// The array is complete.
    fn end_array(&mut self);
    /// An object begins, of so many members if that is known.
    fn begin_object(&mut self, len: Option<usize>);
    /// Before each member's value: its name.
    fn member(&mut self, name: &str);
    /// As [`Sink::member`], of a name that is known beforehand.
    #[inline]
    fn field(&mut self, key: Key) {
        self.member(key.name);
    }
    /// The object is complete.
    fn end_object(&mut self);
}

/// A value that can be written.
pub trait Put {
    /// Writes it.
    fn put<S: Sink>(&self, sink: &mut S);

    /// It as the key of a map, if it is a text.
    fn key(&self) -> Option<&str> {
        None
    }
    /// Whether all values of the type are texts: maps of such keys are objects.
    const IS_TEXT: bool = false;
}
