//! Values, signatures, records, sites and blocks: pure, no I/O, no unsafe
