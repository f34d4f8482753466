//! Signatures as constants: made of parts when the program is compiled, written out when a site is registered.

/// A signature, or a part of one (spec/wire.md, section 10).
#[derive(Clone, Copy, Debug)]
pub enum Sig {
    /// Code as it stands in the signature.
    Text(&'static str),
    /// A name, which is escaped.
    Name(&'static str),
    /// A decimal number.
    Number(i128),
    /// One after the other.
    List(&'static [Sig]),
}

impl Sig {
    /// Calls `give` with the pieces of the signature's text.
    pub fn each(&self, give: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Text(text) => give(text.as_bytes()),
            Self::Name(name) => escape(name, give),
            Self::Number(number) => give(decimal(*number).text()),
            Self::List(parts) => parts.iter().for_each(|part| part.each(give)),
        }
    }

    /// A number that differs between signatures, but for accidents. Never 0.
    pub const fn hash(&self) -> u32 {
        let hash = self.mix(0xcbf2_9ce4_8422_2325);
        ((hash >> 32) ^ hash) as u32 | 1
    }

    const fn mix(&self, mut hash: u64) -> u64 {
        match self {
            Self::Text(text) => mix_bytes(mix_byte(hash, 1), text.as_bytes()),
            Self::Name(name) => mix_bytes(mix_byte(hash, 2), name.as_bytes()),
            Self::Number(number) => mix_bytes(mix_byte(hash, 3), &number.to_le_bytes()),
            Self::List(parts) => {
                // Not the nesting, only the content: the text is what counts.
                let mut i = 0;
                while i < parts.len() {
                    hash = parts[i].mix(hash);
                    i += 1;
                }
                hash
            }
        }
    }
}

const fn mix_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

const fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = mix_byte(hash, bytes[i]);
        i += 1;
    }
    hash
}

/// `% | : , ; = > <` and everything outside printable ASCII as `%HH`.
fn escape(name: &str, give: &mut dyn FnMut(&[u8])) {
    for byte in name.bytes() {
        let (bytes, len) = escaped(byte);
        give(&bytes[..len]);
    }
}

/// One byte of a name: as many of these.
pub(crate) const fn escaped(byte: u8) -> ([u8; 3], usize) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if matches!(byte, b'%' | b'|' | b':' | b',' | b';' | b'=' | b'>' | b'<') || byte < 0x20 || byte > 0x7e {
        ([b'%', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]], 3)
    } else {
        ([byte, 0, 0], 1)
    }
}

/// A number's digits.
pub(crate) struct Decimal {
    bytes: [u8; 40],
    at: usize,
}

impl Decimal {
    pub(crate) const fn text(&self) -> &[u8] {
        self.bytes.split_at(self.at).1
    }
}

pub(crate) const fn decimal(number: i128) -> Decimal {
    let mut bytes = [0u8; 40];
    let mut at = bytes.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        bytes[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        bytes[at] = b'-';
    }
    Decimal { bytes, at }
}

/// What a value is to a placeholder's specification: of a container, what its elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integers.
    Integer,
    /// Floating point numbers.
    Float,
    /// Texts.
    Text,
    /// `bool`.
    Boolean,
    /// `char`.
    Character,
    /// Raw pointers.
    Pointer,
    /// Enums without data.
    Enumeration,
    /// Records, tuples, times and everything else that has no specification but width and `?`.
    Other,
}

/// The sum, when every part has a fixed size.
pub const fn fixed_sum(parts: &[Option<usize>]) -> Option<usize> {
    let mut sum = 0;
    let mut i = 0;
    while i < parts.len() {
        match parts[i] {
            Some(size) => sum += size,
            None => return None,
        }
        i += 1;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sig: Sig) -> String {
        let mut bytes = Vec::new();
        sig.each(&mut |piece| bytes.extend_from_slice(piece));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn parts_become_text() {
        const SIG: Sig = Sig::List(&[
            Sig::Text("<"),
            Sig::Name("a<b>:ä%"),
            Sig::Text("|"),
            Sig::Number(i128::MIN),
            Sig::Number(0),
            Sig::List(&[Sig::Text(">")]),
        ]);
        assert_eq!(text(SIG), "<a%3Cb%3E%3A%C3%A4%25|-1701411834604692317316873037158841057280>");
    }

    #[test]
    fn hashes_tell_signatures_apart() {
        const A: u32 = Sig::List(&[Sig::Text("l"), Sig::Text("d")]).hash();
        const B: u32 = Sig::List(&[Sig::Text("d"), Sig::Text("l")]).hash();
        const C: u32 = Sig::List(&[Sig::List(&[Sig::Text("l")]), Sig::Text("d")]).hash();
        assert_ne!(A, B);
        assert_eq!(A, C);
        assert_ne!(A, 0);
        assert_eq!(fixed_sum(&[Some(1), Some(2)]), Some(3));
        assert_eq!(fixed_sum(&[Some(1), None]), None);
    }
}
