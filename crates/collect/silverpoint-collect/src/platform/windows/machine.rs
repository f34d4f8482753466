use std::hash::{BuildHasher, Hasher, RandomState};

/// Its name.
pub(crate) fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// A random number.
pub(crate) fn random() -> Option<[u8; 16]> {
    // The keys of each are random.
    let half = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&half());
    bytes[8..].copy_from_slice(&half());
    Some(bytes)
}
