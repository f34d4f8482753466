//! Key-values of a record, with their types.

use std::error::Error;

use log::Record;
use log::kv::{self, Key, Value, VisitSource, VisitValue};
use silverpoint::dynamic::{self, Encoder, Located, Recorded};

/// Pairs of a record that are recorded; a signature has no more than 255 arguments.
const MOST: usize = 250;

/// Tells shapes apart: keys and types.
fn mix(shape: u64, key: &str, code: &str) -> u64 {
    let bytes = key.bytes().chain([0]).chain(code.bytes());
    bytes.fold(shape, |shape, byte| (shape ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Puts pairs into a record.
struct Encode<'e, 'w> {
    encoder: &'e mut Encoder<'w>,
    shape: u64,
    count: usize,
}

/// Puts one value, and says its code.
struct One<'e, 'w>(&'e mut Encoder<'w>, &'static str);

macro_rules! values {
    ($($method:ident $kind:ty, $code:literal $put:ident;)*) => {$(
        fn $method(&mut self, value: $kind) -> Result<(), kv::Error> {
            self.0.$put(value);
            self.1 = $code;
            Ok(())
        }
    )*};
}

impl<'v> VisitValue<'v> for One<'_, '_> {
    values! {
        visit_u64 u64, "L" u64;
        visit_i64 i64, "l" i64;
        visit_u128 u128, "O" u128;
        visit_i128 i128, "o" i128;
        visit_f64 f64, "d" f64;
        visit_bool bool, "b" bool;
        visit_char char, "W" char;
        visit_str &str, "s" text;
        visit_error &(dyn Error + 'static), "[s" error;
        visit_borrowed_error &'v (dyn Error + 'static), "[s" error;
    }

    fn visit_any(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        self.0.formatted(format_args!("{value}"));
        self.1 = "s";
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        self.1 = "n";
        Ok(())
    }
}

impl<'kvs> VisitSource<'kvs> for Encode<'_, '_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        if self.count < MOST {
            let mut one = One(self.encoder, "n");
            value.visit(&mut one)?;
            self.shape = mix(self.shape, key.as_str(), one.1);
            self.count += 1;
        }
        Ok(())
    }
}

/// Describes pairs: encodes them into nothing, for their codes.
struct Describe {
    names: String,
    signature: String,
    count: usize,
}

impl<'kvs> VisitSource<'kvs> for Describe {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        if self.count < MOST {
            let mut code = "n";
            let mut outcome = Ok(());
            // Whether it had room is of no interest.
            let _ = dynamic::encode(&mut [], |encoder| {
                let mut one = One(encoder, "n");
                outcome = value.visit(&mut one);
                code = one.1;
            });
            outcome?;
            self.names.extend(key.as_str().chars().filter(|character| *character != '\n'));
            self.names.push('\n');
            self.signature.push_str(code);
            self.count += 1;
        }
        Ok(())
    }
}

/// Records a text with its pairs.
pub(crate) fn record(located: &Located, level: u8, record: &Record<'_>) {
    let fill = |encoder: &mut Encoder<'_>| {
        encoder.formatted(*record.args());
        let mut encode = Encode { encoder, shape: 0xcbf2_9ce4_8422_2325, count: 0 };
        // A source that fails has given what it gave.
        let _ = record.key_values().visit(&mut encode);
        (encode.shape >> 32 ^ encode.shape) as u32 | 1
    };
    let mut first = 0;
    let recorded = dynamic::record(level, |encoder| {
        first = fill(encoder);
        located.with_fields(first)
    });
    if recorded != Recorded::GivenUp {
        return;
    }
    // The first of its shape, or of a place with more shapes than are remembered.
    let mut describe = Describe { names: "\n".to_owned(), signature: "s".to_owned(), count: 0 };
    let _ = record.key_values().visit(&mut describe);
    let id = located.learn(first, &describe.names, &describe.signature);
    let mut again = Recorded::GivenUp;
    if id != 0 {
        again = dynamic::record(level, |encoder| (fill(encoder) == first).then_some(id));
    }
    if again == Recorded::GivenUp {
        dynamic::lose_without_site();
    }
}
