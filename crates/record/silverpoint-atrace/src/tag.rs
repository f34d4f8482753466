//! Tags: which part of a system something belongs to, as bits of a mask.

use std::ops::BitOr;

/// A tag, or several. Numbers and names are Android's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u64);

macro_rules! tags {
    ($($constant:ident $bit:literal $name:literal;)*) => {
        #[allow(missing_docs)]
        impl Tag {
            $(pub const $constant: Self = Self(1 << $bit);)*
        }
        /// Bit and category of each.
        pub(crate) const NAMES: &[(u8, &str)] = &[$(($bit, concat!("atrace::", $name)),)*];
    };
}

tags! {
    ALWAYS 0 "always";
    GRAPHICS 1 "gfx";
    INPUT 2 "input";
    VIEW 3 "view";
    WEBVIEW 4 "webview";
    WINDOW_MANAGER 5 "wm";
    ACTIVITY_MANAGER 6 "am";
    SYNC_MANAGER 7 "sm";
    AUDIO 8 "audio";
    VIDEO 9 "video";
    CAMERA 10 "camera";
    HAL 11 "hal";
    APP 12 "app";
    RESOURCES 13 "res";
    DALVIK 14 "dalvik";
    RS 15 "rs";
    BIONIC 16 "bionic";
    POWER 17 "power";
    PACKAGE_MANAGER 18 "pm";
    SYSTEM_SERVER 19 "ss";
    DATABASE 20 "database";
    NETWORK 21 "network";
    ADB 22 "adb";
    VIBRATOR 23 "vibrator";
    AIDL 24 "aidl";
    NNAPI 25 "nnapi";
    RRO 26 "rro";
    THERMAL 27 "thermal";
}

impl Tag {
    /// Its bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The category of its records: that of the lowest bit.
    pub(crate) fn category(self) -> &'static str {
        let bit = self.0.trailing_zeros() as usize;
        NAMES.get(bit).map_or("atrace", |(_, name)| name)
    }
}

impl BitOr for Tag {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// All bits that mean something.
pub(crate) const VALID: u64 = (1 << NAMES.len()) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_names_are_androids() {
        assert!(NAMES.iter().enumerate().all(|(place, (bit, _))| place == usize::from(*bit)));
        assert_eq!((Tag::APP.bits(), Tag::THERMAL.bits(), VALID), (0x1000, 0x800_0000, 0xFFF_FFFF));
        assert_eq!((Tag::GRAPHICS | Tag::APP).bits(), 0x1002);
        assert_eq!(Tag::GRAPHICS.category(), "atrace::gfx");
    }
}
