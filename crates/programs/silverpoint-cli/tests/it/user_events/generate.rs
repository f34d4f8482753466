//! Types, and values of them with their edges. The same seed gives the same ones.

use silverpoint_wire::signature::{Enumeration, Record, Tuple, Type};

pub struct Source(u64);

impl Source {
    pub fn new(seed: u64) -> Source {
        Source(seed * 2 + 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn one_of(&mut self, of: &[Type]) -> Type {
        of[self.below(of.len())].clone()
    }

    fn integer(&mut self) -> Type {
        let bits = self.pick(&[8, 16, 32, 64, 64, 128]);
        Type::Int { bits, signed: self.below(2) == 0 }
    }

    /// As deep as `depth`.
    pub fn kind(&mut self, depth: usize) -> Type {
        let inner = |source: &mut Source| Box::new(source.kind(depth - 1));
        match self.below(if depth == 0 { 20 } else { 32 }) {
            0..5 => self.integer(),
            5 => Type::Bool,
            6 => Type::Float32,
            7 => Type::Float64,
            8 => self.one_of(&[Type::Char8, Type::Char16, Type::Char32]),
            9 => Type::Pointer,
            10..13 => Type::Text8,
            13 => Type::Text16,
            14 => Type::Text32,
            15 => Type::Bytes,
            16 => Type::Uuid,
            17 => self.one_of(&[Type::Time, Type::Duration]),
            18 => match self.below(3) {
                0 => Type::Null,
                1 => Type::Any,
                _ => Type::Bool,
            },
            19 => self.enumeration(),
            20..23 => Type::Optional(inner(self)),
            23..25 => Type::Sequence(inner(self)),
            25 => Type::Set(inner(self)),
            26 => Type::Array(self.below(4) as u32, inner(self)),
            // Of a map each key is there once: readers of JSON keep one of equal ones.
            27 => Type::Map(Box::new(Type::Text8), inner(self)),
            28 => {
                let count = self.below(4);
                Type::Tuple(Box::new(Tuple::new((0..count).map(|_| self.kind(depth - 1)).collect())))
            }
            29 => {
                let names = ["x", "y", "odd; name", "\u{fc}\u{4e16}", "x_present", "%|:,<>"];
                let count = self.below(names.len() + 1);
                let fields = names[..count].iter().map(|name| (name.to_string(), self.kind(depth - 1)));
                let fields = fields.collect();
                Type::Record(Box::new(Record::new("Record".to_owned(), fields)))
            }
            30 => Type::Variant((0..self.below(3)).map(|_| self.kind(depth - 1)).collect()),
            _ => {
                let key = self.pick(&["hex", "unit"]);
                Type::Meta(key.to_owned(), "ms".to_owned(), inner(self))
            }
        }
    }

    fn enumeration(&mut self) -> Type {
        let over = match self.below(8) {
            0 => Type::Bool,
            1 => self.one_of(&[Type::Char8, Type::Char16, Type::Char32]),
            // (JSON shows a large one of 64 bits without a label as negative.)
            2 => Type::Int { bits: 64, signed: true },
            _ => Type::Int { bits: self.pick(&[8, 16, 32]), signed: self.below(2) == 0 },
        };
        let labels = [(0, "none"), (1, "one; \"two\""), (97, "\u{fc},=;"), (127, "")];
        let count = self.below(labels.len());
        let labels = labels[..count].iter().map(|(value, label)| (*value, label.to_string())).collect();
        Type::Enumeration(Box::new(Enumeration::new("Kind".to_owned(), over, labels)))
    }

    fn edge(&mut self, size: usize, out: &mut Vec<u8>) {
        let bytes = match self.below(6) {
            0 => [0; 16],
            1 => [0xFF; 16],
            2 => 1u128.to_le_bytes(),
            3 => (1u128 << (8 * size - 1)).to_le_bytes(),
            4 => ((1u128 << (8 * size - 1)) - 1).to_le_bytes(),
            _ => std::array::from_fn(|_| self.below(256) as u8),
        };
        out.extend_from_slice(&bytes[..size]);
    }

    fn text(&mut self) -> &'static str {
        self.pick(&[
            "",
            "a",
            "text \"quoted\"\n",
            "Gr\u{fc}\u{df}e \u{2713} \u{1F600}",
            "a\0b\\",
            "#5",
            "null",
        ])
    }

    /// A value, packed.
    pub fn value(&mut self, of: &Type, out: &mut Vec<u8>) {
        let length = |out: &mut Vec<u8>, count: usize| out.extend_from_slice(&(count as u32).to_le_bytes());
        match of {
            Type::Null => {}
            Type::Bool => out.push(self.below(2) as u8),
            Type::Float32 => {
                let value =
                    self.pick(&[0.0, -0.0, 1.5, -0.1, f32::MAX, f32::MIN_POSITIVE, f32::NAN, f32::INFINITY]);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Type::Float64 => {
                let value =
                    self.pick(&[0.0, 0.1, -1e300, 5e-324, f64::MAX, f64::NAN, f64::NEG_INFINITY, 1e16]);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Type::Text8 => {
                let text = self.text();
                length(out, text.len());
                out.extend_from_slice(text.as_bytes());
            }
            Type::Text16 => {
                let units: Vec<u16> = self.text().encode_utf16().collect();
                length(out, units.len());
                out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            }
            Type::Text32 => {
                let units: Vec<u32> = self.text().chars().map(u32::from).collect();
                length(out, units.len());
                out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            }
            Type::Bytes => {
                let count = self.pick(&[0, 1, 7, 300]);
                length(out, count);
                out.extend((0..count).map(|_| self.below(256) as u8));
            }
            Type::Any => {
                let items: [&[u8]; 6] = [
                    b"\xf6",
                    b"\x18\x2a",
                    b"\xa1\x61a\x83\x01\xf9\xc1\x00\xf6",
                    b"\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a",
                    b"\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
                    b"\x64text",
                ];
                let item = self.pick(&items);
                length(out, item.len());
                out.extend_from_slice(item);
            }
            Type::Optional(inner) => {
                let is_there = self.below(3) != 0;
                out.push(u8::from(is_there));
                if is_there {
                    self.value(inner, out);
                }
            }
            Type::Sequence(inner) | Type::Set(inner) => {
                let count = self.pick(&[0, 1, 2, 5]);
                length(out, count);
                (0..count).for_each(|_| self.value(inner, out));
            }
            Type::Array(count, inner) => (0..*count).for_each(|_| self.value(inner, out)),
            Type::Map(_, inner) => {
                let keys = ["a", "", "b \"c\""];
                let count = self.below(keys.len() + 1);
                length(out, count);
                for key in &keys[..count] {
                    length(out, key.len());
                    out.extend_from_slice(key.as_bytes());
                    self.value(inner, out);
                }
            }
            Type::Tuple(tuple) => tuple.types().iter().for_each(|of| self.value(of, out)),
            Type::Record(record) => record.fields().iter().for_each(|(_, of)| self.value(of, out)),
            Type::Enumeration(enumeration) => match self.below(3) {
                // One that may have a label.
                0 => {
                    let size = enumeration.underlying().fixed_size().unwrap();
                    out.push(self.pick(&[0, 1]));
                    out.extend(std::iter::repeat_n(0, size - 1));
                }
                _ => self.value(enumeration.underlying(), out),
            },
            Type::Variant(all) => match self.below(all.len() + 1) {
                index if index < all.len() => {
                    out.push(index as u8);
                    self.value(&all[index], out);
                }
                _ => out.push(255),
            },
            Type::Meta(_, _, inner) => self.value(inner, out),
            of => {
                let size = of.fixed_size().unwrap();
                self.edge(size, out);
            }
        }
    }
}
