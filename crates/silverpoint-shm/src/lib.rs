//! Session directories and rings: the only crate that maps memory
