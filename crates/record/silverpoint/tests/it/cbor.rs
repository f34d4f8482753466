//! CBOR items as text, in the notation of RFC 8949: strict, so that what is malformed fails the test.

/// One item, which must be all of the bytes.
pub fn text(item: &[u8]) -> String {
    let mut reader = Reader { bytes: item, out: String::new() };
    assert!(reader.item(), "a break, and no item");
    assert!(reader.bytes.is_empty(), "{} and {} bytes more", reader.out, reader.bytes.len());
    reader.out
}

struct Reader<'b> {
    bytes: &'b [u8],
    out: String,
}

impl<'b> Reader<'b> {
    fn take(&mut self, n: usize) -> &'b [u8] {
        let (taken, rest) = self.bytes.split_at_checked(n).expect("the item ends early");
        self.bytes = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// `false`: it was the break.
    fn item(&mut self) -> bool {
        let first = self.take(1)[0];
        let (major, low) = (first >> 5, first & 31);
        let number = match low {
            0..24 => u64::from(low),
            24..28 => self.number(1 << (low - 24)),
            31 if matches!(major, 4 | 5 | 7) => 0,
            _ => panic!("first byte {first:#x}"),
        };
        match major {
            0 => self.out += &number.to_string(),
            1 => self.out += &(-1 - i128::from(number)).to_string(),
            2 => {
                let bytes = self.take(number as usize);
                self.out +=
                    &format!("h'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            }
            3 => {
                let text = std::str::from_utf8(self.take(number as usize)).expect("text is UTF-8");
                self.out += &format!("{text:?}");
            }
            4 | 5 => {
                // Only metadata has a length: a pair of the metadata and its value.
                let mut left = if low == 31 { u64::MAX } else { number };
                assert!(low == 31 || (major, number) == (4, 2), "every other list and map ends with a break");
                self.out.push(if major == 4 { '[' } else { '{' });
                let mut first = true;
                loop {
                    let before = self.out.len();
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    if !first {
                        self.out += ", ";
                    }
                    first = false;
                    if !self.item() {
                        self.out.truncate(before);
                        break;
                    }
                    if major == 5 {
                        self.out += ": ";
                        assert!(self.item(), "a key without a value");
                    }
                }
                self.out.push(if major == 4 { ']' } else { '}' });
            }
            6 => {
                self.out += &format!("{number}(");
                assert!(self.item(), "a tag of nothing");
                self.out.push(')');
            }
            _ => match low {
                20 => self.out += "false",
                21 => self.out += "true",
                22 => self.out += "null",
                26 => self.out += &format!("{:?}_f32", f32::from_bits(number as u32)),
                27 => self.out += &format!("{:?}", f64::from_bits(number)),
                31 => return false,
                _ => panic!("simple value {low}"),
            },
        }
        true
    }
}
