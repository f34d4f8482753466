//! Levels as types.

/// A level as a type, so that it is a constant where a record is made.
pub trait AtLevel {
    /// 0 trace to 5 fatal.
    const LEVEL: u8;
    /// Whether tracepoints of this level are compiled in.
    const COMPILED: bool;
}

/// The least level that is compiled in; 6: none.
const LEAST: u8 = if cfg!(feature = "max_level_off") {
    6
} else if cfg!(feature = "max_level_fatal") {
    5
} else if cfg!(feature = "max_level_error") {
    4
} else if cfg!(feature = "max_level_warn") {
    3
} else if cfg!(feature = "max_level_info") {
    2
} else if cfg!(feature = "max_level_debug") {
    1
} else {
    0
};

macro_rules! levels {
    ($($name:ident $number:literal;)*) => {$(
        /// The level of this name.
        pub enum $name {}
        impl AtLevel for $name {
            const LEVEL: u8 = $number;
            #[allow(clippy::absurd_extreme_comparisons, unused_comparisons)]
            const COMPILED: bool = $number >= LEAST;
        }
    )*};
}

levels! {
    Trace 0;
    Debug 1;
    Info 2;
    Warn 3;
    Error 4;
    Fatal 5;
}
