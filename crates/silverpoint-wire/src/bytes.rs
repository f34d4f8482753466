//! Little-endian reads that cannot fail by panicking: `None` beyond the end.

/// The `N` bytes at `at`.
#[inline]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

macro_rules! readers {
    ($($name:ident: $type:ty),*) => {$(
        /// The little-endian integer at `at`.
        #[inline]
        pub fn $name(bytes: &[u8], at: usize) -> Option<$type> {
            array(bytes, at).map(<$type>::from_le_bytes)
        }
    )*};
}

readers!(u16_at: u16, u32_at: u32, u64_at: u64);

/// The next multiple of 8.
#[inline]
pub const fn round_up_8(size: usize) -> usize {
    (size + 7) & !7
}
