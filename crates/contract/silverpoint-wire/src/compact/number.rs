//! Numbers: LEB128, zigzag, and integers of 2, 4 or 8 bytes.

/// Appends a number of this width (higher bits do not count) so that small magnitudes are short.
pub(super) fn push_number(value: u64, size: usize, signed: bool, out: &mut Vec<u8>) {
    let shift = 64 - 8 * size as u32;
    if signed {
        push_varint(zigzag((value << shift) as i64 >> shift), out);
    } else {
        push_varint(value & mask(size), out);
    }
}

pub(super) fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size as u32)
}

pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(super) fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the low `size` bytes.
#[inline]
pub(super) fn push_le(value: u64, size: usize, out: &mut Vec<u8>) {
    match size {
        8 => out.extend_from_slice(&value.to_le_bytes()),
        4 => out.extend_from_slice(&(value as u32).to_le_bytes()),
        _ => out.extend_from_slice(&(value as u16).to_le_bytes()),
    }
}
