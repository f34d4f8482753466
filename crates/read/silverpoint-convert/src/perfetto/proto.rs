//! Messages of protocol buffers, written without a tree: a submessage gets room for its length, which is filled in when it ends.

/// Bytes of a length that is filled in later: a varint that is longer than it need be, which every decoder takes.
const LENGTH: usize = 4;
/// The longest submessage whose length that holds.
const LONGEST: usize = (1 << (7 * LENGTH)) - 1;

/// Bytes of a message.
#[derive(Debug, Default)]
pub(crate) struct Proto {
    pub(crate) bytes: Vec<u8>,
}

/// A submessage that is open.
#[derive(Debug)]
#[must_use]
pub(crate) struct Open(usize);

impl Proto {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint((field << 3 | wire).into());
    }

    /// Of `uint32`, `uint64`, `bool`, enumerations; of `int32` and `int64` in two's complement.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        self.varint(value);
    }

    /// Of `fixed64`.
    pub(crate) fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Of `double`.
    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// Of `string`, `bytes`, and of a message that is there already.
    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Begins a submessage.
    pub(crate) fn begin(&mut self, field: u32) -> Open {
        self.tag(field, 2);
        self.bytes.extend_from_slice(&[0; LENGTH]);
        Open(self.bytes.len())
    }

    /// Ends it; false, and it is gone, when it is longer than 256 MiB.
    pub(crate) fn end(&mut self, open: Open) -> bool {
        let len = self.bytes.len() - open.0;
        let is_held = len <= LONGEST;
        if !is_held {
            self.bytes.truncate(open.0);
        }
        let mut rest = if is_held { len } else { 0 };
        let bytes = self.bytes[open.0 - LENGTH..open.0].iter_mut();
        for (at, byte) in bytes.enumerate() {
            *byte = (rest & 0x7F) as u8 | if at + 1 < LENGTH { 0x80 } else { 0 };
            rest >>= 7;
        }
        is_held
    }
}

#[cfg(test)]
mod tests {
    use super::Proto;

    #[test]
    fn lengths_are_filled_in() {
        let mut proto = Proto::default();
        let outer = proto.begin(1);
        proto.number(2, 300);
        let inner = proto.begin(16);
        proto.bytes(3, &[7; 200]);
        assert!(proto.end(inner));
        assert!(proto.end(outer));
        // Field 1, 212 bytes; field 2, 300; field 16 of 203 bytes; field 3 of 200.
        let head = [
            0x0A, 0xD4, 0x81, 0x80, 0x00, 0x10, 0xAC, 0x02, 0x82, 0x01, 0xCB, 0x81, 0x80, 0x00, 0x1A, 0xC8,
            0x01, 7,
        ];
        assert_eq!(proto.bytes[..head.len()], head);
        assert_eq!(proto.bytes.len(), 5 + 0xD4);
    }
}
