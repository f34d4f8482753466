//! UUIDs as text.

/// Appends a UUID: 8-4-4-4-12 hexadecimal digits.
pub fn push_uuid(out: &mut String, uuid: &[u8; 16]) {
    for (i, part) in [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].into_iter().enumerate()
    {
        if i > 0 {
            out.push('-');
        }
        crate::json::push_hex(out, part);
    }
}
