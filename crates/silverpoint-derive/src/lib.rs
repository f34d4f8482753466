//! Derive macro for own types in tracepoints
