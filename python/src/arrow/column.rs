//! Columns while they are filled, laid out as Arrow wants them (little-endian, the only order that this runs on).

use std::collections::HashMap;
use std::ffi::CStr;

use silverpoint_query::columns::Kind;

/// Name and type of a column.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_nullable: bool,
}

/// As the interface writes a type.
pub(crate) fn format(kind: Kind) -> &'static CStr {
    match kind {
        Kind::Bool => c"b",
        Kind::Int => c"l",
        Kind::Small => c"I",
        Kind::Float => c"g",
        Kind::Text | Kind::Json => c"u",
        Kind::Bytes => c"z",
        // The type of the indices.
        Kind::Word => c"i",
        Kind::Time => c"tsu:UTC",
    }
}

/// One column of one batch.
pub(crate) struct Column {
    data: Data,
    len: usize,
    nulls: usize,
    /// One bit a value, once there is one without.
    validity: Option<Vec<u8>>,
    /// The first number that it cannot hold: it has a null in its place.
    too_large: Option<u64>,
}

/// Values.
pub(crate) enum Data {
    Bits(Vec<u8>),
    Words4(Vec<u32>),
    Words8(Vec<u64>),
    Var { offsets: Vec<i32>, bytes: Vec<u8> },
    Dictionary { indices: Vec<u32>, values: Box<Data>, known: HashMap<Box<str>, u32> },
}

impl Data {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bits(Vec::new()),
            Kind::Small => Self::Words4(Vec::new()),
            Kind::Int | Kind::Float | Kind::Time => Self::Words8(Vec::new()),
            Kind::Text | Kind::Json | Kind::Bytes => Self::Var { offsets: vec![0], bytes: Vec::new() },
            Kind::Word => Self::Dictionary {
                indices: Vec::new(),
                values: Box::new(Self::new(Kind::Text)),
                known: HashMap::new(),
            },
        }
    }

    /// Gives the address of each buffer behind that of validity.
    pub(crate) fn buffers(&self, give: &mut dyn FnMut(*const u8)) {
        match self {
            Self::Bits(bits) => give(bits.as_ptr()),
            Self::Words4(words) | Self::Dictionary { indices: words, .. } => give(words.as_ptr().cast()),
            Self::Words8(words) => give(words.as_ptr().cast()),
            Self::Var { offsets, bytes } => {
                give(offsets.as_ptr().cast());
                give(bytes.as_ptr());
            }
        }
    }

    /// Of words that repeat: how many there are, and which.
    pub(crate) fn take_dictionary(&mut self) -> Option<(usize, Data)> {
        match self {
            Self::Dictionary { values, known, .. } => {
                Some((known.len(), std::mem::replace(values, Data::Bits(Vec::new()))))
            }
            _ => None,
        }
    }

    fn push_bytes(&mut self, value: &[u8]) {
        if let Self::Var { offsets, bytes } = self {
            bytes.extend_from_slice(value);
            // Batches end long before.
            offsets.push(bytes.len() as i32);
        }
    }
}

impl Column {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { data: Data::new(kind), len: 0, nulls: 0, validity: None, too_large: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn nulls(&self) -> usize {
        self.nulls
    }

    pub(crate) fn into_parts(self) -> (Data, Option<Vec<u8>>) {
        (self.data, self.validity)
    }

    /// Bytes of texts.
    pub(crate) fn bytes(&self) -> usize {
        match &self.data {
            Data::Var { bytes, .. } => bytes.len(),
            Data::Dictionary { values, .. } => match &**values {
                Data::Var { bytes, .. } => bytes.len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    pub(crate) fn too_large(&self) -> Option<u64> {
        self.too_large
    }

    fn is_there(&mut self, is_there: bool) {
        if !is_there && self.validity.is_none() {
            let mut bits = vec![0xFF; self.len / 8];
            if !self.len.is_multiple_of(8) {
                bits.push((1 << (self.len % 8)) - 1);
            }
            self.validity = Some(bits);
        }
        if let Some(bits) = &mut self.validity {
            push_bit(bits, self.len, is_there);
        }
        self.nulls += usize::from(!is_there);
        self.len += 1;
    }

    pub(crate) fn null(&mut self) {
        match &mut self.data {
            Data::Bits(bits) => push_bit(bits, self.len, false),
            Data::Words4(words) | Data::Dictionary { indices: words, .. } => words.push(0),
            Data::Words8(words) => words.push(0),
            Data::Var { .. } => self.data.push_bytes(&[]),
        }
        self.is_there(false);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        if let Data::Bits(bits) = &mut self.data {
            push_bit(bits, self.len, value);
        }
        self.is_there(true);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        if let Data::Words4(words) = &mut self.data {
            words.push(value);
        }
        self.is_there(true);
    }

    /// A value of 64 bits, of any meaning.
    pub(crate) fn bits(&mut self, value: u64) {
        if let Data::Words8(words) = &mut self.data {
            words.push(value);
        }
        self.is_there(true);
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.bits(value.cast_unsigned());
    }

    pub(crate) fn unsigned(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.int(value),
            Err(_) => {
                self.too_large.get_or_insert(value);
                self.null();
            }
        }
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.octets(value.as_bytes());
    }

    pub(crate) fn octets(&mut self, value: &[u8]) {
        self.data.push_bytes(value);
        self.is_there(true);
    }

    /// A text that repeats.
    pub(crate) fn word(&mut self, value: &str) {
        if let Data::Dictionary { indices, values, known } = &mut self.data {
            let index = match known.get(value) {
                Some(index) => *index,
                None => {
                    let index = known.len() as u32;
                    known.insert(value.into(), index);
                    values.push_bytes(value.as_bytes());
                    index
                }
            };
            indices.push(index);
        }
        self.is_there(true);
    }
}

fn push_bit(bits: &mut Vec<u8>, at: usize, value: bool) {
    if at.is_multiple_of(8) {
        bits.push(0);
    }
    if let Some(last) = bits.last_mut() {
        *last |= u8::from(value) << (at % 8);
    }
}
